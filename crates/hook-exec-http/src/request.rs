//! From a hook and its event to the request.

use std::ffi::OsStr;

use hook_core::{
    BodyTemplate, Call, FailureKind, HandlerFailure, HttpHandler, HttpPolicy, Note, VariableSyntax,
};
use hook_exec::template::{MAX_RENDERED, Renderer, Syntax, Values};
use hook_http::Request;

const CONTENT_TYPE: &str = "Content-Type";
const JSON: &str = "application/json";

/// The request, and what there is to say of it.
pub(crate) fn prepare(
    handler: &HttpHandler,
    policy: &HttpPolicy,
    call: Call,
) -> Result<(Request, Vec<Note>), HandlerFailure> {
    let variable = |name: &str| {
        let found = call.environment.iter().find(|(known, _)| known == OsStr::new(name));
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    };
    let allowed = |name: &str| {
        handler.allowed_env_vars.iter().any(|allowed| allowed == name) && policy.allows_variable(name)
    };
    let mut renderer = Renderer::new(Values {
        tool_input: &call.template.tool_input,
        context: &call.template.context,
        variable: &variable,
        allowed: &allowed,
    });
    let syntax = header_syntax(call.http.headers);
    let mut spoiled = Vec::new();
    let mut headers = Vec::with_capacity(handler.headers.len() + 1);
    for (name, template) in &handler.headers {
        let value = renderer.text(template, syntax);
        let clean = without_controls(&value);
        if clean != value {
            spoiled.push(Note::warning(format!(
                "line breaks and control characters in the value of the header {name} became blanks"
            )));
        }
        headers.push((name.clone(), clean));
    }
    let (body, is_json) = match &handler.body {
        _ if !handler.method.has_body() => (None, false),
        Some(BodyTemplate::Text(template)) => {
            (Some(renderer.text(template, Syntax::Dotted).into_bytes()), false)
        }
        Some(BodyTemplate::Json(template)) => {
            (Some(renderer.document(template, Syntax::Dotted).to_string().into_bytes()), true)
        }
        None if call.http.event_body => (Some(call.input), true),
        None => (None, false),
    };
    if is_json && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(CONTENT_TYPE)) {
        headers.push((CONTENT_TYPE.to_owned(), JSON.to_owned()));
    }
    let too_long = renderer.overflowed();
    let mut notes = renderer.into_notes();
    notes.append(&mut spoiled);
    if too_long {
        let message =
            format!("with its values the request is longer than {MAX_RENDERED} bytes; it is not sent");
        return Err(HandlerFailure { kind: FailureKind::Oversize, message, notes });
    }
    Ok((Request { url: handler.url.clone(), method: handler.method, headers, body }, notes))
}

/// The placeholders of headers in this dialect.
fn header_syntax(syntax: VariableSyntax) -> Syntax {
    match syntax {
        VariableSyntax::Shell => Syntax::Shell,
        VariableSyntax::Both => Syntax::Both,
        _ => Syntax::Dotted,
    }
}

/// A command with a line break in it must not keep the request from being sent: the server would never be asked.
fn without_controls(value: &str) -> String {
    value.chars().map(|c| if c.is_ascii_control() && c != '\t' { ' ' } else { c }).collect()
}

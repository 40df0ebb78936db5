//! The members of an http handler.

use hook_core::diagnostic::codes;
use hook_core::{BodyTemplate, Code, HttpHandler, HttpMethod, Severity, VariableSyntax, is_reserved_header};
use hook_exec::template::{Piece, Reference, Syntax, pieces};
use serde_json::Value;

use crate::fields::Fields;
use crate::handler::{Defect, needed};
use crate::json::{Kind, Node};
use crate::report::step;

/// Reads them. `syntax` is that of the dialect's header values.
pub(crate) fn read(
    fields: &mut Fields<'_, '_, '_>,
    syntax: VariableSyntax,
    defect: &mut Defect,
) -> HttpHandler {
    let url = url(fields, defect);
    let method = method(fields, defect);
    let allowed_env_vars = fields.words("allowedEnvVars");
    let mut variables = Variables { allowed: &allowed_env_vars, syntax: header_syntax(syntax) };
    let headers = headers(fields, &mut variables, defect);
    variables.syntax = Syntax::Dotted;
    let body = body(fields, method, &variables, defect);
    let follow_redirects = fields.flag("followRedirects");
    HttpHandler { url, method, headers, body, allowed_env_vars, follow_redirects }
}

fn header_syntax(syntax: VariableSyntax) -> Syntax {
    match syntax {
        VariableSyntax::Shell => Syntax::Shell,
        VariableSyntax::Both => Syntax::Both,
        _ => Syntax::Dotted,
    }
}

/// A finding that keeps the handler from running.
fn broken(
    fields: &mut Fields<'_, '_, '_>,
    code: Code,
    pointer: &str,
    node: &Node,
    why: String,
    help: &str,
    defect: &mut Defect,
) {
    let severity = fields.report.left_out.unwrap_or(Severity::Error);
    let finding = fields.report.at(code, pointer, node.span, format!("{why}; it never runs"));
    fields.report.push(finding.severity(severity).help(help));
    defect.add(why);
}

fn url(fields: &mut Fields<'_, '_, '_>, defect: &mut Defect) -> String {
    let url = needed(fields, "url", defect);
    let Some(node) = fields.take("url").filter(|_| !url.is_empty()) else { return url };
    let pointer = step(fields.pointer, "url");
    if let Err((why, help)) = check_url(&url) {
        broken(fields, codes::INVALID_URL, &pointer, node, format!("the \"url\" {why}"), help, defect);
        return url;
    }
    let shown = HttpHandler::new(url.as_str()).shown_url();
    if shown != url {
        let message = "the \"url\" holds a user name or a password, which ends up in logs";
        let finding = fields.report.at(codes::CREDENTIALS_IN_URL, &pointer, node.span, message);
        fields.report.push(
            finding.help("put it into a header, as the name of a variable that \"allowedEnvVars\" lists"),
        );
    }
    if shown.contains("${") {
        let message = "a \"url\" is no template; `${…}` is sent as it stands";
        let finding = fields.report.at(codes::TEMPLATE_NOT_FILLED, &pointer, node.span, message);
        fields.report.push(finding.help("write the address out; headers and the body are templates"));
    }
    url
}

/// What is wrong with an address, and what to do.
pub(crate) fn check_url(url: &str) -> Result<(), (&'static str, &'static str)> {
    const WHOLE: &str = "write a whole address, `https://host/path`";
    if url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(("holds a blank or a line break", "remove it, or write it as %20"));
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(("is no http or https address", WHOLE));
    };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(("is no http or https address", WHOLE));
    }
    let authority = &rest[..rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len())];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    if host.contains(['$', '{', '}']) {
        return Err(("has a placeholder in its host", "a \"url\" is no template; write the host out"));
    }
    let (host, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((inside, port)) if inside.parse::<std::net::Ipv6Addr>().is_ok() => {
            (inside, port.strip_prefix(':').or_else(|| port.is_empty().then_some("")))
        }
        Some(_) => ("", None),
        None => match host.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host, Some("")),
        },
    };
    let good_host =
        |c: char| c.is_alphanumeric() || !c.is_ascii() || matches!(c, '-' | '_' | '.' | ':' | '%');
    if host.is_empty() || !host.chars().all(good_host) {
        return Err(("names no host", WHOLE));
    }
    match port {
        Some("") => Ok(()),
        Some(port) if port.parse::<u16>().is_ok_and(|port| port > 0) => Ok(()),
        _ => Err(("has a port that is none", "write a number from 1 to 65535 after the colon")),
    }
}

fn method(fields: &mut Fields<'_, '_, '_>, defect: &mut Defect) -> HttpMethod {
    let Some(node) = fields.take("method") else { return HttpMethod::default() };
    if let Some(method) = node.as_str().and_then(HttpMethod::from_name) {
        return method;
    }
    let found = node.as_str().map_or_else(|| node.what().to_owned(), |word| format!("{word:?}"));
    let names: Vec<&str> = HttpMethod::ALL.iter().map(|method| method.name()).collect();
    let help = format!("the methods are {}", names.join(", "));
    let pointer = step(fields.pointer, "method");
    let why = format!("the \"method\" is {found}");
    broken(fields, codes::INVALID_METHOD, &pointer, node, why, &help, defect);
    HttpMethod::default()
}

fn headers(
    fields: &mut Fields<'_, '_, '_>,
    variables: &mut Variables<'_>,
    defect: &mut Defect,
) -> Vec<(String, String)> {
    let Some(node) = fields.take("headers") else { return Vec::new() };
    let pointer = step(fields.pointer, "headers");
    let Kind::Object(members) = &node.kind else {
        let why = format!("\"headers\" is {}, not an object", node.what());
        broken(fields, codes::INVALID_HEADER, &pointer, node, why, "write `{\"Name\": \"value\"}`", defect);
        return Vec::new();
    };
    let mut headers = Vec::with_capacity(members.len());
    for member in members {
        let (name, pointer) = (&member.key, step(&pointer, &member.key));
        let trouble = match member.value.as_str() {
            _ if is_reserved_header(name) => Some((
                format!("the header {name:?} belongs to the connection and cannot be set"),
                "remove it",
            )),
            _ if !is_token(name) => {
                Some((format!("{name:?} is no name of a header"), "use letters, digits and hyphens"))
            }
            None => Some((
                format!("the header {name:?} is {}, not a string", member.value.what()),
                "write its value as a string",
            )),
            Some(value) if value.contains(|c: char| c.is_control() && c != '\t') => Some((
                format!("the header {name:?} holds a line break or another control character"),
                "remove it",
            )),
            Some(_) => None,
        };
        match trouble {
            Some((why, help)) => {
                broken(fields, codes::INVALID_HEADER, &pointer, &member.value, why, help, defect);
            }
            None => {
                let value = member.value.as_str().unwrap_or_default();
                variables.check(fields, value, &pointer, &member.value);
                headers.push((name.clone(), value.to_owned()));
            }
        }
    }
    headers
}

/// The characters of RFC 9110, section 5.6.2.
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
}

fn body(
    fields: &mut Fields<'_, '_, '_>,
    method: HttpMethod,
    variables: &Variables<'_>,
    defect: &mut Defect,
) -> Option<BodyTemplate> {
    let text = fields.take("body").filter(|node| !matches!(node.kind, Kind::Null));
    let json = fields.take("bodyJson");
    let written = json.map(|node| ("bodyJson", node)).or(text.map(|node| ("body", node)));
    let (name, node) = written?;
    let pointer = step(fields.pointer, name);
    let mut without_effect = |name: &'static str, node: &Node, why: &str| {
        let message = format!("{name:?} has no effect: {why}");
        let pointer = step(fields.pointer, name);
        let finding = fields.report.at(codes::BODY_WITHOUT_EFFECT, &pointer, node.span, message);
        fields.report.push(finding.help("remove it"));
    };
    if let (Some(text), Some(_)) = (text, json) {
        without_effect("body", text, "\"bodyJson\" stands beside it");
    }
    if !method.has_body() {
        without_effect(name, node, &format!("{method} sends no body"));
    }
    if json.is_some() {
        let value = node.to_value(&fields.report.source.text);
        variables.check_all(fields, &value, &pointer, node);
        return Some(BodyTemplate::Json(value));
    }
    match node.as_str() {
        Some(text) => {
            variables.check(fields, text, &pointer, node);
            Some(BodyTemplate::Text(text.to_owned()))
        }
        None => {
            let why = format!("\"body\" is {}, not a string", node.what());
            let help = "write a string, or name it \"bodyJson\" where a document is meant";
            broken(fields, codes::WRONG_TYPE, &pointer, node, why, help, defect);
            None
        }
    }
}

/// Looks for variables that templates name and nobody allows.
struct Variables<'a> {
    allowed: &'a [String],
    syntax: Syntax,
}

impl Variables<'_> {
    fn check_all(&self, fields: &mut Fields<'_, '_, '_>, value: &Value, pointer: &str, node: &Node) {
        match value {
            Value::String(text) => self.check(fields, text, pointer, node),
            Value::Array(items) => items.iter().for_each(|item| self.check_all(fields, item, pointer, node)),
            Value::Object(members) => {
                members.values().for_each(|value| self.check_all(fields, value, pointer, node));
            }
            _ => {}
        }
    }

    fn check(&self, fields: &mut Fields<'_, '_, '_>, template: &str, pointer: &str, node: &Node) {
        for piece in pieces(template, self.syntax) {
            let Piece::Placeholder(written, Reference::Variable(name)) = piece else { continue };
            if self.allowed.iter().any(|allowed| allowed == name) {
                continue;
            }
            let message = format!("{written} will be empty: \"allowedEnvVars\" does not name {name}");
            let finding = fields.report.at(codes::VARIABLE_NOT_ALLOWED, pointer, node.span, message);
            fields.report.push(finding.help(format!("add {name:?} to \"allowedEnvVars\"")));
        }
    }
}

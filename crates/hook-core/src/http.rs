//! Http hooks: what their authors write down, and what their dialects say of all of them.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// `GET`, which has no body here.
    Get,
    /// `POST`.
    #[default]
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `DELETE`, which has no body here.
    Delete,
}

impl HttpMethod {
    /// Every method.
    pub const ALL: &'static [HttpMethod] =
        &[HttpMethod::Get, HttpMethod::Post, HttpMethod::Put, HttpMethod::Patch, HttpMethod::Delete];

    /// The word of the protocol, in capitals.
    pub fn name(self) -> &'static str {
        match self {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
            HttpMethod::Put => "PUT",
            HttpMethod::Patch => "PATCH",
            HttpMethod::Delete => "DELETE",
        }
    }

    /// The method of this name, in any letter case.
    pub fn from_name(name: &str) -> Option<HttpMethod> {
        HttpMethod::ALL.iter().copied().find(|method| method.name().eq_ignore_ascii_case(name.trim()))
    }

    /// True where a request of this method carries a body.
    pub fn has_body(self) -> bool {
        !matches!(self, HttpMethod::Get | HttpMethod::Delete)
    }
}

impl fmt::Display for HttpMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A body as its author wrote it.
#[derive(Debug, Clone, PartialEq)]
pub enum BodyTemplate {
    /// A text; what is put into it is not escaped (`body`).
    Text(String),
    /// A document whose texts are filled in one by one, so that it stays a document (`bodyJson`).
    Json(Value),
}

/// True for the name of a header that belongs to the connection and not to its user, in any letter case.
pub fn is_reserved_header(name: &str) -> bool {
    const RESERVED: &[&str] = &[
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name))
}

/// An http handler.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpHandler {
    /// The address, `http` or `https`; never a template.
    pub url: String,
    /// The method.
    pub method: HttpMethod,
    /// Names and values as written, in order; values are templates.
    pub headers: Vec<(String, String)>,
    /// The body; `None` leaves it to the dialect ([`HttpRules::event_body`]).
    pub body: Option<BodyTemplate>,
    /// Variables of the environment that templates may name.
    pub allowed_env_vars: Vec<String>,
    /// Whether redirects are followed; `None` leaves it to the dialect ([`HttpRules::redirects`]).
    pub follow_redirects: Option<bool>,
}

impl HttpHandler {
    /// A handler that posts to this address what its dialect posts.
    pub fn new(url: impl Into<String>) -> HttpHandler {
        HttpHandler {
            url: url.into(),
            method: HttpMethod::default(),
            headers: Vec::new(),
            body: None,
            allowed_env_vars: Vec::new(),
            follow_redirects: None,
        }
    }

    /// The address for people: without the user name and the password that some write before the host.
    pub fn shown_url(&self) -> String {
        let Some((scheme, rest)) = self.url.split_once("://") else { return self.url.clone() };
        let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = authority.rsplit('@').next().unwrap_or(authority);
        format!("{scheme}://{host}{path}")
    }
}

/// How header values name variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableSyntax {
    /// `${env.X}`, `${tool_input.a.b}`, `${context.x}` ("AIMON hooks guide, Template variables").
    Dotted,
    /// `$X` and `${X}` ("Claude Code hooks reference, HTTP hook fields: `headers`").
    Shell,
    /// Dotted names, and of the short forms those whose variable the author allows.
    Both,
}

/// What a dialect says of all its http hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpRules {
    /// Redirects that are followed where the author says nothing; 0: the redirect itself is the answer.
    pub redirects: u8,
    /// Redirects that are followed where the author wants them followed.
    pub most_redirects: u8,
    /// Bytes of an answer that are kept.
    pub max_body: usize,
    /// A hook without a body of its own sends the event.
    pub event_body: bool,
    /// How header values name variables.
    pub headers: VariableSyntax,
}

impl HttpRules {
    /// Posts the event, follows no redirect that its author did not allow, and keeps a mebibyte of the answer.
    pub const NATIVE: HttpRules = HttpRules {
        redirects: 0,
        most_redirects: 5,
        max_body: 1024 * 1024,
        event_body: true,
        headers: VariableSyntax::Both,
    };
}

/// What templates of a hook may name, beside variables of the environment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TemplateValues {
    /// The input of the tool, for `${tool_input.a.b}`; null where the event has none.
    pub tool_input: Value,
    /// What else is known of the event, for `${context.x}`.
    pub context: Map<String, Value>,
}

//! Patterns of URLs, for lists of addresses that hooks may be sent to.

use std::borrow::Cow;

use crate::wild::Wild;

/// A pattern of URLs in which `*` stands for any text ("Claude Code settings reference, allowedHttpHookUrls").
///
/// Hosts are compared without letter case and without a dot at their end, default ports with none. Pattern and URL are compared
/// part by part, as a client would read them: a `*` in the host does not reach into the path, so `https://*.example.com/*` is
/// not fitted by `https://evil.test/.example.com/`, nor is a user name before `@` taken for a host. A pattern that ends with `*`
/// within its host or port leaves everything after it open.
///
/// ```
/// use hook_matcher::UrlPattern;
///
/// let pattern = UrlPattern::new("https://*.example.com/hooks/*");
/// assert!(pattern.matches("https://ci.EXAMPLE.com./hooks/guard"));
/// assert!(!pattern.matches("https://ci.example.com/hooks/../admin"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlPattern {
    parts: Option<Parts>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    scheme: Wild,
    host: Wild,
    port: Port,
    /// `None`: any path.
    path: Option<Wild>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Port {
    Any,
    /// The scheme's own.
    Default,
    Like(Wild),
}

impl UrlPattern {
    /// Reads a pattern. A text that is neither `*` nor of the form `scheme://…` fits no URL.
    pub fn new(pattern: &str) -> UrlPattern {
        let pattern = pattern.trim();
        let any = || Wild::glob("*");
        if pattern == "*" {
            return UrlPattern {
                parts: Some(Parts { scheme: any(), host: any(), port: Port::Any, path: None }),
            };
        }
        let parts = pattern.split_once("://").map(|(scheme, rest)| {
            let scheme = scheme.to_ascii_lowercase();
            let (authority, path) = split_authority(rest);
            let open = path.is_empty() && authority.ends_with('*');
            let (host, port) = split_port(authority);
            Parts {
                host: Wild::glob(&plain_host(host)),
                port: match port {
                    Some("*") => Port::Any,
                    Some(port) if port.is_empty() || port == default_port(&scheme) => Port::Default,
                    Some(port) => Port::Like(Wild::glob(port)),
                    None if open => Port::Any,
                    None => Port::Default,
                },
                path: (!open).then(|| Wild::glob(if path.is_empty() { "/" } else { path })),
                scheme: Wild::glob(&scheme),
            }
        });
        UrlPattern { parts }
    }

    /// True where the URL fits. One that no client reads the same way (blanks, control characters, an escaped host) fits
    /// nothing.
    pub fn matches(&self, url: &str) -> bool {
        let Some(parts) = &self.parts else { return false };
        let odd = |c: char| c.is_control() || c.is_whitespace();
        if url.contains(odd) {
            return false;
        }
        let Some((scheme, rest)) = url.split_once("://") else { return false };
        let scheme = scheme.to_ascii_lowercase();
        let (authority, path) = split_authority(rest);
        // What stands before the last `@` is a user, whatever it looks like.
        let (host, port) = split_port(authority.rsplit('@').next().unwrap_or(authority));
        let host = plain_host(host);
        if host.is_empty() || host.contains('%') {
            return false;
        }
        let default = default_port(&scheme);
        let port = port.filter(|port| !port.is_empty()).unwrap_or(default);
        let port_fits = match &parts.port {
            Port::Any => true,
            Port::Default => port == default,
            Port::Like(wanted) => wanted.matches(port),
        };
        parts.scheme.matches(&scheme)
            && parts.host.matches(&host)
            && port_fits
            && parts.path.as_ref().is_none_or(|wanted| wanted.matches(&straight(path)))
    }
}

/// What is before the path, and the path with everything after it. Clients take a backslash for a slash.
fn split_authority(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()))
}

/// A colon within brackets belongs to the address.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

fn plain_host(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_lowercase()
}

fn default_port(scheme: &str) -> &'static str {
    match scheme {
        "https" => "443",
        "http" => "80",
        _ => "",
    }
}

/// The path with `.` and `..` resolved, as it will be asked for.
fn straight(path: &str) -> Cow<'_, str> {
    let (path, rest) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
    let unescaped = |segment: &str| segment.replace("%2e", ".").replace("%2E", ".");
    let dotted = |segment: &str| matches!(unescaped(segment).as_str(), "." | "..");
    if path.starts_with('/') && !path.contains('\\') && !path.split('/').any(dotted) {
        return if rest.is_empty() { Cow::Borrowed(path) } else { Cow::Owned(format!("{path}{rest}")) };
    }
    let path = path.replace('\\', "/");
    let mut segments: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match unescaped(part).as_str() {
            ".." => {
                segments.pop();
                segments.extend(last.then_some(""));
            }
            "." => segments.extend(last.then_some("")),
            _ => segments.push(part),
        }
    }
    Cow::Owned(format!("/{}{rest}", segments.join("/")))
}

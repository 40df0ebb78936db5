//! Rules on hosts: `WebFetch(domain:example.com)`, `WebFetch(domain:*.example.com)`.
//!
//! "Claude Code permissions reference, WebFetch".

use crate::wild::Wild;

/// Compiles the host of a rule.
pub(super) fn pattern(host: &str) -> Wild {
    Wild::glob(&host.trim().trim_end_matches('.').to_lowercase())
}

/// The host that a URL means, in small letters; `None` where it cannot be told for certain.
pub(super) fn host(url: &str) -> Option<String> {
    // Those who fetch read a backslash as a slash, and drop blanks and tabs.
    let url = url.trim().replace(['\t', '\n', '\r'], "").replace('\\', "/");
    let rest = url.split_once(':').filter(|(scheme, rest)| {
        rest.starts_with('/')
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    let rest = rest.map_or(url.as_str(), |(_, rest)| rest).trim_start_matches('/');
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(inner) => &host[..inner.find(']')? + 2],
        None => &host[..host.find(':').unwrap_or(host.len())],
    };
    let host = host.trim_end_matches('.');
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
    (!host.is_empty() && host.chars().all(plain)).then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_what_a_client_would_ask() {
        for (url, expected) in [
            ("https://example.com/a", Some("example.com")),
            ("HTTPS://Example.COM.:8443", Some("example.com")),
            ("example.com/a?b", Some("example.com")),
            ("example.com:80/a", Some("example.com")),
            ("https://example.com@evil.org/", Some("evil.org")),
            ("https://evil.org\\@example.com/", Some("evil.org")),
            ("https:/evil.org/x", Some("evil.org")),
            ("https://evil.org#@example.com", Some("evil.org")),
            ("https://[::1]:80/", Some("[::1]")),
            ("https://ex%61mple.com/", None),
            ("https://bücher.example/", None),
            ("https://", None),
            ("", None),
        ] {
            assert_eq!(host(url).as_deref(), expected, "{url}");
        }
    }
}

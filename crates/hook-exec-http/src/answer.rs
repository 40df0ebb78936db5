//! What there is to say of an answer beside the answer itself.

use hook_core::{HostContext, HttpHandler, HttpRules, Note, Stream};
use hook_http::Response;

/// Variables that other programs take a proxy from.
const PROXIES: &[&str] =
    &["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Remarks on an answer.
pub(crate) fn notes(handler: &HttpHandler, rules: &HttpRules, response: &Response) -> Vec<Note> {
    let mut notes = Vec::new();
    if let (300..400, Some(location)) = (response.status, &response.location) {
        let allowed = handler.follow_redirects != Some(true) && rules.most_redirects > 0;
        let or = if allowed { ", or set \"followRedirects\": true" } else { "" };
        let to = HttpHandler::new(location.as_str()).shown_url();
        notes.push(Note::warning(format!(
            "the server redirects to {to}, which is not followed; write that address into \"url\"{or}"
        )));
    }
    if response.headers_withheld {
        notes.push(Note::warning(format!(
            "a redirect led to another server ({}), which did not get the headers of the hook",
            response.url
        )));
    }
    if let Some(encoding) = &response.content_encoding {
        notes.push(Note::warning(format!("the answer is packed ({encoding}), though nobody asked for that")));
    }
    let is_json = |text: &str| text.to_ascii_lowercase().contains("json");
    let said = response.content_type.as_deref().filter(|said| !is_json(said));
    if let Some(said) = said.filter(|_| !response.body.is_empty()) {
        notes
            .push(Note::info(format!("the server calls its answer {said}; it is read as JSON all the same")));
    }
    if std::str::from_utf8(&response.body).is_err() && response.dropped == 0 {
        notes.push(Note::warning("the answer is not UTF-8; what is none was replaced"));
    }
    notes
}

/// The body as text, decoded once.
pub(crate) fn body(bytes: Vec<u8>, dropped: u64) -> Stream {
    match String::from_utf8(bytes) {
        Ok(text) => Stream { text, dropped, lossy: false },
        Err(error) => {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            Stream { text, dropped, lossy: true }
        }
    }
}

/// A word on a proxy that somebody may expect.
pub(crate) fn proxy(host: &HostContext) -> Option<Note> {
    let name = PROXIES.iter().find(|name| host.variable(name).is_some_and(|value| !value.is_empty()))?;
    Some(Note::info(format!("{name} is set, but hooks are sent without a proxy")))
}

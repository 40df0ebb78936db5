//! One request to its end: judged, sent, redirected, read.

use std::net::IpAddr;
use std::sync::Arc;

use hook_core::{HttpMethod, PrivateAddresses, is_reserved_header};
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Method, Url};
use tokio::time::timeout;

use crate::addresses::{Reach, is_private};
use crate::error::{HttpError, HttpErrorKind, translate};
use crate::names;
use crate::pools::Pools;
use crate::request::{Bounds, Request, Response};

/// The client. A clone is another handle on the same connections. Requests need a tokio runtime with its timer and its network.
#[derive(Clone, Default)]
pub struct Client {
    pools: Arc<Pools>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// One address on the way to the answer.
struct Hop {
    url: Url,
    method: HttpMethod,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
    reach: Reach,
}

impl Client {
    /// A client that has built nothing yet.
    pub fn new() -> Client {
        Client::default()
    }

    /// The library's client behind this one, for those who speak a protocol of their own to a server that somebody wrote down:
    /// without redirects and proxy, with the same certificates and names, and without a bound on addresses.
    ///
    /// # Errors
    /// The URL is none that can be asked, or the system's certificates cannot be read.
    pub fn library(&self, url: &str) -> Result<reqwest::Client, HttpError> {
        let url = web_url(url)?;
        self.pools.get(Reach::Everything, url.scheme() == "https").cloned()
    }

    /// Sends a request and reads the answer.
    ///
    /// # Errors
    /// There is no answer, or it is not from a place that the bounds allow. A status is never an error.
    pub async fn send(&self, request: &Request, bounds: &Bounds<'_>) -> Result<Response, HttpError> {
        let first = first_hop(request, bounds)?;
        match timeout(bounds.timeout, self.follow(first, bounds)).await {
            Ok(done) => done,
            Err(_) => {
                let seconds = bounds.timeout.as_secs_f64();
                let message = format!("{} did not answer within {seconds} s", shown(&request.url));
                Err(HttpError::new(HttpErrorKind::Timeout, message))
            }
        }
    }

    async fn follow(&self, mut hop: Hop, bounds: &Bounds<'_>) -> Result<Response, HttpError> {
        let mut headers_withheld = false;
        let mut followed = 0;
        loop {
            let answer = self.ask(&hop, bounds).await?;
            let next = target(&hop.url, &answer).filter(|_| bounds.redirects > 0);
            // What was encrypted is not sent on in the open; the redirect is the answer then.
            let next = next.filter(|url| !(hop.url.scheme() == "https" && url.scheme() == "http"));
            let Some(url) = next else {
                return read(answer, hop.url, bounds, headers_withheld).await;
            };
            if followed == bounds.redirects {
                let message =
                    format!("{} redirected more than {} times", shown(hop.url.as_str()), bounds.redirects);
                return Err(HttpError::new(HttpErrorKind::Protocol, message));
            }
            followed += 1;
            let peer = answer.remote_addr().map(|address| address.ip());
            hop.reach = reach_of_redirect(bounds.private, peer);
            (hop.method, hop.body) = carried_on(answer.status().as_u16(), hop.method, hop.body.take());
            if url.origin() != hop.url.origin() && !hop.headers.is_empty() {
                let content_type = hop.headers.remove(CONTENT_TYPE);
                headers_withheld |= !hop.headers.is_empty();
                hop.headers.clear();
                hop.headers.extend(content_type.map(|value| (CONTENT_TYPE, value)));
            }
            if hop.body.is_none() {
                hop.headers.remove(CONTENT_TYPE);
            }
            hop.url = url;
        }
    }

    async fn ask(&self, hop: &Hop, bounds: &Bounds<'_>) -> Result<reqwest::Response, HttpError> {
        let url = shown(hop.url.as_str());
        (bounds.target)(hop.url.as_str()).map_err(|why| HttpError::new(HttpErrorKind::Forbidden, why))?;
        // A host that is an address is never looked up, so it is judged here.
        let literal =
            hop.url.host_str().and_then(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().ok());
        if let Some(address) = literal.filter(|address| !hop.reach.allows(*address)) {
            let why = names::forbidden(hop.url.host_str().unwrap_or_default(), address);
            return Err(HttpError::new(HttpErrorKind::Forbidden, why));
        }
        let client = self.pools.get(hop.reach, hop.url.scheme() == "https")?;
        let method = match hop.method {
            HttpMethod::Get => Method::GET,
            HttpMethod::Post => Method::POST,
            HttpMethod::Put => Method::PUT,
            HttpMethod::Patch => Method::PATCH,
            HttpMethod::Delete => Method::DELETE,
        };
        let mut request = client.request(method, hop.url.clone()).headers(hop.headers.clone());
        if let Some(body) = &hop.body {
            request = request.body(body.clone());
        }
        request.send().await.map_err(|error| translate(&error, &url))
    }
}

fn web_url(text: &str) -> Result<Url, HttpError> {
    let bad = |why: String| HttpError::new(HttpErrorKind::Request, why);
    let url = Url::parse(text).map_err(|error| bad(format!("{} is no URL: {error}", shown(text))))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(bad(format!("{} is neither http nor https", shown(text)))),
    }
}

fn first_hop(request: &Request, bounds: &Bounds<'_>) -> Result<Hop, HttpError> {
    let bad = |why: String| HttpError::new(HttpErrorKind::Request, why);
    let url = web_url(&request.url)?;
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        if is_reserved_header(name) {
            return Err(bad(format!("the header {name} belongs to the connection and cannot be set")));
        }
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| bad(format!("{name:?} is no name of a header")))?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| {
            bad(format!("the value of the header {name} holds a line break or another control character"))
        })?;
        headers.append(name, value);
    }
    let body = request.body.clone().filter(|_| request.method.has_body());
    Ok(Hop { url, method: request.method, headers, body, reach: first_reach(bounds.private) })
}

fn first_reach(private: PrivateAddresses) -> Reach {
    match private {
        PrivateAddresses::Allow | PrivateAddresses::Written => Reach::Everything,
        PrivateAddresses::Loopback => Reach::PublicAndLoopback,
        PrivateAddresses::Deny => Reach::Public,
    }
}

/// A server of the internet does not choose among the private addresses; one that is private itself may name its like.
fn reach_of_redirect(private: PrivateAddresses, peer: Option<IpAddr>) -> Reach {
    let first = first_reach(private);
    match private {
        PrivateAddresses::Allow => first,
        _ if peer.is_some_and(is_private) => first,
        _ => Reach::Public,
    }
}

/// Where a redirect leads; `None` where it is none or leads nowhere.
fn target(from: &Url, answer: &reqwest::Response) -> Option<Url> {
    if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = answer.headers().get(LOCATION)?;
    let url = from.join(std::str::from_utf8(location.as_bytes()).ok()?).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// Method and body after a redirect (RFC 9110, section 15.4).
fn carried_on(status: u16, method: HttpMethod, body: Option<Vec<u8>>) -> (HttpMethod, Option<Vec<u8>>) {
    match (status, method) {
        (307 | 308, method) => (method, body),
        (301 | 302, HttpMethod::Put | HttpMethod::Patch | HttpMethod::Delete) => (method, body),
        _ => (HttpMethod::Get, None),
    }
}

async fn read(
    mut answer: reqwest::Response,
    url: Url,
    bounds: &Bounds<'_>,
    headers_withheld: bool,
) -> Result<Response, HttpError> {
    let text = |name: HeaderName| {
        answer.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let mut response = Response {
        status: answer.status().as_u16(),
        url: shown(url.as_str()),
        content_type: text(CONTENT_TYPE),
        content_encoding: text(CONTENT_ENCODING),
        location: text(LOCATION),
        body: Vec::new(),
        dropped: 0,
        headers_withheld,
    };
    let length: Option<u64> =
        answer.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    while let Some(chunk) = answer.chunk().await.map_err(|error| translate(&error, &response.url))? {
        let room = bounds.max_body - response.body.len();
        let kept = room.min(chunk.len());
        response.body.extend_from_slice(&chunk[..kept]);
        if kept < chunk.len() {
            // Nobody reads the rest: the connection is closed, which ends the sender's work, too.
            let known = length.map(|length| length.saturating_sub(bounds.max_body as u64));
            response.dropped = known.unwrap_or_default().max((chunk.len() - kept) as u64);
            break;
        }
    }
    Ok(response)
}

/// A URL for people: without user name and password.
fn shown(url: &str) -> String {
    hook_core::HttpHandler::new(url).shown_url()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_keeps_method_and_body_as_the_standard_says() {
        use HttpMethod::{Delete, Get, Patch, Post, Put};
        for (status, method, then) in [
            (301, Post, Get),
            (302, Post, Get),
            (303, Post, Get),
            (303, Put, Get),
            (302, Put, Put),
            (301, Delete, Delete),
            (302, Get, Get),
            (307, Post, Post),
            (308, Patch, Patch),
        ] {
            let (found, body) = carried_on(status, method, Some(vec![1]));
            assert_eq!((found, body.is_some()), (then, then == method && method != Get), "{status} {method}");
        }
    }

    #[test]
    fn headers_that_would_break_a_request_are_not_sent() {
        let open = |_: &str| Ok(());
        let bounds = Bounds {
            timeout: std::time::Duration::from_secs(1),
            max_body: 1,
            redirects: 0,
            private: PrivateAddresses::Allow,
            target: &open,
        };
        let hop = |url: &str, name: &str, value: &str| {
            let headers = vec![(name.to_owned(), value.to_owned())];
            let request =
                Request { url: url.to_owned(), method: HttpMethod::Get, headers, body: Some(vec![1]) };
            first_hop(&request, &bounds)
        };
        for (name, value) in [("X-Auth", "a b\tc"), ("authorization", "Bearer é"), ("x_y", "")] {
            let hop = hop("http://a.test/", name, value).ok().unwrap();
            assert!(hop.headers.len() == 1 && hop.body.is_none(), "{name}");
        }
        for (name, value) in [
            ("", "v"),
            ("X Auth", "v"),
            ("X:", "v"),
            ("X\n", "v"),
            ("é", "v"),
            ("Host", "v"),
            ("content-LENGTH", "1"),
            ("X", "a\r\nX-Evil: 1"),
            ("X", "a\0b"),
        ] {
            assert_eq!(
                hop("http://a.test/", name, value).err().unwrap().kind,
                HttpErrorKind::Request,
                "{name:?}"
            );
        }
        for url in ["", "a.test", "ftp://a.test/", "http://", "http://a b/", "http://[::1/"] {
            assert_eq!(hop(url, "X", "v").err().unwrap().kind, HttpErrorKind::Request, "{url}");
        }
    }

    #[test]
    fn a_redirect_reaches_no_private_address_unless_it_comes_from_one() {
        let (public, private) = ("8.8.8.8".parse().ok(), "10.0.0.1".parse().ok());
        for (rule, from_public, from_private) in [
            (PrivateAddresses::Allow, Reach::Everything, Reach::Everything),
            (PrivateAddresses::Written, Reach::Public, Reach::Everything),
            (PrivateAddresses::Loopback, Reach::Public, Reach::PublicAndLoopback),
            (PrivateAddresses::Deny, Reach::Public, Reach::Public),
        ] {
            assert_eq!(reach_of_redirect(rule, public), from_public, "{rule:?}");
            assert_eq!(reach_of_redirect(rule, private), from_private, "{rule:?}");
            assert_eq!(
                reach_of_redirect(rule, None),
                if rule == PrivateAddresses::Allow { Reach::Everything } else { Reach::Public },
                "{rule:?}"
            );
        }
    }
}

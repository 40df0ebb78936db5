//! What can go wrong between here and a server.

use std::error::Error;
use std::fmt;

/// What kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// The request cannot be made: its URL or a header is none.
    Request,
    /// The address, or the target of a redirect, is one that the caller does not want asked.
    Forbidden,
    /// The server cannot be reached, hangs up, or cannot prove who it is.
    Unreachable,
    /// The time was up.
    Timeout,
    /// The head of the answer is longer than is read.
    Oversize,
    /// The answer is no HTTP, or redirects without end.
    Protocol,
}

/// Why there is no answer, for people, without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpError {
    /// What kind.
    pub kind: HttpErrorKind,
    /// What happened.
    pub message: String,
}

impl HttpError {
    pub(crate) fn new(kind: HttpErrorKind, message: impl Into<String>) -> HttpError {
        HttpError { kind, message: message.into() }
    }
}

/// An address that the rule of its pool keeps from being connected to.
#[derive(Debug)]
pub(crate) struct ForbiddenAddress(pub(crate) String);

impl fmt::Display for ForbiddenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ForbiddenAddress {}

/// An error of the library in our words; `url` is for people.
pub(crate) fn translate(error: &reqwest::Error, url: &str) -> HttpError {
    let chain = chain(error);
    let forbidden = chain.iter().find_map(|cause| cause.downcast_ref::<ForbiddenAddress>());
    if let Some(forbidden) = forbidden {
        return HttpError::new(HttpErrorKind::Forbidden, forbidden.to_string());
    }
    let last = chain.last().map(ToString::to_string).unwrap_or_default();
    let said = |what: &str| chain.iter().any(|cause| cause.to_string().contains(what));
    if error.is_builder() {
        return HttpError::new(HttpErrorKind::Request, format!("{url} cannot be asked: {last}"));
    }
    if error.is_connect() {
        // The library's own limit on connecting is a server that cannot be reached; our limit is on the whole.
        let why = if error.is_timeout() { "it does not answer".to_owned() } else { last };
        return HttpError::new(HttpErrorKind::Unreachable, format!("{url} cannot be reached: {why}"));
    }
    if said("message head is too large") {
        let message = format!("the head of the answer of {url} is longer than is read");
        return HttpError::new(HttpErrorKind::Oversize, message);
    }
    let io = chain.iter().any(|cause| cause.is::<std::io::Error>());
    let cut = said("connection closed before message completed")
        || said("end of file before message length reached")
        || said("connection error");
    if io || cut || error.is_timeout() {
        let message = format!("{url} hung up in the middle: {last}");
        return HttpError::new(HttpErrorKind::Unreachable, message);
    }
    HttpError::new(HttpErrorKind::Protocol, format!("the answer of {url} cannot be read: {last}"))
}

fn chain(error: &reqwest::Error) -> Vec<&(dyn Error + 'static)> {
    let mut all: Vec<&(dyn Error + 'static)> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        all.push(cause);
        next = cause.source();
    }
    all
}

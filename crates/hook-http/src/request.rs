//! What is sent, within which bounds, and what comes back.

use std::fmt;
use std::time::Duration;

use hook_core::{HttpMethod, PrivateAddresses};

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// The address, `http` or `https`.
    pub url: String,
    /// The method.
    pub method: HttpMethod,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The body; methods that have none send none.
    pub body: Option<Vec<u8>>,
}

/// Judges an address before it is asked; the text says why it is not.
pub type TargetRule<'a> = dyn Fn(&str) -> Result<(), String> + Send + Sync + 'a;

/// What a request may cost and where it may go.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// For everything together.
    pub timeout: Duration,
    /// Bytes of the body that are kept.
    pub max_body: usize,
    /// Redirects that are followed; with 0 the redirect itself is the answer.
    pub redirects: u8,
    /// Which private addresses may be asked.
    pub private: PrivateAddresses,
    /// Asked before each address, that of the request and those of redirects.
    pub target: &'a TargetRule<'a>,
}

impl fmt::Debug for Bounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounds")
            .field("timeout", &self.timeout)
            .field("max_body", &self.max_body)
            .field("redirects", &self.redirects)
            .field("private", &self.private)
            .finish_non_exhaustive()
    }
}

/// An answer, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The address that answered, after redirects.
    pub url: String,
    /// The media type as the server wrote it.
    pub content_type: Option<String>,
    /// How the server packed the body, though it was not asked to.
    pub content_encoding: Option<String>,
    /// Where a redirect that was not followed leads, as the server wrote it.
    pub location: Option<String>,
    /// What was kept of the body.
    pub body: Vec<u8>,
    /// Bytes of the body that were not kept, as far as they are known; at least 1 where it was cut off.
    pub dropped: u64,
    /// A redirect led to another origin, which did not get the caller's headers.
    pub headers_withheld: bool,
}

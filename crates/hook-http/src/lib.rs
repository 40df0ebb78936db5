//! The HTTP client of hook-engine: one for a process, bounded, and particular about where it connects.
//!
//! [`Client`] sends one [`Request`] within its [`Bounds`] and gives the [`Response`] or an [`HttpError`] that says what happened
//! in words. It is built on first use: a process that sends nothing pays nothing, and one that only speaks `http` never reads
//! the certificates of the system.
//!
//! - **Time.** One deadline over everything: names, connections, headers, body, redirects.
//! - **Size.** So many bytes of the body are kept; what is longer is cut off at the source and said.
//! - **Redirects.** As many as the caller wants, each judged like the first address. Headers of the caller go to the origin
//!   they were written for only.
//! - **Addresses.** A name is resolved first and only addresses that were judged are connected to, so that a name cannot mean
//!   one thing when it is checked and another when it is used.
//! - **No surprises.** No proxy (`HTTP_PROXY` and its like have no effect), no cookies, no compression, HTTP/1.1 only. Certificates
//!   are judged by the system's store, and cannot be waved through.
//!
//! Names are resolved by code of our own on Linux, from `/etc/hosts` and `/etc/resolv.conf`: the released command has the C
//! library linked in, whose `getaddrinfo` loads what `/etc/nsswitch.conf` names as shared libraries, made for another C library.
//! Sources that only that file knows (mDNS, LDAP) are not asked. `localhost` is this machine without asking anybody.

mod addresses;
mod client;
mod error;
mod names;
mod pools;
mod request;

pub use client::Client;
pub use error::{HttpError, HttpErrorKind};
pub use request::{Bounds, Request, Response, TargetRule};

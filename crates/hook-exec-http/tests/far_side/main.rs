//! Http hooks against real servers on loopback: what is sent, and what comes of everything a server can do.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panic")]

mod answers;
mod bench;
mod redirects;
mod requests;
mod server;
mod tls;
mod troubles;

//! Mcp hooks against real servers: over standard input and output, and over streamable HTTP on loopback.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests: what fails here fails the test, and the tests look at real files and processes"
)]

mod bench;
mod calls;
mod command;
mod ends;
mod engine;
mod failures;
mod http;
mod notifications;

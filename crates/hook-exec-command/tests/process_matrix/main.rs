//! Whole kinds of process faults, run against real processes.
//!
//! Every test ends with [`bench::Bench::finish`]: no zombie, no leaked descriptor. The tests count both for the whole process,
//! so they take turns.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests look at real files and processes, and fail where that fails"
)]

mod bench;
mod deadlines;
mod payloads;
mod starting;
mod troubles;

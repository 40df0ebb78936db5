//! The build tools of hook-engine: checks, conformance, trials, benches, generated files.
//!
//! Everything here is for people who work on the tree. The verbs are functions that give a report, so that `cargo test`
//! runs the same conformance that `cargo xtask conformance` does.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a tool of the build: it reads the tree, starts programs and prints"
)]

pub mod bench;
pub mod cases;
pub mod check;
pub mod ci;
pub mod codes;
pub mod conformance;
pub mod crash;
pub mod dist;
pub mod expected;
pub mod layers;
pub mod load;
pub mod matchers;
pub mod names;
pub mod report;
pub mod root;
pub mod trials;

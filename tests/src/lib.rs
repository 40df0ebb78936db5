//! Scenarios across crates.

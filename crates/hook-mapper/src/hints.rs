//! Hints.

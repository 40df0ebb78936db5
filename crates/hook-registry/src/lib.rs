//! The compiled set of hooks.
//!
//! A [`Generation`] is built from documents once and never changes: matchers compiled, hooks in dispatch order, an index by
//! event. A [`Registry`] holds the one in force; swapping it is one pointer, and an event that already runs keeps the
//! generation it began with.
//!
//! Dispatch order is: layer ([`Layer`](hook_core::Layer) says which), document, group, hook; `priority` reorders within one
//! layer only, low first and stable.

mod entries;
mod generation;
mod index;
mod registry;
#[cfg(feature = "watch")]
pub mod watch;

pub use generation::Generation;
pub use registry::Registry;

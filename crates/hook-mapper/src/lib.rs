//! Event mapper and response translator: how each agent speaks of hooks.
//!
//! One file per agent under `dialects/`, each an implementation of [`hook_core::Dialect`]; [`Dialects`] finds them by id or alias.

mod dialects;
mod effects;
mod hints;
mod rfc3339;
mod values;
pub mod verdict;

pub use dialects::{Aimon, Amplifier, Claude, Dialects, Native};

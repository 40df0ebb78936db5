//! Running hooks: what all executors share.
//!
//! [`Executors`] finds the executor for a kind of handler; [`budget`] says how long a run may take; [`limits`] holds the bounds
//! that every executor keeps.

pub mod budget;
mod executors;
pub mod limits;

pub use executors::Executors;

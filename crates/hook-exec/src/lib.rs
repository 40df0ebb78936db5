//! Running hooks: what all executors share.
//!
//! [`Executors`] finds the executor for a kind of handler; [`budget`] says how long a run may take; [`limits`] holds the bounds
//! that every executor keeps; [`template`] fills values of the event into texts.

pub mod budget;
mod executors;
pub mod limits;
pub mod template;

pub use executors::Executors;

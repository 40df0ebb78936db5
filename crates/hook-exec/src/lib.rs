//! Running hooks: what all executors share.
//!
//! [`Executors`] finds the executor for a kind of handler; [`budget`] says how long a run may take; [`limits`] holds the bounds
//! that every executor keeps; [`template`] fills values of the event into texts; [`caught`] keeps a panic of a host's code
//! where it is. [`DenyExecutor`] runs the one kind of handler that needs nothing from outside.

pub mod budget;
mod caught;
mod deny;
mod executors;
pub mod limits;
pub mod template;

pub use caught::caught;
pub use deny::DenyExecutor;
pub use executors::Executors;

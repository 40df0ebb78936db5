//! When a hook is woken again ("Hook Configuration Guide, Async Rewake"): the block `asyncRewake` of hook files, read and checked.
//!
//! [`spec::parse`] reads a block, [`duration::parse`] its durations, [`Cron::parse`](cron::Cron::parse) its cron expressions, whose
//! fire times [`Cron::next`](cron::Cron::next) computes.
//!
//! An [`Envelope`](envelope::Envelope) is a wake-up that is due some day, a [`RewakeStore`](store::RewakeStore) keeps them, and with the
//! feature `scheduler` a `Scheduler` calls a `Waker` when their times come.

pub mod cron;
pub mod duration;
pub mod envelope;
#[cfg(feature = "scheduler")]
pub mod scheduler;
pub mod spec;
pub mod store;
#[cfg(feature = "suite")]
pub mod suite;
pub mod zone;

//! When a hook is woken again ("Hook Configuration Guide, Async Rewake"): the block `asyncRewake` of hook files, read and checked.
//!
//! [`spec::parse`] reads a block, [`duration::parse`] its durations, [`cron::check`] its cron expressions.

pub mod cron;
pub mod duration;
pub mod spec;

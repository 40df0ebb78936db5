//! The built command in directories of its own.
#![expect(clippy::disallowed_methods, reason = "these tests are the world that the command reads")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panic")]

mod amplifier;
mod background;
mod claude;
mod dispatch;
mod examples;
mod explain;
mod files;
mod get;
mod help;
mod http;
mod model;
mod place;
mod rewake;
mod run;
mod serve;
mod server;
mod skills;

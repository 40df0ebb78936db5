//! The engine with a scripted executor: order, short circuits, rewrites, turns, hooks in code. No process is started.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

mod background;
mod bounds;
mod chain;
mod conditions;
mod environment;
mod explaining;
mod failures;
mod in_code;
mod replies;
mod rewakes;
mod skills;
mod turns;
mod world;

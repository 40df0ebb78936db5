//! The tables of the module's documentation, row by row.

mod answer;
mod input;
mod prompt;
mod read;
mod reply;

use hook_core::{Dialect, Event, EventKind, ReplyPolicy};
use serde_json::{Value, json};

use crate::Amplifier;
use crate::dialects::testing::{self, outcome};

fn fire(native: &str, data: Value) -> Vec<Event> {
    testing::read(&Amplifier, json!({ "event": native, "data": data }), None).unwrap().events
}

fn event(kind: EventKind) -> Event {
    testing::event(&Amplifier, kind)
}

/// The HookResult of one hook on one event.
fn result(event: &Event, reading: &hook_core::Reading) -> Value {
    let reply =
        Amplifier.write_reply(Some(event), Ok(&outcome(reading.answer.clone())), &ReplyPolicy::default());
    assert_eq!((reply.exit_code, reply.stderr.as_str()), (0, ""));
    serde_json::from_str(&reply.stdout).unwrap()
}

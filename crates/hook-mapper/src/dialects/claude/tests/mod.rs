//! The dialect, row by row.

mod answer;
mod guards;
mod merge;
mod read;
mod reply;
mod rows;

use hook_core::{Event, EventKind};
use serde_json::{Value, json};

use super::Claude;
use crate::dialects::testing::{Bench, event, read};

fn fired(payload: Value) -> Event {
    read(&Claude, payload, None).unwrap().events.remove(0)
}

fn of(kind: EventKind) -> Event {
    event(&Claude, kind)
}

/// An answer with these members in the event's own output.
fn own(kind: &EventKind, mut members: Value) -> String {
    members["hookEventName"] = kind.name().into();
    json!({ "hookSpecificOutput": members }).to_string()
}

//! The dialect, row by row.

mod answer;
mod asked;
mod events;
mod guards;
mod http;
mod mcp;
mod merge;
mod outputs;
mod read;
mod reply;
mod rows;

use hook_core::{Dialect, Event, EventKind};
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

/// Asserts that a table has a row for each event, in the order of the reference.
#[track_caller]
fn all_33<'a>(names: impl Iterator<Item = &'a str>) {
    let names: Vec<&str> = names.collect();
    let known: Vec<&str> = Claude.profile().events.iter().map(|row| row.name).collect();
    assert_eq!(names, known);
}

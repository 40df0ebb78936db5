//! What one turn of a session remembers: which of two equal events ran, and whether a stop hook kept it going.

use hook_core::{Decision, Event, EventKind, SessionState};

/// True where an event opens a new turn.
fn opens_turn(kind: &EventKind) -> bool {
    matches!(kind, EventKind::UserPromptSubmit | EventKind::SessionStart | EventKind::TurnStart)
}

/// True where the event has to touch the session's state at all.
pub(crate) fn concerns(event: &Event) -> bool {
    event.once_per_turn.is_some()
        || matches!(event.kind, EventKind::Stop | EventKind::SubagentStop)
        || opens_turn(&event.kind)
}

/// Enters the event. False where its hooks ran already in this turn, under another name.
pub(crate) fn enter(state: &mut SessionState, event: &Event) -> bool {
    if opens_turn(&event.kind) {
        state.turn.clear();
        state.stop_active = false;
    }
    let Some(key) = event.once_per_turn else { return true };
    match state.turn.get(key) {
        Some(ran) if *ran != event.native_event => false,
        _ => {
            state.turn.insert(key.to_owned(), event.native_event.clone());
            true
        }
    }
}

/// Notes what was decided: a denied stop keeps the turn going, so that the next stop counts again.
pub(crate) fn leave(state: &mut SessionState, event: &Event, decision: Decision) {
    if event.kind == EventKind::Stop && decision == Decision::Deny {
        state.stop_active = true;
        if let Some(key) = event.once_per_turn {
            state.turn.remove(key);
        }
    }
}

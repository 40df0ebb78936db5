//! What one turn of a session remembers: which of two equal events ran, and whether a stop hook kept it going.

use hook_core::{Event, EventKind, SessionState};

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
        state.stop_blocks = 0;
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

/// What a stop hook's wish to go on comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// Nobody wants to go on.
    Stops,
    /// The agent goes on, for so many times in a row.
    GoesOn,
    /// It went on so often that this time it stops all the same.
    Capped(u32),
}

/// Notes what was decided at the end of a turn: a stop that is held back keeps the turn going, so that the next stop counts
/// again. After `cap` times in a row without a tool call it is let through; 0 is without end.
pub(crate) fn leave(state: &mut SessionState, event: &Event, goes_on: bool, cap: u32) -> Stopping {
    if !goes_on {
        state.stop_blocks = 0;
        return Stopping::Stops;
    }
    if cap > 0 && state.stop_blocks >= cap {
        let times = std::mem::take(&mut state.stop_blocks);
        state.stop_active = false;
        return Stopping::Capped(times);
    }
    state.stop_blocks = state.stop_blocks.saturating_add(1);
    state.stop_active = true;
    if let Some(key) = event.once_per_turn {
        state.turn.remove(key);
    }
    Stopping::GoesOn
}

/// A call of a tool is progress: the agent does not go round in circles.
pub(crate) fn is_progress(state: &SessionState, event: &Event) -> bool {
    event.tool.is_some() && state.stop_blocks > 0
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hook_core::{DialectId, Payload};
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_stop_is_held_back_so_often_and_not_once_more() {
        let payload = Arc::new(Payload::from_value(Value::Null));
        let event = Event::new(EventKind::Stop, DialectId::NATIVE, "Stop", payload);
        let mut state = SessionState::default();
        for _ in 0..2 {
            assert_eq!(leave(&mut state, &event, true, 2), Stopping::GoesOn);
            assert!(state.stop_active);
        }
        assert_eq!(leave(&mut state, &event, true, 2), Stopping::Capped(2));
        assert!(!state.stop_active);
        assert_eq!(leave(&mut state, &event, true, 2), Stopping::GoesOn);
        assert_eq!(leave(&mut state, &event, false, 2), Stopping::Stops);
        assert_eq!(state.stop_blocks, 0);
        for _ in 0..100 {
            assert_eq!(leave(&mut state, &event, true, 0), Stopping::GoesOn);
        }
    }
}

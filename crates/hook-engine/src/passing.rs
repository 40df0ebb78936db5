//! Variables that belong to a place: what hooks leave when the working directory or a watched file changes holds until the
//! directory changes again ("Claude Code hooks reference, Persist environment variables").

use std::borrow::Cow;
use std::collections::BTreeMap;

use hook_core::{EventKind, SessionState, SessionStore, StoreError};

/// True where the variables that hooks of this event leave are such.
fn passes(kind: &EventKind) -> bool {
    matches!(kind, EventKind::CwdChanged | EventKind::FileChanged)
}

/// The key of the env file for hooks of this event: variables that pass stand in a file of their own, which can be emptied.
pub(crate) fn file_key<'k>(session: &'k str, kind: &EventKind) -> Cow<'k, str> {
    if passes(kind) { Cow::Owned(place_key(session)) } else { Cow::Borrowed(session) }
}

fn place_key(session: &str) -> String {
    format!("{session} at a place")
}

/// The variables that the env file of this event adds to.
pub(crate) fn variables<'s>(
    state: &'s mut SessionState,
    kind: &EventKind,
) -> &'s mut BTreeMap<String, String> {
    if passes(kind) { &mut state.passing } else { &mut state.variables }
}

/// The value of a variable before the env file of this event was read; `own` says that the file sets it.
pub(crate) fn before<'s>(
    state: &'s SessionState,
    kind: &EventKind,
    name: &str,
    own: bool,
) -> Option<&'s String> {
    let lasting = state.variables.get(name);
    if passes(kind) {
        return state.passing.get(name).filter(|_| !own).or(lasting);
    }
    lasting.filter(|_| !own)
}

/// Forgets what was left for the directory that the session has just left. The state afterwards; `None` where nothing changed.
pub(crate) fn leave(
    kind: &EventKind,
    sessions: &dyn SessionStore,
    session: &str,
    state: &SessionState,
) -> Result<Option<SessionState>, StoreError> {
    if *kind != EventKind::CwdChanged {
        return Ok(None);
    }
    sessions.end(&place_key(session))?;
    if state.passing.is_empty() {
        return Ok(None);
    }
    sessions.update(session, &mut |state| state.passing.clear()).map(Some)
}

/// Removes what a session left beside its own state.
pub(crate) fn end(sessions: &dyn SessionStore, session: &str) -> Result<(), StoreError> {
    sessions.end(&place_key(session))
}

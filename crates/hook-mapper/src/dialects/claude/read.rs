//! Payloads of Claude Code ("Common input fields" and the input of each event).

use std::path::PathBuf;
use std::sync::Arc;

use hook_core::dialect::type_name;
use hook_core::{Event, EventHint, EventKind, Incoming, Payload, ReadError, SessionInfo, Subject, ToolCall};
use serde_json::{Map, Value};

use super::profile::{self, PROFILE};
use crate::values;

pub(super) fn read(payload: Payload, hint: &EventHint) -> Result<Incoming, ReadError> {
    let Value::Object(map) = &payload.value else {
        return Err(ReadError::NotAnObject { found: type_name(&payload.value) });
    };
    let named = values::first_string(map, &["hook_event_name"])?.filter(|name| !name.is_empty());
    let Some(name) = named.or_else(|| hint.event.clone()) else {
        return Err(ReadError::NoEvent { field: "hook_event_name" });
    };
    // Events appear upstream every few weeks; one that is not known concerns no hook.
    let Some(row) = PROFILE.event(&name) else { return Ok(Incoming::default()) };

    let kind = EventKind::from_name(row.name);
    let mut event = Event::new(kind, PROFILE.id, row.name, Arc::new(payload.clone()));
    event.session = SessionInfo {
        id: values::text(map.get("session_id")),
        cwd: values::some_text(map.get("cwd")).map(PathBuf::from),
        transcript: values::text(map.get("transcript_path")),
        agent_id: values::text(map.get("agent_id")),
        agent_type: values::text(map.get("agent_type")),
        permission_mode: values::text(map.get("permission_mode")),
    };
    match row.subject {
        Subject::Tool => tool(&mut event, map)?,
        Subject::Field(field) => {
            // A payload that does not name its subject has none: every matcher fits, so that no guard is passed by.
            event.variant = values::text(map.get(field));
            event.subject = event.variant.as_deref().map(|seen| subject(&event.kind, seen).to_owned());
            event.paths = values::input_paths(&payload.value);
        }
        Subject::None => {}
    }
    event.fields = map.iter().filter(|(key, _)| !held(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
    Ok(Incoming { events: vec![event], control: None })
}

/// What matchers see of a subject.
fn subject<'a>(kind: &EventKind, seen: &'a str) -> &'a str {
    match kind {
        EventKind::FileChanged => seen.rsplit(['/', '\\']).next().unwrap_or(seen),
        // `model[1m]`: the size of the context is no part of the name.
        EventKind::PreModelSwitch | EventKind::PostModelSwitch => seen.split('[').next().unwrap_or(seen),
        _ => seen,
    }
}

/// Members that have a place of their own in an event.
fn held(key: &str) -> bool {
    matches!(
        key,
        "hook_event_name"
            | "session_id"
            | "cwd"
            | "transcript_path"
            | "agent_id"
            | "agent_type"
            | "permission_mode"
            | "tool_name"
            | "tool_input"
            | "tool_use_id"
            | "tool_response"
    )
}

fn tool(event: &mut Event, map: &Map<String, Value>) -> Result<(), ReadError> {
    let name = values::first_string(map, &["tool_name"])?.unwrap_or_default();
    let input = values::first(map, &["tool_input"]).cloned().unwrap_or_else(|| Value::Object(Map::new()));
    event.paths = values::input_paths(&input);
    if !name.is_empty() {
        values::push_unique(&mut event.match_names, &name);
        for alias in profile::aliases(&name) {
            values::push_unique(&mut event.match_names, alias);
        }
    }
    event.tool = Some(ToolCall {
        native_name: name.clone(),
        name,
        native_input: input.clone(),
        input,
        use_id: values::text(map.get("tool_use_id")),
        response: values::first(map, &["tool_response"]).cloned(),
    });
    Ok(())
}

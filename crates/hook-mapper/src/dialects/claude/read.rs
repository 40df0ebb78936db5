//! Payloads of Claude Code ("Common input fields" and the input of each event).

use std::path::PathBuf;
use std::sync::Arc;

use hook_core::dialect::type_name;
use hook_core::{Event, EventHint, EventKind, Incoming, Payload, ReadError, SessionInfo, Subject, ToolCall};
use serde_json::{Map, Value};

use super::profile::{self, PROFILE};
use super::skills;
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
        prompt_id: values::text(map.get("prompt_id")),
        effort: values::effort(map.get("effort")),
        scratchpad: values::some_text(map.get("scratchpad_dir")).map(PathBuf::from),
    };
    match row.subject {
        Subject::Tool => tool(&mut event, map)?,
        Subject::Field(field) => {
            // A payload that does not name its subject has none: every matcher fits, so that no guard is passed by.
            event.subject = values::text(map.get(field)).and_then(|seen| subject(&event.kind, &seen));
        }
        Subject::None => {}
    }
    event.variant = profile::variant_field(&event.kind).and_then(|field| values::text(map.get(field)));
    if event.tool.is_none() {
        event.paths = paths(&event.kind, map);
    }
    event.fields = map.iter().filter(|(key, _)| !held(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
    let control = skills::control(&event);
    Ok(Incoming { events: vec![event], control })
}

/// What matchers see of a subject; `None` where every matcher fits.
fn subject(kind: &EventKind, seen: &str) -> Option<String> {
    match kind {
        EventKind::FileChanged => Some(seen.rsplit(['/', '\\']).next().unwrap_or(seen).to_owned()),
        EventKind::PreModelSwitch | EventKind::PostModelSwitch => canonical_model(seen).map(str::to_owned),
        _ => Some(seen.to_owned()),
    }
}

/// The name that matchers of model switches compare: without the size of the context (`[1m]`) and the date of the release.
/// Names of other providers, aliases and deployments have none ("PreModelSwitch": such a switch runs every hook).
fn canonical_model(model: &str) -> Option<&str> {
    let name = model.split('[').next().unwrap_or(model).trim_end();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if !name.starts_with("claude-") || !name.chars().all(plain) {
        return None;
    }
    match name.rsplit_once('-') {
        Some((rest, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => Some(rest),
        _ => Some(name),
    }
}

/// The files and directories that an event without a tool of its own is about.
fn paths(kind: &EventKind, map: &Map<String, Value>) -> Vec<PathBuf> {
    let field = match kind {
        EventKind::InstructionsLoaded | EventKind::ConfigChange | EventKind::FileChanged => "file_path",
        EventKind::CwdChanged => "new_cwd",
        EventKind::DirectoryAdded => "directory",
        EventKind::WorktreeRemove => "worktree_path",
        EventKind::PostToolBatch => {
            let calls = map.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
            return calls.filter_map(|call| call.get("tool_input")).flat_map(values::input_paths).collect();
        }
        _ => return Vec::new(),
    };
    values::some_text(map.get(field)).map(PathBuf::from).into_iter().collect()
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

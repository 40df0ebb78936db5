//! Payloads of the engine's own agents: neutral names in an envelope, or bare.

use std::path::PathBuf;
use std::sync::Arc;

use hook_core::dialect::type_name;
use hook_core::{
    DialectId, Event, EventHint, EventKind, Incoming, Payload, ReadError, SessionInfo, Subject, ToolCall,
};
use serde_json::{Map, Value};

use super::profile;
use crate::values;

pub(super) fn read(payload: Payload, hint: &EventHint) -> Result<Incoming, ReadError> {
    let Value::Object(map) = &payload.value else {
        return Err(ReadError::NotAnObject { found: type_name(&payload.value) });
    };
    let named = match values::first_string(map, &["event", "hook_event_name"])? {
        // A bare FileChanged document has an `event` of its own; its name stands in `hook_event_name`.
        Some(name) if profile::event_row(&name).is_none() && map.contains_key("hook_event_name") => {
            values::first_string(map, &["hook_event_name"])?
        }
        named => named,
    };
    let name = match (named, &hint.event) {
        (Some(named), Some(hinted)) if profile::event_row(&named).is_none() => {
            // The wiring knows better than a word that names no event.
            if profile::event_row(hinted).is_some() { hinted.clone() } else { named }
        }
        (Some(named), _) => named,
        (None, Some(hinted)) => hinted.clone(),
        (None, None) => return Err(ReadError::NoEvent { field: "event" }),
    };
    let data = match map.get("data") {
        Some(Value::Object(data)) => data.clone(),
        Some(Value::Null) => Map::new(),
        None => {
            let mut bare = map.clone();
            if bare.get("event").and_then(Value::as_str) == Some(name.as_str()) {
                bare.shift_remove("event");
            }
            bare
        }
        Some(other) => {
            return Err(ReadError::WrongType {
                field: "data".into(),
                found: type_name(other),
                wanted: "an object",
            });
        }
    };
    let around = |key: &str| -> Result<Option<String>, ReadError> {
        Ok(values::first_string(&data, &[key])?.or(values::first_string(map, &[key])?))
    };
    let session = SessionInfo {
        id: around("session_id")?,
        cwd: around("cwd")?.map(PathBuf::from),
        transcript: around("transcript_path")?,
        agent_id: around("agent_id")?,
        agent_type: around("agent_type")?,
        permission_mode: around("permission_mode")?,
        prompt_id: around("prompt_id")?,
        effort: values::effort(data.get("effort")),
        scratchpad: around("scratchpad_dir")?.map(PathBuf::from),
    };
    let row = profile::event_row(&name);
    let kind = row.map_or_else(|| EventKind::from_name(&name), |row| EventKind::from_name(row.name));
    let subject = row.map_or(Subject::None, |row| row.subject);
    let native_event = row.map_or(name, |row| row.name.to_owned());
    let mut event = Event::new(kind, DialectId::NATIVE, native_event, Arc::new(payload.clone()));
    event.session = session;
    tool(&mut event, &data)?;
    if let Subject::Field(field) = subject {
        let seen = if field == "agent_type" {
            event.session.agent_type.clone()
        } else {
            values::text(values::first(&data, &[field, other_spelling(field)]))
        };
        event.variant = seen.clone();
        event.subject = match (&event.kind, seen) {
            // What a matcher on files means is the name in its directory.
            (EventKind::FileChanged, Some(path)) => Some(base_name(&path).to_owned()),
            (_, seen) => Some(seen.unwrap_or_default()),
        };
    }
    event.fields = fields(&data);
    Ok(Incoming { events: vec![event], control: None })
}

/// What older payloads call the same thing.
fn other_spelling(field: &str) -> &'static str {
    match field {
        "source" => "trigger",
        "notification_type" => "type",
        _ => "",
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn tool(event: &mut Event, data: &Map<String, Value>) -> Result<(), ReadError> {
    let name = values::first_string(data, &["tool_name"])?;
    let on_tools = profile::event_row(event.kind.name()).is_some_and(|row| row.subject == Subject::Tool);
    if name.is_none() && !on_tools {
        event.paths = values::input_paths(&Value::Object(data.clone()));
        return Ok(());
    }
    let name = name.unwrap_or_default();
    let input = values::first(data, &["tool_input"]).cloned().unwrap_or_else(|| Value::Object(Map::new()));
    event.paths = values::input_paths(&input);
    // Without a name every matcher fits: a guard must not be passed by because a payload is incomplete.
    if !name.is_empty() {
        values::push_unique(&mut event.match_names, &name);
        if let Some(other) = profile::other_name(&name) {
            values::push_unique(&mut event.match_names, other);
        }
    }
    event.tool = Some(ToolCall {
        native_name: name.clone(),
        name,
        native_input: input.clone(),
        input,
        use_id: values::some_text(data.get("tool_use_id")),
        response: values::first(data, &["tool_response", "tool_result"]).cloned(),
    });
    Ok(())
}

fn fields(data: &Map<String, Value>) -> Map<String, Value> {
    const HELD: &[&str] = &[
        "hook_event_name",
        "tool_name",
        "tool_input",
        "tool_use_id",
        "tool_response",
        "session_id",
        "cwd",
        "transcript_path",
        "agent_id",
        "agent_type",
        "permission_mode",
    ];
    data.iter()
        .filter(|(key, _)| !HELD.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

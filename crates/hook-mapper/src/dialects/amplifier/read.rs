//! Amplifier's events in neutral form ("Shell hooks module for Amplifier, Complete Event Mapping").

use std::path::PathBuf;
use std::sync::Arc;

use hook_core::dialect::type_name;
use hook_core::{
    Control, ControlMessage, Event, EventHint, EventKind, Incoming, Payload, ReadError, SessionInfo, ToolCall,
};
use serde_json::{Map, Value};

use super::profile::{ID, PROFILE, neutral_tool};
use crate::values;

/// The event data with what stands around it.
struct Envelope {
    event: String,
    data: Payload,
    session: Option<String>,
    cwd: Option<String>,
}

pub(super) fn read(payload: Payload, hint: &EventHint) -> Result<Incoming, ReadError> {
    let envelope = open(payload, hint)?;
    let Envelope { event, data, session, cwd } = envelope;
    let Value::Object(map) = &data.value else {
        return Err(ReadError::WrongType {
            field: "data".into(),
            found: type_name(&data.value),
            wanted: "an object",
        });
    };
    let info = SessionInfo {
        id: values::first_string(map, &["session_id"])?.or(session),
        cwd: values::first_string(map, &["cwd"])?.or(cwd).map(PathBuf::from),
        transcript: values::some_text(map.get("transcript_path")),
        agent_id: None,
        agent_type: None,
        permission_mode: values::some_text(map.get("permission_mode")),
        ..SessionInfo::default()
    };
    let map = map.clone();
    let raw = Arc::new(data);
    let make = |kind: EventKind| {
        let mut made = Event::new(kind, ID, event.as_str(), raw.clone());
        made.session = info.clone();
        made.fields = fields(&map);
        made
    };

    let events = match event.as_str() {
        "tool:pre" | "PreToolUse" => vec![with_tool(make(EventKind::PreToolUse), &map)?],
        "tool:post" | "PostToolUse" => {
            let post = with_tool(make(EventKind::PostToolUse), &map)?;
            let name = post.tool.as_ref().map_or("", |tool| tool.native_name.as_str());
            if ends_subagent(name, hint) {
                let stop = with_tool(make(EventKind::SubagentStop), &map)?;
                vec![post, stop]
            } else {
                vec![post]
            }
        }
        "SubagentStop" => vec![with_tool(make(EventKind::SubagentStop), &map)?],
        "approval:required" | "PermissionRequest" => {
            vec![with_tool(make(EventKind::PermissionRequest), &map)?]
        }
        "prompt:submit" | "UserPromptSubmit" => vec![make(EventKind::UserPromptSubmit)],
        "session:start" | "SessionStart" => {
            vec![started(make(EventKind::SessionStart), &start_trigger(&map))]
        }
        "session:resume" => vec![started(make(EventKind::SessionStart), "resume")],
        "context:post_compact" | "context:compaction" => {
            vec![started(make(EventKind::SessionStart), "compact")]
        }
        "session:end" | "SessionEnd" => vec![make(EventKind::SessionEnd)],
        "prompt:complete" | "orchestrator:complete" | "Stop" => {
            let mut stop = make(EventKind::Stop);
            stop.once_per_turn = Some("stop");
            vec![stop]
        }
        "context:pre_compact" | "PreCompact" => {
            let trigger = values::some_text(map.get("trigger")).unwrap_or_else(|| "auto".into());
            vec![with_variant(make(EventKind::PreCompact), "trigger", &trigger)]
        }
        "user:notification" | "Notification" => {
            let mut notice = make(EventKind::Notification);
            if let Some(kind) = values::some_text(values::first(&map, &["type", "notification_type"])) {
                notice = with_variant(notice, "notification_type", &kind);
            }
            vec![notice]
        }
        _ => Vec::new(),
    };
    let message = match event.as_str() {
        "skill:loaded" => skill_loaded(&map),
        "skill:unloaded" => {
            values::some_text(map.get("skill_name")).map(|name| ControlMessage::SkillUnloaded { name })
        }
        _ => None,
    };
    let control = message.map(|message| Control { dialect: ID, session: info, message });
    Ok(Incoming { events, control })
}

/// Takes the payload apart. With a hint the event data may come bare; a `data` member makes it an envelope either way.
fn open(payload: Payload, hint: &EventHint) -> Result<Envelope, ReadError> {
    let Payload { text, value } = payload;
    let mut map = match value {
        Value::Object(map) => map,
        other => return Err(ReadError::NotAnObject { found: type_name(&other) }),
    };
    let enveloped = map.get("data").is_some_and(Value::is_object);
    let bare = || Payload { text: text.clone(), value: Value::Object(map.clone()) };
    if let (false, Some(event)) = (enveloped, &hint.event) {
        // An envelope without data is an event without data, not data with an `event` member.
        let empty =
            map.get("event").and_then(Value::as_str).is_some_and(is_native) && map.contains_key("data");
        if !empty {
            return Ok(Envelope { event: event.clone(), data: bare(), session: None, cwd: None });
        }
    }
    let named = values::first_string(&map, &["event"])?;
    let Some(event) = named.or_else(|| hint.event.clone()) else {
        return Err(ReadError::NoEvent { field: "event" });
    };
    let session = values::first_string(&map, &["session_id"])?;
    let cwd = values::first_string(&map, &["cwd"])?;
    let data = match map.remove("data") {
        Some(Value::Null) => Value::Object(Map::new()),
        Some(data) => data,
        // Without `data` the members stand beside `event`: a guard must not look at nothing.
        None => {
            map.remove("event");
            Value::Object(map)
        }
    };
    Ok(Envelope { event, data: Payload::from_value(data), session, cwd })
}

/// True for the tools that run a subagent: the setting `subagent_tools`, else `Task`; whole names, letter case ignored.
fn ends_subagent(tool: &str, hint: &EventHint) -> bool {
    let same = |name: &str| tool.to_lowercase() == name.to_lowercase();
    match &hint.subagent_tools {
        Some(names) => names.iter().any(|name| same(name)),
        None => same("Task"),
    }
}

fn is_native(name: &str) -> bool {
    name.contains(':') || PROFILE.event(name).is_some()
}

fn with_tool(mut event: Event, map: &Map<String, Value>) -> Result<Event, ReadError> {
    let native_name = values::first_string(map, &["tool_name", "name"])?.unwrap_or_default();
    let name = neutral_tool(&native_name).unwrap_or(&native_name).to_owned();
    let input =
        values::first(map, &["tool_input", "input"]).cloned().unwrap_or_else(|| Value::Object(Map::new()));
    let response = values::first(map, &["tool_result", "result", "tool_response"]).cloned();
    if !native_name.is_empty() {
        values::push_unique(&mut event.match_names, &native_name);
        values::push_unique(&mut event.match_names, &name);
    } else {
        // A call without a name is still a call; only a matcher for every value means it.
        event.subject = Some(String::new());
    }
    event.paths = values::input_paths(&input);
    event.tool = Some(ToolCall {
        native_name,
        name,
        native_input: input.clone(),
        input,
        use_id: values::some_text(values::first(map, &["tool_use_id", "tool_call_id"])),
        response: if event.kind == EventKind::PreToolUse { None } else { response },
    });
    Ok(event)
}

fn start_trigger(map: &Map<String, Value>) -> String {
    values::some_text(map.get("trigger")).unwrap_or_else(|| {
        let cleared = map.get("clear") == Some(&Value::Bool(true));
        if cleared { "clear" } else { "startup" }.to_owned()
    })
}

fn started(mut event: Event, trigger: &str) -> Event {
    event.fields.shift_remove("trigger");
    with_variant(event, "source", trigger)
}

fn with_variant(mut event: Event, field: &str, value: &str) -> Event {
    event.variant = Some(value.to_owned());
    event.subject = Some(value.to_owned());
    event.fields.insert(field.to_owned(), Value::from(value));
    event
}

/// The members that no part of the event holds, under neutral names.
fn fields(map: &Map<String, Value>) -> Map<String, Value> {
    const HELD: &[&str] = &[
        "tool_name",
        "name",
        "tool_input",
        "input",
        "tool_result",
        "result",
        "tool_response",
        "tool_use_id",
        "tool_call_id",
        "session_id",
        "cwd",
        "transcript_path",
        "permission_mode",
    ];
    map.iter().filter(|(key, _)| !HELD.contains(&key.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect()
}

fn skill_loaded(map: &Map<String, Value>) -> Option<ControlMessage> {
    let name = values::some_text(map.get("skill_name"))?;
    // Without hooks nothing is registered; those of the skill's file, where there is one, are in force all the same.
    let hooks = map.get("hooks").cloned().unwrap_or_default();
    let directory = values::some_text(map.get("skill_directory")).map(PathBuf::from);
    Some(ControlMessage::SkillLoaded { name, directory, hooks })
}

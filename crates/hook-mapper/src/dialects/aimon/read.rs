//! AIMON's events in neutral form ("Hook Configuration Guide, Supported events and their mapping").
//!
//! A host sends `{"event", "data", "session_id", "cwd"}`; the members of `data` bear the names of the document that hooks get:
//! `tool_name`, `tool_input`, `invoker_name`, `iteration`, `compaction_trigger` and so on. Without `data` they stand beside `event`.

use std::path::PathBuf;
use std::sync::Arc;

use hook_core::dialect::type_name;
use hook_core::{
    Control, ControlMessage, Event, EventHint, EventKind, Incoming, Payload, ReadError, SessionInfo, ToolCall,
};
use serde_json::{Map, Value};

use super::profile::{ID, event_row};
use crate::values;

pub(super) fn read(payload: Payload, hint: &EventHint) -> Result<Incoming, ReadError> {
    let Value::Object(envelope) = &payload.value else {
        return Err(ReadError::NotAnObject { found: type_name(&payload.value) });
    };
    let named = values::first_string(envelope, &["event", "hook_event"])?;
    let Some(name) = named.or_else(|| hint.event.clone()) else {
        return Err(ReadError::NoEvent { field: "event" });
    };
    let data = match envelope.get("data") {
        Some(Value::Object(data)) => data.clone(),
        Some(Value::Null) => Map::new(),
        None => {
            let mut bare = envelope.clone();
            bare.shift_remove("event");
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
        Ok(values::first_string(&data, &[key])?.or(values::first_string(envelope, &[key])?))
    };
    let mut session = SessionInfo {
        id: around("session_id")?.filter(|id| !id.is_empty()),
        cwd: around("cwd")?.map(PathBuf::from),
        transcript: around("transcript_path")?,
        ..SessionInfo::default()
    };
    if let Some(message) = skill(&name, &data) {
        let control = Control { dialect: ID, session, message };
        return Ok(Incoming { events: Vec::new(), control: Some(control) });
    }
    let Some(row) = event_row(&name) else { return Ok(Incoming::default()) };

    let subagent = of_subagent(&data);
    if row.name.starts_with("subagent") {
        session.agent_type = values::some_text(data.get("subagent_name"));
        session.agent_id = values::some_text(data.get("task_id"));
    } else if subagent {
        session.agent_type = values::some_text(data.get("invoker_name"));
        session.agent_id = values::some_text(values::first(&data, &["agent_id", "agent_runtime_id"]))
            .or_else(|| session.agent_type.clone());
    }
    let raw = Arc::new(payload.clone());
    let make = |kind: EventKind| {
        let mut event = Event::new(kind, ID, row.name, raw.clone());
        event.session = session.clone();
        event.fields = fields(&data);
        event
    };
    let events = match row.name {
        "preTool" => vec![tool(make(EventKind::PreToolUse), &data)?],
        "postTool" => vec![after_tool(make, &data)?],
        "permissionRequest" => vec![tool(make(EventKind::PermissionRequest), &data)?],
        "permissionDenied" => vec![denied(tool(make(EventKind::PermissionDenied), &data)?)],
        "onStart" => started(make, &data, subagent),
        "preCompact" => vec![compaction(make(EventKind::PreCompact), &data)],
        "postCompact" => vec![compaction(make(EventKind::PostCompact), &data)],
        "onSessionStart" => {
            let source = values::some_text(data.get("source")).unwrap_or_else(|| "startup".into());
            vec![variant(make(EventKind::SessionStart), "source", &source)]
        }
        "onSessionEnd" => {
            let reason = values::some_text(values::first(&data, &["termination_reason", "reason"]));
            vec![variant(make(EventKind::SessionEnd), "reason", &reason.unwrap_or_else(|| "other".into()))]
        }
        "subagentStart" => vec![of_agent(make(EventKind::SubagentStart))],
        "subagentStop" => vec![of_agent(make(EventKind::SubagentStop))],
        "onStop" => vec![make(EventKind::Stop)],
        "onConfigReload" => vec![make(EventKind::ConfigReload)],
        _ => Vec::new(),
    };
    Ok(Incoming { events, control: None })
}

/// A skill that was activated or deactivated; its hooks may come along, else they stand in its file.
fn skill(event: &str, data: &Map<String, Value>) -> Option<ControlMessage> {
    let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(event));
    let name = values::some_text(values::first(data, &["skill_name", "name"]))?;
    if is(&["skillActivated", "skill:loaded"]) {
        let directory = values::some_text(data.get("skill_directory")).map(PathBuf::from);
        let hooks = data.get("hooks").cloned().unwrap_or_default();
        return Some(ControlMessage::SkillLoaded { name, directory, hooks });
    }
    is(&["skillDeactivated", "skill:unloaded"]).then_some(ControlMessage::SkillUnloaded { name })
}

fn of_subagent(data: &Map<String, Value>) -> bool {
    let kind = data.get("invoker_type").and_then(Value::as_str);
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("SUBAGENT"))
}

fn tool(mut event: Event, data: &Map<String, Value>) -> Result<Event, ReadError> {
    let name = values::first_string(data, &["tool_name"])?.unwrap_or_default();
    let input = values::first(data, &["tool_input"]).cloned().unwrap_or_else(|| Value::Object(Map::new()));
    // Without a name every matcher fits: a guard must not be passed by because a payload is incomplete.
    if !name.is_empty() {
        values::push_unique(&mut event.match_names, &name);
    }
    event.paths = values::input_paths(&input);
    event.tool = Some(ToolCall {
        native_name: name.clone(),
        name,
        native_input: input.clone(),
        input,
        use_id: values::some_text(data.get("tool_use_id")),
        response: None,
    });
    Ok(event)
}

/// A call that failed is another event in most agents.
fn after_tool(make: impl Fn(EventKind) -> Event, data: &Map<String, Value>) -> Result<Event, ReadError> {
    let status = data.get("tool_result_status").and_then(Value::as_str);
    let failed = status.is_some_and(|status| status.eq_ignore_ascii_case("error"));
    let kind = if failed { EventKind::PostToolUseFailure } else { EventKind::PostToolUse };
    let mut event = tool(make(kind), data)?;
    let result = values::first(data, &["tool_result", "tool_response"]).cloned();
    if let (true, Some(text)) = (failed, values::text(result.as_ref())) {
        event.fields.entry("error").or_insert_with(|| text.into());
    }
    if let Some(tool) = &mut event.tool {
        tool.response = result;
    }
    Ok(event)
}

fn denied(mut event: Event) -> Event {
    if let Some(reason) = event.fields.get("deny_reason").cloned() {
        event.fields.entry("reason").or_insert(reason);
    }
    event
}

/// The turn of the main agent begins with the user's prompt, which is an event of its own for hooks of other dialects.
fn started(make: impl Fn(EventKind) -> Event, data: &Map<String, Value>, subagent: bool) -> Vec<Event> {
    let with_prompt = |kind| {
        let mut event = make(kind);
        if let Some(prompt) = values::first(data, &["user_message", "prompt"]) {
            event.fields.insert("prompt".into(), prompt.clone());
        }
        event
    };
    let mut events = vec![with_prompt(EventKind::TurnStart)];
    if !subagent {
        events.push(with_prompt(EventKind::UserPromptSubmit));
    }
    events
}

/// The agent writes AUTO and MANUAL.
fn compaction(event: Event, data: &Map<String, Value>) -> Event {
    let trigger = values::some_text(values::first(data, &["compaction_trigger", "trigger"]));
    variant(event, "trigger", &trigger.unwrap_or_else(|| "auto".into()).to_ascii_lowercase())
}

fn of_agent(mut event: Event) -> Event {
    event.subject = Some(event.session.agent_type.clone().unwrap_or_default());
    event
}

fn variant(mut event: Event, field: &str, value: &str) -> Event {
    event.variant = Some(value.to_owned());
    event.subject = Some(value.to_owned());
    event.fields.insert(field.to_owned(), value.into());
    event
}

/// The members that no part of the event holds.
fn fields(data: &Map<String, Value>) -> Map<String, Value> {
    const HELD: &[&str] = &[
        "hook_event",
        "tool_name",
        "tool_input",
        "tool_use_id",
        "tool_result",
        "tool_response",
        "session_id",
        "cwd",
        "transcript_path",
    ];
    data.iter()
        .filter(|(key, _)| !HELD.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

//! What an Amplifier hook gets: its standard input and its variables.

use std::ffi::OsString;

use hook_core::{Event, EventKind, HookCx, Layer};
use serde_json::{Map, Value, json};

use super::profile::ID;
use crate::{rfc3339, values};

/// One JSON object: the module's fields, and beside them those that scripts written for Claude Code look for.
pub(super) fn write_event(cx: &HookCx<'_>) -> String {
    let event = cx.event;
    let mut out = Map::new();
    out.insert("hook_event_name".into(), event.kind.name().into());
    out.insert("session_id".into(), event.session.id.as_deref().unwrap_or_default().into());
    let cwd = event.session.cwd.as_ref().unwrap_or(&cx.host.project);
    out.insert("cwd".into(), cwd.to_string_lossy().into());
    optional(&mut out, "transcript_path", event.session.transcript.as_deref());
    optional(&mut out, "permission_mode", event.session.permission_mode.as_deref());

    match event.kind {
        EventKind::PreToolUse | EventKind::PostToolUse => tool(&mut out, event),
        EventKind::UserPromptSubmit => {
            let prompt = values::text(event.fields.get("prompt")).unwrap_or_default();
            out.insert("prompt".into(), prompt.into());
        }
        EventKind::SessionStart => {
            let trigger = trigger(event, "source").unwrap_or_else(|| "startup".into());
            out.insert("trigger".into(), trigger.clone().into());
            out.insert("source".into(), trigger.into());
        }
        EventKind::SessionEnd => {
            if let Some(reason) = event.fields.get("reason") {
                out.insert("reason".into(), reason.clone());
            }
        }
        _ => {
            as_it_came(&mut out, event);
            if event.tool.is_some() {
                tool(&mut out, event);
            }
        }
    }
    match event.kind {
        EventKind::Stop | EventKind::SubagentStop => {
            out.insert("stop_hook_active".into(), stop_active(cx).into());
        }
        EventKind::PreCompact => {
            let trigger = trigger(event, "trigger").unwrap_or_else(|| "auto".into());
            out.insert("trigger".into(), trigger.into());
        }
        EventKind::Notification => {
            let kind = trigger(event, "notification_type").unwrap_or_default();
            out.insert("type".into(), kind.clone().into());
            out.insert("notification_type".into(), kind.into());
            out.entry("message").or_insert_with(|| "".into());
        }
        _ => {}
    }
    out.insert("timestamp".into(), rfc3339::format(cx.host.clock.now()).into());
    Value::Object(out).to_string()
}

/// What the event says, else whether a stop hook kept this turn going.
pub(super) fn stop_active(cx: &HookCx<'_>) -> bool {
    let given = cx.event.fields.get("stop_hook_active").and_then(Value::as_bool);
    given.unwrap_or(cx.session.state.stop_active)
}

fn optional(out: &mut Map<String, Value>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        out.insert(name.into(), value.into());
    }
}

/// A sub-kind: the event's variant, else the field that holds it.
fn trigger(event: &Event, field: &str) -> Option<String> {
    event.variant.clone().or_else(|| values::some_text(event.fields.get(field)))
}

/// The event data; of another agent's event its neutral fields.
fn as_it_came(out: &mut Map<String, Value>, event: &Event) {
    let own = (event.dialect == ID).then(|| event.raw.value.as_object()).flatten();
    for (name, value) in own.unwrap_or(&event.fields) {
        let stale = event.rewritten && matches!(name.as_str(), "tool_input" | "input");
        let mine = ["hook_event_name", "session_id", "cwd"].contains(&name.as_str());
        if !stale && !mine {
            out.insert(name.clone(), value.clone());
        }
    }
}

/// The tool under the names of its own agent where that is Amplifier, else under the neutral ones.
fn tool(out: &mut Map<String, Value>, event: &Event) {
    let call = event.tool.as_ref();
    let native = event.dialect == ID;
    let name = call.map_or("", |call| if native { &call.native_name } else { &call.name });
    let input = call.map(|call| if native { call.native_input.clone() } else { call.input.clone() });
    out.insert("tool_name".into(), name.into());
    out.insert("tool_input".into(), input.unwrap_or_else(|| json!({})));
    optional(out, "tool_use_id", call.and_then(|call| call.use_id.as_deref()));
    if matches!(event.kind, EventKind::PostToolUse | EventKind::SubagentStop) {
        let result = call.and_then(|call| call.response.clone()).unwrap_or_else(|| json!({}));
        out.insert("tool_result".into(), result.clone());
        out.insert("tool_response".into(), result);
    }
}

/// The variables of the module, under both names where it has two.
pub(super) fn variables(cx: &HookCx<'_>) -> Vec<(String, OsString)> {
    let project = &cx.host.project;
    let origin = &cx.hook.origin;
    let user = cx.host.home.as_ref().filter(|_| origin.layer == Layer::User);
    let hooks = user.unwrap_or(project).join(".amplifier").join("hooks");
    let session = cx.event.session.id.as_deref().filter(|id| !id.is_empty()).unwrap_or("unknown");
    let root = origin.root.as_deref().unwrap_or(&hooks);
    let mut all: Vec<(String, OsString)> = vec![
        ("AMPLIFIER_PROJECT_DIR".into(), project.into()),
        ("CLAUDE_PROJECT_DIR".into(), project.into()),
        ("CLAUDE_PLUGIN_ROOT".into(), root.into()),
        ("AMPLIFIER_SESSION_ID".into(), session.into()),
    ];
    if let Some(file) = &cx.session.env_file {
        all.push(("AMPLIFIER_ENV_FILE".into(), file.into()));
        all.push(("CLAUDE_ENV_FILE".into(), file.into()));
    }
    if let Some(hook) = &cx.host.hook_command {
        all.push(("HOOK".into(), hook.into()));
    }
    all.push(("AMPLIFIER_HOOKS_DIR".into(), hooks.into()));
    all
}

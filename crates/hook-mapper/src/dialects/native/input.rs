//! What a native hook gets: one document for every agent, a superset of Claude Code's, and its variables.

use std::ffi::OsString;

use hook_core::{EventKind, HookCx, Layer};
use serde_json::{Map, Value, json};

/// The document on standard input. What the engine knows of an event goes before what the payload says.
pub(super) fn write_event(cx: &HookCx<'_>) -> String {
    let event = cx.event;
    let session = &event.session;
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            out.insert(name.to_owned(), value);
        }
    };
    put("hook_event_name", event.kind.name().into());
    put("event", event.kind.name().into());
    put("agent", event.dialect.0.into());
    put("native_event", event.native_event.as_str().into());
    put("session_id", session.id.as_deref().unwrap_or_default().into());
    put("cwd", session.cwd.as_ref().unwrap_or(&cx.host.project).to_string_lossy().into());
    put("transcript_path", session.transcript.clone().into());
    put("permission_mode", session.permission_mode.clone().into());
    put("agent_id", session.agent_id.clone().into());
    put("agent_type", session.agent_type.clone().into());
    if let Some(tool) = &event.tool {
        put("tool_name", tool.name.as_str().into());
        put("native_tool_name", tool.native_name.as_str().into());
        put("tool_input", tool.input.clone());
        put("tool_use_id", tool.use_id.clone().into());
        put("tool_response", tool.response.clone().unwrap_or_default());
    }
    if let (Some(field), Some(variant)) = (variant_field(&event.kind), &event.variant) {
        put(field, variant.as_str().into());
    }
    if matches!(event.kind, EventKind::Stop | EventKind::SubagentStop) {
        let given = event.fields.get("stop_hook_active").and_then(Value::as_bool);
        put("stop_hook_active", json!(given.unwrap_or(cx.session.state.stop_active)));
    }
    for (name, value) in &event.fields {
        // FileChanged has an `event` of its own, which scripts written for Claude Code read.
        let own = name == "event" && event.kind == EventKind::FileChanged;
        if own || !out.contains_key(name) {
            out.insert(name.clone(), value.clone());
        }
    }
    Value::Object(out).to_string()
}

/// The member that holds the sub-kind of an event.
fn variant_field(kind: &EventKind) -> Option<&'static str> {
    match kind {
        EventKind::SessionStart | EventKind::ConfigChange | EventKind::DirectoryAdded => Some("source"),
        EventKind::Setup | EventKind::PreCompact | EventKind::PostCompact => Some("trigger"),
        EventKind::Notification => Some("notification_type"),
        EventKind::SessionEnd => Some("reason"),
        _ => None,
    }
}

/// The variables, and those that scripts carried over from Claude Code need.
pub(super) fn variables(cx: &HookCx<'_>) -> Vec<(String, OsString)> {
    let event = cx.event;
    let project = &cx.host.project;
    let root = cx.hook.origin.root.as_deref().unwrap_or(project);
    let mut all: Vec<(String, OsString)> = vec![
        ("HOOK_EVENT".into(), event.kind.name().into()),
        ("HOOK_AGENT".into(), event.dialect.0.into()),
        ("HOOK_PROJECT_DIR".into(), project.into()),
        ("HOOK_ROOT".into(), root.into()),
        ("HOOK_SESSION_ID".into(), event.session.id.as_deref().unwrap_or_default().into()),
        ("HOOK_TOOL_NAME".into(), event.tool.as_ref().map_or("", |tool| &tool.name).into()),
        ("CLAUDE_PROJECT_DIR".into(), project.into()),
        ("CLAUDE_PLUGIN_ROOT".into(), root.into()),
    ];
    if cx.hook.origin.layer == Layer::Skill {
        all.push(("CLAUDE_SKILL_DIR".into(), root.into()));
    }
    if let Some(file) = &cx.session.env_file {
        all.push(("HOOK_ENV_FILE".into(), file.into()));
        all.push(("CLAUDE_ENV_FILE".into(), file.into()));
    }
    if let Some(hook) = &cx.host.hook_command {
        all.push(("HOOK".into(), hook.into()));
    }
    all
}

//! What a Claude Code hook gets: its document and its variables ("Hook input", "Environment variables").

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hook_core::{EventKind, HookCx, Layer};
use serde_json::{Map, Value, json};

use super::profile::{self, PROFILE};

/// The document on standard input, closed by a line break as the client does.
///
/// Under Claude Code itself the payload is passed on byte for byte: unknown fields, large numbers and odd characters included.
pub(super) fn write_event(cx: &HookCx<'_>) -> String {
    let event = cx.event;
    if event.dialect == PROFILE.id && !event.rewritten {
        return format!("{}\n", event.raw.text);
    }
    if event.dialect == PROFILE.id
        && let (Value::Object(map), Some(tool)) = (&event.raw.value, &event.tool)
    {
        let mut map = map.clone();
        map.insert("tool_input".into(), tool.input.clone());
        return format!("{}\n", Value::Object(map));
    }
    format!("{}\n", document(cx))
}

/// The same event of another agent, in Claude Code's names.
fn document(cx: &HookCx<'_>) -> Value {
    let event = cx.event;
    let session = &event.session;
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            out.insert(name.to_owned(), value);
        }
    };
    put("session_id", session.id.as_deref().unwrap_or_default().into());
    put("transcript_path", session.transcript.as_deref().unwrap_or_default().into());
    put("cwd", session.cwd.as_ref().unwrap_or(&cx.host.project).to_string_lossy().into());
    put("hook_event_name", event.kind.name().into());
    put("permission_mode", session.permission_mode.clone().into());
    put("agent_id", session.agent_id.clone().into());
    put("agent_type", session.agent_type.clone().into());
    if let Some(tool) = &event.tool {
        put("tool_name", tool.name.as_str().into());
        put("tool_input", tool.input.clone());
        put("tool_use_id", tool.use_id.clone().into());
        put("tool_response", tool.response.clone().unwrap_or_default());
    }
    put("prompt_id", session.prompt_id.clone().into());
    put("effort", session.effort.as_ref().map_or(Value::Null, |level| json!({ "level": level })));
    put("scratchpad_dir", session.scratchpad.as_ref().map(|path| path.to_string_lossy()).into());
    // What other agents give as the sub-kind of a changed file is its path.
    if event.kind == EventKind::FileChanged {
        put("file_path", event.paths.first().map(|path| path.to_string_lossy()).into());
    } else if let Some(field) = profile::variant_field(&event.kind) {
        put(field, event.variant.clone().into());
    }
    if matches!(event.kind, EventKind::Stop | EventKind::SubagentStop) {
        let given = event.fields.get("stop_hook_active").and_then(Value::as_bool);
        put("stop_hook_active", given.unwrap_or(cx.session.state.stop_active).into());
    }
    for (name, value) in &event.fields {
        if !out.contains_key(name) {
            out.insert(name.clone(), value.clone());
        }
    }
    Value::Object(out)
}

/// A plugin's name as the name of a directory: it comes from a file of the plugin and may hold anything.
fn directory_name(source: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    source.chars().map(|c| if kept(c) { c } else { '-' }).collect()
}

/// The directory in which a plugin keeps what outlives its updates.
pub(super) fn plugin_data(cx: &HookCx<'_>) -> Option<PathBuf> {
    let origin = &cx.hook.origin;
    // A skill of a plugin bears its name.
    let source = match (origin.layer, origin.source.as_deref()?) {
        (Layer::Pack, name) => name,
        (Layer::Skill, name) => name.split_once(':')?.0,
        _ => return None,
    };
    Some(cx.host.state.as_ref()?.join("plugins").join(directory_name(source)))
}

/// The options of the hook's plugin. A key that is no name of a variable is none of an option, either.
fn options<'a>(cx: &HookCx<'a>) -> impl Iterator<Item = (&'a String, &'a String)> {
    let is_name = |key: &str| {
        !key.starts_with(|c: char| c.is_ascii_digit())
            && !key.is_empty()
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    cx.hook.grants.options.iter().filter(move |(key, _)| is_name(key))
}

/// `${user_config.KEY}` of the hook's plugin.
pub(super) fn placeholders(cx: &HookCx<'_>) -> Vec<(String, String)> {
    options(cx).map(|(key, value)| (format!("user_config.{key}"), value.clone())).collect()
}

/// What shell lines are handed to where the user wants to see them first ("Environment variables").
pub(super) fn shell_prefix(cx: &HookCx<'_>) -> Option<String> {
    let prefix = cx.host.variable("CLAUDE_CODE_SHELL_PREFIX")?.trim();
    (!prefix.is_empty()).then(|| prefix.to_owned())
}

/// The variables of a hook.
pub(super) fn variables(cx: &HookCx<'_>) -> Vec<(String, OsString)> {
    let event = cx.event;
    let mut all: Vec<(String, OsString)> = vec![
        ("CLAUDE_PROJECT_DIR".into(), cx.host.project.as_os_str().to_owned()),
        ("CLAUDECODE".into(), "1".into()),
        ("CLAUDE_CODE_CHILD_SESSION".into(), "1".into()),
    ];
    // What the agent itself set for this process counts where it fires; that of an agent further out does not.
    let inherited = |name: &str| cx.host.variable(name).filter(|_| event.dialect == PROFILE.id);
    if let Some(level) = event.session.effort.as_deref().or_else(|| inherited("CLAUDE_EFFORT")) {
        all.push(("CLAUDE_EFFORT".into(), level.into()));
    }
    if let Some(id) = &event.session.id {
        all.push(("CLAUDE_CODE_SESSION_ID".into(), id.into()));
    }
    if let (Layer::Pack | Layer::Skill, Some(root)) = (cx.hook.origin.layer, &cx.hook.origin.root) {
        all.push(("CLAUDE_PLUGIN_ROOT".into(), root.as_os_str().to_owned()));
    }
    if let (Layer::Skill, Some(directory)) =
        (cx.hook.origin.layer, cx.hook.origin.file.as_deref().and_then(Path::parent))
    {
        // Claude Code puts it into the text of a skill only; hooks are written with it all the same.
        all.push(("CLAUDE_SKILL_DIR".into(), directory.into()));
    }
    if let Some(data) = plugin_data(cx) {
        all.push(("CLAUDE_PLUGIN_DATA".into(), data.into()));
    }
    for (key, value) in options(cx) {
        all.push((format!("CLAUDE_PLUGIN_OPTION_{}", key.to_ascii_uppercase()), value.into()));
    }
    let has_env_file = matches!(
        event.kind,
        EventKind::SessionStart | EventKind::Setup | EventKind::CwdChanged | EventKind::FileChanged
    );
    if has_env_file {
        // Claude Code's own file reaches its later Bash calls, which ours cannot.
        let own = inherited("CLAUDE_ENV_FILE").map(OsString::from);
        if let Some(file) = own.or_else(|| cx.session.env_file.clone().map(OsString::from)) {
            all.push(("CLAUDE_ENV_FILE".into(), file));
        }
    }
    if let Some(hook) = &cx.host.hook_command {
        all.push(("HOOK".into(), hook.into()));
    }
    all
}

//! What an AIMON hook gets: flat variables, and the same values as a document ("Hook Configuration Guide, command").
//!
//! Both come from one list, so they never differ. Events of other agents are told in the same words, as far as their payloads
//! say them; what they do not say is empty, or zero where a number is due.

use std::ffi::OsString;

use hook_core::{Event, EventKind, HookCx, TemplateValues};
use serde_json::{Map, Value};

use super::profile::{ID, own_event, source_name};
use super::text::{cut, units};
use crate::values;

/// Texts that a model wrote are cut after so many UTF-16 units.
const LONGEST_TEXT: usize = 2000;

const TOOL_EVENTS: &[&str] = &["preTool", "postTool", "permissionRequest", "permissionDenied"];

/// The document on standard input: the variables without their prefix in lower case, all of them text, and the tool's input as it
/// is where there is a tool.
pub(super) fn write_event(cx: &HookCx<'_>) -> String {
    let mut out = Map::new();
    for (name, value) in scalars(cx) {
        out.insert(name.to_owned(), value.into());
    }
    if TOOL_EVENTS.contains(&own_event(cx.hook, &cx.event.kind)) {
        out.insert("tool_input".into(), tool_input(cx.event));
    }
    Value::Object(out).to_string()
}

/// The variables of a hook's process.
pub(super) fn variables(cx: &HookCx<'_>) -> Vec<(String, OsString)> {
    let named = |(name, value): (&str, String)| {
        // No process takes a variable with a zero byte in it.
        (format!("AIMON_{}", name.to_ascii_uppercase()), OsString::from(value.replace('\0', "")))
    };
    let mut all: Vec<(String, OsString)> = scalars(cx).into_iter().map(named).collect();
    let wake = cx.event.wake.iter().flat_map(|wake| wake.words());
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    all.extend(wake.filter(|(name, _)| plain(name)).map(|(name, value)| {
        let value = OsString::from(value.replace('\0', ""));
        (format!("AIMON_REWAKE_{}", name.to_ascii_uppercase()), value)
    }));
    if let Some(hook) = &cx.host.hook_command {
        all.push(("HOOK".into(), hook.into()));
    }
    all
}

/// What templates may name: the tool's input, and what the guide lists ("Template variables"). A session id is not among it.
pub(super) fn template_values(cx: &HookCx<'_>) -> TemplateValues {
    const CONTEXT: &[(&str, &str)] = &[
        ("hook_event", "event"),
        ("skill_name", "skill_name"),
        ("invoker_name", "invoker_name"),
        ("invoker_type", "invoker_type"),
        ("tool_name", "tool_name"),
        ("iteration", "iteration"),
        ("tool_result_status", "tool_result_status"),
    ];
    let name = |scalar: &str| CONTEXT.iter().find(|(known, _)| *known == scalar).map(|(_, name)| *name);
    let context =
        scalars(cx).into_iter().filter_map(|(scalar, value)| Some((name(scalar)?.to_owned(), value.into())));
    TemplateValues { tool_input: tool_input(cx.event), context: context.collect() }
}

pub(super) fn tool_input(event: &Event) -> Value {
    let native = event.dialect == ID;
    let input = event.tool.as_ref().map(|tool| if native { &tool.native_input } else { &tool.input });
    input.cloned().unwrap_or_else(|| Value::Object(Map::new()))
}

/// What every event tells, then what its own event adds, in the order of the agent's table.
pub(super) fn scalars(cx: &HookCx<'_>) -> Vec<(&'static str, String)> {
    let event = cx.event;
    let name = own_event(cx.hook, &event.kind);
    let (invoker, kind) = invoker(event);
    let mut all = vec![
        ("hook_event", name.to_owned()),
        ("skill_name", source_name(cx.hook)),
        ("invoker_name", invoker),
        ("invoker_type", kind),
    ];
    let said = |keys: &[&str]| values::text(values::first(&event.fields, keys));
    let text = |key: &'static str| (key, said(&[key]).unwrap_or_default());
    // A wake-up belongs to no round of the model's work.
    let said_now = |key: &str| said(&[key]).filter(|_| event.wake.is_none());
    let count = |key: &'static str| (key, said_now(key).unwrap_or_else(|| "0".into()));
    let tool_name = || {
        let native = event.dialect == ID;
        let tool = event.tool.as_ref();
        let name = tool.map(|tool| if native { &tool.native_name } else { &tool.name });
        ("tool_name", name.cloned().unwrap_or_default())
    };
    let session = || {
        if let Some(wake) = &event.wake {
            let execution = format!("rewake:{}:{}", wake.id, wake.attempt);
            return [("session_id", String::new()), ("execution_id", execution)];
        }
        let id = event.session.id.clone().unwrap_or_default();
        // Exactly one of the two has a value.
        let execution =
            if id.is_empty() { said(&["execution_id"]).unwrap_or_default() } else { String::new() };
        [("session_id", id), ("execution_id", execution)]
    };
    let subagent =
        |keys: &[&str], own: Option<&String>| said(keys).or_else(|| own.cloned()).unwrap_or_default();
    let trigger = || {
        let trigger = event.variant.clone().or_else(|| said(&["compaction_trigger"]));
        ("compaction_trigger", trigger.unwrap_or_else(|| "auto".into()).to_ascii_uppercase())
    };
    match name {
        "preTool" => all.extend([tool_name(), count("iteration")]),
        "postTool" => {
            let failed = event.kind == EventKind::PostToolUseFailure;
            let status = if failed { "error" } else { "success" };
            all.extend([tool_name(), count("iteration"), ("tool_result_status", status.into())]);
        }
        "permissionRequest" => all.extend([tool_name(), text("principal_id"), text("principal_type")]),
        "permissionDenied" => {
            all.extend([tool_name(), text("principal_id"), text("principal_type")]);
            all.push(("deny_reason", said(&["deny_reason", "reason"]).unwrap_or_default()));
        }
        "onStart" => {
            let length = said(&["user_message_length"]);
            let prompt = || said(&["prompt"]).map_or(0, |prompt| units(&prompt)).to_string();
            all.push(("user_message_length", length.unwrap_or_else(prompt)));
        }
        "onStop" => {
            let ended_well = (event.kind != EventKind::StopFailure).to_string();
            all.extend([("success", said(&["success"]).unwrap_or(ended_well)), count("iteration_count")]);
        }
        "onSessionStart" => {
            all.extend(session());
            all.push(text("agent_runtime_id"));
        }
        "onSessionEnd" => {
            all.extend(session());
            all.push(text("agent_runtime_id"));
            all.push(("session_clean", said(&["session_clean"]).unwrap_or_else(|| "true".into())));
            // Our own word for a reason that the agent did not give is none of the agent's.
            let foreign = (event.dialect != ID).then(|| said(&["reason"])).flatten();
            let reason = said(&["termination_reason"]).or(foreign);
            all.push(("termination_reason", reason.unwrap_or_default()));
        }
        "subagentStart" => {
            all.push(("subagent_name", subagent(&["subagent_name"], event.session.agent_type.as_ref())));
            all.push(("task_id", subagent(&["task_id"], event.session.agent_id.as_ref())));
            for key in ["subagent_goal", "subagent_description"] {
                all.push((key, cut(&said(&[key]).unwrap_or_default(), LONGEST_TEXT)));
            }
        }
        "subagentStop" => {
            all.push(("subagent_name", subagent(&["subagent_name"], event.session.agent_type.as_ref())));
            all.push(("task_id", subagent(&["task_id"], event.session.agent_id.as_ref())));
            all.push(("success", said(&["success"]).unwrap_or_else(|| "true".into())));
        }
        "preCompact" => {
            all.push(trigger());
            all.extend(session());
            all.extend([count("message_count"), count("estimated_tokens")]);
        }
        "postCompact" => {
            all.push(trigger());
            all.extend(["messages_summarized", "pre_compact_tokens", "post_compact_tokens"].map(count));
        }
        "onConfigReload" => {
            all.extend([count("reload_counter"), text("config_source")]);
            all.push(("success", said(&["success", "successful"]).unwrap_or_else(|| "true".into())));
            all.push(text("failure_reason"));
        }
        _ => {}
    }
    all
}

/// Who runs, and what it is. Of another agent that does not name its invokers, the agent itself.
fn invoker(event: &Event) -> (String, String) {
    let said = |key: &str| values::some_text(event.fields.get(key));
    let about = matches!(event.kind, EventKind::SubagentStart | EventKind::SubagentStop);
    let subagent = event.session.agent_id.is_some() && !about;
    let name = said("invoker_name")
        .or_else(|| event.session.agent_type.clone().filter(|_| subagent))
        .unwrap_or_else(|| event.dialect.0.to_owned());
    let kind = said("invoker_type").unwrap_or_else(|| {
        let kind = if subagent { "SUBAGENT" } else { "MAIN_AGENT" };
        kind.to_owned()
    });
    (name, kind)
}

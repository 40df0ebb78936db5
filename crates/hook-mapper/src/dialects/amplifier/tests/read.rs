//! Events.

use hook_core::{ControlMessage, Dialect, EventKind, Payload, ReadError};
use serde_json::{Value, json};

use super::fire;
use crate::Amplifier;
use crate::dialects::testing::{self, Bench};

#[test]
fn every_event_of_the_mapping() {
    let bash = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
    for (native, data, kinds, value) in [
        ("tool:pre", bash.clone(), &["PreToolUse"][..], "Bash"),
        ("tool:pre", json!({ "name": "Bash", "input": {} }), &["PreToolUse"], "Bash"),
        ("tool:pre", json!({ "tool_name": null, "name": "Bash" }), &["PreToolUse"], "Bash"),
        ("tool:pre", json!({}), &["PreToolUse"], ""),
        ("tool:post", bash.clone(), &["PostToolUse"], "Bash"),
        ("tool:post", json!({ "tool_name": "Task", "result": {} }), &["PostToolUse", "SubagentStop"], "Task"),
        ("tool:post", json!({ "tool_name": "task" }), &["PostToolUse", "SubagentStop"], "task"),
        ("tool:post", json!({ "tool_name": "TaskList" }), &["PostToolUse"], "TaskList"),
        ("prompt:submit", json!({ "prompt": "hi", "name": "stray" }), &["UserPromptSubmit"], ""),
        ("session:start", json!({ "session_id": "s1" }), &["SessionStart"], "startup"),
        ("session:start", json!({ "clear": true }), &["SessionStart"], "clear"),
        ("session:start", json!({ "clear": true, "trigger": "startup" }), &["SessionStart"], "startup"),
        ("session:resume", json!({ "trigger": "startup" }), &["SessionStart"], "resume"),
        ("context:post_compact", json!({}), &["SessionStart"], "compact"),
        ("context:compaction", json!({}), &["SessionStart"], "compact"),
        ("session:end", json!({}), &["SessionEnd"], ""),
        ("prompt:complete", json!({ "prompt": "p", "response": "r" }), &["Stop"], ""),
        ("orchestrator:complete", json!({ "turn_count": 1, "name": "stray" }), &["Stop"], ""),
        ("context:pre_compact", json!({ "trigger": "manual" }), &["PreCompact"], "manual"),
        ("context:pre_compact", json!({ "message_count": 3 }), &["PreCompact"], "auto"),
        (
            "approval:required",
            json!({ "tool_name": "Write", "action": "write" }),
            &["PermissionRequest"],
            "Write",
        ),
        ("user:notification", json!({ "type": "idle_prompt" }), &["Notification"], "idle_prompt"),
        ("tool:error", bash, &[], ""),
    ] {
        let events = fire(native, data.clone());
        let found: Vec<&str> = events.iter().map(|event| event.kind.name()).collect();
        assert_eq!(found, kinds, "{native} {data}");
        for event in &events {
            assert_eq!(event.match_values().next().unwrap_or_default(), value, "{native} {data}");
            assert_eq!(event.native_event, native);
            assert_eq!(event.raw.value, data, "{native}");
        }
    }
}

#[test]
fn both_ends_of_a_turn_are_one_stop() {
    for native in ["prompt:complete", "orchestrator:complete"] {
        assert_eq!(fire(native, json!({}))[0].once_per_turn, Some("stop"), "{native}");
    }
    assert_eq!(fire("tool:post", json!({ "tool_name": "task" }))[1].once_per_turn, None);
}

#[test]
fn stock_tools_answer_to_their_neutral_names_too() {
    for (native, names) in [
        ("bash", &["bash", "Bash"][..]),
        ("write_file", &["write_file", "Write"]),
        ("edit_file", &["edit_file", "Edit"]),
        ("read_file", &["read_file", "Read"]),
        ("delegate", &["delegate", "Task"]),
        ("Bash", &["Bash"]),
        ("mcp__fs__read", &["mcp__fs__read"]),
    ] {
        let events = fire("tool:pre", json!({ "tool_name": native, "tool_input": { "file_path": "a.py" } }));
        assert_eq!(events[0].match_names, names);
        assert_eq!(events[0].paths, [std::path::Path::new("a.py")]);
        let stdin = Bench::new(&Amplifier).stdin(&events[0]);
        assert_eq!(stdin["tool_name"], native, "standard input keeps the agent's own name");
    }
}

#[test]
fn the_envelope_and_the_bare_data() {
    let read = |payload: Value, hint| testing::read(&Amplifier, payload, hint);
    let enveloped = read(
        json!({ "event": "tool:pre", "data": { "tool_name": "bash" }, "session_id": "outer", "cwd": "/w" }),
        None,
    );
    let event = enveloped.unwrap().events.remove(0);
    assert_eq!(event.session.id.as_deref(), Some("outer"));
    assert_eq!(event.session.cwd.as_deref(), Some(std::path::Path::new("/w")));

    let inner = read(
        json!({ "event": "tool:pre", "data": { "tool_name": "bash", "session_id": "inner" }, "session_id": "outer" }),
        None,
    );
    assert_eq!(inner.unwrap().events[0].session.id.as_deref(), Some("inner"));

    for (payload, hint) in [
        (json!({ "tool_name": "bash" }), Some("tool:pre")),
        (json!({ "tool_name": "bash", "event": "whatever" }), Some("tool:pre")),
        (json!({ "data": { "tool_name": "bash" } }), Some("tool:pre")),
        (json!({ "event": "tool:pre", "tool_name": "bash" }), None),
        (json!({ "tool_name": "bash" }), Some("PreToolUse")),
    ] {
        let events = read(payload.clone(), hint).unwrap().events;
        assert_eq!(events[0].kind, EventKind::PreToolUse, "{payload}");
        assert_eq!(events[0].tool.as_ref().unwrap().name, "Bash", "{payload}");
    }
    assert_eq!(read(json!({ "event": "session:end", "data": null }), None).unwrap().events.len(), 1);
    assert_eq!(read(json!({ "event": "session:end" }), None).unwrap().events.len(), 1);
}

#[test]
fn payloads_that_no_amplifier_sends_are_refused() {
    let read = |payload: Value| testing::read(&Amplifier, payload, None);
    assert_eq!(read(json!({ "data": {} })), Err(ReadError::NoEvent { field: "event" }));
    assert_eq!(read(json!([1])), Err(ReadError::NotAnObject { found: "an array" }));
    for payload in [
        json!({ "event": "tool:pre", "data": "text" }),
        json!({ "event": "tool:pre", "data": { "tool_name": 42 } }),
        json!({ "event": 1, "data": {} }),
    ] {
        assert!(matches!(read(payload.clone()), Err(ReadError::WrongType { .. })), "{payload}");
    }
}

#[test]
fn skills_come_and_go() {
    let control = |native: &str, data: Value| {
        let incoming = testing::read(&Amplifier, json!({ "event": native, "data": data }), None).unwrap();
        assert!(incoming.events.is_empty());
        incoming.control.map(|control| control.message)
    };
    let loaded = control(
        "skill:loaded",
        json!({ "skill_name": "s", "skill_directory": "/s", "hooks": { "Stop": [] } }),
    );
    let expected = ControlMessage::SkillLoaded {
        name: "s".into(),
        directory: Some("/s".into()),
        hooks: json!({ "Stop": [] }),
    };
    assert_eq!(loaded, Some(expected));
    let bare = ControlMessage::SkillLoaded { name: "s".into(), directory: None, hooks: Value::Null };
    assert_eq!(control("skill:loaded", json!({ "skill_name": "s" })), Some(bare));
    assert_eq!(control("skill:loaded", json!({ "hooks": {} })), None);
    let unloaded = control("skill:unloaded", json!({ "skill_name": "s" }));
    assert_eq!(unloaded, Some(ControlMessage::SkillUnloaded { name: "s".into() }));
}

#[test]
fn the_payload_of_a_bare_event_is_kept_byte_for_byte() {
    let text = "{\"tool_name\":  \"bash\", \"big\": 123456789012345678901234567890}";
    let payload = Payload::parse(text).unwrap();
    let hint = hook_core::EventHint { event: Some("tool:pre".into()), ..Default::default() };
    let incoming = Amplifier.read(payload, &hint).unwrap();
    assert_eq!(incoming.events[0].raw.text, text);
}

#[test]
fn the_setting_says_which_tools_end_a_subagent() {
    let names = |tool: &str, tools: Option<&[&str]>| {
        let tools = tools.map(|tools| tools.iter().map(|name| (*name).to_owned()).collect());
        let hint = hook_core::EventHint { event: Some("tool:post".into()), subagent_tools: tools };
        let payload = Payload::from_value(json!({ "tool_name": tool }));
        let events = Amplifier.read(payload, &hint).unwrap().events;
        events.iter().map(|event| event.kind.name().to_owned()).collect::<Vec<_>>()
    };
    const BOTH: &[&str] = &["PostToolUse", "SubagentStop"];
    assert_eq!(names("task", None), BOTH);
    assert_eq!(names("delegate", None), ["PostToolUse"]);
    assert_eq!(names("delegate", Some(&["task", "Delegate"])), BOTH);
    assert_eq!(names("Task", Some(&["delegate"])), ["PostToolUse"]);
    assert_eq!(names("Task", Some(&[])), ["PostToolUse"]);
    assert_eq!(names("delegated", Some(&["delegate"])), ["PostToolUse"], "whole names");
}

//! Payloads, documents and variables.

use hook_core::{Dialect, EventKind, HookCx, Layer, Payload, ReadError};
use serde_json::json;

use super::{Bench, Claude, fired, of};
use crate::dialects::testing::{holds, read};

#[test]
fn a_tool_event_is_read_with_every_name_of_its_tool() {
    let event = fired(json!({
        "session_id": "s", "transcript_path": "/t", "cwd": "/w", "permission_mode": "plan",
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"file_path": "/a"}, "tool_use_id": "u", "effort": {"level": "low"}
    }));
    assert_eq!(event.kind, EventKind::PreToolUse);
    assert_eq!(event.match_names, ["Agent", "Task"]);
    assert_eq!(event.session.id.as_deref(), Some("s"));
    assert_eq!(event.paths, [std::path::PathBuf::from("/a")]);
    assert_eq!(event.fields.keys().collect::<Vec<_>>(), ["effort"]);
    let edit = fired(
        json!({"hook_event_name": "PostToolUse", "tool_name": "MultiEdit", "tool_input": {}, "tool_response": 1}),
    );
    assert_eq!(edit.match_names, ["MultiEdit", "Edit"]);
    assert_eq!(edit.tool.unwrap().response, Some(json!(1)));
}

#[test]
fn subjects_are_read_by_the_table() {
    for (payload, subject) in [
        (json!({"hook_event_name": "SessionStart", "source": "resume"}), Some("resume")),
        (json!({"hook_event_name": "Notification", "notification_type": "idle_prompt"}), Some("idle_prompt")),
        (json!({"hook_event_name": "PreCompact", "trigger": "auto"}), Some("auto")),
        (json!({"hook_event_name": "SessionEnd", "reason": "clear"}), Some("clear")),
        (json!({"hook_event_name": "SubagentStop", "agent_type": ""}), Some("")),
        (json!({"hook_event_name": "FileChanged", "file_path": "/a/.env"}), Some(".env")),
        (json!({"hook_event_name": "Stop"}), None),
        (json!({"hook_event_name": "UserPromptSubmit", "prompt": "x"}), None),
    ] {
        assert_eq!(fired(payload.clone()).subject.as_deref(), subject, "{payload}");
    }
}

#[test]
fn payloads_of_no_event_and_of_no_use_are_told_apart() {
    assert!(read(&Claude, json!({"hook_event_name": "Tomorrow"}), None).unwrap().events.is_empty());
    assert!(matches!(read(&Claude, json!({}), None), Err(ReadError::NoEvent { .. })));
    assert!(matches!(read(&Claude, json!([]), None), Err(ReadError::NotAnObject { .. })));
    let odd = json!({"hook_event_name": "PreToolUse", "tool_name": 7});
    assert!(matches!(read(&Claude, odd, None), Err(ReadError::WrongType { .. })));
    assert_eq!(read(&Claude, json!({}), Some("Stop")).unwrap().events[0].kind, EventKind::Stop);
}

#[test]
fn the_payload_is_passed_on_byte_for_byte() {
    let text = r#"{"hook_event_name":"Stop",  "n": 123456789012345678901234567890, "x": 1.0}"#;
    let incoming = Claude.read(Payload::parse(text).unwrap(), &Default::default()).unwrap();
    let bench = Bench::new(&Claude);
    let cx =
        HookCx { event: &incoming.events[0], hook: &bench.hook, session: &bench.session, host: &bench.host };
    assert_eq!(Claude.write_event(&cx), format!("{text}\n"));
}

#[test]
fn a_rewritten_input_reaches_the_next_hook_beside_unknown_fields() {
    let event = fired(
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "a"}, "new": 1}),
    );
    let stdin = Bench::new(&Claude).stdin(&event.with_input(json!({"command": "b"})));
    holds("stdin", &stdin, &json!({"new": 1, "tool_input": {"command": "b"}, "tool_name": "Bash"}));
}

#[test]
fn variables_name_the_project_and_the_plugin() {
    let mut bench = Bench::new(&Claude).root("/plugin");
    let start = fired(json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}));
    assert_eq!(bench.variable(&start, "CLAUDE_PROJECT_DIR").as_deref(), Some("/work/project"));
    assert_eq!(bench.variable(&start, "CLAUDE_CODE_SESSION_ID").as_deref(), Some("s"));
    assert_eq!(bench.variable(&start, "CLAUDE_PLUGIN_ROOT"), None);
    bench.hook.origin.layer = Layer::Pack;
    assert_eq!(bench.variable(&start, "CLAUDE_PLUGIN_ROOT").as_deref(), Some("/plugin"));
    bench.session.env_file = Some("/ours".into());
    assert_eq!(bench.variable(&start, "CLAUDE_ENV_FILE").as_deref(), Some("/ours"));
    bench.host.environment.insert("CLAUDE_ENV_FILE".into(), "/theirs".into());
    assert_eq!(bench.variable(&start, "CLAUDE_ENV_FILE").as_deref(), Some("/theirs"));
    assert_eq!(bench.variable(&of(EventKind::Stop), "CLAUDE_ENV_FILE"), None);
}

#[test]
fn all_33_events_have_a_row_and_are_read() {
    assert_eq!(Claude.profile().events.len(), 33);
    for row in Claude.profile().events {
        let event = fired(json!({"hook_event_name": row.name, "session_id": 7, "tool_name": "Bash"}));
        assert_eq!(event.kind.name(), row.name);
        assert_eq!(row.hears, std::slice::from_ref(&event.kind));
        assert_eq!(event.session.id.as_deref(), Some("7"));
    }
}

#[test]
fn a_payload_without_its_subject_is_seen_by_every_matcher() {
    for payload in [
        json!({"hook_event_name": "PreToolUse", "tool_input": {}}),
        json!({"hook_event_name": "PreToolUse", "tool_name": null}),
        json!({"hook_event_name": "SessionStart"}),
        json!({"hook_event_name": "PreModelSwitch", "to_model": null}),
    ] {
        assert_eq!(fired(payload.clone()).match_values().count(), 0, "{payload}");
    }
    let switch = fired(json!({"hook_event_name": "PreModelSwitch", "to_model": "claude-opus-4-6[1m]"}));
    assert_eq!(switch.subject.as_deref(), Some("claude-opus-4-6"));
    assert_eq!(switch.fields["to_model"], "claude-opus-4-6[1m]");
}

#[test]
fn the_payload_names_the_event_and_the_hint_stands_in() {
    for (payload, kind) in [
        (json!({"hook_event_name": "Stop"}), EventKind::Stop),
        (json!({"hook_event_name": null}), EventKind::PreToolUse),
        (json!({"hook_event_name": ""}), EventKind::PreToolUse),
        (json!({}), EventKind::PreToolUse),
    ] {
        let incoming = read(&Claude, payload.clone(), Some("PreToolUse")).unwrap();
        assert_eq!(incoming.events[0].kind, kind, "{payload}");
    }
    assert!(matches!(read(&Claude, json!({"hook_event_name": ""}), None), Err(ReadError::NoEvent { .. })));
    assert!(matches!(read(&Claude, json!({"hook_event_name": 1}), None), Err(ReadError::WrongType { .. })));
}

#[test]
fn an_event_of_another_agent_is_written_in_claude_codes_names() {
    let mut event = fired(json!({
        "hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/w", "tool_name": "Write", "tool_use_id": "u",
        "tool_input": {"file_path": "/a"}, "tool_response": {"ok": true}, "permission_mode": "plan", "duration_ms": 5
    }));
    event.dialect = hook_core::DialectId("elsewhere");
    event.native_event = "tool:post".into();
    let stdin = Bench::new(&Claude).stdin(&event);
    let expected = json!({
        "session_id": "s", "transcript_path": "", "cwd": "/w", "hook_event_name": "PostToolUse",
        "permission_mode": "plan", "tool_name": "Write", "tool_input": {"file_path": "/a"}, "tool_use_id": "u",
        "tool_response": {"ok": true}, "duration_ms": 5
    });
    assert_eq!(stdin, expected);

    let mut start = of(EventKind::SessionStart);
    (start.dialect, start.variant) = (hook_core::DialectId("elsewhere"), Some("resume".into()));
    holds("start", &Bench::new(&Claude).stdin(&start), &json!({"source": "resume", "cwd": "/work/project"}));
    let mut stop = of(EventKind::Stop);
    stop.dialect = hook_core::DialectId("elsewhere");
    let mut bench = Bench::new(&Claude);
    holds("stop", &bench.stdin(&stop), &json!({"stop_hook_active": false}));
    bench.session.state.stop_active = true;
    holds("stop again", &bench.stdin(&stop), &json!({"stop_hook_active": true}));
}

#[test]
fn a_plugins_data_directory_is_named_after_it_and_stays_in_its_place() {
    let mut bench = Bench::new(&Claude).root("/plugin");
    bench.hook.origin.layer = Layer::Pack;
    bench.hook.origin.source = Some("../a b@market".into());
    let stop = of(EventKind::Stop);
    assert_eq!(bench.variable(&stop, "CLAUDE_PLUGIN_DATA"), None);
    bench.host.state = Some("/state".into());
    assert_eq!(bench.variable(&stop, "CLAUDE_PLUGIN_DATA").as_deref(), Some("/state/plugins/---a-b-market"));
    for (layer, source, name) in [
        (Layer::Skill, "kit:review", Some("kit")),
        (Layer::Skill, "review", None),
        (Layer::Project, "kit", None),
    ] {
        (bench.hook.origin.layer, bench.hook.origin.source) = (layer, Some(source.into()));
        let expected = name.map(|name| format!("/state/plugins/{name}"));
        assert_eq!(bench.variable(&stop, "CLAUDE_PLUGIN_DATA"), expected, "{source}");
    }
}

#[test]
fn the_effort_comes_from_the_payload_or_from_the_agent_that_fires_and_from_no_agent_further_out() {
    let mut bench = Bench::new(&Claude);
    let mut stop = of(EventKind::Stop);
    assert_eq!(bench.variable(&stop, "CLAUDE_CODE_CHILD_SESSION").as_deref(), Some("1"));
    assert_eq!(bench.variable(&stop, "CLAUDE_EFFORT"), None);
    bench.host.environment.insert("CLAUDE_EFFORT".into(), "low".into());
    assert_eq!(bench.variable(&stop, "CLAUDE_EFFORT").as_deref(), Some("low"));
    stop.dialect = hook_core::DialectId("elsewhere");
    assert_eq!(bench.variable(&stop, "CLAUDE_EFFORT"), None);
    stop.session.effort = Some("high".into());
    assert_eq!(bench.variable(&stop, "CLAUDE_EFFORT").as_deref(), Some("high"));
    for name in ["CLAUDE_EFFORT", "CLAUDE_CODE_CHILD_SESSION", "CLAUDECODE"] {
        assert!(Claude.profile().protected_variables.contains(&name), "{name}");
    }
}

#[test]
fn options_of_a_plugin_are_variables_and_placeholders_of_its_hooks() {
    let mut bench = Bench::new(&Claude).root("/plugin");
    bench.hook.origin.layer = Layer::Pack;
    for (key, value) in [("apiKey", "k $HOME"), ("max", "3"), ("odd.key", "x"), ("1st", "x"), ("", "x")] {
        bench.hook.grants.options.insert(key.into(), value.into());
    }
    let stop = of(EventKind::Stop);
    assert_eq!(bench.variable(&stop, "CLAUDE_PLUGIN_OPTION_APIKEY").as_deref(), Some("k $HOME"));
    assert_eq!(bench.variable(&stop, "CLAUDE_PLUGIN_OPTION_MAX").as_deref(), Some("3"));
    assert_eq!(bench.variable(&stop, "CLAUDE_PLUGIN_OPTION_ODD.KEY"), None);
    let cx = HookCx { event: &stop, hook: &bench.hook, session: &bench.session, host: &bench.host };
    let expected = [("user_config.apiKey", "k $HOME"), ("user_config.max", "3")];
    assert_eq!(Claude.placeholders(&cx), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    assert_eq!(Claude.shell_prefix(&cx), None);
    bench.host.environment.insert("CLAUDE_CODE_SHELL_PREFIX".into(), " /opt/log --all ".into());
    bench.hook.origin.source = Some("kit".into());
    bench.host.state = Some("/state".into());
    let cx = HookCx { event: &stop, hook: &bench.hook, session: &bench.session, host: &bench.host };
    assert_eq!(Claude.shell_prefix(&cx).as_deref(), Some("/opt/log --all"));
    assert_eq!(Claude.directories(&cx), [std::path::PathBuf::from("/state/plugins/kit")]);
}

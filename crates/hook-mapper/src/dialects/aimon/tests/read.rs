//! Payloads of AIMON hosts.

use hook_core::{ControlMessage, Decision, EventKind, Reading};
use serde_json::{Value, json};

use super::{Aimon, fired, incoming};
use crate::dialects::testing;

#[test]
fn every_event_has_its_neutral_kinds() {
    for (event, data, kinds) in [
        ("preTool", json!({}), "PreToolUse"),
        ("PreToolUse", json!({}), "PreToolUse"),
        ("postTool", json!({"tool_result_status": "success"}), "PostToolUse"),
        ("postTool", json!({"tool_result_status": "ERROR"}), "PostToolUseFailure"),
        ("postTool", json!({}), "PostToolUse"),
        ("permissionRequest", json!({}), "PermissionRequest"),
        ("permissionDenied", json!({}), "PermissionDenied"),
        ("onStart", json!({}), "TurnStart UserPromptSubmit"),
        ("onStart", json!({"invoker_type": "SUBAGENT"}), "TurnStart"),
        ("onStop", json!({}), "Stop"),
        ("onSessionStart", json!({}), "SessionStart"),
        ("onSessionEnd", json!({}), "SessionEnd"),
        ("subagentStart", json!({}), "SubagentStart"),
        ("subagentStop", json!({}), "SubagentStop"),
        ("preCompact", json!({}), "PreCompact"),
        ("postCompact", json!({}), "PostCompact"),
        ("onConfigReload", json!({}), "ConfigReload"),
        ("Notification", json!({}), ""),
        ("whatever", json!({}), ""),
    ] {
        let found: Vec<&str> = Vec::from_iter(
            incoming(event, data.clone()).events.iter().map(|event| event.kind.clone()).map(leak),
        );
        assert_eq!(found.join(" "), kinds, "{event} {data}");
    }
}

fn leak(kind: EventKind) -> &'static str {
    EventKind::ALL.iter().find(|known| **known == kind).map_or("?", |known| known.name())
}

#[test]
fn envelopes_bare_payloads_and_hints_mean_the_same() {
    let bare =
        json!({"event": "preTool", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"});
    let hinted = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"});
    let whole = json!({"event": "preTool", "data": {"tool_name": "Bash", "tool_input": {"command": "ls"}}, "session_id": "s"});
    for (payload, hint) in [(bare, None), (hinted, Some("PreToolUse")), (whole, Some("postTool"))] {
        let event = testing::read(&Aimon, payload, hint).unwrap().events.remove(0);
        assert_eq!((event.kind.name(), event.native_event.as_str()), ("PreToolUse", "preTool"));
        assert_eq!(event.match_names, ["Bash"]);
        assert_eq!(event.tool.unwrap().input, json!({"command": "ls"}));
        assert_eq!(event.session.id.as_deref(), Some("s"));
        assert!(event.fields.is_empty(), "{:?}", event.fields);
    }
    for (payload, part) in [
        (json!([]), "an array"),
        (json!({}), "no event was named"),
        (json!({"event": 1}), "\"event\""),
        (json!({"event": "preTool", "data": "x"}), "\"data\""),
        (json!({"event": "preTool", "data": {"tool_name": 1}}), "\"tool_name\""),
    ] {
        let error = testing::read(&Aimon, payload.clone(), None).unwrap_err().to_string();
        assert!(error.contains(part), "{payload}: {error}");
    }
}

#[test]
fn other_dialects_find_what_they_look_for() {
    let failed = fired("postTool", json!({"tool_result_status": "error", "tool_result": "no such file"}));
    assert_eq!(failed.fields["error"], "no such file");
    let compact = fired("preCompact", json!({"compaction_trigger": "MANUAL"}));
    assert_eq!((compact.subject.as_deref(), compact.variant.as_deref()), (Some("manual"), Some("manual")));
    assert_eq!(fired("onSessionStart", json!({})).subject.as_deref(), Some("startup"));
    let ended = fired("onSessionEnd", json!({"termination_reason": "idle"}));
    assert_eq!(ended.fields["reason"], "idle");
    let agent = fired("subagentStop", json!({"subagent_name": "tester", "task_id": "t7"}));
    assert_eq!((agent.subject.as_deref(), agent.session.agent_id.as_deref()), (Some("tester"), Some("t7")));
    let inside = fired("preTool", json!({"invoker_type": "SUBAGENT", "invoker_name": "tester"}));
    assert_eq!(inside.session.agent_type.as_deref(), Some("tester"));
    assert_eq!(fired("onStart", json!({"user_message": "hi"})).fields["prompt"], "hi");
    assert_eq!(fired("permissionDenied", json!({"deny_reason": "no"})).fields["reason"], "no");
}

#[test]
fn skills_come_and_go() {
    let control = |event: &str, data: Value| incoming(event, data).control.map(|control| control.message);
    let hooks = json!({"onStart": []});
    let data = json!({"skill_name": "s", "skill_directory": "/skills/s", "hooks": hooks});
    let loaded = |hooks: Value, directory: Option<&str>| ControlMessage::SkillLoaded {
        name: "s".into(),
        directory: directory.map(Into::into),
        hooks,
    };
    assert_eq!(control("skillActivated", data), Some(loaded(hooks, Some("/skills/s"))));
    assert_eq!(control("SKILLACTIVATED", json!({"skill_name": "s"})), Some(loaded(Value::Null, None)));
    let unloaded = Some(ControlMessage::SkillUnloaded { name: "s".into() });
    assert_eq!(control("skillDeactivated", json!({"skill_name": "s"})), unloaded);
    assert_eq!(control("skillActivated", json!({})), None);
    assert_eq!(control("onStart", json!({"skill_name": "s"})), None);
}

#[test]
fn a_call_without_a_name_meets_every_matcher() {
    let event = incoming("preTool", json!({"tool_input": {}})).events.remove(0);
    assert_eq!(event.match_values().count(), 0);
    let reading: Reading = testing::Bench::new(&Aimon).exit(&event, 2, "", "no");
    assert_eq!(reading.answer.decision, Decision::Deny);
}

//! AIMON against its guide.

mod answer;
mod input;
mod read;
mod reply;

use hook_core::{Event, EventKind, Incoming, Order, StopRule};
use serde_json::{Value, json};

use super::Aimon;
use crate::dialects::testing::{self, Bench, host};
use hook_core::Dialect;

fn incoming(event: &str, data: Value) -> Incoming {
    testing::read(&Aimon, json!({"event": event, "data": data, "session_id": "s1", "cwd": "/work"}), None)
        .unwrap()
}

/// The first event of a payload; a call of Bash on events of tools.
fn fired(event: &str, data: Value) -> Event {
    let mut all = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    if !event.contains("ool") && !event.contains("ermission") {
        all = json!({});
    }
    for (key, value) in data.as_object().unwrap() {
        all[key] = value.clone();
    }
    incoming(event, all).events.remove(0)
}

#[test]
fn events_have_two_names_in_any_letter_case() {
    for (name, own) in [
        ("PreToolUse", "preTool"),
        ("PRETOOLUSE", "preTool"),
        ("PostToolUse", "postTool"),
        ("Stop", "onStop"),
        ("PreCompact", "preCompact"),
        ("SessionStart", "onSessionStart"),
        ("sessionend", "onSessionEnd"),
        ("SubagentStop", "subagentStop"),
        ("SubagentStart", "subagentStart"),
        ("PermissionRequest", "permissionRequest"),
        ("permissiondenied", "permissionDenied"),
        ("onstart", "onStart"),
        ("PostCompact", "postCompact"),
        ("onConfigReload", "onConfigReload"),
    ] {
        assert_eq!(Aimon.event_row(name).map(|row| row.name), Some(own), "{name}");
    }
    for name in ["Notification", "UserPromptSubmit", "stop_hook_active", "PostToolUseFailure", "start", ""] {
        assert_eq!(Aimon.event_row(name).map(|row| row.name), None, "{name}");
    }
    assert_eq!(Aimon.profile().events.len(), 13);
}

#[test]
fn http_and_mcp_are_for_tools_and_deny_is_for_the_call_itself() {
    for row in Aimon.profile().events {
        let kinds: Vec<&str> = row.handlers.iter().map(|kind| kind.name()).collect();
        let expected: &[&str] = match row.name {
            "preTool" => &["command", "http", "mcp", "deny"],
            "postTool" => &["command", "http", "mcp"],
            _ => &["command"],
        };
        assert_eq!(kinds, expected, "{}", row.name);
    }
}

#[test]
fn one_chain_that_a_refusal_ends_where_it_is_consumed_at_once() {
    let bench = Bench::new(&Aimon);
    let groups = bench.candidates(&[(0, false), (0, false), (3, false)]);
    for (event, data, ends) in [
        ("preTool", json!({}), true),
        ("permissionRequest", json!({}), true),
        ("preCompact", json!({}), true),
        ("preCompact", json!({"compaction_trigger": "AUTO"}), true),
        ("preCompact", json!({"compaction_trigger": "MANUAL"}), false),
        ("onStart", json!({}), false),
        ("postTool", json!({}), false),
        ("onStop", json!({}), false),
    ] {
        let event = fired(event, data);
        let plan = Aimon.plan(&event, &groups, &host());
        let [group] = &plan.stages[0].groups[..] else { panic!("{}", event.native_event) };
        assert_eq!(group.members, [0, 1, 2]);
        assert_eq!(group.order, Order::Sequential);
        assert_eq!(group.stop == StopRule::OnDeny, ends, "{} {:?}", event.native_event, event.variant);
    }
}

#[test]
fn hooks_that_a_host_wants_at_once_are_one_link_of_the_chain() {
    let bench = Bench::new(&Aimon);
    let groups = bench.candidates(&[(0, false), (1, true), (2, true), (3, false)]);
    let plan = Aimon.plan(&fired("preTool", json!({})), &groups, &host());
    let links: Vec<_> = plan.stages[0].groups.iter().map(|group| (&group.members[..], group.order)).collect();
    let expected: [(&[usize], Order); 3] =
        [(&[0], Order::Sequential), (&[1, 2], Order::Parallel), (&[3], Order::Sequential)];
    assert_eq!(links, expected);
}

#[test]
fn the_two_events_of_a_turn_run_a_hook_once() {
    let bench = Bench::new(&Aimon);
    let groups = bench.candidates(&[(0, false)]);
    let planned: Vec<bool> = incoming("onStart", json!({"user_message": "hi"}))
        .events
        .iter()
        .map(|event| !Aimon.plan(event, &groups, &host()).stages.is_empty())
        .collect();
    assert_eq!(planned, [true, false]);
    let other = testing::event(&crate::Claude, EventKind::UserPromptSubmit);
    assert_eq!(Aimon.plan(&other, &groups, &host()).stages.len(), 1);
}

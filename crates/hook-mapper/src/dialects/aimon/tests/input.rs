//! What hooks are given: every event of the guide's table, and events of other agents.

use hook_core::{Dialect, EventKind, Hook, HookCx, Layer};
use serde_json::{Map, Value, json};

use super::{Aimon, fired};
use crate::dialects::testing::{self, Bench, holds};
use crate::{Claude, Native};

/// A hook of the second entry of an event in the project's file.
fn bench<'a>(event: &str) -> Bench<'a> {
    let mut bench = Bench::new(&Aimon);
    bench.hook.event_name = event.to_owned();
    bench.hook.origin.layer = Layer::Project;
    bench.hook.origin.entry = 1;
    bench
}

/// The variables of the dialect without their prefix.
fn variables(bench: &Bench<'_>, event: &hook_core::Event) -> Map<String, Value> {
    let cx = HookCx { event, hook: &bench.hook, session: &bench.session, host: &bench.host };
    let named = Aimon.variables(&cx).into_iter().filter_map(|(name, value)| {
        Some((name.strip_prefix("AIMON_")?.to_lowercase(), json!(value.to_str()?)))
    });
    named.collect()
}

#[test]
fn every_event_tells_its_row_of_the_table_twice_in_the_same_words() {
    let invoker = json!({"invoker_name": "default-agent", "invoker_type": "MAIN_AGENT"});
    let call = json!({"tool_name": "Bash", "iteration": 3, "principal_id": "u1", "principal_type": "USER"});
    let table = [
        ("preTool", call.clone(), json!({"tool_name": "Bash", "iteration": "3"})),
        (
            "postTool",
            json!({"tool_result_status": "error"}),
            json!({"tool_name": "Bash", "iteration": "0", "tool_result_status": "error"}),
        ),
        (
            "permissionRequest",
            call,
            json!({"tool_name": "Bash", "principal_id": "u1", "principal_type": "USER"}),
        ),
        (
            "permissionDenied",
            json!({"deny_reason": "no"}),
            json!({"tool_name": "Bash", "principal_id": "", "principal_type": "", "deny_reason": "no"}),
        ),
        ("onStart", json!({"user_message": "hi 𝄞"}), json!({"user_message_length": "5"})),
        ("onStart", json!({"user_message_length": 12}), json!({"user_message_length": "12"})),
        (
            "onStop",
            json!({"success": false, "iteration_count": 4}),
            json!({"success": "false", "iteration_count": "4"}),
        ),
        (
            "onSessionStart",
            json!({"agent_runtime_id": "r1", "execution_id": "e1"}),
            json!({"session_id": "s1", "execution_id": "", "agent_runtime_id": "r1"}),
        ),
        (
            "onSessionEnd",
            json!({"session_clean": false}),
            json!({
                "session_id": "s1", "execution_id": "", "agent_runtime_id": "", "session_clean": "false",
                "termination_reason": "",
            }),
        ),
        (
            "subagentStart",
            json!({"subagent_name": "tester", "task_id": "t1", "subagent_goal": "x".repeat(2001)}),
            json!({
                "subagent_name": "tester", "task_id": "t1",
                "subagent_goal": format!("{}... [truncated, 2001 chars total]", "x".repeat(2000)),
                "subagent_description": "",
            }),
        ),
        (
            "subagentStop",
            json!({"subagent_name": "tester", "task_id": "t1", "success": true}),
            json!({"subagent_name": "tester", "task_id": "t1", "success": "true"}),
        ),
        (
            "preCompact",
            json!({"compaction_trigger": "MANUAL", "message_count": 7}),
            json!({
                "compaction_trigger": "MANUAL", "session_id": "s1", "execution_id": "", "message_count": "7",
                "estimated_tokens": "0",
            }),
        ),
        (
            "postCompact",
            json!({"messages_summarized": 5, "pre_compact_tokens": 100, "post_compact_tokens": 10}),
            json!({
                "compaction_trigger": "AUTO", "messages_summarized": "5", "pre_compact_tokens": "100",
                "post_compact_tokens": "10",
            }),
        ),
        (
            "onConfigReload",
            json!({"reload_counter": 2, "config_source": "/x/hooks.json", "success": false, "failure_reason": "bad"}),
            json!({
                "reload_counter": "2", "config_source": "/x/hooks.json", "success": "false", "failure_reason": "bad",
            }),
        ),
    ];
    for (event, data, own) in table {
        let mut data = data.as_object().cloned().unwrap();
        data.extend(invoker.as_object().cloned().unwrap());
        let mut expected =
            json!({"hook_event": event, "skill_name": "project#1"}).as_object().cloned().unwrap();
        expected.extend(invoker.as_object().cloned().unwrap());
        expected.extend(own.as_object().cloned().unwrap());

        let fired = fired(event, data.into());
        let bench = bench(event);
        assert_eq!(variables(&bench, &fired), expected, "{event}");
        let Value::Object(mut stdin) = bench.stdin(&fired) else { panic!("{event}") };
        let input = stdin.remove("tool_input");
        assert_eq!(stdin, expected, "{event}");
        let on_tools = event.contains("ool") || event.contains("ermission");
        assert_eq!(input, on_tools.then(|| json!({"command": "ls"})), "{event}");
    }
}

#[test]
fn a_hook_is_told_where_it_was_written() {
    let event = fired("preTool", json!({}));
    let told = |change: &dyn Fn(&mut Hook)| {
        let mut bench = bench("PreToolUse");
        change(&mut bench.hook);
        bench.variable(&event, "AIMON_SKILL_NAME").unwrap()
    };
    assert_eq!(told(&|hook| hook.origin.layer = Layer::User), "user#1");
    assert_eq!(told(&|hook| hook.origin.layer = Layer::Local), "local#1");
    let skill = |hook: &mut Hook| {
        hook.origin.layer = Layer::Skill;
        hook.origin.source = Some("my-skill".into());
    };
    assert_eq!(told(&skill), "my-skill");
}

#[test]
fn events_of_other_agents_are_told_in_the_same_words() {
    let claude = |payload: Value| testing::read(&Claude, payload, None).unwrap().events.remove(0);
    let write = claude(json!({
        "hook_event_name": "PreToolUse", "session_id": "c1", "tool_name": "Write", "tool_input": {"file_path": "/a"},
    }));
    let hook = bench("preTool");
    holds(
        "claude",
        &hook.stdin(&write),
        &json!({
            "hook_event": "preTool", "invoker_name": "claude", "invoker_type": "MAIN_AGENT", "tool_name": "Write",
            "iteration": "0", "tool_input": {"file_path": "/a"},
        }),
    );
    let prompt =
        claude(json!({"hook_event_name": "UserPromptSubmit", "session_id": "c1", "prompt": "hello"}));
    assert_eq!(bench("onStart").variable(&prompt, "AIMON_USER_MESSAGE_LENGTH").as_deref(), Some("5"));
    let failed = claude(json!({
        "hook_event_name": "PostToolUseFailure", "session_id": "c1", "tool_name": "Bash", "tool_input": {}, "error": "x",
        "agent_id": "a1", "agent_type": "tester",
    }));
    holds(
        "failure",
        &bench("PostToolUse").stdin(&failed),
        &json!({
            "tool_result_status": "error", "invoker_name": "tester", "invoker_type": "SUBAGENT",
        }),
    );
    let ended = claude(json!({"hook_event_name": "SessionEnd", "session_id": "c1", "reason": "clear"}));
    holds(
        "end",
        &bench("SessionEnd").stdin(&ended),
        &json!({
            "session_id": "c1", "session_clean": "true", "termination_reason": "clear", "tool_input": null,
        }),
    );
    let agent = claude(json!({
        "hook_event_name": "SubagentStart", "session_id": "c1", "agent_id": "a1", "agent_type": "tester",
    }));
    holds(
        "agent",
        &bench("subagentStart").stdin(&agent),
        &json!({
            "subagent_name": "tester", "task_id": "a1", "invoker_type": "MAIN_AGENT", "subagent_goal": "",
        }),
    );
    let broke = testing::event(&Native, EventKind::StopFailure);
    assert_eq!(bench("Stop").variable(&broke, "AIMON_SUCCESS").as_deref(), Some("false"));
}

#[test]
fn hooks_of_other_dialects_understand_the_events() {
    let mut hook = Bench::new(&Claude);
    hook.hook.event_name = "PreCompact".into();
    let compact = fired("preCompact", json!({"compaction_trigger": "AUTO"}));
    holds(
        "claude",
        &hook.stdin(&compact),
        &json!({
            "hook_event_name": "PreCompact", "session_id": "s1", "cwd": "/work", "trigger": "auto",
        }),
    );
    let event = fired("postTool", json!({"tool_result_status": "success", "tool_result": "ok"}));
    holds(
        "native",
        &Bench::new(&Native).stdin(&event),
        &json!({
            "agent": "aimon", "native_event": "postTool", "tool_name": "Bash", "tool_response": "ok",
        }),
    );
}

#[test]
fn a_rewritten_input_reaches_the_next_hook() {
    let event = fired("preTool", json!({})).with_input(json!({"command": "true"}));
    assert_eq!(bench("preTool").stdin(&event)["tool_input"], json!({"command": "true"}));
}

#[test]
fn a_zero_byte_in_a_name_does_not_keep_a_hook_from_starting() {
    let event = fired("preTool", json!({"invoker_name": "a\u{0}b"}));
    assert_eq!(bench("preTool").variable(&event, "AIMON_INVOKER_NAME").as_deref(), Some("ab"));
}

#[test]
fn every_variable_is_its_own() {
    let own = Aimon.profile().protected_variables;
    for row in Aimon.profile().events {
        let bench = bench(row.name);
        let event = fired(row.name, json!({}));
        let cx = HookCx { event: &event, hook: &bench.hook, session: &bench.session, host: &bench.host };
        for (name, _) in Aimon.variables(&cx) {
            assert!(own.contains(&name.as_str()), "{name}");
        }
    }
}

#[test]
fn templates_name_what_the_guide_lists() {
    let data = json!({"invoker_name": "main", "iteration": 2, "tool_result_status": "error"});
    for (name, status) in [("preTool", None), ("postTool", Some("error"))] {
        let (bench, event) = (bench(name), fired(name, data.clone()));
        let cx = HookCx { event: &event, hook: &bench.hook, session: &bench.session, host: &bench.host };
        let values = Aimon.template_values(&cx);
        assert_eq!(values.tool_input, json!({"command": "ls"}));
        let mut expected = json!({
            "event": name, "skill_name": "project#1", "invoker_name": "main", "invoker_type": "MAIN_AGENT",
            "tool_name": "Bash", "iteration": "2",
        });
        if let Some(status) = status {
            expected["tool_result_status"] = status.into();
        }
        assert_eq!(Value::Object(values.context), expected);
    }
}

/// "Hook Configuration Guide, Async Rewake": a wake-up has no session and no round; it says which one it is.
#[test]
fn a_woken_hook_is_told_so_in_place_of_its_session() {
    let wake = hook_core::Wake {
        id: "rw-1".into(),
        fire_id: "rw-1@5".into(),
        attempt: 2,
        max_attempts: 3,
        reason: "wait".into(),
        payload: [("ticket".to_owned(), "T-1".to_owned()), ("no name!".to_owned(), "x".to_owned())].into(),
    };
    for (name, member, expected) in [
        ("preTool", "iteration", "0"),
        ("onSessionStart", "session_id", ""),
        ("onSessionStart", "execution_id", "rewake:rw-1:2"),
        ("preTool", "rewake_reason", "wait"),
        ("preTool", "rewake_ticket", "T-1"),
        ("preTool", "rewake_attempt", "2"),
    ] {
        let (bench, mut event) = (bench(name), fired(name, json!({"iteration": 7})));
        assert_ne!(variables(&bench, &event).get(member), Some(&json!(expected)), "{member}");
        event.wake = Some(std::sync::Arc::new(wake.clone()));
        let told = variables(&bench, &event);
        assert_eq!(told.get(member), Some(&json!(expected)), "{member}");
        assert!(!told.keys().any(|name| name.contains(' ')), "{told:?}");
    }
}

//! Standard input and variables.

use hook_core::{Dialect, EventKind, Layer};
use serde_json::{Value, json};

use super::fire;
use crate::Amplifier;
use crate::dialects::testing::{self, Bench, NOW, holds};

#[test]
fn standard_input_of_every_event() {
    let bench = Bench::new(&Amplifier);
    for (native, data, expected) in [
        (
            "tool:pre",
            json!({ "name": "Bash", "input": { "command": "ls -la", "description": "List files" } }),
            json!({ "tool_name": "Bash", "tool_input": { "command": "ls -la", "description": "List files" } }),
        ),
        (
            "tool:pre",
            json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_call_id": "c1" }),
            json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "c1" }),
        ),
        ("tool:pre", json!({}), json!({ "tool_name": "", "tool_input": {} })),
        (
            "tool:post",
            json!({ "name": "Bash", "input": {}, "result": { "stdout": "a.txt\n", "returncode": 0 } }),
            json!({ "tool_result": { "stdout": "a.txt\n", "returncode": 0 },
                    "tool_response": { "stdout": "a.txt\n", "returncode": 0 } }),
        ),
        (
            "tool:post",
            json!({ "tool_name": "Write", "tool_input": { "file_path": "a.py" }, "result": "ok" }),
            json!({ "tool_name": "Write", "tool_input": { "file_path": "a.py" }, "tool_result": "ok" }),
        ),
        ("tool:post", json!({ "tool_name": "X", "tool_result": 0 }), json!({ "tool_result": 0 })),
        ("tool:post", json!({ "tool_name": "X" }), json!({ "tool_result": {} })),
        ("prompt:submit", json!({ "prompt": "Do it" }), json!({ "prompt": "Do it", "timestamp": NOW })),
        (
            "session:start",
            json!({ "session_id": "s1", "parent_id": null }),
            json!({ "session_id": "s1", "trigger": "startup", "source": "startup" }),
        ),
        ("session:resume", json!({ "session_id": "s1" }), json!({ "session_id": "s1", "trigger": "resume" })),
        ("session:end", json!({ "session_id": "s1", "status": "completed" }), json!({ "session_id": "s1" })),
        ("prompt:complete", json!({ "stop_hook_active": true }), json!({ "stop_hook_active": true })),
        (
            "prompt:complete",
            json!({ "prompt": "p", "response": "r", "timestamp": "old" }),
            json!({ "stop_hook_active": false, "prompt": "p", "response": "r", "timestamp": NOW }),
        ),
        ("context:pre_compact", json!({ "token_count": 5 }), json!({ "trigger": "auto", "token_count": 5 })),
        (
            "approval:required",
            json!({ "tool_name": "Write", "action": "write file", "risk_level": "high" }),
            json!({ "tool_name": "Write", "action": "write file", "risk_level": "high" }),
        ),
        (
            "user:notification",
            json!({ "type": "permission_prompt", "message": "Allow?" }),
            json!({ "type": "permission_prompt", "message": "Allow?", "notification_type": "permission_prompt" }),
        ),
    ] {
        let events = fire(native, data);
        let stdin = bench.stdin(&events[0]);
        holds(native, &stdin, &expected);
        let common =
            json!({ "timestamp": NOW, "hook_event_name": events[0].kind.name(), "cwd": "/work/project" });
        holds(native, &stdin, &common);
    }
}

#[test]
fn a_stop_that_a_hook_held_up_says_so() {
    let mut bench = Bench::new(&Amplifier);
    bench.session.state.stop_active = true;
    assert_eq!(bench.stdin(&fire("prompt:complete", json!({}))[0])["stop_hook_active"], true);
    let given = fire("prompt:complete", json!({ "stop_hook_active": false }));
    assert_eq!(bench.stdin(&given[0])["stop_hook_active"], false);
}

#[test]
fn an_event_of_another_agent_feeds_the_same_fields() {
    let claude = |kind: EventKind, data: Value| {
        let payload = json!({ "event": kind.name(), "data": data });
        testing::read(&crate::Native, payload, None).unwrap().events.remove(0)
    };
    let bench = Bench::new(&Amplifier);
    let post = claude(
        EventKind::PostToolUse,
        json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": "out", "session_id": "s" }),
    );
    let expected = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_result": "out",
                           "session_id": "s", "timestamp": NOW });
    holds("PostToolUse", &bench.stdin(&post), &expected);
    let start = claude(EventKind::SessionStart, json!({ "source": "clear" }));
    holds("SessionStart", &bench.stdin(&start), &json!({ "trigger": "clear", "session_id": "" }));
    let notice =
        claude(EventKind::Notification, json!({ "notification_type": "idle_prompt", "message": "m" }));
    holds("Notification", &bench.stdin(&notice), &json!({ "type": "idle_prompt", "message": "m" }));
    let stop = claude(EventKind::Stop, json!({ "last_assistant_message": "done" }));
    holds(
        "Stop",
        &bench.stdin(&stop),
        &json!({ "stop_hook_active": false, "last_assistant_message": "done" }),
    );
}

#[test]
fn a_rewritten_input_replaces_both_spellings() {
    let data = json!({ "tool_name": "Write", "input": { "a": 1 }, "action": "write" });
    let event = fire("approval:required", data)[0].with_input(json!({ "a": 2 }));
    let stdin = Bench::new(&Amplifier).stdin(&event);
    holds("rewritten", &stdin, &json!({ "tool_input": { "a": 2 }, "input": null, "action": "write" }));
}

#[test]
fn variables_of_project_and_user_hooks() {
    let mut bench = Bench::new(&Amplifier).root("/work/project/.amplifier/hooks/guard");
    bench.session.env_file = Some("/tmp/env".into());
    bench.host.hook_command = Some("/usr/bin/hook".into());
    let event = &fire("tool:pre", json!({ "tool_name": "bash", "session_id": "sess-42" }))[0];
    for (name, value) in [
        ("AMPLIFIER_PROJECT_DIR", "/work/project"),
        ("CLAUDE_PROJECT_DIR", "/work/project"),
        ("AMPLIFIER_HOOKS_DIR", "/work/project/.amplifier/hooks"),
        ("AMPLIFIER_SESSION_ID", "sess-42"),
        ("AMPLIFIER_ENV_FILE", "/tmp/env"),
        ("CLAUDE_ENV_FILE", "/tmp/env"),
        ("CLAUDE_PLUGIN_ROOT", "/work/project/.amplifier/hooks/guard"),
        ("HOOK", "/usr/bin/hook"),
    ] {
        assert_eq!(bench.variable(event, name).as_deref(), Some(value), "{name}");
        assert!(Amplifier.profile().protected_variables.contains(&name), "{name} is protected");
    }
    bench.hook.origin.layer = Layer::User;
    assert_eq!(bench.variable(event, "AMPLIFIER_HOOKS_DIR").as_deref(), Some("/home/me/.amplifier/hooks"));
    let nameless = &fire("tool:pre", json!({ "tool_name": "bash" }))[0];
    assert_eq!(bench.variable(nameless, "AMPLIFIER_SESSION_ID").as_deref(), Some("unknown"));
}

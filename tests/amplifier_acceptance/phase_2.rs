//! Phase 2: the other events, triggers of a session's start, variables that last.

use serde_json::{Value, json};

use crate::host::{Host, command, expect, note, only, says, when};

/// A hook that keeps what it reads.
fn keep() -> Value {
    only("cat > \"$AMPLIFIER_PROJECT_DIR/input\"")
}

#[track_caller]
fn kept(host: &Host) -> Value {
    let text = host.take("input").join("\n");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

#[test]
fn stop_event() {
    let host = Host::with_hooks(&json!({ "Stop": keep() }));
    host.fire("prompt:submit", json!({ "prompt": "p" }));
    expect(
        &host.fire("prompt:complete", json!({ "prompt": "p", "response": "r" })),
        &json!({ "action": "continue" }),
    );
    expect(&kept(&host), &json!({ "stop_hook_active": false, "prompt": "p", "response": "r" }));
}

#[test]
fn stop_runs_once_per_turn_under_either_of_its_names() {
    let host = Host::with_hooks(&json!({ "Stop": only(&note("stop")) }));
    for (first, second) in
        [("orchestrator:complete", "prompt:complete"), ("prompt:complete", "orchestrator:complete")]
    {
        host.fire("prompt:submit", json!({ "prompt": "p" }));
        host.fire(first, json!({}));
        host.fire(second, json!({}));
        assert_eq!(host.take("log"), ["stop"], "{first}, then {second}");
    }
}

#[test]
fn a_blocked_stop_keeps_the_agent_going_and_the_next_one_knows() {
    let line =
        "test \"$(\"$HOOK\" get .stop_hook_active)\" = true || { echo 'tests are missing' >&2; exit 2; }";
    let host = Host::with_hooks(&json!({ "Stop": only(line) }));
    host.fire("prompt:submit", json!({ "prompt": "p" }));
    expect(
        &host.fire("prompt:complete", json!({})),
        &json!({ "action": "deny", "reason": "tests are missing" }),
    );
    expect(&host.fire("prompt:complete", json!({})), &json!({ "action": "continue" }));
    host.fire("prompt:submit", json!({ "prompt": "p" }));
    expect(&host.fire("prompt:complete", json!({})), &json!({ "action": "deny" }));
}

#[test]
fn subagent_stop_is_tool_post_of_the_task_tool() {
    let hooks =
        json!({ "SubagentStop": only("cat > input; echo sub >> log"), "PostToolUse": only(&note("post")) });
    let host = Host::with_hooks(&hooks);
    let post =
        |tool: &str| host.fire("tool:post", json!({ "tool_name": tool, "tool_input": {}, "result": "r" }));
    for (tool, ran) in [
        ("Task", &["post", "sub"][..]),
        ("task", &["post", "sub"]),
        ("TaskList", &["post"]),
        ("bash", &["post"]),
    ] {
        post(tool);
        assert_eq!(host.take("log"), ran, "{tool}");
    }
    post("Task");
    expect(&kept(&host), &json!({ "stop_hook_active": false, "tool_name": "Task", "tool_result": "r" }));
    // A subagent can be sent back, though a tool that ran cannot be blocked.
    let host = Host::with_hooks(&json!({ "SubagentStop": only("echo more >&2; exit 2") }));
    let task = json!({ "tool_name": "task", "tool_input": {}, "result": "r" });
    expect(&host.fire("tool:post", task), &json!({ "action": "deny", "reason": "more" }));
}

#[test]
fn pre_compact() {
    let host = Host::with_hooks(
        &json!({ "PreCompact": [when("manual", &note("manual")), when("auto", &note("auto"))] }),
    );
    for (data, ran) in [
        (json!({ "trigger": "manual" }), "manual"),
        (json!({ "trigger": "auto" }), "auto"),
        (json!({}), "auto"),
    ] {
        host.fire("context:pre_compact", data.clone());
        assert_eq!(host.take("log"), [ran], "{data}");
    }
    let host = Host::with_hooks(&json!({ "PreCompact": keep() }));
    host.fire("context:pre_compact", json!({ "message_count": 3 }));
    expect(&kept(&host), &json!({ "trigger": "auto", "message_count": 3 }));
}

#[test]
fn permission_request() {
    let host = Host::with_hooks(&json!({ "PermissionRequest": [
        when("Bash", "echo never >&2; exit 2"),
        when("Read", &says(&json!({ "decision": "approve" }))),
        when("Write", "true"),
    ] }));
    let ask = |tool: &str| {
        host.fire("approval:required", json!({ "tool_name": tool, "action": "a", "risk_level": "high" }))
    };
    expect(&ask("bash"), &json!({ "action": "deny", "reason": "never" }));
    expect(&ask("read_file"), &json!({ "action": "continue", "decision": "approve" }));
    expect(&ask("write_file"), &json!({ "action": "continue", "decision": null }));
    let host = Host::with_hooks(&json!({ "PermissionRequest": keep() }));
    host.fire("approval:required", json!({ "tool_name": "bash", "action": "a", "risk_level": "high" }));
    expect(&kept(&host), &json!({ "tool_name": "bash", "action": "a", "risk_level": "high" }));
}

#[test]
fn notification() {
    let kinds = ["permission_prompt", "idle_prompt", "auth_success"];
    let host = Host::with_hooks(&json!({ "Notification": kinds.map(|kind| when(kind, &note(kind))) }));
    for kind in kinds {
        host.fire("user:notification", json!({ "type": kind, "message": "m" }));
        assert_eq!(host.take("log"), [kind]);
    }
    let host = Host::with_hooks(&json!({ "Notification": keep() }));
    host.fire(
        "user:notification",
        json!({ "type": "permission_prompt", "message": "Allow write to file.txt?" }),
    );
    expect(&kept(&host), &json!({ "type": "permission_prompt", "message": "Allow write to file.txt?" }));
}

#[test]
fn session_start_matchers() {
    let triggers = ["startup", "resume", "clear", "compact"];
    let host =
        Host::with_hooks(&json!({ "SessionStart": triggers.map(|trigger| when(trigger, &note(trigger))) }));
    let table = [
        ("session:start", json!({}), "startup"),
        ("session:start", json!({ "trigger": "startup" }), "startup"),
        ("session:start", json!({ "clear": true }), "clear"),
        ("session:start", json!({ "trigger": "clear" }), "clear"),
        ("session:resume", json!({}), "resume"),
        ("session:resume", json!({ "trigger": "startup" }), "resume"),
        ("context:post_compact", json!({}), "compact"),
    ];
    for (event, data, ran) in table {
        host.fire(event, data.clone());
        assert_eq!(host.take("log"), [ran], "{event} {data}");
    }
    let all = Host::with_hooks(&json!({ "SessionStart": keep() }));
    all.fire("session:resume", json!({}));
    expect(&kept(&all), &json!({ "trigger": "resume", "session_id": "one" }));
}

#[test]
fn environment_variable_persistence() {
    let start = "echo 'export PROJECT_VERSION=1.2.3' >> \"$AMPLIFIER_ENV_FILE\"
        echo \"export BUILD_ID=$(date +%s)\" >> \"$AMPLIFIER_ENV_FILE\"
        echo \"export PATH=\\\"$PWD/bin:\\$PATH\\\"\" >> \"$CLAUDE_ENV_FILE\"
        echo \"NAME='two words'\" >> \"$CLAUDE_ENV_FILE\"";
    let show = "printf '%s|%s|%s|' \"$PROJECT_VERSION\" \"$NAME\" \"${BUILD_ID:+set}\" >> log; greet >> log";
    let host = Host::with_hooks(
        &json!({ "SessionStart": only(start), "PreToolUse": only(show), "Stop": only(show) }),
    );
    sh_tool(&host);
    host.fire("session:start", json!({}));
    // Later events, each in a process of its own.
    expect(&host.bash("ls"), &json!({ "action": "continue", "user_message": null }));
    assert_eq!(host.take("log"), ["1.2.3|two words|set|hello"]);
    host.fire("prompt:complete", json!({}));
    assert_eq!(host.take("log"), ["1.2.3|two words|set|hello"]);
}

/// A command that is only on the PATH that the session's hook extended.
fn sh_tool(host: &Host) {
    let made = std::process::Command::new("sh")
        .args(["-ec", "mkdir bin; printf '#!/bin/sh\\necho hello\\n' > bin/greet; chmod +x bin/greet"])
        .current_dir(host.path(""))
        .status();
    assert!(made.unwrap().success());
}

#[test]
fn variables_belong_to_their_session_and_end_with_it() {
    let line =
        "echo \"X=$AMPLIFIER_SESSION_ID\" >> \"$AMPLIFIER_ENV_FILE\"; echo \"$AMPLIFIER_ENV_FILE\" > file";
    let show = "printf '%s\\n' \"$X\" >> log";
    let mut host = Host::with_hooks(&json!({ "SessionStart": only(line), "PreToolUse": only(show) }));
    host.fire("session:start", json!({}));
    let file = host.take("file").remove(0);
    assert!(std::path::Path::new(&file).exists());
    host.session = "two".into();
    host.bash("ls");
    assert_eq!(host.take("log"), [""], "another session");
    host.session = "one".into();
    host.bash("ls");
    assert_eq!(host.take("log"), ["one"]);
    host.fire("session:end", json!({}));
    assert!(!std::path::Path::new(&file).exists(), "{file} outlives its session");
    host.bash("ls");
    assert_eq!(host.take("log"), [""]);
}

#[test]
fn amplifier_env_file_and_claude_env_file_are_one_file() {
    let line = "test \"$AMPLIFIER_ENV_FILE\" = \"$CLAUDE_ENV_FILE\" && test -f \"$CLAUDE_ENV_FILE\" && echo same >> log";
    let host = Host::with_hooks(&json!({ "SessionStart": only(line), "PreToolUse": only(line) }));
    host.fire("session:start", json!({}));
    host.bash("ls");
    assert_eq!(host.take("log"), ["same", "same"]);
}

#[test]
fn a_later_hook_of_the_same_event_sees_the_variables_too() {
    let hooks = [command("echo 'A=1' >> \"$AMPLIFIER_ENV_FILE\""), command("echo \"A is $A\" >> log")];
    let host = Host::with_hooks(&json!({ "SessionStart": [{ "hooks": hooks }] }));
    host.fire("session:start", json!({}));
    assert_eq!(host.take("log"), ["A is 1"]);
}

#[test]
fn a_variable_of_the_module_cannot_be_taken_over() {
    let line = "echo 'AMPLIFIER_HOOKS_DIR=/elsewhere' >> \"$AMPLIFIER_ENV_FILE\"";
    let host = Host::with_hooks(
        &json!({ "SessionStart": only(line), "PreToolUse": only("echo \"$AMPLIFIER_HOOKS_DIR\" >> log") }),
    );
    host.fire("session:start", json!({}));
    host.bash("ls");
    assert_eq!(host.take("log"), [host.path(".amplifier/hooks").to_str().unwrap()]);
}

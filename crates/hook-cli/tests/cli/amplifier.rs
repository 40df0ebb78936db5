//! Amplifier through the built command: `hook dispatch --agent amplifier` with real scripts.
//!
//! Where the module's document contradicts itself, its first implementation differs from it, or both are silent, a test holds
//! what is built. Here and elsewhere:
//!
//! | question | test |
//! |---|---|
//! | two events end a turn | `both_ends_of_a_turn_run_the_stop_hooks_once` |
//! | the end of a subagent | `the_end_of_a_subagent_is_the_end_of_the_tools_that_the_settings_name` |
//! | exit 2 beside an answer document; warnings for other codes; `continue: false`; JSON that is no object | `tests/cases/amplifier/response.json`, `what_one_hook_says_becomes_one_result` in hook-mapper |
//! | what an event takes from a hook | `tests/cases/amplifier/response.json`, `results_that_stock_hosts_throw_away_are_in_the_reply` |
//! | matcher values, `clear`, `compact`, `context:compaction`, a tool name that is null | `every_row_of_the_event_mapping_reaches_its_hooks` |
//! | two spellings of tool data | `a_hook_reads_the_tool_whatever_the_agent_calls_its_fields` |
//! | `once` | `tests/amplifier_acceptance/phase_1_5.rs` |
//! | settings of the module | `a_host_mounts_the_module_with_its_settings`, `switches.rs` in hook-config |
//! | children of a hook that is out of time, background children | `process_matrix` in hook-exec-command |
//! | messages of hooks that approve, parallel groups | `tests/cases/amplifier/scenario.json`, `tests/amplifier_acceptance/parallel.rs` |
//! | ids and env files of several sessions | `every_session_has_its_own_id_and_env_file_and_the_file_goes_with_it` |
//! | names that belong to the module | `the_variables_of_the_module_cannot_be_set_by_an_env_file_or_by_an_outer_agent` |
//! | who expands variables | `the_shell_does_the_expanding_and_user_hooks_have_the_users_directory` |
//! | files that are not as they should be | `amplifier.rs` in hook-config, `standard_output_is_one_document_whatever_the_hook_files_are_like` |
//! | verdicts of a model | `verdict` in hook-mapper |
//! | context that hides a guard | `an_injection_that_hides_a_guard_is_told` |
//! | commands of skills | `tests/amplifier_acceptance/phase_1_5.rs` |
//! | allowing without a question | `only_an_explicit_approve_allows_without_asking` |
//! | results and rewrites that stock hosts ignore | `results_that_stock_hosts_throw_away_are_in_the_reply` |
//! | tool names of plugins | `matchers_of_claude_code_plugins_mean_the_stock_tools_and_scripts_get_the_real_name` |
//! | a plugin that is copied whole | `a_plugin_of_claude_code_kept_whole_finds_its_scripts` |

use serde_json::{Value, json};

use crate::place::{Place, Said};

/// Sends one event of the session `s`.
fn send(place: &Place, event: &str, data: Value, more: &[&str]) -> Said {
    let payload = json!({ "event": event, "session_id": "s", "data": data });
    let arguments: Vec<&str> = ["dispatch", "--agent", "amplifier"].iter().chain(more).copied().collect();
    place.hook_fed(&arguments, payload.to_string().as_bytes())
}

/// What a hook wrote into the project's file `log`, line by line; the file is emptied.
fn log(place: &Place) -> Vec<String> {
    let path = place.project().join("log");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    text.lines().map(str::to_owned).collect()
}

fn hooks(events: Value) -> String {
    json!({ "hooks": events }).to_string()
}

/// A group with one hook that writes `word` into the log.
fn note(word: &str) -> Value {
    json!([{ "hooks": [{ "type": "command", "command": format!("echo {word} >> log") }] }])
}

const REGISTRY: &str = ".amplifier/hooks/hooks.json";

#[test]
fn a_host_mounts_the_module_with_its_settings() {
    let block = json!([{ "hooks": [{ "command": "echo no >&2; exit 2" }] }]);
    let place = Place::new().with(REGISTRY, &hooks(json!({ "PreToolUse": block })));
    let place = place.with("mount.json", r#"{"enabled": false}"#);
    let pre = |more: &[&str]| {
        let said = send(&place, "tool:pre", json!({ "tool_name": "bash", "tool_input": {} }), more);
        said.exits(0);
        said.json()
    };
    assert_eq!(pre(&[])["action"], "deny");
    assert_eq!(pre(&["--module-config", r#"{"enabled": false}"#])["action"], "continue");
    assert_eq!(pre(&["--module-config", "mount.json"])["action"], "continue");
    assert_eq!(pre(&["--module-config", r#"{"allow_project_hooks": false}"#])["action"], "continue");
    let advised = ["--module-config", r#"{"allow_blocking": false}"#, "--event", "tool:pre"];
    let said = place.hook_fed(&[&["dispatch", "--agent", "amplifier"], &advised[..]].concat(), b"{ broken");
    assert_eq!(said.json()["action"], "continue", "no hook here could have blocked: {said:?}");
    let advice = pre(&["--module-config", r#"{"allow_blocking": false}"#]);
    assert_eq!(advice["action"], "continue");
    assert_eq!(advice["user_message"], "no (not blocked: the setting allow_blocking is false)");
    assert_eq!(advice["user_message_level"], "warning");
    // Settings that cannot be had are a fault of the wiring: a guard event is denied.
    for broken in ["missing.json", ""] {
        let reply = pre(&["--module-config", broken]);
        assert_eq!(reply["action"], "deny");
        assert!(reply["reason"].as_str().unwrap().contains("--module-config"), "{reply}");
    }
    // Those that cannot be read leave the defaults, and say so.
    let reply = pre(&["--module-config", "{\"enabled\": fals}"]);
    assert_eq!(reply["action"], "deny");
    assert!(reply["user_message"].as_str().unwrap().contains("--module-config:1:13"), "{reply}");
}

#[test]
fn every_verb_that_loads_takes_the_settings_of_the_module() {
    let place = Place::new().with(REGISTRY, &hooks(json!({ "Stop": note("x") })));
    let off = ["--module-config", r#"{"enabled": false, "max_timout": 3}"#];
    let with = |verb: &[&'static str]| place.hook(&[verb, &off[..]].concat());
    with(&["list"]).exits(0).shows(&["off: the module's setting `enabled` is false at --module-config:1:2"]);
    with(&["check"]).exits(0).shows(&["\"max_timout\" is no setting of the module", "--module-config:1"]);
    with(&["run", "Stop"]).exits(0);
    assert_eq!(log(&place), [""; 0]);
    place.hook(&["list", "--module-config", "nothing"]).exits(74).tells(&["--module-config nothing"]);
}

#[test]
fn the_end_of_a_subagent_is_the_end_of_the_tools_that_the_settings_name() {
    let files = hooks(json!({ "PostToolUse": note("post"), "SubagentStop": note("sub") }));
    let place = Place::new().with(REGISTRY, &files);
    let post = |tool: &str, more: &[&str]| {
        send(&place, "tool:post", json!({ "tool_name": tool, "result": "r" }), more).exits(0);
        log(&place).join(" ")
    };
    assert_eq!(post("task", &[]), "post sub");
    assert_eq!(post("delegate", &[]), "post");
    let named = ["--module-config", r#"{"subagent_tools": ["delegate"]}"#];
    assert_eq!(post("delegate", &named), "post sub");
    assert_eq!(post("task", &named), "post");
    let place = place.with(
        ".hooks/hooks.json",
        r#"{"settings": {"agents": {"amplifier": {"subagent_tools": ["delegate"]}}}}"#,
    );
    let added = send(&place, "tool:post", json!({ "tool_name": "delegate", "result": "r" }), &[]);
    added.exits(0);
    assert_eq!(log(&place), ["post", "sub"]);
    place.hook(&["run", "tool:post", "--agent", "amplifier", "--tool", "task"]).exits(0);
    assert_eq!(log(&place), ["post", "sub"], "a project adds to the agent's own");
}

#[test]
fn what_was_noticed_at_a_hook_is_on_standard_error() {
    let hook = json!([{ "hooks": [{ "command": "echo '{decision: block}'" }] }]);
    let place = Place::new().with(REGISTRY, &hooks(json!({ "PreToolUse": hook })));
    let said = send(&place, "tool:pre", json!({ "tool_name": "bash", "tool_input": {} }), &[]);
    assert_eq!(said.json(), json!({ "action": "continue" }));
    said.exits(0).tells(&["hooks.json:1:", "looks like an answer but is no JSON"]);
}

#[test]
fn an_agent_around_this_one_does_not_choose_the_project() {
    let refuse = |word: &str| json!([{ "hooks": [{ "command": format!("echo {word} >&2; exit 2") }] }]);
    let place = Place::new().with(REGISTRY, &hooks(json!({ "PreToolUse": refuse("inner") })));
    let outer = Place::new().with(REGISTRY, &hooks(json!({ "PreToolUse": refuse("outer") })));
    let mut command = place.command();
    command.args(["dispatch", "--agent", "amplifier"]);
    command.env("CLAUDE_PROJECT_DIR", outer.project()).env("AMPLIFIER_PROJECT_DIR", outer.project());
    let payload = json!({ "event": "tool:pre", "data": { "tool_name": "bash", "tool_input": {} } });
    let said = crate::place::feed(command, payload.to_string().as_bytes());
    assert_eq!(said.json()["reason"], "inner");
}

#[test]
fn hooks_of_loaded_skills_are_held_to_the_settings_too() {
    let place = Place::new();
    let hooks = json!({ "PreToolUse": [{ "hooks": [{ "command": "echo no >&2; exit 2" }] }] });
    send(&place, "skill:loaded", json!({ "skill_name": "k", "hooks": hooks }), &[]).exits(0);
    let pre = |more: &[&str]| {
        let said = send(&place, "tool:pre", json!({ "tool_name": "bash", "tool_input": {} }), more);
        said.exits(0).json()["action"].clone()
    };
    assert_eq!(pre(&[]), "deny");
    assert_eq!(pre(&["--module-config", r#"{"enabled": false}"#]), "continue");
    assert_eq!(pre(&["--module-config", r#"{"allow_blocking": false}"#]), "continue");
    let explained = place.hook(&[
        "explain",
        "tool:pre",
        "--agent",
        "amplifier",
        "--tool",
        "bash",
        "--session",
        "s",
        "--json",
    ]);
    let id = explained.json().to_string();
    let start = id.find("PreToolUse-").unwrap();
    let list = json!({ "settings": { "disabled": [&id[start..start + 23]] } }).to_string();
    let place = place.with(".hooks/hooks.local.json", &list);
    let said = send(&place, "tool:pre", json!({ "tool_name": "bash", "tool_input": {} }), &[]);
    assert_eq!(said.json()["action"], "continue", "{said:?}");
}

/// Every event of the module's mapping, fired as Amplifier fires it, and the groups that heard it: an event's name alone is a
/// group without a matcher, `Event/matcher` one that has this matcher.
#[test]
fn every_row_of_the_event_mapping_reaches_its_hooks() {
    const MATCHERS: &[(&str, &[&str])] = &[
        ("PreToolUse", &["Bash", "Edit"]),
        ("PostToolUse", &["Bash", "Task"]),
        ("SubagentStop", &["Task", "Bash"]),
        ("UserPromptSubmit", &[]),
        ("SessionStart", &["startup", "resume", "clear", "compact"]),
        ("SessionEnd", &[]),
        ("Stop", &[]),
        ("PreCompact", &["auto", "manual"]),
        ("PermissionRequest", &["Write", "Bash"]),
        ("Notification", &["permission_prompt", "idle_prompt", "auth_success"]),
    ];
    let mut events = serde_json::Map::new();
    for (event, matchers) in MATCHERS {
        let mut groups = vec![note(event)[0].clone()];
        for matcher in *matchers {
            let mut group = note(&format!("{event}/{matcher}"))[0].clone();
            group["matcher"] = json!(matcher);
            groups.push(group);
        }
        events.insert((*event).to_owned(), json!(groups));
    }
    let place = Place::new().with(REGISTRY, &hooks(events.into()));
    let tool = |name: &str| json!({ "tool_name": name, "tool_input": {}, "result": "r" });
    let rows: [(&str, Value, &str); 22] = [
        ("tool:pre", tool("bash"), "PreToolUse PreToolUse/Bash"),
        ("tool:pre", json!({ "name": "edit_file", "input": {} }), "PreToolUse PreToolUse/Edit"),
        ("tool:pre", json!({ "tool_name": null, "name": "bash" }), "PreToolUse PreToolUse/Bash"),
        ("tool:post", tool("bash"), "PostToolUse PostToolUse/Bash"),
        ("tool:post", tool("task"), "PostToolUse PostToolUse/Task SubagentStop SubagentStop/Task"),
        ("tool:post", tool("TaskList"), "PostToolUse"),
        ("prompt:submit", json!({ "prompt": "hi", "name": "stray" }), "UserPromptSubmit"),
        ("session:start", json!({}), "SessionStart SessionStart/startup"),
        ("session:start", json!({ "clear": true }), "SessionStart SessionStart/clear"),
        ("session:start", json!({ "trigger": "compact" }), "SessionStart SessionStart/compact"),
        ("session:resume", json!({ "trigger": "startup" }), "SessionStart SessionStart/resume"),
        ("context:post_compact", json!({}), "SessionStart SessionStart/compact"),
        ("context:compaction", json!({ "message_count": 3 }), "SessionStart SessionStart/compact"),
        ("session:end", json!({}), "SessionEnd"),
        ("prompt:complete", json!({ "prompt": "p", "response": "r" }), "Stop"),
        ("context:pre_compact", json!({ "trigger": "manual" }), "PreCompact PreCompact/manual"),
        ("context:pre_compact", json!({ "token_count": 9 }), "PreCompact PreCompact/auto"),
        ("approval:required", tool("write_file"), "PermissionRequest PermissionRequest/Write"),
        ("user:notification", json!({ "type": "idle_prompt" }), "Notification Notification/idle_prompt"),
        ("user:notification", json!({ "type": "other" }), "Notification"),
        ("tool:error", tool("bash"), ""),
        ("execution:start", json!({}), ""),
    ];
    for (event, data, heard) in rows {
        let said = send(&place, event, data.clone(), &[]);
        assert_eq!(said.exits(0).json()["action"], "continue", "{event} {data}");
        assert_eq!(log(&place).join(" "), heard, "{event} {data}");
    }
    // The other end of a turn, in a turn of its own.
    send(&place, "prompt:submit", json!({}), &[]);
    log(&place);
    send(&place, "orchestrator:complete", json!({ "turn_count": 1 }), &[]).exits(0);
    assert_eq!(log(&place), ["Stop"]);
}

#[test]
fn both_ends_of_a_turn_run_the_stop_hooks_once() {
    let place = Place::new().with(REGISTRY, &hooks(json!({ "Stop": note("stop") })));
    let ran = |events: &[&str]| {
        for event in events {
            send(&place, event, json!({}), &[]).exits(0);
        }
        log(&place).len()
    };
    assert_eq!(ran(&["session:start", "prompt:submit", "prompt:complete", "orchestrator:complete"]), 1);
    assert_eq!(ran(&["prompt:submit", "orchestrator:complete", "prompt:complete"]), 1, "in either order");
    assert_eq!(ran(&["prompt:complete"]), 0, "still the same turn");
    assert_eq!(ran(&["session:start", "prompt:complete"]), 1);

    let denied = json!([{ "hooks": [{ "command": "echo stop >> log; echo more >&2; exit 2" }] }]);
    let place = Place::new().with(REGISTRY, &hooks(json!({ "Stop": denied })));
    for (event, runs) in [("prompt:submit", 0), ("prompt:complete", 1), ("orchestrator:complete", 1)] {
        send(&place, event, json!({}), &[]).exits(0);
        assert_eq!(log(&place).len(), runs, "{event}: a denied stop opens the turn again");
    }
}

#[test]
fn a_hook_reads_the_tool_whatever_the_agent_calls_its_fields() {
    let guard = r#"in=$(cat); for field in .tool_input.command .tool_name; do echo "$in" | "$HOOK" get $field >> log; done"#;
    let place = Place::new().with(
        REGISTRY,
        &hooks(json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "command": guard }] }] })),
    );
    for data in [
        json!({ "tool_name": "bash", "tool_input": { "command": "ls" } }),
        json!({ "name": "bash", "input": { "command": "ls" } }),
        json!({ "tool_name": "bash", "name": "no", "tool_input": { "command": "ls" }, "input": {} }),
    ] {
        send(&place, "tool:pre", data.clone(), &[]).exits(0);
        assert_eq!(log(&place), ["ls", "bash"], "{data}");
    }
}

#[test]
fn matchers_of_claude_code_plugins_mean_the_stock_tools_and_scripts_get_the_real_name() {
    let group = |matcher: &str| {
        let command = format!("printf '%s ' '{matcher}' >> log; \"$HOOK\" get .tool_name >> log");
        json!({ "matcher": matcher, "hooks": [{ "command": command }] })
    };
    let groups = ["Edit|Write", "Read", "Bash", "Task", "write_file"].map(group);
    let place = Place::new().with(REGISTRY, &hooks(json!({ "PreToolUse": groups })));
    for (tool, heard) in [
        ("write_file", &["Edit|Write write_file", "write_file write_file"][..]),
        ("edit_file", &["Edit|Write edit_file"]),
        ("read_file", &["Read read_file"]),
        ("bash", &["Bash bash"]),
        ("task", &["Task task"]),
        ("delegate", &["Task delegate"]),
        ("write_files", &[]),
    ] {
        send(&place, "tool:pre", json!({ "tool_name": tool }), &[]).exits(0);
        assert_eq!(log(&place), heard, "{tool}");
    }
}

#[test]
fn only_an_explicit_approve_allows_without_asking() {
    for (output, decision, action) in [
        ("", Value::Null, "continue"),
        (r#"{"systemMessage": "hm"}"#, Value::Null, "continue"),
        (r#"{"decision": "allow"}"#, Value::Null, "continue"),
        (r#"{"decision": "approve"}"#, json!("approve"), "continue"),
        (r#"{"decision": "block", "reason": "no"}"#, Value::Null, "deny"),
    ] {
        let hook = json!([{ "hooks": [{ "command": format!("printf '%s' '{output}'") }] }]);
        let place = Place::new().with(REGISTRY, &hooks(json!({ "PermissionRequest": hook })));
        let reply = send(&place, "approval:required", json!({ "tool_name": "bash" }), &[]).json();
        assert_eq!((&reply["decision"], &reply["action"]), (&decision, &json!(action)), "{output}");
    }
}

#[test]
fn results_that_stock_hosts_throw_away_are_in_the_reply() {
    let says = |text: &str| json!([{ "hooks": [{ "command": format!("printf '%s' '{text}'") }] }]);
    let place = Place::new().with(
        REGISTRY,
        &hooks(json!({
            "Stop": says(r#"{"decision": "block", "reason": "tests fail"}"#),
            "SessionStart": says(r#"{"contextInjection": "be kind"}"#),
            "PreToolUse": says(r#"{"newContent": {"command": "ls"}}"#),
            "UserPromptSubmit": says(r#"{"newContent": "other"}"#),
        })),
    );
    for (event, data, expected) in [
        ("prompt:complete", json!({}), json!({ "action": "deny", "reason": "tests fail" })),
        ("session:start", json!({}), json!({ "action": "inject_context", "context_injection": "be kind" })),
        (
            "tool:pre",
            json!({ "tool_name": "bash" }),
            json!({ "action": "modify", "data": { "modified_content": { "command": "ls" } } }),
        ),
        (
            "prompt:submit",
            json!({ "prompt": "p" }),
            json!({ "action": "modify", "data": { "modified_content": "other" } }),
        ),
    ] {
        let reply = send(&place, event, data, &[]).json();
        for (member, value) in expected.as_object().unwrap() {
            assert_eq!(&reply[member], value, "{event}: {reply}");
        }
    }
}

#[test]
fn standard_output_is_one_document_whatever_the_hook_files_are_like() {
    let place = Place::new()
        .with(REGISTRY, "{ broken")
        .with(".amplifier/hooks/a/hooks.json", r#"{"hooks": {"Stop": 3, "Lunch": []}}"#)
        .with(".amplifier/hooks/state.json", "[]")
        .with(".hooks/hooks.json", "also broken");
    for event in ["tool:pre", "session:start", "prompt:complete", "skill:loaded", "nothing:known"] {
        let said = send(&place, event, json!({ "tool_name": "bash" }), &[]);
        let reply = said.exits(0).json();
        assert!(reply.is_object(), "{event}: {said:?}");
    }
}

#[test]
fn a_plugin_of_claude_code_kept_whole_finds_its_scripts() {
    let command = r#""${CLAUDE_PLUGIN_ROOT}/hooks/check.sh""#;
    let place = Place::new()
        .with(
            ".amplifier/hooks/formatter/hooks.json",
            &hooks(json!({ "Stop": [{ "hooks": [{ "command": command }] }] })),
        )
        .with(".amplifier/hooks/formatter/hooks/check.sh", "#!/bin/sh\necho found >> log\n");
    let script = place.project().join(".amplifier/hooks/formatter/hooks/check.sh");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    send(&place, "prompt:complete", json!({}), &[]).exits(0);
    assert_eq!(log(&place), ["found"]);
}

/// Sends an event of a session with more variables in the environment.
fn send_as(place: &Place, session: &str, event: &str, environment: &[(&str, &str)]) -> Said {
    let payload = json!({ "event": event, "session_id": session, "data": {} }).to_string();
    let mut command = place.command();
    command.args(["dispatch", "--agent", "amplifier"]).envs(environment.iter().copied());
    crate::place::feed(command, payload.as_bytes())
}

#[test]
fn every_session_has_its_own_id_and_env_file_and_the_file_goes_with_it() {
    let shown = r#"echo "$AMPLIFIER_SESSION_ID $MINE" >> log; echo "MINE=$AMPLIFIER_SESSION_ID" >> "$AMPLIFIER_ENV_FILE"; echo "$AMPLIFIER_ENV_FILE" >> files"#;
    let hook = json!([{ "hooks": [{ "command": shown }] }]);
    let end = json!([{ "hooks": [{ "command": "echo end >> log" }] }]);
    let place = Place::new().with(REGISTRY, &hooks(json!({ "UserPromptSubmit": hook, "SessionEnd": end })));
    for session in ["one", "two/../..", "one"] {
        send_as(&place, session, "prompt:submit", &[]).exits(0);
    }
    assert_eq!(log(&place), ["one ", "two/../.. ", "one one"]);
    let files = std::fs::read_to_string(place.project().join("files")).unwrap();
    let files: Vec<&std::path::Path> = files.lines().map(std::path::Path::new).collect();
    assert_eq!(files[0], files[2]);
    assert_ne!(files[0], files[1]);
    assert!(files[0].is_file() && files[1].is_file());
    send_as(&place, "one", "session:end", &[]).exits(0);
    assert!(!files[0].exists(), "nothing piles up");
    assert!(files[1].is_file(), "the other session goes on");
    send_as(&place, "one", "prompt:submit", &[]).exits(0);
    assert_eq!(log(&place), ["end", "one "], "a new session knows nothing of the old one");
}

#[test]
fn the_variables_of_the_module_cannot_be_set_by_an_env_file_or_by_an_outer_agent() {
    const OWN: [&str; 7] = [
        "AMPLIFIER_PROJECT_DIR",
        "AMPLIFIER_HOOKS_DIR",
        "AMPLIFIER_SESSION_ID",
        "AMPLIFIER_ENV_FILE",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PLUGIN_ROOT",
    ];
    let lines: String = OWN.iter().map(|name| format!("{name}=/evil\\n")).collect();
    let set = format!("printf '{lines}FINE=yes\\n' >> \"$AMPLIFIER_ENV_FILE\"");
    let show = "echo \"$FINE\" >> log; env | grep -c =/evil >> log; true";
    let both = json!([{ "hooks": [{ "command": set }, { "command": show }] }]);
    let place = Place::new().with(REGISTRY, &hooks(json!({ "Stop": both })));
    let outer: Vec<(&str, &str)> =
        OWN.iter().filter(|name| !name.ends_with("PROJECT_DIR")).map(|name| (*name, "/evil")).collect();
    let said = send_as(&place, "s", "prompt:complete", &outer);
    said.exits(0).tells(&["line 7 was skipped: the variable belongs to the engine"]);
    assert_eq!(said.stderr.matches("line 7 was").count(), 1, "told once, not after every hook");
    assert_eq!(log(&place), ["yes", "0"]);
}

#[test]
fn the_shell_does_the_expanding_and_user_hooks_have_the_users_directory() {
    let show = r#"echo '$HOME' "$AMPLIFIER_HOOKS_DIR" >> log"#;
    let hook = hooks(json!({ "Stop": [{ "hooks": [{ "command": show }] }] }));
    let place = Place::new().with(REGISTRY, &hook).with_home(REGISTRY, &hook);
    send(&place, "prompt:complete", json!({}), &[]).exits(0);
    let at = |folder: std::path::PathBuf| format!("$HOME {}", folder.join(".amplifier/hooks").display());
    assert_eq!(log(&place), [at(place.home()), at(place.project().canonicalize().unwrap())]);
}

#[test]
fn an_injection_that_hides_a_guard_is_told() {
    let add = r#"printf '{"contextInjection": "c"}'"#;
    let groups = json!([{ "hooks": [{ "command": add }, { "command": "exit 2" }] }, { "hooks": [{ "command": "exit 2" }] }]);
    let place = Place::new().with(REGISTRY, &hooks(json!({ "PreToolUse": groups })));
    let said = send(&place, "tool:pre", json!({ "tool_name": "bash" }), &[]);
    assert_eq!(said.exits(0).json()["action"], "inject_context");
    said.tells(&[
        "hooks.json:1:",
        "(contextInjection) ended the run, so 2 hooks after it did not see this event",
    ]);
}

#[test]
fn a_plugin_may_be_a_link_to_a_directory() {
    let place = Place::new().with("elsewhere/hooks.json", &hooks(json!({ "Stop": note("linked") })));
    std::fs::create_dir_all(place.project().join(".amplifier/hooks")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", place.project().join(".amplifier/hooks/linked")).unwrap();
    std::os::unix::fs::symlink("../../nowhere", place.project().join(".amplifier/hooks/dangling")).unwrap();
    send(&place, "prompt:complete", json!({}), &[]).exits(0);
    assert_eq!(log(&place), ["linked"]);
}

#[test]
fn a_broken_skill_that_is_not_loaded_is_told_once_and_a_broken_registry_always() {
    let skill = "---\nname: s\ndescription: d\nhooks:\n  PreToolUse: [7]\n---\n";
    let mut place = Place::new().with(".amplifier/skills/s/SKILL.md", skill);
    let told = |place: &Place| {
        let said = send(place, "tool:pre", json!({ "tool_name": "bash", "tool_input": {} }), &[]);
        said.exits(0).tells(&[" in hook files, first "]);
        said.json()["user_message"].is_string()
    };
    assert_eq!([told(&place), told(&place)], [true, false]);
    place = place.with(REGISTRY, "{");
    assert_eq!([told(&place), told(&place)], [true, true]);
}

//! Phase 1: the five basic events, command hooks, exit codes and JSON answers.

use std::process::Command;

use serde_json::{Value, json};

use crate::host::{Host, REGISTRY, command, expect, expect_of, note, only, says, when};

#[test]
fn can_load_hooks_from_amplifier_hooks() {
    let plugin = |word: &str| json!({ "hooks": { "PreToolUse": only(&note(word)) } }).to_string();
    let host = Host::new()
        .with_home(".amplifier/hooks/hooks.json", &plugin("home-root"))
        .with_home(".amplifier/hooks/own/hooks.json", &plugin("home-plugin"))
        .with(REGISTRY, &plugin("root"))
        .with(".amplifier/hooks/zeta/hooks.json", &plugin("zeta"))
        .with(".amplifier/hooks/alpha/hooks.json", &plugin("alpha"))
        // Not read: deeper directories, other names, the agent's general settings.
        .with(".amplifier/hooks/alpha/deeper/hooks.json", &plugin("deeper"))
        .with(".amplifier/hooks/alpha/more.json", &plugin("more"))
        .with(".amplifier/hooks.json", &plugin("beside"))
        .with(".amplifier/settings.json", &plugin("settings"));
    expect(&host.bash("ls"), &json!({ "action": "continue" }));
    assert_eq!(host.take("log"), ["home-root", "home-plugin", "root", "alpha", "zeta"]);
    let listed: Vec<Value> =
        host.list().as_array().unwrap().iter().map(|hook| hook["source"].clone()).collect();
    assert_eq!(listed, [json!(null), json!("own"), json!(null), json!("alpha"), json!("zeta")]);
}

#[test]
fn configuration_loading_and_merging() {
    // Groups of one event in several files are appended to each other, whatever their matchers.
    let host = Host::with_hooks(&json!({ "PreToolUse": [when("Bash", &note("a")), when("Edit", &note("b"))] }))
        .with(
            ".amplifier/hooks/plugin/hooks.json",
            &json!({ "description": "d", "hooks": { "PreToolUse": [when("Bash", &note("c"))], "Stop": only(&note("d")) } })
                .to_string(),
        );
    host.bash("ls");
    assert_eq!(host.take("log"), ["a", "c"]);
    host.fire("prompt:complete", json!({}));
    assert_eq!(host.take("log"), ["d"]);
}

#[test]
fn a_project_without_hooks_goes_on() {
    assert_eq!(Host::new().bash("rm -rf /"), json!({ "action": "continue" }));
}

#[test]
fn a_broken_file_takes_nothing_with_it_and_is_told() {
    let guard = json!({ "hooks": { "PreToolUse": only("echo no >&2; exit 2") } }).to_string();
    let host = Host::new()
        .with(REGISTRY, "{\"hooks\": {\"PreToolUse\": [}}")
        .with(".amplifier/hooks/guard/hooks.json", &guard);
    let result = host.bash("ls");
    expect(&result, &json!({ "action": "deny", "reason": "no" }));
    assert!(result["user_message"].as_str().unwrap().contains("hooks.json:1:"), "{result}");
}

#[test]
fn can_execute_bash_command_hooks() {
    let script =
        "#!/bin/bash\nread -r -a words <<<\"one two\"\n[[ ${words[1]} == two ]] && cat > input.json\n";
    let host = Host::with_hooks(
        &json!({ "PreToolUse": [when("Bash", "\"${AMPLIFIER_HOOKS_DIR}/my-hook/hook.sh\"")] }),
    )
    .with(".amplifier/hooks/my-hook/hook.sh", script);
    expect(&host.bash("ls -la"), &json!({ "action": "continue", "user_message": null }));
    let input: Value = serde_json::from_str(&host.read("input.json")).unwrap();
    assert_eq!(input["tool_input"]["command"], "ls -la");
}

#[test]
fn the_basic_events_reach_their_hooks_with_the_documented_input() {
    let keep = |event: &str| only(&format!("cat > \"$AMPLIFIER_PROJECT_DIR/{event}.json\""));
    let names = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd"];
    let host =
        Host::with_hooks(&names.iter().map(|name| ((*name).to_owned(), keep(name))).collect::<Value>());
    let input = json!({ "command": "ls -la", "description": "List files" });
    let result = json!({ "stdout": "...", "stderr": "", "returncode": 0 });
    let tool = json!({ "tool_name": "Bash", "tool_input": input });
    let table = [
        ("session:start", json!({}), "SessionStart", json!({ "session_id": "one", "trigger": "startup" })),
        (
            "prompt:submit",
            json!({ "prompt": "a 'b' \"c\"\nü" }),
            "UserPromptSubmit",
            json!({ "prompt": "a 'b' \"c\"\nü" }),
        ),
        ("tool:pre", tool.clone(), "PreToolUse", tool.clone()),
        // The module's own names of the members, and the kernel's.
        ("tool:pre", json!({ "name": "Bash", "input": input }), "PreToolUse", tool),
        (
            "tool:post",
            json!({ "tool_name": "Bash", "tool_input": input, "result": result }),
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": input, "tool_result": result }),
        ),
        ("session:end", json!({}), "SessionEnd", json!({ "session_id": "one" })),
    ];
    for (event, data, hears, wanted) in table {
        expect(&host.fire(event, data), &json!({ "action": "continue" }));
        let file = host.take(&format!("{hears}.json")).join("\n");
        let got: Value =
            serde_json::from_str(&file).unwrap_or_else(|error| panic!("{event}: {error}: {file}"));
        expect_of(event, &got, &wanted);
        let time = got["timestamp"].as_str().unwrap();
        assert!(time.contains('T') && time.ends_with('Z'), "{event}: {time}");
        assert!(
            names.iter().all(|name| host.read(&format!("{name}.json")).is_empty()),
            "{event} fired one event"
        );
    }
}

#[test]
fn can_parse_exit_codes_and_json_responses() {
    let table = [
        ("exit 0", json!({ "action": "continue", "user_message": null })),
        ("echo ordinary words", json!({ "action": "continue", "user_message": null })),
        ("echo why >&2; exit 2", json!({ "action": "deny", "reason": "why" })),
        ("exit 2", json!({ "action": "deny", "reason": "Hook blocked operation" })),
        (
            "exit 1",
            json!({ "action": "continue", "user_message": "Hook exited with code 1", "user_message_level": "warning" }),
        ),
        (
            "echo oops >&2; exit 3",
            json!({ "action": "continue", "user_message": "oops", "user_message_level": "warning" }),
        ),
        (r#"echo '{"decision": "block"}'"#, json!({ "action": "deny", "reason": "Hook blocked operation" })),
        // A decision counts whatever the code.
        (
            r#"echo '{"decision": "block", "reason": "r"}'; exit 1"#,
            json!({ "action": "deny", "reason": "r" }),
        ),
        (r#"echo '{"continue": false, "stopReason": "s"}'"#, json!({ "action": "deny", "reason": "s" })),
        // JSON that is no object is text, and so is what stands beside other text.
        ("echo 42", json!({ "action": "continue" })),
        ("echo null", json!({ "action": "continue" })),
        (r#"echo 'see: {"decision": "block"}'"#, json!({ "action": "continue" })),
        ("nothing-of-this-name", json!({ "action": "continue", "user_message_level": "warning" })),
        ("kill -9 $$", json!({ "action": "continue", "user_message_level": "warning" })),
    ];
    for (line, wanted) in table {
        let host = Host::with_hooks(&json!({ "PreToolUse": only(line) }));
        expect_of(line, &host.bash("ls"), &wanted);
    }
}

#[test]
fn can_translate_to_hook_result_correctly() {
    let pre = "tool:pre";
    let table = [
        // The table of the document, row by row.
        (
            pre,
            json!({ "decision": "block", "reason": "r", "systemMessage": "m" }),
            0,
            json!({ "action": "deny", "reason": "r", "user_message": "m" }),
        ),
        (
            pre,
            json!({ "newContent": "n", "systemMessage": "m" }),
            0,
            json!({ "action": "modify", "data": { "modified_content": "n" }, "user_message": "m" }),
        ),
        (
            pre,
            json!({ "contextInjection": "c", "systemMessage": "m" }),
            0,
            json!({ "action": "inject_context", "context_injection": "c", "user_message": "m" }),
        ),
        (
            pre,
            json!({ "decision": "approve", "systemMessage": "m" }),
            0,
            json!({ "action": "continue", "user_message": "m", "reason": null }),
        ),
        (pre, json!({ "decision": "approve" }), 0, json!({ "action": "continue", "user_message": null })),
        // Exit code 2 keeps the reason and the message of the document beside it.
        (
            pre,
            json!({ "decision": "block", "reason": "r", "systemMessage": "m" }),
            2,
            json!({ "action": "deny", "reason": "r", "user_message": "m" }),
        ),
        // Event-specific decision control.
        (
            "tool:post",
            json!({ "decision": "block", "reason": "r" }),
            0,
            json!({ "action": "continue", "user_message": "r", "user_message_level": "warning" }),
        ),
        ("tool:post", json!({ "newContent": "n" }), 0, json!({ "action": "continue", "data": null })),
        (
            "tool:post",
            json!({ "contextInjection": "c" }),
            0,
            json!({ "action": "inject_context", "context_injection": "c" }),
        ),
        (
            "prompt:submit",
            json!({ "decision": "block", "reason": "r" }),
            0,
            json!({ "action": "deny", "reason": "r" }),
        ),
        (
            "prompt:submit",
            json!({ "newContent": "n" }),
            0,
            json!({ "action": "modify", "data": { "modified_content": "n" } }),
        ),
        (
            "prompt:submit",
            json!({ "contextInjection": "c" }),
            0,
            json!({ "action": "inject_context", "context_injection": "c" }),
        ),
        (
            "prompt:complete",
            json!({ "decision": "block", "reason": "r" }),
            0,
            json!({ "action": "deny", "reason": "r" }),
        ),
        ("prompt:complete", json!({ "contextInjection": "c" }), 0, json!({ "action": "continue" })),
        (
            "approval:required",
            json!({ "decision": "block", "reason": "r" }),
            0,
            json!({ "action": "deny", "reason": "r" }),
        ),
        (
            "approval:required",
            json!({ "decision": "approve" }),
            0,
            json!({ "action": "continue", "decision": "approve" }),
        ),
        ("session:start", json!({ "decision": "block", "reason": "r" }), 0, json!({ "action": "continue" })),
        (
            "session:start",
            json!({ "contextInjection": "c" }),
            0,
            json!({ "action": "inject_context", "context_injection": "c" }),
        ),
        ("session:end", json!({ "decision": "block", "reason": "r" }), 2, json!({ "action": "continue" })),
        (
            "session:end",
            json!({ "contextInjection": "c" }),
            0,
            json!({ "action": "continue", "context_injection": null }),
        ),
    ];
    for (event, answer, code, wanted) in table {
        let all = [
            "PreToolUse",
            "PostToolUse",
            "UserPromptSubmit",
            "SessionStart",
            "SessionEnd",
            "Stop",
            "PermissionRequest",
        ];
        let line = format!("{}; exit {code}", says(&answer));
        let host =
            Host::with_hooks(&all.iter().map(|name| ((*name).to_owned(), only(&line))).collect::<Value>());
        let data = json!({ "tool_name": "bash", "tool_input": {}, "prompt": "p" });
        expect_of(&format!("{event} {answer}"), &host.fire(event, data), &wanted);
    }
}

#[test]
fn an_answer_that_acts_ends_the_run() {
    for answer in
        [json!({ "decision": "block" }), json!({ "contextInjection": "c" }), json!({ "newContent": "n" })]
    {
        let hooks = json!([command(&note("first")), command(&says(&answer)), command(&note("later"))]);
        let host = Host::with_hooks(
            &json!({ "PreToolUse": [{ "hooks": hooks }, { "hooks": [command(&note("group"))] }] }),
        );
        assert_ne!(host.bash("ls")["action"], "continue", "{answer}");
        assert_eq!(host.take("log"), ["first"], "{answer}");
    }
}

#[test]
fn messages_of_hooks_that_go_on_all_reach_the_user() {
    let hooks = json!([
        command(&says(&json!({ "decision": "approve", "systemMessage": "one" }))),
        command("echo two >&2; exit 1")
    ]);
    let host = Host::with_hooks(&json!({ "PreToolUse": [{ "hooks": hooks }] }));
    expect(
        &host.bash("ls"),
        &json!({ "action": "continue", "user_message": "one\ntwo", "user_message_level": "warning" }),
    );
}

#[test]
fn manual_hook_installation() {
    let host = Host::new().with("hook.sh", "#!/bin/sh\necho installed >&2\nexit 2\n").with(
        "hooks.json",
        &json!({ "hooks": { "PreToolUse": [when("Bash", "\"${AMPLIFIER_HOOKS_DIR}/my-hook/hook.sh\"")] } })
            .to_string(),
    );
    assert_eq!(host.bash("ls")["action"], "continue");
    sh(
        &host,
        "mkdir -p .amplifier/hooks/my-hook
        cp hook.sh .amplifier/hooks/my-hook/
        cp hooks.json .amplifier/hooks/my-hook/
        chmod +x .amplifier/hooks/my-hook/hook.sh",
    );
    expect(&host.bash("ls"), &json!({ "action": "deny", "reason": "installed" }));
}

#[test]
fn installation_from_a_claude_code_plugin() {
    let line = "sh \"${CLAUDE_PLUGIN_ROOT}/format.sh\"";
    let host = Host::new()
        .with(
            "claude-code-plugin-formatter/hooks/format.sh",
            "echo formatted >> \"$CLAUDE_PROJECT_DIR/log\"\n",
        )
        .with(
            "claude-code-plugin-formatter/hooks/hooks.json",
            &json!({ "hooks": { "PostToolUse": [when("Write|Edit", line)] } }).to_string(),
        );
    sh(
        &host,
        "mkdir -p .amplifier/hooks && cp -r claude-code-plugin-formatter/hooks .amplifier/hooks/formatter",
    );
    // As it was copied, and with the rewriting that the document recommends.
    host.written("a.txt");
    assert_eq!(host.take("log"), ["formatted"]);
    sh(
        &host,
        r"cd .amplifier/hooks/formatter
        sed 's/${CLAUDE_PLUGIN_ROOT}/${AMPLIFIER_HOOKS_DIR}\/formatter/g' hooks.json > new.json && mv new.json hooks.json",
    );
    assert!(
        host.read(".amplifier/hooks/formatter/hooks.json")
            .contains("${AMPLIFIER_HOOKS_DIR}/formatter/format.sh")
    );
    host.written("a.txt");
    assert_eq!(host.take("log"), ["formatted"]);
}

#[test]
fn example_hooks_work_end_to_end() {
    // A session, as a host goes through it; each event is a process of its own.
    let host = Host::example()
        .with("VERSION", "1.2.3\n")
        .with("notes.txt", "one  \ntwo\t\n")
        .with("bad.sh", "if true; then\n");
    expect(
        &host.fire("session:start", json!({})),
        &json!({
        "action": "inject_context", "context_injection": "This is version 1.2.3 of the project." }),
    );
    expect(&host.bash("cargo test"), &json!({ "action": "continue", "user_message": null }));
    let input = json!({ "command": "cargo test" });
    host.fire(
        "tool:post",
        json!({ "tool_name": "bash", "tool_input": input, "result": { "returncode": 0 } }),
    );
    expect(
        &host.bash("sudo rm -rf /"),
        &json!({ "action": "deny", "user_message": "Security: a dangerous command was blocked" }),
    );
    expect(
        &host.write("config/.env"),
        &json!({ "action": "deny", "user_message": "Security: a protected file was left as it is" }),
    );
    expect(&host.write("notes.txt"), &json!({ "action": "continue" }));
    expect(&host.written("notes.txt"), &json!({ "action": "continue" }));
    assert_eq!(host.read("notes.txt"), "one\ntwo\n");
    let found = host.written("bad.sh");
    expect(
        &found,
        &json!({ "action": "inject_context", "user_message": "the linter found something to mend" }),
    );
    assert!(found["context_injection"].as_str().unwrap().contains("bad.sh"), "{found}");
    expect(&host.fire("session:end", json!({})), &json!({ "action": "continue" }));
    let log: Vec<Value> = host
        .take(".amplifier/command-log.jsonl")
        .iter()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let logged: Vec<_> =
        log.iter().map(|line| (&line["event"], &line["command"], &line["returncode"])).collect();
    let (command, none) = (json!("cargo test"), Value::Null);
    assert_eq!(
        logged,
        [(&json!("PreToolUse"), &command, &none), (&json!("PostToolUse"), &command, &json!(0))]
    );
}

#[test]
fn matchers_filter_which_tools_trigger_hooks() {
    let table = [
        ("Bash", "Bash", true),
        ("Bash", "bash", true),
        ("Bash", "BashOutput", false),
        ("Edit|Write", "Write", true),
        ("Edit|Write", "MultiEdit", false),
        // The stock tools, under the names that plugins write.
        ("Edit|Write", "write_file", true),
        ("Notebook.*", "NotebookEdit", true),
        ("*", "anything", true),
        ("", "anything", true),
        ("mcp__filesystem__.*", "mcp__filesystem__read_file", true),
        ("mcp__filesystem", "mcp__filesystem__read_file", false),
        ("(?!Bash$).*", "Bash", false),
        // No pattern: the text itself.
        ("[invalid", "[INVALID", true),
        ("*Bash", "Bash", false),
    ];
    for (matcher, tool, fits) in table {
        let host = Host::with_hooks(&json!({ "PreToolUse": [when(matcher, &note("ran"))] }));
        host.fire("tool:pre", json!({ "tool_name": tool, "tool_input": {} }));
        assert_eq!(host.take("log").len(), usize::from(fits), "{matcher:?} and {tool:?}");
    }
}

#[test]
fn environment_variables_of_a_hook() {
    let line = "env > \"$AMPLIFIER_PROJECT_DIR/env\"";
    // What an agent around this one set must not be seen.
    let host = Host::with_hooks(&json!({ "SessionStart": only(line), "PreToolUse": only(line) }))
        .with_variable("AMPLIFIER_HOOKS_DIR", "/outer")
        .with_variable("AMPLIFIER_SESSION_ID", "outer")
        .with_variable("CLAUDE_PROJECT_DIR", "/")
        .with_variable("MINE", "inherited");
    host.fire("session:start", json!({}));
    let variables = host.take("env");
    let get = |name: &str| {
        variables.iter().find_map(|line| line.strip_prefix(&format!("{name}="))).unwrap_or("").to_owned()
    };
    let project = host.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    assert_eq!(get("AMPLIFIER_PROJECT_DIR"), project);
    assert_eq!(get("CLAUDE_PROJECT_DIR"), project);
    assert_eq!(get("AMPLIFIER_HOOKS_DIR"), format!("{project}/.amplifier/hooks"));
    assert_eq!(get("AMPLIFIER_SESSION_ID"), "one");
    assert_eq!(get("AMPLIFIER_ENV_FILE"), get("CLAUDE_ENV_FILE"));
    assert_ne!(get("AMPLIFIER_ENV_FILE"), "");
    assert_eq!(get("MINE"), "inherited");
}

#[test]
fn timeouts_are_enforced() {
    // The child would outlive a shell that was ended alone, and keep the pipe open.
    let ticks = "(n=0; while [ $n -lt 300 ]; do n=$((n + 1)); echo tick >> ticks; sleep 0.1; done) & wait";
    let slow = json!({ "type": "command", "command": ticks, "timeout": 2 });
    let host = Host::with_hooks(&json!({ "PreToolUse": [{ "hooks": [slow, command(&note("next"))] }] }));
    expect(
        &host.bash("ls"),
        &json!({ "action": "continue", "user_message": "Hook timed out after 2s", "user_message_level": "warning" }),
    );
    let ticked = host.read("ticks").lines().count();
    assert!((1..300).contains(&ticked), "it was waited for: {ticked}");
    assert_eq!(host.take("log"), ["next"], "a timeout blocks nothing");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(host.read("ticks").lines().count(), ticked, "the child still runs");
}

#[test]
fn default_and_maximal_timeout() {
    let timeouts = |host: &Host| -> Vec<Value> {
        host.list().as_array().unwrap().iter().map(|hook| hook["timeout_s"].clone()).collect()
    };
    let with = |timeout: u32| json!({ "type": "command", "command": "true", "timeout": timeout });
    let host =
        Host::with_hooks(&json!({ "PreToolUse": [{ "hooks": [command("true"), with(5), with(1000)] }] }));
    assert_eq!(timeouts(&host), [json!(30.0), json!(5.0), json!(300.0)]);
    let next = json!({ "type": "command", "command": note("next"), "timeout": 30 });
    let bounded = Host::with_hooks(&json!({ "PreToolUse": [{ "hooks": [command("sleep 60"), next] }] }))
        .mounted(json!({ "default_timeout": 0.2 }));
    expect(
        &bounded.bash("ls"),
        &json!({ "action": "continue", "user_message": "Hook timed out after 0.2s" }),
    );
    assert_eq!(bounded.take("log"), ["next"]);
    let bounded = Host::with_hooks(&json!({ "PreToolUse": [{ "hooks": [
        { "type": "command", "command": "sleep 60", "timeout": 50 }] }] }))
    .mounted(json!({ "max_timeout": 0.2 }));
    expect(
        &bounded.bash("ls"),
        &json!({ "action": "continue", "user_message": "Hook timed out after 0.2s" }),
    );
}

#[test]
fn user_controls() {
    let home = json!({ "hooks": { "PreToolUse": only(&note("home")) } }).to_string();
    let host = |settings: Value| {
        Host::with_hooks(&json!({ "PreToolUse": only(&note("project")) }))
            .with_home(".amplifier/hooks/hooks.json", &home)
            .mounted(settings)
    };
    let table = [
        (json!({}), &["home", "project"][..]),
        (
            json!({ "enabled": true, "allow_user_hooks": true, "allow_project_hooks": true }),
            &["home", "project"],
        ),
        (json!({ "enabled": false }), &[]),
        (json!({ "allow_user_hooks": false }), &["project"]),
        (json!({ "allow_project_hooks": false }), &["home"]),
    ];
    for (settings, ran) in table {
        let host = host(settings.clone());
        host.bash("ls");
        assert_eq!(host.take("log"), ran, "{settings}");
    }
}

/// Runs lines of the document's instructions in the project.
#[track_caller]
fn sh(host: &Host, lines: &str) {
    let status = Command::new("sh").args(["-ec", lines]).current_dir(host.path("")).status().unwrap();
    assert!(status.success(), "{lines}");
}

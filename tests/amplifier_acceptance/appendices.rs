//! The appendices: the complete event mapping, the example plugin, the schema of a registry; and the hooks that the document
//! wants tested.

use serde_json::{Value, json};

use crate::host::{Host, REGISTRY, expect, expect_of, note, only, says, when};

/// Every hook event of the mapping.
const EVENTS: [&str; 10] = [
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "PermissionRequest",
    "Notification",
];

#[test]
fn appendix_a_complete_event_mapping() {
    let hooks: Value = EVENTS.iter().map(|event| ((*event).to_owned(), only(&note(event)))).collect();
    let host = Host::with_hooks(&hooks);
    let bash = json!({ "tool_name": "bash", "tool_input": {} });
    let task = json!({ "tool_name": "task", "tool_input": {}, "result": "r" });
    let table = [
        ("tool:pre", bash.clone(), &["PreToolUse"][..]),
        ("tool:post", bash.clone(), &["PostToolUse"]),
        ("tool:post", task, &["PostToolUse", "SubagentStop"]),
        ("prompt:submit", json!({ "prompt": "p" }), &["UserPromptSubmit"]),
        ("session:start", json!({}), &["SessionStart"]),
        ("session:resume", json!({}), &["SessionStart"]),
        ("context:post_compact", json!({}), &["SessionStart"]),
        ("orchestrator:complete", json!({}), &["Stop"]),
        ("context:pre_compact", json!({}), &["PreCompact"]),
        ("approval:required", bash, &["PermissionRequest"]),
        ("user:notification", json!({ "type": "idle_prompt", "message": "m" }), &["Notification"]),
        ("tool:error", json!({ "tool_name": "bash" }), &[]),
        ("execution:start", json!({}), &[]),
        ("session:end", json!({}), &["SessionEnd"]),
    ];
    for (event, data, ran) in table {
        expect_of(event, &host.fire(event, data), &json!({ "action": "continue" }));
        assert_eq!(host.take("log"), ran, "{event}");
    }
}

#[test]
fn appendix_b_complete_example_plugin() {
    // The registry as the document has it, path unquoted; the script lies in a path without a blank.
    let registry = json!({
        "description": "Validate bash commands before execution",
        "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{
            "type": "command", "command": "${AMPLIFIER_HOOKS_DIR}/bash-validator/validate.sh", "timeout": 5 }] }] },
    });
    let example = Host::example();
    let script = example.read(".amplifier/hooks/bash-validator/validate.sh");
    let blank = Host::new()
        .with(".amplifier/hooks/bash-validator/hooks.json", &registry.to_string())
        .with(".amplifier/hooks/bash-validator/validate.sh", &script);
    // In a path with a blank it cannot be found, and that is told.
    let result = blank.bash("rm -rf /");
    expect(&result, &json!({ "action": "continue", "user_message_level": "warning" }));
    let plain = tempfile::tempdir().unwrap();
    let plain = plain.path().canonicalize().unwrap();
    let folder = plain.join("p/.amplifier/hooks");
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    std::fs::rename(blank.path(".amplifier/hooks"), &folder).unwrap();
    let output = blank
        .hook(&["run", "PreToolUse", "--tool", "Bash", "--input", r#"{"command": "rm -rf /"}"#])
        .current_dir(plain.join("p"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");

    let dangerous = [
        "rm -rf /",
        "dd if=/dev/zero of=/dev/sda",
        "mkfs /dev/sda",
        "mkfs.ext4 /dev/sda",
        ":(){ :|:& };:",
        "ls; rm -rf /; ls",
        "true && sudo mkfs /dev/sda",
        "bash -c 'rm -rf /'",
        "true\nrm -rf /",
    ];
    for line in dangerous {
        let result = example.bash(line);
        expect(
            &result,
            &json!({ "action": "deny", "user_message": "Security: a dangerous command was blocked" }),
        );
        assert!(
            result["reason"].as_str().unwrap().starts_with("bash-validator: blocked: "),
            "{line}: {result}"
        );
    }
    for line in ["ls -la", "rm -rf /tmp/build", "rm -rf ./target && ls /", "", "echo 'a\"b\\c'"] {
        expect_of(line, &example.bash(line), &json!({ "action": "continue", "user_message": null }));
    }
    expect(
        &example.fire("tool:pre", json!({ "tool_name": "bash", "tool_input": {} })),
        &json!({ "action": "deny" }),
    );
}

#[test]
fn appendix_c_hook_registry_schema() {
    let hook = |name: &str| note(name);
    // Everything the schema knows, at once: a group without a matcher, defaults, a number with a fraction.
    let registry = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "description": "d",
        "hooks": {
            "PreToolUse": [
                { "hooks": [{ "type": "command", "command": hook("no matcher") }] },
                { "matcher": "Bash", "hooks": [{ "type": "command", "command": hook("all"), "timeout": 2.5, "once": false }] },
            ],
            "Stop": [{ "matcher": ".*", "hooks": [{ "type": "prompt", "prompt": "Is it done? $ARGUMENTS" }] }],
        },
    });
    let host = Host::new().with(REGISTRY, &registry.to_string());
    let check = host.hook(&["check"]).output().unwrap();
    assert_eq!(check.status.code(), Some(0), "{}", String::from_utf8_lossy(&check.stdout));
    host.bash("ls");
    assert_eq!(host.take("log"), ["no matcher", "all"]);
    let listed = host.list();
    let rows: Vec<_> =
        listed.as_array().unwrap().iter().map(|hook| (&hook["type"], &hook["timeout_s"])).collect();
    let (command, prompt) = (json!("command"), json!("prompt"));
    assert!(
        rows.contains(&(&command, &json!(30.0))) && rows.contains(&(&command, &json!(2.5))),
        "{listed:#}"
    );
    assert!(rows.iter().any(|(kind, _)| **kind == prompt), "{listed:#}");
    // What the schema requires is asked for, with its place.
    let broken = [
        (json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command" }] }] } }), "command"),
        (json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "comand", "command": "x" }] }] } }), "comand"),
        (json!({ "hooks": { "Stop": [{ "hooks": "x" }] } }), "hooks"),
        (json!({ "hooks": [] }), "hooks"),
        (
            json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "x", "timeout": "5" }] }] } }),
            "timeout",
        ),
    ];
    for (registry, word) in broken {
        let host = Host::new().with(REGISTRY, &registry.to_string());
        let check = host.hook(&["check"]).output().unwrap();
        let said = String::from_utf8_lossy(&check.stdout);
        assert_eq!(check.status.code(), Some(1), "{registry}: {said}");
        assert!(said.contains(word) && said.contains("hooks.json:1:"), "{registry}: {said}");
    }
}

#[test]
fn bash_command_logger() {
    let host = Host::example();
    let odd = "echo \"a\tb\" \\\nü";
    host.bash(odd);
    host.fire(
        "tool:post",
        json!({ "tool_name": "bash", "tool_input": { "command": odd }, "result": { "returncode": 1 } }),
    );
    let lines = host.take(".amplifier/command-log.jsonl");
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (line, (event, code)) in lines.iter().zip([("PreToolUse", Value::Null), ("PostToolUse", json!(1))]) {
        let line: Value = serde_json::from_str(line).unwrap();
        expect(&line, &json!({ "session": "one", "event": event, "command": odd, "returncode": code }));
    }
}

#[test]
fn file_format_validator() {
    let host = Host::example()
        .with("good.json", "{\"a\": 1}\n")
        .with("null.json", "null\n")
        .with("bad.json", "{\"a\": }\n")
        .with("good.sh", "echo ok\n")
        .with("b\"a\\d.sh", "if true; then\n")
        .with("notes.md", "{ [ (\n");
    for name in ["good.json", "null.json", "good.sh", "notes.md", "not-there.json"] {
        expect_of(name, &host.written(name), &json!({ "action": "continue" }));
    }
    // Quotes, backslashes and several lines arrive as they were said.
    for (name, part) in [("bad.json", "line 1"), ("b\"a\\d.sh", "b\"a\\d.sh")] {
        let result = host.written(name);
        expect(&result, &json!({ "action": "inject_context" }));
        assert!(result["context_injection"].as_str().unwrap().contains(part), "{name}: {result}");
    }
}

#[test]
fn auto_formatter() {
    let upper = "#!/bin/sh\n[ $# -eq 0 ] || exit 1\ntr a-z A-Z\n";
    let host =
        Host::example().with("a.txt", "one  \n").with("main.go", "package main\n").with("a.bin", "x  \n");
    let outside = host.home("b.txt");
    std::fs::write(&outside, "one  \n").unwrap();
    expect(
        &host.written("a.txt"),
        &json!({ "action": "continue", "user_message": "the formatter tidied the file that was just written" }),
    );
    assert_eq!(host.read("a.txt"), "one\n");
    expect(&host.written("a.txt"), &json!({ "action": "continue", "user_message": null }));
    host.written(outside.to_str().unwrap());
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "one  \n", "not of this project");
    host.written("a.bin");
    assert_eq!(host.read("a.bin"), "x  \n");
    // A formatter of the language, found on the PATH by the file's extension.
    let host = host.with("bin/gofmt.sh", upper);
    std::fs::rename(host.path("bin/gofmt.sh"), host.path("bin/gofmt")).unwrap();
    let path = format!("{}:{}", host.path("bin").display(), std::env::var("PATH").unwrap());
    let host = host.with_variable("PATH", &path);
    host.written("main.go");
    assert_eq!(host.read("main.go"), "PACKAGE MAIN\n");
}

#[test]
fn production_file_protector() {
    let host = Host::example();
    let table = [
        ("/etc/passwd", true),
        (".env", true),
        ("deploy/.env.production", true),
        (".env.example", false),
        ("certs/server.pem", true),
        ("/home/me/.ssh/config", true),
        ("config/credentials.json", true),
        ("a/../../etc/passwd", true),
        ("C:\\keys\\x.pem", true),
        ("src/main.rs", false),
        ("docs/environment.md", false),
        ("it's \"odd\".txt", false),
    ];
    for (path, blocked) in table {
        let result = host.write(path);
        assert_eq!(result["action"], if blocked { "deny" } else { "continue" }, "{path}: {result}");
        assert_eq!(
            result["reason"].as_str().is_some_and(|reason| reason.contains(path)),
            blocked,
            "{path}: {result}"
        );
    }
    expect(
        &host.fire("tool:pre", json!({ "tool_name": "edit_file", "tool_input": {} })),
        &json!({ "action": "deny" }),
    );
}

#[test]
fn context_injection_hook() {
    let host = Host::example();
    expect(
        &host.fire("session:start", json!({})),
        &json!({
        "action": "inject_context", "context_injection": "This is version unknown of the project." }),
    );
    let host = host.with("VERSION", "2.0\"; rm -rf $HOME\n");
    expect(
        &host.fire("session:start", json!({ "clear": true })),
        &json!({
        "action": "inject_context", "context_injection": "This is version 2.0rm-rfHOME of the project." }),
    );
    expect(&host.fire("session:resume", json!({})), &json!({ "action": "continue" }));
}

#[test]
fn hooks_that_do_not_match_start_no_process() {
    let host = Host::with_hooks(&json!({ "PreToolUse": [when("Edit", &note("ran"))] }));
    let report = host.run("PreToolUse", "Bash", &json!({ "command": "ls" }));
    assert!(report["runs"].as_array().unwrap().is_empty(), "{report:#}");
    assert_eq!(host.take("log"), [""; 0]);
}

#[test]
fn hooks_of_the_directory_run_for_other_agents_too() {
    let host = Host::with_hooks(
        &json!({ "PreToolUse": only(&says(&json!({ "decision": "block", "reason": "r" }))) }),
    );
    let report = host.run("PreToolUse", "Bash", &json!({ "command": "ls" }));
    expect(&report, &json!({ "decision": "deny" }));
}

//! Phase 1.5: hooks in the frontmatter of skills, in force while the skill is loaded.

use serde_json::{Value, json};

use crate::host::{Host, command, expect, note, only, result, says};

/// What a host sends when the session loads the example's skill: its frontmatter's `hooks`, and where it lies.
fn secure_operations(host: &Host) -> Value {
    let run = |script: &str| json!({ "type": "command", "command": format!("./scripts/{script}.sh"), "timeout": 5 });
    json!({
        "skill_name": "secure-operations",
        "skill_directory": host.path(".amplifier/skills/secure-operations"),
        "source": "project",
        "version": "1.0.0",
        "content_length": 480,
        "hooks": {
            "PreToolUse": [{ "matcher": "Bash", "hooks": [run("security-check")] }],
            "PostToolUse": [{ "matcher": "Edit|Write", "hooks": [run("check-markers")] }],
            "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "./scripts/checklist.sh", "once": true }] }],
        },
    })
}

fn load(host: &Host, name: &str, hooks: &Value) {
    let skill = json!({ "skill_name": name, "skill_directory": host.path(name), "hooks": hooks });
    expect(&host.fire("skill:loaded", skill), &json!({ "action": "continue" }));
}

fn unload(host: &Host, name: &str) {
    expect(&host.fire("skill:unloaded", json!({ "skill_name": name })), &json!({ "action": "continue" }));
}

#[test]
fn skills_with_hooks_frontmatter_are_discovered_correctly() {
    let host = Host::example();
    let listed = host.list();
    let of_skill: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(|hook| hook["layer"] == "skill")
        .map(|hook| (hook["event"].as_str().unwrap(), hook["source"].as_str().unwrap()))
        .collect();
    let events = ["PostToolUse", "PreToolUse", "UserPromptSubmit"];
    let mut sorted = of_skill.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, events.map(|event| (event, "secure-operations")), "{listed:#}");
    let file = host.path(".amplifier/skills/secure-operations/SKILL.md");
    assert!(listed.as_array().unwrap().iter().any(|hook| hook["file"] == json!(file)), "{listed:#}");
    // Discovered is not loaded.
    expect(&host.bash("sudo ls"), &json!({ "action": "continue" }));
}

#[test]
fn loading_a_skill_registers_its_hooks_dynamically() {
    let host = Host::example();
    expect(&host.bash("sudo ls"), &json!({ "action": "continue" }));
    expect(&host.fire("skill:loaded", secure_operations(&host)), &json!({ "action": "continue" }));
    expect(
        &host.bash("sudo ls"),
        &json!({
        "action": "deny", "reason": "secure-operations: blocked: it takes more rights; ask a person" }),
    );
    // A second load replaces the first: what it brings is run once.
    host.fire("skill:loaded", secure_operations(&host));
    let host = host.with("merge.txt", "<<<<<<< ours\n");
    expect(
        &host.written("merge.txt"),
        &json!({
        "action": "inject_context", "context_injection": "Line 1 of the file holds a conflict marker; resolve it." }),
    );
}

#[test]
fn skill_hooks_execute_alongside_directory_based_hooks() {
    let host = Host::with_hooks(&json!({ "PreToolUse": only(&note("directory")) }));
    load(&host, "second-by-name", &json!({ "PreToolUse": only(&note("skill-1")) }));
    load(&host, "a-skill", &json!({ "PreToolUse": only(&note("skill-2")) }));
    host.bash("ls");
    assert_eq!(
        host.take("log"),
        ["directory", "skill-1", "skill-2"],
        "files first, skills in the order of their loads"
    );
    // A new load of a skill keeps its place.
    load(&host, "second-by-name", &json!({ "PreToolUse": only(&note("skill-1-new")) }));
    host.bash("ls");
    assert_eq!(host.take("log"), ["directory", "skill-1-new", "skill-2"]);
    let example = Host::example();
    example.fire("skill:loaded", secure_operations(&example));
    expect(
        &example.bash("mkfs /dev/sda"),
        &json!({ "action": "deny", "user_message": "Security: a dangerous command was blocked" }),
    );
}

#[test]
fn hooks_are_cleaned_up_when_the_skill_is_unloaded() {
    let host = Host::new();
    let hooks = json!({ "PreToolUse": only(&note("skill")) });
    load(&host, "s", &hooks);
    host.bash("ls");
    assert_eq!(host.take("log"), ["skill"]);
    unload(&host, "another");
    host.bash("ls");
    assert_eq!(host.take("log"), ["skill"], "an unknown name unloads nothing");
    unload(&host, "s");
    host.bash("ls");
    assert_eq!(host.take("log"), [""; 0]);
}

#[test]
fn hooks_are_cleaned_up_at_the_end_of_the_session() {
    let host = Host::new();
    load(&host, "s", &json!({ "PreToolUse": only(&note("skill")), "SessionEnd": only(&note("end")) }));
    host.fire("session:end", json!({}));
    assert_eq!(host.take("log"), ["end"], "they still see the end itself");
    host.fire("session:start", json!({}));
    host.bash("ls");
    assert_eq!(host.take("log"), [""; 0]);
}

#[test]
fn component_scoped_hooks_only_run_when_the_component_is_active() {
    // Two sessions in one project at the same time; one has loaded the skill.
    let mut host = Host::new();
    load(&host, "s", &json!({ "PreToolUse": only(&note("skill")) }));
    host.session = "two".into();
    host.bash("ls");
    assert_eq!(host.take("log"), [""; 0]);
    host.session = "one".into();
    host.bash("ls");
    assert_eq!(host.take("log"), ["skill"]);
}

#[test]
fn relative_paths_in_hook_commands_resolve_to_the_skill_directory() {
    let script = "#!/bin/sh\necho \"$0|$PWD|$*\" >> \"$AMPLIFIER_PROJECT_DIR/log\"\n";
    let host = Host::new().with("my skills/s/scripts/x.sh", script).with("my skills/common.sh", script);
    let hooks = json!({ "PreToolUse": [{ "hooks": [
        command("./scripts/x.sh https://a.example/b ./c"), command("../common.sh"), command("echo ./scripts/x.sh >> log")] }] });
    let skill = json!({ "skill_name": "s", "skill_directory": host.path("my skills/s"), "hooks": hooks });
    host.fire("skill:loaded", skill);
    expect(&host.bash("ls"), &json!({ "action": "continue", "user_message": null }));
    let (skill, project) = (host.path("my skills/s"), host.path(""));
    let (skill, project) = (skill.to_str().unwrap(), project.to_str().unwrap().trim_end_matches('/'));
    assert_eq!(
        host.take("log"),
        [
            format!("{skill}/scripts/x.sh|{project}|https://a.example/b ./c"),
            format!("{skill}/../common.sh|{project}|"),
            "./scripts/x.sh".to_owned(),
        ]
    );
}

#[test]
fn once_true_runs_only_once_per_session() {
    let mut host = Host::example();
    let prompt = |host: &Host| host.fire("prompt:submit", json!({ "prompt": "p" }))["action"].clone();
    host.fire("skill:loaded", secure_operations(&host));
    assert_eq!(prompt(&host), "inject_context");
    assert_eq!(prompt(&host), "continue");
    // Neither a second load nor an unload in between makes it new.
    host.fire("skill:loaded", secure_operations(&host));
    assert_eq!(prompt(&host), "continue");
    unload(&host, "secure-operations");
    host.fire("skill:loaded", secure_operations(&host));
    assert_eq!(prompt(&host), "continue");
    // Another session has its own.
    host.session = "two".into();
    host.fire("skill:loaded", secure_operations(&host));
    assert_eq!(prompt(&host), "inject_context");
}

#[test]
fn a_skill_that_is_discovered_and_loaded_runs_its_hooks_once() {
    let skill = "---\nname: s\ndescription: d\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: echo ran >> log\n---\n";
    let host = Host::new().with(".amplifier/skills/s/SKILL.md", skill);
    host.bash("ls");
    assert_eq!(host.take("log"), [""; 0]);
    let directory = host.path(".amplifier/skills/s");
    let hooks = json!({ "PreToolUse": only("echo ran >> log") });
    host.fire(
        "skill:loaded",
        json!({ "skill_name": "s", "skill_directory": directory.clone(), "hooks": hooks }),
    );
    host.bash("ls");
    assert_eq!(host.take("log"), ["ran"]);
    unload(&host, "s");
    host.bash("ls");
    assert_eq!(host.take("log"), [""; 0]);
    // A host that sends no hooks along leaves it to the file.
    host.fire("skill:loaded", json!({ "skill_name": "s", "skill_directory": directory }));
    host.bash("ls");
    assert_eq!(host.take("log"), ["ran"]);
}

#[test]
fn once_counts_in_skills_only() {
    let hook = json!({ "type": "command", "command": note("ran"), "once": true });
    let host = Host::with_hooks(&json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    host.bash("ls");
    host.bash("ls");
    assert_eq!(host.take("log"), ["ran", "ran"]);
    let check = host.hook(&["check"]).output().unwrap();
    assert!(String::from_utf8_lossy(&check.stdout).contains("\"once\" counts in skills only"), "{check:?}");
}

#[test]
fn skill_events_answer_continue_whatever_they_hold() {
    let host = Host::new();
    for data in
        [json!({}), json!({ "skill_name": "s" }), json!({ "skill_name": "s", "hooks": ["no", "map"] })]
    {
        expect(&host.fire("skill:loaded", data), &json!({ "action": "continue" }));
        expect(&host.bash("ls"), &json!({ "action": "continue" }));
    }
    unload(&host, "s");
}

#[test]
fn hooks_of_a_skill_that_cannot_run_are_told() {
    let mut host = Host::new();
    let broken = json!({ "PreToolUse": [{ "hooks": [{ "type": "command", "comand": "x" }, command("echo no >&2; exit 2")] }] });
    let skill = json!({ "skill_name": "s", "skill_directory": host.path("s"), "hooks": broken });
    let result = host.fire("skill:loaded", skill.clone());
    expect(&result, &json!({ "action": "continue", "user_message_level": "error" }));
    let message = result["user_message"].as_str().unwrap();
    assert!(message.contains("s/SKILL.md") && message.contains("no \"command\""), "{message}");
    expect(&host.bash("ls"), &json!({ "action": "deny", "reason": "no" }));
    // A host that names no session cannot be helped either: the next process knows nothing of this one.
    host.session = String::new();
    let result = host.fire("skill:loaded", skill);
    assert!(result["user_message"].as_str().unwrap().contains("session_id"), "{result}");
}

#[test]
fn a_load_is_seen_by_processes_that_run_beside() {
    let host = Host::new();
    let wait = "while [ ! -f go ]; do sleep 0.02; done";
    load(&host, "slow", &json!({ "PreToolUse": only(wait) }));
    let running = host.start("tool:pre", &json!({ "tool_name": "bash", "tool_input": {} }));
    load(&host, "guard", &json!({ "PostToolUse": only(&says(&json!({ "contextInjection": "c" }))) }));
    expect(&host.written("a"), &json!({ "action": "inject_context" }));
    let host = host.with("go", "");
    expect(&result(&running.wait_with_output().unwrap()), &json!({ "action": "continue" }));
    expect(&host.written("a"), &json!({ "action": "inject_context" }));
}

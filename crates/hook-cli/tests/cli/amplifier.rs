//! Amplifier through the built command: `hook dispatch --agent amplifier` with real scripts.

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

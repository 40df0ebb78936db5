//! `hook run`: an event by hand.

use serde_json::json;

use crate::place::Place;

fn one_hook(event: &str, command: &str) -> Place {
    let hooks = json!({ "hooks": { event: [{ "hooks": [{ "type": "command", "command": command }] }] } });
    Place::new().with(".hooks/hooks.json", &hooks.to_string())
}

#[test]
fn the_exit_code_says_what_was_decided() {
    let table = [
        ("true", 0),
        ("echo '{\"decision\": \"allow\"}'", 0),
        ("exit 1", 0),
        ("exit 2", 3),
        ("echo '{\"decision\": \"deny\", \"reason\": \"no\"}'", 3),
        ("echo '{\"stop\": true}'", 3),
        ("echo '{\"decision\": \"ask\", \"reason\": \"sure?\"}'", 4),
        ("echo '{\"decision\": \"defer\"}'", 5),
    ];
    for (command, code) in table {
        one_hook("PreToolUse", command).hook(&["run", "PreToolUse", "--tool", "Bash"]).exits(code);
    }
}

#[test]
fn the_json_holds_every_run_and_the_reply() {
    let place = one_hook("PreToolUse", "echo why >&2; exit 2");
    let said = place.hook(&["run", "PreToolUse", "--tool", "Bash", "--agent", "claude", "--json"]);
    let document = said.exits(3).json();
    let run = &document["runs"][0];
    let expected = [
        (&document["agent"], json!("claude")),
        (&document["decision"], json!("deny")),
        (&document["reason"], json!("why")),
        (&document["rule"], json!("exit 2 blocks")),
        (&document["decided_by"], json!(0)),
        (&run["status"], json!("blocked")),
        (&run["exit_code"], json!(2)),
        (&run["stderr"], json!("why")),
        (&run["stdout"], json!("empty")),
        (&run["layer"], json!("project")),
        (&run["line"], json!(1)),
        (&document["diagnostics"], json!([])),
    ];
    for (index, (found, wanted)) in expected.iter().enumerate() {
        assert_eq!(*found, wanted, "row {index}: {document:#}");
    }
    assert!(run["file"].as_str().unwrap().ends_with("a project/.hooks/hooks.json"));
    assert!(run["duration_ms"].is_number());
    assert!(document["reply"]["stdout"].as_str().unwrap().contains("permissionDecision"));
}

#[test]
fn another_agents_reply_is_shown() {
    let place = one_hook("PreToolUse", "exit 2");
    let arguments = ["run", "tool:pre", "--tool", "bash", "--agent", "amplifier"];
    place.hook(&arguments).exits(3).shows(&["gets exit code 0", "\"action\":\"deny\""]);
}

#[test]
fn a_payload_speaks_for_its_agent() {
    let payload =
        r#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {}}"#;
    let place = one_hook("PreToolUse", "exit 2").with("payload.json", payload);
    let said = place.hook(&["run", "--payload", "payload.json", "--json"]);
    assert_eq!(said.exits(3).json()["agent"], "claude");
    let said = place.hook_fed(&["run", "--payload", "-", "--json"], payload.as_bytes());
    assert_eq!(said.exits(3).json()["agent"], "claude");
}

#[test]
fn input_without_a_tool_is_the_events_own() {
    let place = one_hook("UserPromptSubmit", "\"$HOOK\" get .prompt");
    let arguments = ["run", "UserPromptSubmit", "--input", r#"{"prompt": "hello"}"#, "--json"];
    assert_eq!(place.hook(&arguments).exits(0).json()["contexts"], json!(["hello"]));
}

#[test]
fn a_session_remembers_and_a_bare_event_does_not() {
    let hooks = r#"{"hooks": {"PreToolUse": [{"type": "command", "command": "true", "once": true}]}}"#;
    let place = Place::new().with(".hooks/hooks.json", hooks);
    let status = |arguments: &[&str]| {
        let all: Vec<&str> =
            ["run", "PreToolUse", "--tool", "Bash", "--json"].iter().chain(arguments).copied().collect();
        place.hook(&all).json()["runs"][0]["status"].clone()
    };
    assert_eq!(status(&[]), "ok");
    assert_eq!(status(&[]), "ok");
    assert_eq!(status(&["--session", "s"]), "ok");
    assert_eq!(status(&["--session", "s"]), "skipped");
}

#[test]
fn bad_payloads_are_bad_data() {
    let place = Place::example("quickstart");
    let payloads: [&[u8]; 6] = [b"", b"{}{}", b"\xff", b"[]", br#"{"tool_name": "Bash"}"#, &[b'['; 1 << 20]];
    for payload in payloads {
        let said = place.hook_fed(&["run", "--payload", "-"], payload);
        said.exits(65).tells(&["hook: "]);
        assert_eq!(said.stdout, "");
    }
    place.hook(&["run", "--payload", "missing.json"]).exits(74).tells(&["missing.json"]);
}

#[test]
fn a_mistyped_event_is_named_with_its_likely_meaning() {
    let place = Place::example("quickstart");
    place.hook(&["run", "PreToolUsed", "--tool", "Bash"]).exits(64).tells(&["did you mean PreToolUse?"]);
    let said = place.hook(&["run", "pretooluse", "--agent", "claude"]);
    said.exits(64).tells(&["did you mean PreToolUse?"]);
    place.hook(&["run", "Xyzzyplugh"]).exits(64).tells(&["SessionStart"]);
}

#[test]
fn a_broken_file_is_shown_with_its_place_and_the_others_still_run() {
    let place = Place::example("quickstart").with(".hooks/hooks.local.json", "{\n  \"hooks\": {,}\n}");
    let said = place.hook(&["run", "PreToolUse", "--tool", "Bash", "--input", r#"{"command": "rm -rf /"}"#]);
    said.exits(3).tells(&[".hooks/hooks.local.json:2:", "^"]).shows(&["bash-guard.sh"]);
}

#[test]
fn what_a_hook_prints_cannot_steer_the_terminal() {
    let place = one_hook("PreToolUse", "printf '\\033[2Jgone\\r' >&2; exit 2");
    let said = place.hook(&["run", "PreToolUse", "--tool", "Bash"]);
    said.exits(3).shows(&["gone"]);
    assert!(!said.stdout.contains(['\u{1b}', '\r']), "{said:#?}");
}

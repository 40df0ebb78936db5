//! `hook check`, `hook list` and `hook init`.

use std::fs;

use serde_json::json;

use crate::place::Place;

const MISTYPED: &str = r#"{
  "hooks": {
    "PreToolUsed": [{ "hooks": [{ "type": "command", "command": "true" }] }],
    "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }]
  }
}"#;

#[test]
fn a_broken_file_is_named_with_line_column_and_caret() {
    let place = Place::example("quickstart").with(".hooks/hooks.local.json", "{\n  \"hooks\": {,}\n}");
    let said = place.hook(&["check"]);
    said.exits(1).shows(&[
        "error[HK102 invalid-json]",
        "--> .hooks/hooks.local.json:2:13",
        "2 |   \"hooks\": {,}",
    ]);
    said.shows(&["            ^"]).tells(&["1 error"]);
}

#[test]
fn warnings_are_shown_and_no_failure() {
    let place = Place::new().with(".hooks/hooks.json", MISTYPED);
    place
        .hook(&["check"])
        .exits(0)
        .shows(&["warning[HK205 unknown-event]", "PreToolUse"])
        .tells(&["1 warning"]);
    let found = place.hook(&["check", "--json"]).exits(0).json();
    assert_eq!(found[0]["slug"], "unknown-event", "{found:#}");
    assert_eq!(found[0]["severity"], "warning");
    assert_eq!(found[0]["pointer"], "/hooks/PreToolUsed");
    assert_eq!((&found[0]["line"], &found[0]["column"]), (&json!(3), &json!(5)));
    assert_eq!(found[0]["suggestion"], "PreToolUse");
}

#[test]
fn files_and_directories_can_be_named() {
    let place = Place::new().with("other/.hooks/hooks.json", "{").with("pack/hooks/hooks.json", "{");
    for path in ["other/.hooks/hooks.json", "other", "other/.hooks", "pack/hooks", "pack"] {
        place.hook(&["check", path]).exits(1).shows(&["HK102", "hooks.json:1:"]);
    }
    place.hook(&["check"]).exits(0);
    place.hook(&["check", "missing.json"]).exits(74).tells(&["missing.json"]);
    fs::create_dir(place.project().join("empty")).unwrap();
    place.hook(&["check", "empty"]).exits(64).tells(&["no hook files"]);
}

#[test]
fn hostile_files_end_in_findings() {
    let deep = "[".repeat(1 << 20);
    let long = format!("{{\"hooks\": {{\"PreToolUse\": \"{}\"}}}}", "x".repeat(1 << 20));
    for (name, content) in [("deep", deep.as_str()), ("long", long.as_str()), ("empty", "")] {
        let place = Place::new().with(".hooks/hooks.json", content);
        let said = place.hook(&["check"]);
        said.exits(1).shows(&["hooks.json"]);
        assert!(said.stdout.len() < 10_000, "{name}: {} bytes", said.stdout.len());
    }
}

#[test]
fn hooks_are_listed_in_order_with_their_places() {
    let place = Place::example("quickstart").with(
        ".hooks/hooks.local.json",
        r#"{"hooks": {"PreToolUse": [{"type": "command", "id": "off", "command": "true", "enabled": false}]}}"#,
    );
    let said = place.hook(&["list"]);
    said.exits(0).shows(&["PreToolUse\n", ".hooks/hooks.json:8:11", "bash-guard", "5 s", "off: "]);
    let list = place.hook(&["list", "--json"]).exits(0).json();
    let ids: Vec<_> = list.as_array().unwrap().iter().map(|hook| hook["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["bash-guard", "file-guard", "no-force-push", "format", "context", "off"]);
    assert_eq!(list[5]["enabled"], false);
    assert_eq!(list[0]["timeout_s"], 5.0);
    Place::new().hook(&["list"]).exits(0).shows(&["no hooks"]);
}

#[test]
fn a_list_as_json_said_nothing_of_a_rule_that_cannot_be_read() {
    for rule in [r#""Bash(rm""#, "5", r#"["Bash(rm *)"]"#] {
        let file = format!(
            r#"{{"hooks": {{"PreToolUse": [{{"type": "command", "command": "true", "if": {rule}}}]}}}}"#
        );
        let place = Place::new().with(".hooks/hooks.json", &file);
        let event = ["PreToolUse", "--tool", "Bash"];
        for verb in [&["list"][..], &["list", "--json"], &["run"], &["explain"]] {
            let event = if verb[0] == "list" { &[][..] } else { &event };
            place.hook(&[verb, event].concat()).exits(0).tells(&["error[HK411 condition-unreadable]"]);
        }
        place.hook(&["list", "--json"]).json();
        place.hook(&["check"]).exits(1).shows(&["error[HK411 condition-unreadable]"]);
    }
}

#[test]
fn init_starts_a_project_and_overwrites_nothing() {
    let place = Place::new();
    place.hook(&["init"]).exits(0).tells(&["wrote ", "hook run PreToolUse"]);
    place.hook(&["check"]).exits(0).tells(&["no findings"]);
    let guard = ["run", "PreToolUse", "--tool", "Bash", "--input"];
    let run = |input| place.hook(&[&guard[..], &[input]].concat());
    run(r#"{"command": "rm -rf /"}"#).exits(3).shows(&["guard"]);
    run(r#"{"command": "ls"}"#).exits(0);

    let script = place.project().join(".hooks/guard.sh");
    fs::write(&script, "mine").unwrap();
    place.hook(&["init"]).exits(0).tells(&["kept "]);
    assert_eq!(fs::read_to_string(&script).unwrap(), "mine");
    place.hook(&["init", "else where"]).exits(0);
    assert!(place.project().join("else where/.hooks/hooks.json").is_file());
}

#[test]
fn the_quickstarts_guard_is_the_one_that_init_writes() {
    let of_init = Place::new();
    of_init.hook(&["init"]).exits(0);
    let of_example = Place::example("quickstart");
    assert_eq!(
        fs::read_to_string(of_init.project().join(".hooks/guard.sh")).unwrap(),
        fs::read_to_string(of_example.project().join(".hooks/bash-guard.sh")).unwrap(),
    );
}

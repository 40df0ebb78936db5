//! `hook explain`: why a hook runs, or the first reason why not.

use serde_json::{Value, json};

use crate::place::Place;

const HOOKS: &str = r#"{
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "id": "guard", "command": "echo no >&2; exit 2" }] },
      { "matcher": "Edit|Write", "hooks": [{ "type": "command", "id": "edits", "command": "touch ran" }] },
      { "matcher": "Bash", "hooks": [{ "type": "command", "id": "off", "command": "true", "enabled": false }] },
      { "matcher": "Bash", "hooks": [{ "type": "command", "id": "second", "command": "true" }] }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "id": "stop", "command": "true" }] }]
  }
}"#;

const BASH: [&str; 6] = ["explain", "PreToolUse", "--tool", "Bash", "--input", "{\"command\": \"ls\"}"];

fn by_id<'v>(document: &'v Value, id: &str) -> &'v Value {
    let hooks = document["events"][0]["hooks"].as_array().unwrap();
    hooks.iter().find(|hook| hook["id"] == id).unwrap_or_else(|| panic!("no {id} in {document:#}"))
}

#[test]
fn every_hook_has_its_place_and_its_reason_and_nothing_runs() {
    let place = Place::new().with(".hooks/hooks.json", HOOKS);
    let said = place.hook(&BASH);
    said.exits(0);
    let lines = [
        "runs  .hooks/hooks.json:4:38",
        "the matcher \"Bash\" (exactly Bash) fits \"Bash\"",
        "no    .hooks/hooks.json:5:44",
        "the matcher \"Edit|Write\" (one of Edit, Write) does not fit \"Bash\"",
        "off   .hooks/hooks.json:6:38",
        "`enabled` is false at ",
        "it runs after one other, unless that one denies",
        "no    .hooks/hooks.json:9:26 Stop",
    ];
    for line in lines {
        assert!(said.stdout.contains(line), "no {line:?} in\n{}", said.stdout);
    }
    assert!(!place.project().join("ran").exists());
}

#[test]
fn the_json_says_the_same() {
    let place = Place::new().with(".hooks/hooks.json", HOOKS);
    let document = place.hook(&[&BASH[..], &["--json"]].concat()).exits(0).json();
    let expected = [
        ("guard", json!(true), json!(null)),
        ("edits", json!(false), json!("matcher")),
        ("off", json!(false), json!("off")),
        ("second", json!(true), json!(null)),
        ("stop", json!(false), json!("event")),
    ];
    for (id, runs, hurdle) in expected {
        let hook = by_id(&document, id);
        assert_eq!((&hook["runs"], &hook["hurdle"]), (&runs, &hurdle), "{id}");
        assert!(hook["line"].is_number() && !hook["why"][0].as_str().unwrap().is_empty(), "{id}");
        assert!(hook.get("run").is_none(), "{id}");
    }
    assert_eq!(document["events"][0]["sees"], json!(["Bash"]));
}

#[test]
fn with_run_the_hooks_are_run_and_the_answers_shown() {
    let place = Place::new().with(".hooks/hooks.json", HOOKS);
    let document = place.hook(&[&BASH[..], &["--run", "--json"]].concat()).exits(0).json();
    assert_eq!(by_id(&document, "guard")["run"]["rule"], json!("exit 2 blocks"));
    assert_eq!(by_id(&document, "second")["run"]["status"], json!("skipped"));
    let said = place.hook(&[&BASH[..], &["--run"]].concat());
    assert!(
        said.stdout.contains("deny: no") && said.stdout.contains("an earlier answer ended the run"),
        "{said:#?}"
    );
}

#[test]
fn what_a_session_remembers_counts() {
    let hooks = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "true", "once": true }] }] } });
    let place = Place::new().with(".hooks/hooks.json", &hooks.to_string());
    let explained = |session: &str| {
        let said = place.hook(&[&BASH[..], &["--session", session, "--json"]].concat());
        said.exits(0).json()["events"][0]["hooks"][0]["hurdle"].clone()
    };
    assert_eq!(explained("s"), json!(null));
    place.hook(&["run", "PreToolUse", "--tool", "Bash", "--session", "s"]).exits(0);
    assert_eq!((explained("s"), explained("t")), (json!("once"), json!(null)));
}

#[test]
fn broken_entries_are_told_beside_the_hooks_that_are_not() {
    let place = Place::new().with(
        ".hooks/hooks.json",
        r#"{"hooks": {"PreToolUse": [{"matcher": 7, "hooks": [{"type": "command", "command": "true"}]}]}}"#,
    );
    let said = place.hook(&BASH);
    said.exits(0);
    assert!(said.stderr.contains("the matcher is a number"), "{said:#?}");
}

#[test]
fn hooks_in_files_that_are_left_to_their_agent_are_listed_with_the_way_to_read_them() {
    let hooks =
        json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "true" }] }] } });
    let place = Place::new().with(".claude/settings.json", &hooks.to_string());
    let said = place.hook(&BASH);
    assert!(said.exits(0).stdout.contains("left to Claude Code; `--from claude` reads it"), "{said:#?}");
    let said = place.hook(&[&BASH[..], &["--from", "claude"]].concat());
    assert!(said.exits(0).stdout.contains("it runs first"), "{said:#?}");
}

//! Hooks of skills, slash commands and subagents.

use std::fs;

use serde_json::json;

use crate::place::Place;

const GUARD: &str = "---
name: deploy
description: Puts things where people see them
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - command: ./scripts/guard.sh
          timeout: 5
---
# Deploy
";

const BLOCK: &str = "#!/bin/sh\necho \"not while $PWD is frozen\" >&2\nexit 2\n";

fn place() -> Place {
    let place =
        Place::new().with("skills/deploy/SKILL.md", GUARD).with("skills/deploy/scripts/guard.sh", BLOCK);
    make_executable(&place, "skills/deploy/scripts/guard.sh");
    place
}

fn make_executable(place: &Place, path: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(place.project().join(path), fs::Permissions::from_mode(0o755)).unwrap();
}

const RUN: [&str; 5] = ["run", "PreToolUse", "--tool", "Bash", "--input"];

#[test]
fn a_guard_of_a_skill_blocks_and_says_where_it_stands() {
    let place = place();
    let run = |more: &[&str]| place.hook(&[&RUN[..], &[r#"{"command": "ls"}"#], more].concat());
    run(&[]).exits(0);
    for skill in ["skills/deploy", "skills/deploy/SKILL.md"] {
        // It runs in the project, whose directory has a blank in its name.
        run(&["--skill", skill]).exits(3).shows(&["a project is frozen", "skills/deploy/SKILL.md:8:11"]);
    }
    run(&["--skill", "skills/none"]).exits(0).tells(&["no skill here", "skills/none"]);
}

#[test]
fn every_verb_knows_the_skill() {
    let place = place();
    let skill = ["--skill", "skills/deploy"];
    let with = |words: &[&str]| place.hook(&[words, &skill].concat());
    with(&["list"]).exits(0).shows(&["skill", "skills/deploy/SKILL.md:8:11", "5 s"]);
    with(&["check"]).exits(0).tells(&["1 file, 1 hook: no findings"]);
    with(&["explain", "PreToolUse", "--tool", "Bash"]).exits(0).shows(&["skills/deploy/SKILL.md:8:11"]);
    let payload = json!({"event": "PreToolUse", "data": {"tool_name": "Bash", "tool_input": {}}}).to_string();
    let said = place.hook_fed(&["dispatch", skill[0], skill[1]], payload.as_bytes());
    assert!(said.stdout.contains("is frozen"), "{said:?}");
}

#[test]
fn a_skill_is_checked_by_its_path_and_in_its_directory() {
    let place = Place::new().with(
        "skills/deploy/SKILL.md",
        "---\nname: deploy\ndescription: d\nhooks:\n  PreToolUsed:\n    - hooks: [{command: ./gone.sh}]\n  Stop:\n    - hooks: [{command: ./gone.sh}]\n---\n",
    );
    for path in ["skills/deploy/SKILL.md", "skills/deploy", "skills"] {
        place.hook(&["check", path]).exits(1).shows(&[
            "warning[HK205 unknown-event]",
            "--> skills/deploy/SKILL.md:5:3",
            "5 |   PreToolUsed:",
            "error[HK504 missing-script]",
            "--> skills/deploy/SKILL.md:8:25",
        ]);
    }
}

#[test]
fn a_list_of_hooks_is_answered_with_the_right_form() {
    let place = Place::new().with(
        "s/SKILL.md",
        "---\nname: s\ndescription: d\nhooks:\n  - event: Stop\n    command: ./x.sh\n---\n",
    );
    place.hook(&["check", "s/SKILL.md"]).exits(1).shows(&[
        "error[HK202 hooks-not-an-object]",
        "s/SKILL.md:5:3",
        "- type: command",
        "command: \"./x.sh\"",
    ]);
}

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

/// A claude session with a skill, a command and a subagent on disk: each guards while it is loaded, and no other session.
#[test]
fn hooks_on_disk_wait_until_their_skill_is_called_or_their_agent_runs() {
    let file = |name: &str, why: &str| {
        format!(
            "---\nname: {name}\ndescription: d\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - {{type: command, command: \"echo {why} >&2; exit 2\"}}\n---\n"
        )
    };
    let place = Place::new()
        .with(".claude/skills/freeze/SKILL.md", &file("freeze", "frozen"))
        .with(".claude/agents/reviewer.md", &file("reviewer", "reading"));
    let fire = |session: &str, more: serde_json::Value| {
        let mut payload = json!({
            "hook_event_name": "PreToolUse", "session_id": session, "cwd": place.project(), "transcript_path": "/dev/null",
            "permission_mode": "default", "tool_use_id": "t", "tool_name": "Bash", "tool_input": {"command": "ls"}
        });
        for (key, value) in more.as_object().unwrap() {
            payload[key] = value.clone();
        }
        let words = ["dispatch", "--agent", "claude", "--from", "claude"];
        place.hook_fed(&words, payload.to_string().as_bytes())
    };
    let call = |name: &str| json!({"hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_input": {"skill": name}, "tool_response": {}});
    let listed = ["while the skill freeze is loaded", "while the agent reviewer runs"];
    place.hook(&["list", "--from", "claude"]).exits(0).shows(&listed);
    fire("a", json!({})).exits(0);
    let reviewer = fire("a", json!({"agent_id": "1", "agent_type": "reviewer"}));
    assert!(format!("{reviewer:?}").contains("reading"), "{reviewer:?}");
    fire("a", json!({"agent_id": "1", "agent_type": "writer"})).exits(0);
    fire("a", call("other")).exits(0);
    fire("a", json!({})).exits(0);
    fire("a", call("freeze")).exits(0);
    let held = fire("a", json!({}));
    assert!(format!("{held:?}").contains("frozen"), "{held:?}");
    let other = fire("b", json!({}));
    assert!(!format!("{other:?}").contains("frozen"), "{other:?}");
}

//! What a hook's matcher, predicate or `if` lets through.

use hook_engine::Hurdle;
use hook_engine::core::{Decision, Layer, Status};
use serde_json::json;

use crate::world::{World, commands};

#[tokio::test]
async fn a_rule_decides_for_each_call_and_an_unreadable_one_holds_on_a_guard() {
    let hook =
        |command: &str, rule: &str| json!({"hooks": [{"type": "command", "command": command, "if": rule}]});
    let world = World::new(
        "native",
        Layer::Project,
        json!({
            "PreToolUse": [hook("pass push", "Bash(git push *)"), hook("pass broken", "Bash(git")],
            "PostToolUse": [hook("pass after", "Bash(git")],
        }),
    );
    let outcome = world.bash("npm test").await;
    assert_eq!(world.commands(), ["pass broken"]);
    let why = &outcome.runs[0].reading.rule;
    assert_eq!(why, "Bash(git push *): no sub-command of \"npm test\" fits");
    world.bash("npm test && git push origin").await;
    assert_eq!(world.commands(), ["pass broken", "pass push", "pass broken"]);
}

#[tokio::test]
async fn an_unreadable_matcher_switched_a_hook_off_where_no_matcher_counts() {
    let group = |matcher| json!([{"matcher": matcher, "hooks": commands(&["pass"])}]);
    for matcher in ["Bash", "[", "*x"] {
        for (event, ran) in [("CwdChanged", true), ("Stop", true), ("PostToolUse", matcher == "Bash")] {
            let world = World::new("claude", Layer::Project, json!({event: group(matcher)}));
            let payload =
                json!({"hook_event_name": event, "session_id": "s", "tool_name": "Bash", "tool_input": {}});
            let outcome = world.fire("claude", payload).await;
            assert_eq!(outcome.runs.iter().any(|run| run.ran()), ran, "{event} {matcher}");
        }
    }
}

/// Rows of hooks, in the order of the file, and what runs for a command.
#[tokio::test]
async fn a_predicate_is_asked_with_the_input_as_it_is_by_then() {
    let world = World::new(
        "native",
        Layer::Project,
        json!({"PreToolUse": [
            {"matcher": "Bash(git *)", "hooks": [{"command": "pass git"}]},
            {"matcher": "Bash & input.command~^npm", "hooks": [
                {"command": "say {\"updatedInput\": {\"command\": \"git push\"}}"}]},
            {"matcher": "Bash(git *)", "hooks": [{"command": "pass again"}]},
            {"matcher": "Bash & input.command~^npm", "hooks": [{"command": "pass npm"}]},
        ]}),
    );
    let outcome = world.bash("npm publish").await;
    assert_eq!(world.commands()[1..], ["pass again"]);
    assert_eq!(outcome.runs.len(), 4);
    assert_eq!(outcome.runs[3].status(), Status::Skipped);
    let rule = &outcome.runs[3].reading.rule;
    assert_eq!(rule, "the matcher does not fit: input.command~^npm: command is \"git push\"");
}

#[tokio::test]
async fn a_predicate_and_an_if_have_to_hold_both() {
    let hooks = json!({"PreToolUse": [{"matcher": "Bash(command=push)", "hooks": [
        {"command": "pass rule", "if": "Bash(git *)"},
        {"command": "pass field", "if": "Bash(command=--force)"},
        {"command": "pass joined", "if": "Bash(hg *) | input.command~--dry"},
        {"command": "pass none"},
    ]}]});
    for (command, expected) in [
        ("git push", &["pass rule", "pass none"][..]),
        ("git push --force", &["pass rule", "pass field", "pass none"]),
        ("hg push", &["pass joined", "pass none"]),
        ("svn push --dry", &["pass joined", "pass none"]),
        ("git pull", &[]),
    ] {
        let world = World::new("native", Layer::Project, hooks.clone());
        world.bash(command).await;
        assert_eq!(world.commands(), expected, "{command}");
    }
}

#[tokio::test]
async fn a_deny_handler_refuses_where_its_predicate_fits() {
    let world = World::new(
        "native",
        Layer::Project,
        json!({
            "PreToolUse": [{"matcher": "Bash(command=^rm\\s+-rf\\s+/)", "hooks": [{"type": "deny", "reason": "not that"}]}],
            "UserPromptSubmit": [{"hooks": [{"type": "deny", "reason": "no prompts today"}]}],
        }),
    );
    let outcome = world.bash("rm  -rf /var").await;
    assert_eq!(
        (outcome.answer.decision, outcome.answer.reason.as_deref()),
        (Decision::Deny, Some("not that"))
    );
    assert_eq!(
        (outcome.runs[0].status(), outcome.runs[0].reading.rule.as_str()),
        (Status::Blocked, "the deny handler refuses")
    );
    assert_eq!(world.bash("ls /").await.answer.decision, Decision::None);
    let prompt = json!({"event": "UserPromptSubmit", "data": {"prompt": "hello"}});
    let outcome = world.fire("native", prompt).await;
    assert_eq!(outcome.answer.reason_to, hook_engine::core::Audience::User);
    assert_eq!(outcome.answer.decision, Decision::Deny);
}

#[tokio::test]
async fn an_unreadable_predicate_fits_where_it_guards_something() {
    let group = json!([{"matcher": "Bash(command=^rm[)", "hooks": [{"command": "pass"}]}]);
    let world = World::new("native", Layer::Project, json!({"PreToolUse": group, "PostToolUse": group}));
    world.bash("ls").await;
    assert_eq!(world.commands(), ["pass"]);
    let after =
        json!({"event": "PostToolUse", "data": {"tool_name": "Bash", "tool_input": {"command": "rm"}}});
    world.fire("native", after).await;
    assert_eq!(world.commands(), ["pass"], "nothing can be held back after the call");
}

#[tokio::test]
async fn what_a_predicate_cannot_judge_is_told() {
    let world = World::new(
        "native",
        Layer::Project,
        json!({"PreToolUse": [{"matcher": "Bash(rm *)", "hooks": [{"type": "deny", "reason": "no rm"}]}]}),
    );
    let outcome = world.bash(&"x".repeat(70_000)).await;
    assert_eq!(outcome.answer.decision, Decision::Deny);
    let notes: Vec<&str> = outcome.runs[0].reading.notes.iter().map(|note| note.text.as_str()).collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("cannot be judged") && note.contains("longer than 65536 bytes")),
        "{notes:?}"
    );
}

#[tokio::test]
async fn what_is_explained_of_a_predicate_names_the_first_false_term() {
    let world = World::new(
        "native",
        Layer::Project,
        json!({"PreToolUse": [
            {"matcher": "Bash & input.command~^npm", "hooks": [{"command": "pass", "if": "Bash(npm *) | Edit(*)"}]},
        ]}),
    );
    let explain = |tool: &str, command: &str| {
        let data = json!({"tool_name": tool, "tool_input": {"command": command}});
        let incoming = world.read("native", json!({"event": "PreToolUse", "data": data}));
        world.engine.explain(&incoming.events[0]).remove(0)
    };
    let no = explain("Bash", "pnpm i");
    assert_eq!(no.hurdle, Some(Hurdle::Matcher));
    assert_eq!(no.why, ["the matcher does not fit: input.command~^npm: command is \"pnpm i\""]);
    assert_eq!(
        no.terms[..2],
        ["  Bash: true, the tool is Bash", "& input.command~^npm: false, command is \"pnpm i\""]
    );
    let other = explain("Read", "npm i");
    assert_eq!((other.hurdle, other.terms.len()), (Some(Hurdle::Matcher), 0));
    assert!(other.why[0].contains("does not fit \"Read\""), "{:?}", other.why);
    let yes = explain("Bash", "npm i");
    assert_eq!(yes.hurdle, None);
    assert_eq!(yes.terms[2..], ["  Bash(npm *): true, a sub-command is \"npm i\"", "| Edit(*): not asked"]);
}

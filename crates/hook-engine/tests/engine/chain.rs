//! Order, short circuits and rewrites.

use hook_engine::core::{Decision, Layer, Status};
use serde_json::{Value, json};

use crate::world::{World, commands, document, statuses};

#[tokio::test]
async fn native_hooks_run_in_sequence_and_a_deny_ends_them() {
    let hooks =
        json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&["pass", "block no", "pass 2"])}]});
    let world = World::new("native", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    assert_eq!(outcome.answer.decision, Decision::Deny);
    assert_eq!(outcome.answer.reason.as_deref(), Some("no"));
    assert_eq!(world.commands(), ["pass", "block no"]);
    assert_eq!(statuses(&outcome), [Status::Ok, Status::Blocked, Status::Skipped]);
    assert_eq!(outcome.decided_by, Some(1));
}

#[tokio::test]
async fn a_native_rewrite_goes_on_to_the_next_hook() {
    let rewrite = r#"say {"updatedInput": {"command": "ls -l"}}"#;
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&[rewrite, "pass"])}]});
    let world = World::new("native", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    assert_eq!(world.stdin(0)["tool_input"]["command"], "ls");
    assert_eq!(world.stdin(1)["tool_input"]["command"], "ls -l");
    assert_eq!(outcome.answer.updated_input, Some(json!({"command": "ls -l"})));
}

#[tokio::test]
async fn a_short_circuit_ends_its_own_stage_only() {
    let inject = r#"say {"contextInjection": "note"}"#;
    let amplifier = json!({"PreToolUse": [{"hooks": commands(&[inject, "pass"])}]});
    let claude = json!({"PreToolUse": [{"hooks": commands(&["block no"])}]});
    let documents =
        vec![document("amplifier", Layer::User, amplifier), document("claude", Layer::Project, claude)];
    let world = World::with(documents, |builder| builder);
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Ok, Status::Skipped, Status::Blocked]);
    assert_eq!(outcome.answer.decision, Decision::Deny);
    assert_eq!(outcome.answer.contexts().collect::<Vec<_>>(), ["note"]);
    assert_eq!(outcome.decided_by, Some(2));
}

#[tokio::test]
async fn claude_hooks_all_run_beside_a_deny() {
    let context =
        r#"say {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "logged"}}"#;
    let hooks = json!({"PreToolUse": [{"hooks": commands(&["block no", context])}]});
    let world = World::new("claude", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Blocked, Status::Ok]);
    assert_eq!(outcome.answer.contexts().collect::<Vec<_>>(), ["logged"]);
}

#[tokio::test]
async fn of_two_claude_rewrites_that_of_the_hook_which_finished_last_counts() {
    let rewrite = |speed: &str, n: u8| {
        let own = json!({"hookEventName": "PreToolUse", "updatedInput": {"n": n}});
        format!("{speed} {}", json!({"hookSpecificOutput": own}))
    };
    for (first, second, expected) in [("slow", "say", 1), ("say", "slow", 2), ("say", "say", 2)] {
        let hooks = commands(&[&rewrite(first, 1), &rewrite(second, 2)]);
        let world = World::new("claude", Layer::Project, json!({"PreToolUse": [{"hooks": hooks}]}));
        let outcome = world.bash("ls").await;
        assert_eq!(outcome.answer.updated_input, Some(json!({"n": expected})), "{first} {second}");
        let notes: Vec<&str> = outcome.notes.iter().map(|note| note.text.as_str()).collect();
        assert!(notes.iter().any(|text| text.contains("finished last")), "{notes:?}");
    }
}

#[tokio::test]
async fn a_claude_hook_under_another_agent_gets_a_claude_payload() {
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&["pass"])}]});
    let world = World::new("claude", Layer::Project, hooks);
    let payload = json!({"event": "tool:pre", "session_id": "s", "data": {"tool_name": "bash", "tool_input": {"command": "ls"}}});
    let outcome = world.fire("amplifier", payload).await;
    assert_eq!(outcome.runs.len(), 1);
    let stdin = world.stdin(0);
    assert_eq!(stdin["hook_event_name"], "PreToolUse");
    assert_eq!(stdin["tool_name"], "Bash");
    assert_eq!(stdin["tool_input"]["command"], "ls");
}

#[tokio::test]
async fn context_that_ends_the_run_before_other_hooks_is_told() {
    let inject = r#"say {"contextInjection": "c"}"#;
    let fire = |hooks: Value| async move {
        let world = World::new("amplifier", Layer::Project, json!({ "PreToolUse": hooks }));
        let payload = json!({"event": "tool:pre", "session_id": "s", "data": {"tool_name": "bash"}});
        let notes = world.fire("amplifier", payload).await.notes;
        notes.into_iter().map(|note| note.text).collect::<Vec<_>>()
    };
    let notes =
        fire(json!([{"hooks": commands(&[inject, "block no"])}, {"hooks": commands(&["pass"])}])).await;
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("(contextInjection) ended the run, so 2 hooks after it"), "{notes:?}");
    assert_eq!(fire(json!([{"hooks": commands(&["pass", inject])}])).await, [""; 0], "nobody is after it");
    let denied = fire(json!([{"hooks": commands(&["block no", "pass"])}])).await;
    assert_eq!(denied, [""; 0], "a deny may end a run");
    let parallel = json!([{"parallel": true, "hooks": commands(&[inject, "block no"])}]);
    assert_eq!(fire(parallel).await, [""; 0], "at the same time all of them run");
}

#[tokio::test]
async fn a_once_hook_runs_once_in_a_session() {
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "pass", "once": true}]}]});
    let world = World::new("native", Layer::Project, hooks);
    world.bash("ls").await;
    let second = world.bash("ls").await;
    assert_eq!(statuses(&second), [Status::Skipped]);
    assert_eq!(world.commands().len(), 1);
}

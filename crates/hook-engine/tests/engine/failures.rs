//! Hooks that cannot run, must not run, or fail.

use std::sync::Arc;

use hook_engine::core::{Decision, Gate, Hook, Layer, Status};
use serde_json::{Value, json};

use crate::world::{World, commands, document, statuses};

#[tokio::test]
async fn a_handler_that_nothing_runs_is_reported_as_not_run() {
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "agent", "prompt": "Look"}]}]});
    let world = World::new("native", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Skipped]);
    assert!(outcome.runs[0].reading.rule.contains("agent"), "{}", outcome.runs[0].reading.rule);
}

#[tokio::test]
async fn a_guard_that_nothing_runs_blocks_where_its_author_said_so() {
    let agent = json!({"type": "agent", "prompt": "Look", "onFailure": "block"});
    let world = World::new("native", Layer::Project, json!({"PreToolUse": [{"hooks": [agent]}]}));
    assert_eq!(world.bash("ls").await.answer.decision, Decision::Deny);
}

#[tokio::test]
async fn a_failing_hook_blocks_where_its_author_said_so() {
    let table: &[(&str, Value, Decision)] = &[
        ("fail 1", json!("continue"), Decision::None),
        ("fail 1", json!("block"), Decision::Deny),
        ("late", json!("block"), Decision::Deny),
        ("late", json!({"exit": "block"}), Decision::None),
        ("fail 7", json!({"exit": "block"}), Decision::Deny),
    ];
    for (command, mode, expected) in table {
        let hook = json!({"type": "command", "command": command, "onFailure": mode});
        let world = World::new("native", Layer::Project, json!({"PreToolUse": [{"hooks": [hook]}]}));
        let outcome = world.bash("ls").await;
        assert_eq!(outcome.answer.decision, *expected, "{command} {mode}");
    }
}

#[tokio::test]
async fn a_gate_keeps_a_hook_from_running_and_says_why() {
    struct Shut;
    impl Gate for Shut {
        fn admit(&self, _hook: &Hook) -> Result<(), String> {
            Err("not approved; run: hook trust".into())
        }
    }
    let hooks =
        document("native", Layer::Project, json!({"PreToolUse": [{"hooks": commands(&["block no"])}]}));
    let world = World::with(vec![hooks], |builder| builder.gate(Arc::new(Shut)));
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Skipped]);
    assert_eq!(outcome.runs[0].reading.rule, "not approved; run: hook trust");
    assert!(world.commands().is_empty());
}

//! Hooks registered in code.

use hook_engine::core::{Answer, EventKind, Layer, Status};
use serde_json::json;

use crate::world::{World, commands, statuses};

#[tokio::test]
async fn hooks_in_code_come_and_go() {
    let world = World::new("native", Layer::Project, json!({}));
    let registration = world.engine.register(EventKind::PreToolUse, Some("Bash"), "guard", |event| {
        let tool = event.tool.as_ref().unwrap();
        Answer::deny(format!("not {}", tool.input["command"].as_str().unwrap()))
    });
    let outcome = world.bash("ls").await;
    assert_eq!(outcome.answer.reason.as_deref(), Some("not ls"));
    assert_eq!(outcome.runs[0].hook.origin.to_string(), "code");
    registration.remove();
    assert!(world.bash("ls").await.runs.is_empty());
}

#[tokio::test]
async fn a_panic_in_code_costs_only_its_own_hook() {
    let world = World::new("native", Layer::Project, json!({"PreToolUse": [{"hooks": commands(&["pass"])}]}));
    world.engine.register(EventKind::PreToolUse, None, "broken", |_| panic!("broken"));
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Error, Status::Ok]);
}

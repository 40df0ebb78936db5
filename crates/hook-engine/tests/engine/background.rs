//! Hooks nobody waits for.

use hook_engine::core::{Answer, Layer, Status};
use serde_json::{Value, json};

use crate::world::{World, statuses};

#[tokio::test]
async fn what_a_background_hook_says_comes_with_the_next_event_that_can_carry_it() {
    let say = |json: Value| json!({"type": "command", "command": format!("say {json}"), "async": true});
    let hooks = json!({
        "PreToolUse": [{"hooks": [say(json!({"decision": "deny", "reason": "too late", "context": "found it"}))]}],
    });
    let world = World::new("native", Layer::Project, hooks);
    let first = world.bash("ls").await;
    assert_eq!(first.answer, Answer::default());
    assert_eq!(statuses(&first), [Status::Background]);
    world.engine.background_done().await;
    let event = |name: &str| json!({"hook_event_name": name, "session_id": "s"});
    // A text at the end of a turn would start another one.
    assert_eq!(world.fire("claude", event("Stop")).await.answer.contexts().count(), 0);
    let prompt = world.fire("claude", event("UserPromptSubmit")).await;
    assert_eq!(prompt.answer.contexts().collect::<Vec<_>>(), ["found it"]);
    assert_eq!(world.fire("claude", event("UserPromptSubmit")).await.answer.contexts().count(), 0);
    assert_eq!(world.commands().len(), 1);
}

#[tokio::test]
async fn a_background_hook_ended_those_behind_it_or_kept_what_they_said_waiting() {
    for first in ["block no", r#"say {"decision": "deny"}"#, "never"] {
        let hooks: Value = [first, r#"say {"context": "found it"}"#]
            .iter()
            .map(|command| json!({"type": "command", "command": command, "async": true}))
            .collect();
        let world = World::new("native", Layer::Project, json!({"PreToolUse": [{"hooks": hooks}]}));
        world.bash("ls").await;
        // The tasks of this runtime go as far as they get.
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
        let prompt =
            world.fire("claude", json!({"hook_event_name": "UserPromptSubmit", "session_id": "s"})).await;
        assert_eq!(prompt.answer.contexts().collect::<Vec<_>>(), ["found it"], "{first}");
    }
}

#[tokio::test]
async fn a_hook_that_wakes_the_model_says_why_by_its_exit_code() {
    let hook = |command: &str, wakes: bool| json!({"type": "command", "command": command, "async": true, "asyncRewake": wakes});
    let hooks =
        json!({"PostToolUse": [{"hooks": [hook("block tests fail", true), hook("block unheard", false)]}]});
    let world = World::new("claude", Layer::Project, hooks);
    let post =
        json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {}});
    assert_eq!(world.fire("claude", post).await.answer, Answer::default());
    world.engine.background_done().await;
    let prompt =
        world.fire("claude", json!({"hook_event_name": "UserPromptSubmit", "session_id": "s"})).await;
    assert_eq!(prompt.answer.contexts().collect::<Vec<_>>(), ["tests fail"]);
}

#[tokio::test]
async fn what_still_runs_ends_with_its_session_and_not_with_another() {
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "never", "async": true}]}]});
    let world = World::new("native", Layer::Project, hooks);
    world.bash("ls").await;
    let end = |session: &str| json!({"hook_event_name": "SessionEnd", "session_id": session});
    world.fire("claude", end("other")).await;
    let done =
        tokio::time::timeout(std::time::Duration::from_millis(50), world.engine.background_done()).await;
    assert!(done.is_err(), "it does not end by itself");
    world.bash("ls").await;
    world.fire("claude", end("s")).await;
    tokio::time::timeout(std::time::Duration::from_secs(10), world.engine.background_done()).await.unwrap();
}

#[tokio::test]
async fn no_more_tasks_run_at_once_than_may_and_the_model_hears_of_the_others() {
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "never", "async": true}]}]});
    let world = World::new("native", Layer::Project, hooks);
    for _ in 0..17 {
        assert_eq!(world.bash("ls").await.answer.contexts().count(), 0);
    }
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s"});
    let told = world.fire("claude", prompt.clone()).await;
    let told: Vec<&str> = told.answer.contexts().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("was not started: 16 run for this session already"), "{told:?}");
    // Another session has room of its own.
    let other = json!({"event": "PreToolUse", "session_id": "t", "data": {"tool_name": "Bash"}});
    world.fire("native", other).await;
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "t"});
    assert_eq!(world.fire("claude", prompt).await.answer.contexts().count(), 0);
}

//! Stop events of a turn, and how often they are held back.

use std::sync::Arc;

use hook_engine::Engine;
use hook_engine::core::{Decision, EventHint, HostContext, Layer, Payload};
use serde_json::json;

use crate::world::{Script, World, commands, document};

#[tokio::test]
async fn both_stop_events_of_one_turn_run_the_hooks_once() {
    let hooks = json!({"Stop": [{"hooks": commands(&["pass"])}]});
    let world = World::new("amplifier", Layer::Project, hooks);
    let fire =
        |event: &'static str| world.fire("amplifier", json!({"event": event, "session_id": "s", "data": {}}));
    fire("prompt:complete").await;
    let second = fire("orchestrator:complete").await;
    assert_eq!(world.commands().len(), 1);
    assert!(!second.notes.is_empty(), "the second event says why nothing ran");
    fire("prompt:submit").await;
    fire("orchestrator:complete").await;
    assert_eq!(world.commands().len(), 2);
}

#[tokio::test]
async fn a_denied_stop_keeps_the_turn_open_and_says_so_on_stdin() {
    let hooks = json!({"Stop": [{"hooks": commands(&["block more work"])}]});
    let world = World::new("amplifier", Layer::Project, hooks);
    let fire =
        |event: &'static str| world.fire("amplifier", json!({"event": event, "session_id": "s", "data": {}}));
    assert_eq!(fire("prompt:complete").await.answer.decision, Decision::Deny);
    fire("orchestrator:complete").await;
    assert_eq!(world.stdin(0)["stop_hook_active"], false);
    assert_eq!(world.stdin(1)["stop_hook_active"], true);
}

#[tokio::test]
async fn a_stop_that_is_held_back_again_and_again_is_let_through() {
    let world = World::new("claude", Layer::Project, json!({"Stop": [{"hooks": commands(&["block more"])}]}));
    let stop = json!({"hook_event_name": "Stop", "session_id": "s"});
    let tool =
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {}});
    let decisions = async |count: usize| {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(world.fire("claude", stop.clone()).await.answer.decision == Decision::Deny);
        }
        all
    };
    assert_eq!(decisions(5).await, [true; 5]);
    // A call of a tool is progress.
    world.fire("claude", tool).await;
    assert_eq!(decisions(8).await, [true; 8]);
    let ninth = world.fire("claude", stop.clone()).await;
    assert_eq!(ninth.answer.decision, Decision::None);
    assert!(ninth.answer.messages().any(|(text, _)| text.contains("8 times in a row")), "{ninth:?}");
    assert_eq!(decisions(1).await, [true]);
}

#[tokio::test]
async fn the_bound_on_stops_can_be_set_in_the_environment() {
    let hooks = json!({"Stop": [{"hooks": commands(&["say {\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"additionalContext\":\"go on\"}}"])}]});
    for (set, lets_through) in [("1", true), ("0", false), ("many", false)] {
        let mut host = HostContext::new("/p");
        host.environment.insert("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP".into(), set.into());
        let engine = Engine::builder(host)
            .documents([document("claude", Layer::Project, hooks.clone())])
            .executor(Arc::new(Script::default()))
            .build();
        let agent = engine.dialects().find("claude").unwrap();
        let stop = Payload::from_value(json!({"hook_event_name": "Stop", "session_id": "s"}));
        let incoming = agent.read(stop, &EventHint::default()).unwrap();
        engine.dispatch(&incoming).await;
        let second = engine.dispatch(&incoming).await;
        assert_eq!(second.answer.contexts().next().is_none(), lets_through, "{set}");
    }
}

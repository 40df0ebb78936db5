//! What agents are told, and what concerns nobody.

use std::collections::HashMap;

use hook_engine::core::{DialectId, Layer, ReplyPolicy};
use serde_json::{Value, json};

use crate::world::{World, commands};

#[tokio::test]
async fn one_event_is_answered_in_the_words_of_every_agent() {
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&["block no rm here"])}]});
    let world = World::new("native", Layer::Project, hooks);
    let payloads: HashMap<&str, Value> = HashMap::from([
        (
            "claude",
            json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm"}}),
        ),
        (
            "amplifier",
            json!({"event": "tool:pre", "data": {"tool_name": "bash", "tool_input": {"command": "rm"}}}),
        ),
        (
            "native",
            json!({"event": "PreToolUse", "data": {"tool_name": "Bash", "tool_input": {"command": "rm"}}}),
        ),
    ]);
    for (agent, payload) in payloads {
        let incoming = world.read(agent, payload);
        let outcome = world.engine.dispatch(&incoming).await;
        let id: DialectId = world.engine.dialects().find(agent).unwrap().profile().id;
        let reply = world.engine.reply(id, &incoming, &outcome, &ReplyPolicy::default());
        assert_eq!(reply.exit_code, 0, "{agent}");
        assert!(
            reply.stdout.contains("no rm here") && reply.stdout.contains("deny"),
            "{agent}: {}",
            reply.stdout
        );
    }
}

#[tokio::test]
async fn nothing_to_do_is_known_without_running_anything() {
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&["pass"])}]});
    let world = World::new("native", Layer::Project, hooks);
    let payload = |tool: &str| json!({"event": "PreToolUse", "data": {"tool_name": tool, "tool_input": {}}});
    assert!(world.engine.concerns(&world.read("native", payload("Bash"))));
    assert!(!world.engine.concerns(&world.read("native", payload("Read"))));
}

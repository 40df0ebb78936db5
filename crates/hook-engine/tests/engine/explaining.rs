//! What every hook of an event is said to do.

use hook_engine::Hurdle;
use hook_engine::core::Layer;
use serde_json::json;

use crate::world::{World, commands};

#[tokio::test]
async fn every_hook_is_explained_and_nothing_is_run() {
    let hooks = json!({
        "PreToolUse": [
            {"matcher": "Bash", "hooks": commands(&["pass one"])},
            {"matcher": "bash", "hooks": commands(&["pass two"])},
            {"hooks": [{"type": "command", "command": "pass three", "enabled": false}, {"type": "prompt", "prompt": "ok?"}]},
        ],
        "Stop": [{"hooks": commands(&["pass four"])}],
    });
    let world = World::new("native", Layer::Project, hooks);
    let payload =
        json!({"event": "PreToolUse", "session_id": "s", "data": {"tool_name": "Bash", "tool_input": {}}});
    let incoming = world.read("native", payload);
    let explained = world.engine.explain(&incoming.events[0]);
    let found: Vec<(String, Option<Hurdle>, &str)> =
        explained.iter().map(|one| (one.hook.handler.summary(), one.hurdle, one.why[0].as_str())).collect();
    let expected = [
        ("pass one", None, "exactly Bash"),
        ("pass two", Some(Hurdle::Matcher), "letter case counts here"),
        ("pass three", Some(Hurdle::Off), "`enabled` is false"),
        ("ok?", Some(Hurdle::Executor), "No provider available"),
        ("pass four", Some(Hurdle::Event), "listens to Stop"),
    ];
    assert_eq!(found.len(), expected.len());
    for ((command, hurdle, why), wanted) in found.iter().zip(expected) {
        assert_eq!((command.as_str(), *hurdle), (wanted.0, wanted.1));
        assert!(why.contains(wanted.2), "{command}: {why}");
    }
    assert!(world.commands().is_empty());
}

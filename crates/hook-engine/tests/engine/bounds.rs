//! Budgets and caps.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hook_engine::Engine;
use hook_engine::core::{
    Call, EventHint, Executor, Exit, HandlerKind, HandlerOutput, HookCx, HostContext, Layer, Payload,
    ProcessOutput,
};
use serde_json::json;

use crate::world::{World, commands, document};

#[tokio::test]
async fn the_hooks_of_a_sessions_end_share_a_short_budget() {
    struct Budgets(Mutex<Vec<(String, u64)>>);
    #[async_trait]
    impl Executor for Budgets {
        fn kind(&self) -> HandlerKind {
            HandlerKind::Command
        }
        async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
            // What has passed since the stage began is taken off; rounded up it is what was granted.
            let granted = (call.timeout.as_secs_f64() * 10.0).ceil() as u64 * 100;
            self.0.lock().unwrap().push((cx.hook.handler.summary(), granted));
            HandlerOutput::Process(ProcessOutput::new(Exit::Code(0), "", ""))
        }
    }
    let end = |command: &str, timeout: Option<f64>| {
        let mut hook = json!({"type": "command", "command": command});
        if let Some(timeout) = timeout {
            hook["timeout"] = timeout.into();
        }
        json!({"SessionEnd": [{"hooks": [hook]}]})
    };
    let table = [
        // Own timeouts of user and plugin, the environment; what the user's, the plugin's and a hook without its own get.
        (None, None, None, [1500, 1500, 1500]),
        (Some(5.0), None, None, [5000, 1500, 1500]),
        (Some(90.0), Some(90.0), None, [60_000, 60_000, 1500]),
        (None, Some(30.0), None, [1500, 1500, 1500]),
        (Some(5.0), None, Some("4000"), [4000, 4000, 4000]),
    ];
    for (user, plugin, variable, expected) in table {
        let mut host = HostContext::new("/p");
        if let Some(value) = variable {
            host.environment.insert("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS".into(), value.into());
        }
        let budgets = Arc::new(Budgets(Mutex::new(Vec::new())));
        let engine = Engine::builder(host)
            .documents([
                document("claude", Layer::User, end("a user", user)),
                document("claude", Layer::Project, end("c plain", None)),
                document("claude", Layer::Pack, end("b plugin", plugin)),
            ])
            .executor(budgets.clone())
            .build();
        let agent = engine.dialects().find("claude").unwrap();
        let payload = json!({"hook_event_name": "SessionEnd", "session_id": "s", "reason": "other"});
        let incoming = agent.read(Payload::from_value(payload), &EventHint::default()).unwrap();
        engine.dispatch(&incoming).await;
        let mut granted = budgets.0.lock().unwrap().clone();
        granted.sort();
        let granted: Vec<u64> = granted.into_iter().map(|(_, millis)| millis).collect();
        assert_eq!(granted, expected, "{user:?} {plugin:?} {variable:?}");
    }
}

#[tokio::test]
async fn a_long_context_of_a_claude_hook_goes_into_a_file() {
    let long = "x".repeat(10_001);
    let say = |text: &str| {
        format!(
            "say {}",
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": text}})
        )
    };
    let hooks = json!({"PreToolUse": [{"hooks": commands(&[&say(&long), &say(&long[1..])])}]});
    let world = World::new("claude", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    let contexts: Vec<&str> = outcome.answer.contexts().collect();
    assert!(contexts[0].len() < 3000 && contexts[0].contains("10001 characters"), "{}", contexts[0]);
    assert_eq!(contexts[1].len(), 10_000);
}

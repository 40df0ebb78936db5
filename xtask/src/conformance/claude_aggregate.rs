//! Cases of `claude-code/aggregate`: several hooks answer one event, through the engine's own chain.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use hook_engine::Engine;
use hook_engine::core::{
    Call, Decision, Executor, Exit, FailureKind, HandlerFailure, HandlerKind, HandlerOutput, HookCx,
    MemoryFiles, ProcessOutput, ReplyPolicy,
};
use serde_json::{Map, Value, json};

use super::{claude, world};
use crate::check::Check;

/// Gives every hook the output that its case wrote down, in the order that the case wants.
struct Script(Vec<Value>);

#[async_trait]
impl Executor for Script {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, _call: Call) -> HandlerOutput {
        let result = self.0.get(cx.hook.origin.handler).unwrap_or(&Value::Null);
        let order = result.get("finish_order").and_then(Value::as_u64).unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(10 * order)).await;
        if result.get("timed_out").and_then(Value::as_bool).unwrap_or_default() {
            let message = "timed out".to_owned();
            return HandlerOutput::Failure(HandlerFailure {
                kind: FailureKind::Timeout,
                message,
                notes: Vec::new(),
            });
        }
        let code = result.get("exit_code").and_then(Value::as_i64).unwrap_or_default();
        let stdout = match result.get("output") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(document) => document.to_string(),
        };
        let stderr = result.get("stderr").and_then(Value::as_str).unwrap_or_default();
        let code = i32::try_from(code).unwrap_or(1);
        HandlerOutput::Process(ProcessOutput::new(Exit::Code(code), stdout, stderr))
    }
}

pub(super) fn aggregate(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect("claude-code")?;
    let name = check.given_text("event");
    let results =
        check.given("results").and_then(Value::as_array).cloned().context("given.results is no array")?;
    for key in results.iter().filter_map(Value::as_object).flat_map(|result| result.keys()) {
        if !["exit_code", "output", "stderr", "timed_out", "finish_order"].contains(&key.as_str()) {
            check.fail(format!("given.results: the runner does not know the key {key:?}"));
        }
    }
    let hooks: Vec<Value> =
        (0..results.len()).map(|n| json!({"type": "command", "command": format!("hook {n}")})).collect();
    let file = json!({"hooks": {name: [{"hooks": hooks}]}}).to_string();
    let files = MemoryFiles::new().with(format!("{}/.claude/settings.json", world::PROJECT), file);
    let loaded = world::load_tree(&files, dialect.profile().id, Map::new());

    let engine = Engine::builder(world::host())
        .documents(loaded.documents)
        .executor(Arc::new(Script(results)))
        .build();
    let incoming = world::read(dialect.as_ref(), world::claude_payload(name, &Map::new()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(engine.dispatch(&incoming));
    let answer = &outcome.answer;
    check.equals("permission", &claude::permission(answer.decision));
    check.equals("blocked", &json!(answer.decision == Decision::Deny));
    check.equals("reason", &json!(answer.reason));
    check.equals("contexts", &json!(answer.contexts().collect::<Vec<_>>()));
    check.equals("ran", &json!(outcome.runs.iter().filter(|run| run.ran()).count()));
    check.equals("stop", &json!(answer.stop));
    check.equals("stop_reason", &json!(answer.stop_reason));
    check.equals("updated_input", &json!(answer.updated_input));
    let reply = engine.reply(dialect.profile().id, &incoming, &outcome, &ReplyPolicy::default());
    let reply: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    check.equals("action", &reply["hookSpecificOutput"]["action"]);
    Ok(())
}

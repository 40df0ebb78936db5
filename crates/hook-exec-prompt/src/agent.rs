//! Agent hooks.

use std::sync::Arc;

use async_trait::async_trait;
use hook_core::{
    AGENT_TURNS, AgentRequest, AgentRunner, Call, Executor, FailureKind, Handler, HandlerKind, HandlerOutput,
    HookCx,
};

use crate::guarded::{answer, failed};

/// Runs agent handlers by sending one agent. It holds no state but the runner; one serves all hooks.
#[derive(Clone)]
pub struct AgentExecutor {
    runner: Arc<dyn AgentRunner>,
}

impl AgentExecutor {
    /// An executor that sends this agent.
    pub fn new(runner: Arc<dyn AgentRunner>) -> AgentExecutor {
        AgentExecutor { runner }
    }
}

#[async_trait]
impl Executor for AgentExecutor {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Agent
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        let Handler::Agent(handler) = &cx.hook.handler else {
            return failed(FailureKind::Spawn, "the hook sends no agent".into());
        };
        let request = AgentRequest {
            prompt: String::from_utf8_lossy(&call.input).into_owned(),
            instructions: call.asking.instructions.map(String::from),
            model: handler.model.clone(),
            directory: call.directory,
            max_turns: AGENT_TURNS,
            timeout: call.timeout,
        };
        // The runner may panic where it is called, too, so it is called inside.
        answer("the agent", call.timeout, Box::pin(async { self.runner.run(&request).await })).await
    }
}

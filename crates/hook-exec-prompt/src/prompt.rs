//! Prompt hooks.

use std::sync::Arc;

use async_trait::async_trait;
use hook_core::{
    Call, Executor, FailureKind, Handler, HandlerKind, HandlerOutput, HookCx, LanguageModel, ModelRequest,
};

use crate::guarded::{answer, failed};

/// Runs prompt handlers by asking one model. It holds no state but the model; one serves all hooks.
#[derive(Clone)]
pub struct PromptExecutor {
    model: Arc<dyn LanguageModel>,
}

impl PromptExecutor {
    /// An executor that asks this model.
    pub fn new(model: Arc<dyn LanguageModel>) -> PromptExecutor {
        PromptExecutor { model }
    }
}

#[async_trait]
impl Executor for PromptExecutor {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Prompt
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        let Handler::Prompt(handler) = &cx.hook.handler else {
            return failed(FailureKind::Spawn, "the hook asks no model".into());
        };
        let request = ModelRequest {
            prompt: String::from_utf8_lossy(&call.input).into_owned(),
            instructions: call.asking.instructions.map(String::from),
            model: handler.model.clone(),
            max_tokens: call.asking.max_tokens,
            timeout: call.timeout,
        };
        // The model may panic where it is called, too, so it is called inside.
        answer("the model", call.timeout, Box::pin(async { self.model.ask(&request).await })).await
    }
}

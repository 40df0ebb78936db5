//! Prompt hooks: a question to a language model that the host brings.
//!
//! [`PromptExecutor`] hands the text that the hook's dialect made to a [`LanguageModel`] and gives back what it said; reading a
//! verdict out of it is the dialect's work. It promises an answer in time, also from a model that hangs, a bounded answer, and
//! that a model that panics takes no other hook with it.

use std::sync::Arc;

use async_trait::async_trait;
use hook_core::{
    Call, Executor, FailureKind, Handler, HandlerFailure, HandlerKind, HandlerOutput, HookCx, LanguageModel,
    ModelError, ModelRequest,
};
use hook_exec::caught;
use hook_exec::limits::MAX_STREAM;
use tokio::time::timeout;

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

    /// The model's answer, or an error where it panics.
    async fn ask(&self, request: &ModelRequest) -> Result<String, ModelError> {
        let answer = caught(self.model.ask(request)).await;
        answer.unwrap_or_else(|| Err(ModelError::Execution("the model panicked".into())))
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
        match timeout(call.timeout, self.ask(&request)).await {
            Err(_) => {
                let seconds = call.timeout.as_secs_f64();
                failed(FailureKind::Timeout, format!("the model did not answer within {seconds}s"))
            }
            Ok(Err(error)) => failed(kind_of(&error), error.to_string()),
            Ok(Ok(reply)) if reply.trim().is_empty() => {
                failed(kind_of(&ModelError::Empty), ModelError::Empty.to_string())
            }
            Ok(Ok(reply)) if reply.len() > MAX_STREAM => {
                let message = format!("the model's answer is {} bytes long, which nobody reads", reply.len());
                failed(FailureKind::Oversize, message)
            }
            Ok(Ok(reply)) => HandlerOutput::Model { reply },
        }
    }
}

fn kind_of(error: &ModelError) -> FailureKind {
    match error {
        ModelError::NotConfigured | ModelError::Lookup(_) => FailureKind::Spawn,
        ModelError::Empty => FailureKind::Parse,
        _ => FailureKind::Unreachable,
    }
}

fn failed(kind: FailureKind, message: String) -> HandlerOutput {
    HandlerOutput::Failure(HandlerFailure { kind, message, notes: Vec::new() })
}

#[cfg(test)]
mod tests;

//! The deny handler: no process, no server, one fixed answer.

use async_trait::async_trait;
use hook_core::{
    Answer, Call, Executor, FailureKind, Handler, HandlerFailure, HandlerKind, HandlerOutput, HookCx,
};

/// Runs deny handlers ("AIMON hook configuration guide, deny": it refuses at once, with its reason and no transport).
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyExecutor;

#[async_trait]
impl Executor for DenyExecutor {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Deny
    }

    async fn run(&self, cx: &HookCx<'_>, _call: Call) -> HandlerOutput {
        match &cx.hook.handler {
            Handler::Deny { reason } => HandlerOutput::Answer(Answer::deny(reason)),
            other => HandlerOutput::Failure(HandlerFailure {
                kind: FailureKind::Spawn,
                message: format!("a handler of type {} is no deny handler", other.kind().name()),
                notes: Vec::new(),
            }),
        }
    }
}

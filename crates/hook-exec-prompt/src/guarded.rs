//! What is promised whoever is asked: an answer in time, of some size, and no panic.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use hook_core::{FailureKind, HandlerFailure, HandlerOutput, ModelError};
use hook_exec::limits::MAX_STREAM;

/// Whoever is asked, as a future.
type Asked<'a> = Pin<Box<dyn Future<Output = Result<String, ModelError>> + Send + 'a>>;

/// What comes of asking `who` ("the model").
pub(crate) async fn answer(who: &str, timeout: Duration, mut asked: Asked<'_>) -> HandlerOutput {
    let guarded = poll_fn(|task| {
        catch_unwind(AssertUnwindSafe(|| asked.as_mut().poll(task)))
            .unwrap_or_else(|_| Poll::Ready(Err(ModelError::Execution(format!("{who} panicked")))))
    });
    let answer = tokio::time::timeout(timeout, guarded).await;
    match answer.unwrap_or(Err(ModelError::Timeout(timeout))) {
        Ok(reply) if reply.trim().is_empty() => trouble(who, &ModelError::Empty),
        Ok(reply) if reply.len() > MAX_STREAM => {
            let message = format!("{who}'s answer is {} bytes long, which nobody reads", reply.len());
            failed(FailureKind::Oversize, message)
        }
        Ok(reply) => HandlerOutput::Model { reply },
        Err(error) => trouble(who, &error),
    }
}

fn trouble(who: &str, error: &ModelError) -> HandlerOutput {
    match error {
        ModelError::Timeout(time) => {
            let message = format!("{who} did not answer within {}s", time.as_secs_f64());
            failed(FailureKind::Timeout, message)
        }
        ModelError::NotConfigured | ModelError::Lookup(_) => failed(FailureKind::Spawn, error.to_string()),
        ModelError::Empty => failed(FailureKind::Parse, error.to_string()),
        _ => failed(FailureKind::Unreachable, error.to_string()),
    }
}

pub(crate) fn failed(kind: FailureKind, message: String) -> HandlerOutput {
    HandlerOutput::Failure(HandlerFailure { kind, message, notes: Vec::new() })
}

//! Asking a human, for hosts that run tools themselves.

use async_trait::async_trait;

use crate::event::Event;

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskAnswer {
    /// Go on.
    Allow,
    /// Do not; why, for the model.
    Deny(Option<String>),
}

/// Puts the question of a hook before a human ("AIMON guide, Decision flow": a hook may answer `ask`).
///
/// `ask` is a future on the dispatching task; it may take as long as the human does.
#[async_trait]
pub trait AskHandler: Send + Sync {
    /// Asks whether the event may go on. `question` is the reason the hooks gave; `None` where they gave none.
    async fn ask(&self, event: &Event, question: Option<&str>) -> AskAnswer;
}

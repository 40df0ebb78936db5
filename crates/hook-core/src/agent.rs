//! Between the engine and an agent that a host sends to look into something, for hooks of type `agent`.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

use crate::model::ModelError;

/// The most turns an agent may take for one hook ("Claude Code hooks reference, Agent-based hooks": up to 50 turns).
pub const AGENT_TURNS: u32 = 50;

/// One task for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRequest {
    /// What to find out, placeholders filled in.
    pub prompt: String,
    /// How to answer; `None` where the prompt is all the agent gets.
    pub instructions: Option<String>,
    /// The model the hook's author named; `None` leaves the choice to the host.
    pub model: Option<String>,
    /// The directory the agent works in, absolute.
    pub directory: PathBuf,
    /// The turns the agent may take.
    pub max_turns: u32,
    /// When the answer comes too late. The executor keeps this time itself.
    pub timeout: Duration,
}

/// An agent with tools that a host puts behind agent hooks.
///
/// `run` is a future on the dispatching task: it should wait without blocking its thread, and stop working when it is dropped,
/// which is what happens when the time is up.
#[async_trait]
pub trait AgentRunner: Send + Sync {
    /// The text the agent came back with, as it came; a dialect reads the verdict out of it.
    ///
    /// # Errors
    /// There is no agent, or it gave no answer.
    async fn run(&self, request: &AgentRequest) -> Result<String, ModelError>;
}

//! Prompt and agent hooks: a question to a language model, or a task for an agent.
//!
//! [`PromptExecutor`] hands the text that the hook's dialect made to a [`LanguageModel`], [`AgentExecutor`] hands it to an
//! [`AgentRunner`]; both give back what was said, and reading a verdict out of it is the dialect's work. They promise an answer
//! in time, also from somebody who hangs, a bounded answer, and that a panic takes no other hook with it. [`HttpModel`] is a model behind a
//! server.
//!
//! [`LanguageModel`]: hook_core::LanguageModel
//! [`AgentRunner`]: hook_core::AgentRunner

mod agent;
mod guarded;
mod key;
mod model;
mod prompt;
mod wire;

pub use agent::AgentExecutor;
pub use model::HttpModel;
pub use prompt::PromptExecutor;

#[cfg(test)]
mod tests;

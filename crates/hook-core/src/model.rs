//! Between the engine and a language model, for hooks that ask one.

use std::time::Duration;

use async_trait::async_trait;

/// How a dialect asks a model: what its prompt handlers have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asking {
    /// The most tokens the model may answer with.
    pub max_tokens: u32,
    /// How the model should answer, for dialects whose authors need not say it themselves; `None` where the prompt is all the
    /// model gets.
    pub instructions: Option<&'static str>,
}

/// Room for a verdict with a reason of some length, and no instructions.
impl Default for Asking {
    fn default() -> Asking {
        Asking { max_tokens: 1024, instructions: None }
    }
}

/// One question for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequest {
    /// The text, placeholders filled in; the one message of the user.
    pub prompt: String,
    /// How to answer: the system text, for a model that knows one, else in front of the prompt.
    pub instructions: Option<String>,
    /// The model the hook's author named; `None` leaves the choice to the host.
    pub model: Option<String>,
    /// The most tokens the model may answer with.
    pub max_tokens: u32,
    /// When the answer comes too late. The executor keeps this time itself; it is here for clients with a timeout of their own.
    pub timeout: Duration,
}

/// The protocol a model is asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelProvider {
    /// "Anthropic API reference, Messages".
    Anthropic,
    /// "OpenAI API reference, Chat completions", which local servers speak as well.
    OpenAiCompatible,
}

/// Which model is asked, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSettings {
    /// The protocol.
    pub provider: ModelProvider,
    /// The model for hooks that name none.
    pub model: String,
    /// The address that the protocol's paths are added to, `http` or `https`.
    pub base_url: String,
    /// The variable of the environment that holds the key; the key itself stands in no settings. `None`: no key is sent.
    pub key_variable: Option<String>,
    /// The most tokens of an answer; `None` leaves it to the hook's dialect.
    pub max_tokens: Option<u32>,
}

/// Why a model gave no answer. The texts are those of "Shell hooks module for Amplifier, Prompt-based hooks".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There is no model to ask.
    #[error("No provider available")]
    NotConfigured,
    /// Finding the model failed; why.
    #[error("Provider access failed: {0}")]
    Lookup(String),
    /// The model was asked and failed; why.
    #[error("Execution error: {0}")]
    Execution(String),
    /// The answer did not come within this time.
    #[error("the model did not answer within {}s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The model answered without a text.
    #[error("Empty provider response")]
    Empty,
}

/// A language model that a host puts behind prompt hooks.
///
/// `ask` is a future on the dispatching task: it should wait without blocking its thread, and stop working when it is dropped,
/// which is what happens when the time is up.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// The text of the model's answer: its first text block, as it came.
    ///
    /// # Errors
    /// There is no model, or it gave no answer.
    async fn ask(&self, request: &ModelRequest) -> Result<String, ModelError>;
}

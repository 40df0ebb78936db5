//! The documents of the protocols: questions out, texts and complaints in.

use hook_core::ModelProvider;
use serde_json::{Map, Value, json};

use crate::key::Key;

/// The version of the protocol that is spoken ("Anthropic API reference, Versions").
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The path that is added to the base address.
pub(crate) fn path(provider: ModelProvider) -> &'static str {
    match provider {
        ModelProvider::Anthropic => "/v1/messages",
        _ => "/chat/completions",
    }
}

/// The headers, with the key where there is one.
pub(crate) fn headers(provider: ModelProvider, key: Option<&Key>) -> Vec<(String, String)> {
    let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    if provider == ModelProvider::Anthropic {
        headers.push(("anthropic-version".to_owned(), ANTHROPIC_VERSION.to_owned()));
    }
    headers.extend(key.map(|key| match provider {
        ModelProvider::Anthropic => ("x-api-key".to_owned(), key.reveal().to_owned()),
        _ => ("Authorization".to_owned(), format!("Bearer {}", key.reveal())),
    }));
    headers
}

/// The name of the bound on an answer. Newer models of one service refuse the old name, other services know no other
/// ("OpenAI API reference, Chat completions").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenLimit {
    /// `max_tokens`, which every service knew once.
    Usual,
    /// `max_completion_tokens`.
    Newer,
}

/// True where a service refuses the usual name of the bound and wants the newer one.
pub(crate) fn wants_newer_limit(status: u16, reply: &Value) -> bool {
    let error = &reply["error"];
    // A bound that is only too large is the author's to lower.
    let unknown = error["param"] == "max_tokens" && error["code"] == "unsupported_parameter";
    let named = complaint(reply).is_some_and(|text| text.contains("max_completion_tokens"));
    matches!(status, 400 | 422) && (unknown || named)
}

/// The question: system text, and one message of the user.
pub(crate) fn question(
    provider: ModelProvider,
    model: &str,
    max_tokens: (TokenLimit, u32),
    instructions: Option<&str>,
    prompt: &str,
) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    let (limit, max_tokens) = max_tokens;
    let limit = match limit {
        TokenLimit::Usual => "max_tokens",
        TokenLimit::Newer => "max_completion_tokens",
    };
    body.insert(limit.into(), max_tokens.into());
    let mut messages = Vec::new();
    if let Some(instructions) = instructions {
        match provider {
            ModelProvider::Anthropic => {
                body.insert("system".into(), instructions.into());
            }
            _ => messages.push(json!({"role": "system", "content": instructions})),
        }
    }
    messages.push(json!({"role": "user", "content": prompt}));
    body.insert("messages".into(), messages.into());
    body.into()
}

/// The first block of text, whatever stands before it (thinking, for instance); `None` where there is none.
pub(crate) fn text(provider: ModelProvider, reply: &Value) -> Option<&str> {
    let content = match provider {
        ModelProvider::Anthropic => &reply["content"],
        _ => &reply["choices"][0]["message"]["content"],
    };
    // A text alone, or a list of blocks.
    let block = || content.as_array()?.iter().find(|block| block["type"] == "text")?["text"].as_str();
    content.as_str().or_else(block).filter(|text| !text.trim().is_empty())
}

/// Why a good answer holds no text, where it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence<'r> {
    /// It is an error under a good status, as some local servers send it.
    Complaint(&'r str),
    /// The model refused, in these words where it has some.
    Refusal(Option<&'r str>),
    /// The tokens were spent before the first word, on thinking for instance.
    Spent,
}

/// Why there is no text ("Anthropic API reference, Messages", `stop_reason`; "OpenAI API reference, Chat completions",
/// `finish_reason` and `refusal`).
pub(crate) fn silence(provider: ModelProvider, reply: &Value) -> Option<Silence<'_>> {
    if let Some(complaint) = complaint(reply) {
        return Some(Silence::Complaint(complaint));
    }
    let (end, refusal) = match provider {
        ModelProvider::Anthropic => (&reply["stop_reason"], None),
        _ => {
            let choice = &reply["choices"][0];
            (&choice["finish_reason"], choice["message"]["refusal"].as_str())
        }
    };
    match end.as_str() {
        _ if refusal.is_some() => Some(Silence::Refusal(refusal)),
        Some("refusal" | "content_filter") => Some(Silence::Refusal(None)),
        Some("max_tokens" | "length") => Some(Silence::Spent),
        _ => None,
    }
}

/// What a service says of its error; both protocols put it in the same place, and some local servers put a text there.
pub(crate) fn complaint(reply: &Value) -> Option<&str> {
    let error = &reply["error"];
    error["message"].as_str().or_else(|| error.as_str())
}

//! An outcome as one JSON document for the engine's own agents. It carries everything.

use hook_core::{
    Capabilities, Decision, Effect, EngineFailure, Event, EventKind, Outcome, Reply, ReplyPolicy,
};
use serde_json::{Map, Value, json};

use super::answer::DEFAULT_REASON;
use super::profile;

pub(super) fn capabilities(event: &Event) -> Capabilities {
    let block = profile::blocks(&event.kind);
    Capabilities {
        block,
        ask: block,
        allow: block,
        rewrite_input: matches!(event.kind, EventKind::PreToolUse | EventKind::PermissionRequest),
        rewrite_output: event.kind == EventKind::PostToolUse,
        context: true,
        message: true,
        stop: true,
    }
}

pub(super) fn write_reply(
    event: Option<&Event>,
    result: Result<&Outcome, &EngineFailure>,
    policy: &ReplyPolicy,
) -> Reply {
    let document = match result {
        Ok(outcome) => carry(outcome),
        Err(failure) => failed(event, failure, policy),
    };
    Reply { stdout: format!("{document}\n"), ..Reply::default() }
}

fn failed(event: Option<&Event>, failure: &EngineFailure, policy: &ReplyPolicy) -> Value {
    // A denied stop would keep the agent running for a fault that it cannot mend.
    let guard = event.is_none_or(|event| {
        profile::blocks(&event.kind) && !matches!(event.kind, EventKind::Stop | EventKind::SubagentStop)
    });
    if guard && (failure.deny || policy.fail_closed) {
        return json!({ "decision": "deny", "reason": failure.message });
    }
    json!({ "decision": "none", "messages": [{ "text": failure.message, "level": "error" }] })
}

fn carry(outcome: &Outcome) -> Value {
    let answer = &outcome.answer;
    let mut out = Map::new();
    out.insert("decision".into(), answer.decision.name().into());
    let reason = answer.reason.clone();
    let reason = reason.or_else(|| (answer.decision == Decision::Deny).then(|| DEFAULT_REASON.to_owned()));
    if let Some(reason) = reason {
        out.insert("reason".into(), reason.into());
    }
    if let Some(input) = &answer.updated_input {
        out.insert("updatedInput".into(), input.clone());
    }
    if let Some(output) = &answer.updated_output {
        out.insert("updatedOutput".into(), output.clone());
    }
    let contexts: Vec<&str> = answer.contexts().collect();
    if !contexts.is_empty() {
        out.insert("context".into(), contexts.into());
    }
    let messages: Vec<Value> =
        answer.messages().map(|(text, level)| json!({ "text": text, "level": level })).collect();
    if !messages.is_empty() {
        out.insert("messages".into(), messages.into());
    }
    if answer.stop {
        out.insert("stop".into(), true.into());
        if let Some(reason) = &answer.stop_reason {
            out.insert("stopReason".into(), reason.as_str().into());
        }
    }
    let others: Vec<Value> = answer
        .effects
        .iter()
        .filter(|effect| !matches!(effect, Effect::Context { .. } | Effect::Message { .. }))
        .filter_map(|effect| serde_json::to_value(effect).ok())
        .collect();
    if !others.is_empty() {
        out.insert("effects".into(), others.into());
    }
    Value::Object(out)
}

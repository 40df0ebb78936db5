//! An outcome as one JSON document for an AIMON host: the answer document of its own webhooks, with what other dialects say beside it.
//!
//! `{"decision": "allow" | "ask" | "deny", "reason", "updatedInput", "updatedOutput", "feedback", "messages": [{"text", "level"}]}`;
//! members without a value are left out, and the exit code is 0. `feedback` is for the model, `messages` are for people.

use hook_core::{
    Capabilities, Decision, Effect, EngineFailure, Event, EventKind, Level, Outcome, Reply, ReplyPolicy,
};
use serde_json::{Map, Value, json};

use super::answer::DEFAULT_REASON;
use super::profile::refuses;
use crate::{effects, values};

pub(super) fn capabilities(event: &Event) -> Capabilities {
    let kind = &event.kind;
    let block = refuses(kind);
    let asks = matches!(kind, EventKind::PreToolUse | EventKind::PermissionRequest);
    let after_tool = matches!(kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
    Capabilities {
        block,
        ask: asks,
        allow: false,
        rewrite_input: *kind == EventKind::PreToolUse,
        rewrite_output: after_tool,
        // Feedback is read where a decision is, and beside a tool's result.
        context: block || after_tool,
        message: true,
        stop: false,
    }
}

pub(super) fn write_reply(
    event: Option<&Event>,
    result: Result<&Outcome, &EngineFailure>,
    policy: &ReplyPolicy,
) -> Reply {
    let (document, degraded) = match (event, result) {
        (Some(event), Ok(outcome)) => Writer { event, outcome, policy, lost: Vec::new() }.document(),
        (None, Ok(outcome)) => {
            let mut out = Map::from_iter([("decision".to_owned(), Value::from("allow"))]);
            messages(&mut out, outcome, Vec::new());
            (Value::Object(out), Vec::new())
        }
        (event, Err(failure)) => (failed(event, failure, policy), Vec::new()),
    };
    Reply { stdout: format!("{document}\n"), degraded, ..Reply::default() }
}

fn failed(event: Option<&Event>, failure: &EngineFailure, policy: &ReplyPolicy) -> Value {
    let guard = event.is_none_or(|event| refuses(&event.kind));
    if guard && (failure.deny || policy.fail_closed) {
        return json!({ "decision": "deny", "reason": failure.message });
    }
    json!({ "decision": "allow", "messages": [{ "text": failure.message, "level": "error" }] })
}

struct Writer<'a> {
    event: &'a Event,
    outcome: &'a Outcome,
    policy: &'a ReplyPolicy,
    lost: Vec<String>,
}

impl Writer<'_> {
    fn document(mut self) -> (Value, Vec<String>) {
        let can = capabilities(self.event);
        let answer = &self.outcome.answer;
        let mut out = Map::new();
        let mut more = Vec::new();
        let (decision, reason) = self.decision(can, &mut more);
        out.insert("decision".into(), decision.into());
        if let Some(reason) = reason {
            out.insert("reason".into(), reason.into());
        }
        let denied = decision == "deny";
        if let Some(input) = &answer.updated_input {
            match (denied, can.rewrite_input) {
                (false, true) => drop(out.insert("updatedInput".into(), input.clone())),
                (true, _) => self.lose("a rewritten input beside a refusal"),
                (false, false) => self.lose("a rewritten input"),
            }
        }
        if let Some(output) = &answer.updated_output {
            match can.rewrite_output {
                true => drop(out.insert("updatedOutput".into(), output.clone())),
                false => self.lose("a rewritten result"),
            }
        }
        // Blank ones are left out, and what is left is shown once.
        let feedback: Vec<&str> =
            values::model_texts(self.outcome).into_iter().filter(|text| !text.trim().is_empty()).collect();
        match (feedback.is_empty(), can.context) {
            (true, _) => {}
            (false, true) => drop(out.insert("feedback".into(), feedback.join("\n\n").into())),
            (false, false) => self.lose("context: this event takes none"),
        }
        messages(&mut out, self.outcome, more);
        for effect in &answer.effects {
            if !matches!(effect, Effect::Context { .. } | Effect::Feedback { .. } | Effect::Message { .. }) {
                self.lose(effects::label(effect));
            }
        }
        (Value::Object(out), self.lost)
    }

    fn lose(&mut self, what: impl Into<String>) {
        self.lost.push(what.into());
    }

    /// The decision that the event can carry, and its reason. What it cannot carry becomes a refusal where the policy says so.
    fn decision(
        &mut self,
        can: Capabilities,
        more: &mut Vec<(String, Level)>,
    ) -> (&'static str, Option<String>) {
        let answer = &self.outcome.answer;
        let reason = answer.reason.clone().filter(|reason| !reason.trim().is_empty());
        if answer.decision == Decision::Deny {
            if can.block {
                if answer.stop {
                    self.lose("stop");
                }
                return ("deny", Some(reason.unwrap_or_else(|| DEFAULT_REASON.to_owned())));
            }
            self.lose(format!("deny: a refusal has no effect on {}", self.event.native_event));
            more.extend(reason.map(|text| (text, Level::Warning)));
            return ("allow", None);
        }
        if answer.stop {
            let why = answer.stop_reason.clone();
            if can.block {
                self.lose("stop became a refusal");
                return ("deny", why.or(reason).or_else(|| Some(DEFAULT_REASON.to_owned())));
            }
            self.lose("stop");
            more.extend(why.map(|text| (text, Level::Warning)));
        }
        if matches!(answer.decision, Decision::Ask | Decision::Defer) {
            if can.ask {
                if answer.decision == Decision::Defer {
                    self.lose("defer became a question");
                }
                return ("ask", reason.or_else(|| Some("A hook asks for approval".to_owned())));
            }
            if can.block && self.policy.deny_unsupported_ask {
                self.lose(format!("{} became a refusal", answer.decision.name()));
                let why = || "A hook wants a person to decide, and nobody can be asked here".to_owned();
                return ("deny", Some(reason.unwrap_or_else(why)));
            }
            self.lose(answer.decision.name());
        }
        if let Some(input) = &answer.updated_input
            && can.block
            && !can.rewrite_input
            && self.policy.deny_unsupported_rewrite
        {
            self.lose("a rewritten input became a refusal");
            let why =
                format!("A hook wants another input for this call; try again with exactly this one: {input}");
            return ("deny", Some(why));
        }
        if answer.decision == Decision::Allow {
            self.lose("allow: the agent asks as it would without hooks");
        }
        ("allow", None)
    }
}

fn messages(out: &mut Map<String, Value>, outcome: &Outcome, more: Vec<(String, Level)>) {
    let own = values::user_texts(outcome).into_iter().map(|(text, level)| (text.to_owned(), level));
    let all: Vec<Value> =
        own.chain(more).map(|(text, level)| json!({ "text": text, "level": level })).collect();
    if !all.is_empty() {
        out.insert("messages".into(), all.into());
    }
}

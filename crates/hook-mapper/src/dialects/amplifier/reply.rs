//! An outcome as one HookResult of Amplifier's kernel.
//!
//! A HookResult has one action, so what stands beside the action that wins is named in `degraded`. Of two actions the one
//! that changes what will run is the more serious: deny, ask, a rewritten input, context, other content.

use hook_core::{
    Capabilities, Decision, Effect, EngineFailure, Event, EventKind, Level, Outcome, Reply, ReplyPolicy,
};
use serde_json::{Map, Value, json};

use super::answer::{DEFAULT_REASON, gate};
use super::profile::ID;
use crate::{effects, values};

pub(super) fn capabilities(event: &Event) -> Capabilities {
    let gate = gate(&event.kind);
    let permission = event.kind == EventKind::PermissionRequest;
    Capabilities {
        block: gate.deny,
        // An approval that nobody answers is asked by the agent itself.
        ask: event.kind == EventKind::PreToolUse || permission,
        allow: permission,
        rewrite_input: event.kind == EventKind::PreToolUse,
        rewrite_output: event.kind == EventKind::PostToolUse,
        context: gate.inject,
        message: true,
        stop: false,
    }
}

pub(super) fn write_reply(
    event: Option<&Event>,
    result: Result<&Outcome, &EngineFailure>,
    policy: &ReplyPolicy,
) -> Reply {
    match (event, result) {
        (_, Err(failure)) => failed(event, failure, policy),
        (Some(event), Ok(outcome)) => Writer::new(event, outcome, policy).reply(),
        (None, Ok(outcome)) => {
            let mut out = Map::new();
            out.insert("action".into(), "continue".into());
            messages(&mut out, outcome, Vec::new());
            reply(Value::Object(out), Vec::new())
        }
    }
}

fn failed(event: Option<&Event>, failure: &EngineFailure, policy: &ReplyPolicy) -> Reply {
    // A denied stop would keep the agent running for a fault that it cannot mend.
    let guard = event.is_none_or(|event| gate(&event.kind).deny && !stops(&event.kind));
    if guard && (failure.deny || policy.fail_closed) {
        return reply(json!({ "action": "deny", "reason": failure.message }), Vec::new());
    }
    reply(
        json!({ "action": "continue", "user_message": failure.message, "user_message_level": "error" }),
        Vec::new(),
    )
}

fn stops(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Stop | EventKind::SubagentStop)
}

fn reply(document: Value, degraded: Vec<String>) -> Reply {
    Reply { exit_code: 0, stdout: format!("{document}\n"), stderr: String::new(), degraded }
}

/// The parts of the answer that are still to be carried.
struct Writer<'a> {
    event: &'a Event,
    outcome: &'a Outcome,
    policy: &'a ReplyPolicy,
    can: Capabilities,
    out: Map<String, Value>,
    degraded: Vec<String>,
    extra_messages: Vec<(String, Level)>,
}

impl<'a> Writer<'a> {
    fn new(event: &'a Event, outcome: &'a Outcome, policy: &'a ReplyPolicy) -> Writer<'a> {
        Writer {
            event,
            outcome,
            policy,
            can: capabilities(event),
            out: Map::new(),
            degraded: Vec::new(),
            extra_messages: Vec::new(),
        }
    }

    fn reply(mut self) -> Reply {
        self.action();
        messages(&mut self.out, self.outcome, std::mem::take(&mut self.extra_messages));
        for effect in &self.outcome.answer.effects {
            let carried = matches!(
                effect,
                Effect::Context { .. }
                    | Effect::Feedback { .. }
                    | Effect::Message { .. }
                    | Effect::ReplaceContent { .. }
            );
            if !carried {
                self.degraded.push(effects::label(effect).to_owned());
            }
        }
        reply(Value::Object(self.out), self.degraded)
    }

    fn action(&mut self) {
        let answer = &self.outcome.answer;
        let reason = || answer.reason.clone().filter(|reason| !reason.is_empty());
        if let Some(reason) = self.denial() {
            self.set("deny", &[("reason", reason.into())]);
            self.lose_context("context beside a deny");
            self.lose_rewrites("a rewrite beside a deny");
            return;
        }
        if matches!(answer.decision, Decision::Ask | Decision::Defer) && self.can.ask {
            if answer.decision == Decision::Defer {
                self.degraded.push("defer became a question".into());
            }
            if self.event.kind == EventKind::PreToolUse {
                let prompt = reason().unwrap_or_else(|| "A hook asks for approval".into());
                self.set(
                    "ask_user",
                    &[("approval_prompt", prompt.clone().into()), ("reason", prompt.into())],
                );
                self.lose_context("context beside a question");
                self.lose_rewrites("a rewrite beside a question");
            } else {
                // The agent asks anyway; the reason tells the person why a hook wants it.
                self.extra_messages.extend(reason().map(|text| (text, Level::Info)));
                self.set("continue", &[]);
            }
            return;
        }
        if answer.decision == Decision::Allow {
            if self.can.allow {
                // The kernel's result has no allow; hosts of this engine read this member.
                self.out.insert("decision".into(), "approve".into());
            } else {
                self.degraded.push("allow: the agent asks as it would without hooks".into());
            }
        }

        let contexts = values::model_texts(self.outcome);
        let other = self.replacement();
        if let Some(data) = self.modified_data() {
            self.set("modify", &[("data", data)]);
            self.lose_context("context beside a rewrite");
            if other.is_some() {
                self.degraded.push("replaced content beside a rewrite".into());
            }
        } else if !contexts.is_empty() && self.can.context {
            self.set("inject_context", &[("context_injection", contexts.join("\n\n").into())]);
            if other.is_some() {
                self.degraded.push("replaced content beside context".into());
            }
        } else if let Some(content) = other.filter(|_| gate(&self.event.kind).modify) {
            self.set("modify", &[("data", json!({ "modified_content": content }))]);
        } else {
            self.set("continue", &[]);
            self.lose_context("context: this event takes none");
            if self.replacement().is_some() {
                self.degraded.push("replaced content".into());
            }
        }
    }

    /// Why the action is denied: a deny, or something that the agent cannot carry and the policy does not let go.
    fn denial(&mut self) -> Option<String> {
        let answer = &self.outcome.answer;
        let reason = answer.reason.clone().filter(|reason| !reason.is_empty());
        if answer.decision == Decision::Deny {
            if answer.stop {
                self.degraded.push("stop".into());
            }
            if self.can.block {
                return Some(reason.unwrap_or_else(|| DEFAULT_REASON.into()));
            }
            self.degraded.push(format!("deny: {} cannot be blocked", self.event.kind));
            self.extra_messages.extend(reason.map(|text| (text, Level::Warning)));
            return None;
        }
        let guards = self.can.block && !stops(&self.event.kind);
        if answer.stop {
            // Holding the action back is the nearest thing to stopping the agent. A stop event already is one.
            if guards {
                self.degraded.push("stop became a deny".into());
                return Some(answer.stop_reason.clone().or(reason).unwrap_or_else(|| DEFAULT_REASON.into()));
            }
            if !stops(&self.event.kind) {
                self.degraded.push("stop".into());
                self.extra_messages.extend(answer.stop_reason.clone().map(|text| (text, Level::Warning)));
            }
        }
        if matches!(answer.decision, Decision::Ask | Decision::Defer) && !self.can.ask {
            let what = answer.decision.name();
            if guards && self.policy.deny_unsupported_ask {
                self.degraded.push(format!("{what} became a deny"));
                return Some(reason.unwrap_or_else(|| {
                    "A hook wants a person to decide, and nobody can be asked here".into()
                }));
            }
            self.degraded.push(what.into());
        }
        let asked = matches!(answer.decision, Decision::Ask | Decision::Defer);
        let input = answer.updated_input.as_ref()?;
        if self.can.rewrite_input && !asked {
            return None;
        }
        if guards && self.policy.deny_unsupported_rewrite {
            self.degraded.push("a rewritten input became a deny".into());
            return Some(format!(
                "A hook wants another input for this call; try again with exactly this one: {input}"
            ));
        }
        if !asked {
            self.degraded.push("a rewritten input".into());
        }
        None
    }

    /// The data of a modify: the kernel replaces the event data by it, so what a tool's result stands in is kept whole.
    fn modified_data(&mut self) -> Option<Value> {
        let answer = &self.outcome.answer;
        if let Some(output) = &answer.updated_output {
            if self.can.rewrite_output {
                let own = (self.event.dialect == ID).then(|| self.event.raw.value.as_object()).flatten();
                let mut data = own.cloned().unwrap_or_default();
                data.shift_remove("tool_result");
                data.insert("result".into(), output.clone());
                return Some(Value::Object(data));
            }
            self.degraded.push("a rewritten result".into());
        }
        let input = answer.updated_input.as_ref().filter(|_| self.can.rewrite_input)?;
        Some(json!({ "modified_content": input }))
    }

    fn replacement(&self) -> Option<Value> {
        self.outcome.answer.effects.iter().rev().find_map(|effect| match effect {
            Effect::ReplaceContent { content } => Some(content.clone()),
            _ => None,
        })
    }

    fn lose_context(&mut self, what: &str) {
        if !values::model_texts(self.outcome).is_empty() {
            self.degraded.push(what.to_owned());
        }
    }

    fn lose_rewrites(&mut self, what: &str) {
        let answer = &self.outcome.answer;
        if answer.updated_input.is_some() || answer.updated_output.is_some() || self.replacement().is_some() {
            self.degraded.push(what.to_owned());
        }
    }

    fn set(&mut self, action: &str, members: &[(&str, Value)]) {
        let mut all = Map::new();
        all.insert("action".into(), action.into());
        all.extend(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        all.append(&mut self.out);
        self.out = all;
    }
}

/// What the user reads: the outcome's messages, then the further ones.
fn messages(out: &mut Map<String, Value>, outcome: &Outcome, further: Vec<(String, Level)>) {
    let own = values::user_texts(outcome).into_iter().map(|(text, level)| (text.to_owned(), level));
    let all: Vec<(String, Level)> = own.chain(further).collect();
    let Some(level) = all.iter().map(|(_, level)| *level).max() else { return };
    let text: Vec<&str> = all.iter().map(|(text, _)| text.as_str()).collect();
    let level = match level {
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    out.insert("user_message".into(), text.join("\n").into());
    out.insert("user_message_level".into(), level.into());
    let source = outcome.decider().and_then(|run| run.hook.origin.source.as_deref());
    if let Some(source) = source {
        out.insert("user_message_source".into(), source.into());
    }
}

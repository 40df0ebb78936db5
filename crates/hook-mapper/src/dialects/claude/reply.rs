//! An outcome in Claude Code's words. JSON beside exit 0 is preferred to exit 2, which would show the hook's command line to the model.

use hook_core::{
    Answer, Audience, Decision, Effect, EngineFailure, Event, EventKind, Outcome, Reply, ReplyPolicy,
};
use serde_json::{Map, Value, json};

use super::answer::DEFAULT_REASON;
use super::profile;
use crate::effects;

pub(super) fn write_reply(
    event: Option<&Event>,
    result: Result<&Outcome, &EngineFailure>,
    policy: &ReplyPolicy,
) -> Reply {
    match (result, event) {
        (Ok(outcome), Some(event)) => carry(&event.kind, &outcome.answer, policy),
        // A payload that concerns no hook.
        (Ok(_), None) => Reply::default(),
        (Err(failure), event) => failed(event, failure, policy),
    }
}

fn failed(event: Option<&Event>, failure: &EngineFailure, policy: &ReplyPolicy) -> Reply {
    let deny = failure.deny || policy.fail_closed;
    match event.map(|event| &event.kind) {
        None if deny => {
            // Without an event only the exit code is understood.
            Reply { exit_code: 2, stderr: format!("{}\n", failure.message), ..Reply::default() }
        }
        Some(kind)
            if deny
                && profile::capabilities(kind).block
                && !matches!(kind, EventKind::Stop | EventKind::SubagentStop) =>
        {
            carry(kind, &Answer::deny(&failure.message), policy)
        }
        _ => {
            Reply { stdout: format!("{}\n", json!({ "systemMessage": failure.message })), ..Reply::default() }
        }
    }
}

/// Puts the document together, and lists what it cannot say.
struct Writer<'a> {
    kind: &'a EventKind,
    top: Map<String, Value>,
    own: Map<String, Value>,
    messages: Vec<String>,
    contexts: Vec<String>,
    feedback: Vec<String>,
    degraded: Vec<String>,
}

fn carry(kind: &EventKind, answer: &Answer, policy: &ReplyPolicy) -> Reply {
    let can = profile::capabilities(kind);
    let mut writer = Writer {
        kind,
        top: Map::new(),
        own: Map::new(),
        messages: Vec::new(),
        contexts: Vec::new(),
        feedback: Vec::new(),
        degraded: Vec::new(),
    };
    let (decision, reason) = writer.decide(answer, policy);
    if matches!(kind, EventKind::WorktreeCreate | EventKind::WorktreeRemove) {
        return writer.worktree(answer, decision, reason);
    }
    writer.decision(decision, reason.as_deref());
    writer.rewrites(answer, decision);
    writer.effects(answer);

    if answer.stop {
        if can.stop {
            writer.top.insert("continue".into(), false.into());
            if let Some(reason) = &answer.stop_reason {
                writer.top.insert("stopReason".into(), reason.as_str().into());
            }
        } else {
            writer.lose("a stop of the agent");
        }
    }
    writer.finish()
}

impl Writer<'_> {
    fn lose(&mut self, what: &str) {
        self.degraded.push(format!("{what} cannot be delivered on {}", self.kind));
    }

    /// The decision this event can carry. A deny stays a deny; what asks or rewrites in vain becomes one, by policy.
    fn decide(&mut self, answer: &Answer, policy: &ReplyPolicy) -> (Decision, Option<String>) {
        let can = profile::capabilities(self.kind);
        let reason = answer.reason.clone().filter(|reason| !reason.trim().is_empty());
        let rewrite = answer.updated_input.as_ref().or_else(|| replaced(answer));
        let applies = can.rewrite_input && rewrite.is_none_or(Value::is_object);
        if let (Some(rewrite), false) = (rewrite, applies || answer.decision == Decision::Deny) {
            if can.block && policy.deny_unsupported_rewrite && answer.decision < Decision::Deny {
                self.degraded.push(format!("a rewrite became a deny: {} takes none", self.kind));
                let reason = format!(
                    "a hook wants this instead: {}",
                    crate::values::text(Some(rewrite)).unwrap_or_default()
                );
                return (Decision::Deny, Some(reason));
            }
            self.lose("a rewrite");
        }
        match answer.decision {
            Decision::Defer if *self.kind == EventKind::PreToolUse => (Decision::Defer, reason),
            Decision::Ask | Decision::Defer if !can.ask => {
                if can.block && policy.deny_unsupported_ask {
                    self.degraded.push(format!("a question became a deny: {} cannot ask", self.kind));
                    return (
                        Decision::Deny,
                        reason.or_else(|| Some("a hook wants a human to decide".into())),
                    );
                }
                self.lose("a question");
                (Decision::None, reason)
            }
            Decision::Defer => (Decision::Ask, reason),
            decision => (decision, reason),
        }
    }

    fn decision(&mut self, decision: Decision, reason: Option<&str>) {
        let can = profile::capabilities(self.kind);
        let deny_reason = reason.unwrap_or(DEFAULT_REASON);
        match (decision, self.kind) {
            (Decision::None, _) => {}
            (Decision::Deny, EventKind::PermissionRequest) => {
                self.own.insert("decision".into(), json!({ "behavior": "deny", "message": deny_reason }));
            }
            (Decision::Allow, EventKind::PermissionRequest) => {
                self.own.insert("decision".into(), json!({ "behavior": "allow" }));
            }
            (decision, EventKind::PreToolUse | EventKind::PreModelSwitch) => {
                self.own.insert("permissionDecision".into(), decision.name().into());
                let text = if decision == Decision::Deny { Some(deny_reason) } else { reason };
                if let Some(text) = text {
                    self.own.insert("permissionDecisionReason".into(), text.into());
                }
            }
            (Decision::Deny, _) if can.block => self.block(deny_reason),
            (Decision::Deny, _) => {
                self.lose("a deny");
                self.feedback.push(deny_reason.to_owned());
            }
            // Silence lets the thing go on.
            _ => {}
        }
    }

    fn block(&mut self, reason: &str) {
        self.top.insert("decision".into(), "block".into());
        self.top.insert("reason".into(), reason.into());
    }

    fn rewrites(&mut self, answer: &Answer, decision: Decision) {
        let rewrite =
            answer.updated_input.as_ref().or_else(|| replaced(answer)).filter(|input| input.is_object());
        if let Some(input) = rewrite.filter(|_| profile::capabilities(self.kind).rewrite_input) {
            let allowed = self.own.get_mut("decision").and_then(Value::as_object_mut);
            match (self.kind, allowed) {
                (EventKind::PreToolUse, _) if matches!(decision, Decision::Deny | Decision::Defer) => {}
                (EventKind::PreToolUse, _) => {
                    self.own.insert("updatedInput".into(), input.clone());
                }
                (_, Some(own)) if decision == Decision::Allow => {
                    own.insert("updatedInput".into(), input.clone());
                }
                _ if decision == Decision::Deny => {}
                _ => self.lose("a rewrite without an allow"),
            }
        }
        if let Some(output) = &answer.updated_output {
            if *self.kind == EventKind::PostToolUse {
                self.own.insert("updatedToolOutput".into(), output.clone());
            } else {
                self.lose("another result");
            }
        }
    }

    fn effects(&mut self, answer: &Answer) {
        for effect in &answer.effects {
            match effect {
                Effect::Context { text } => self.contexts.push(text.clone()),
                Effect::Feedback { text, to: Audience::Model } => self.feedback.push(text.clone()),
                Effect::Feedback { to: Audience::Nobody, .. } => {}
                Effect::Feedback { text, .. } | Effect::Message { text, .. } => {
                    self.messages.push(text.clone())
                }
                Effect::TerminalSequence { text } => {
                    self.top.insert("terminalSequence".into(), text.as_str().into());
                }
                Effect::ReplaceContent { .. } => {}
                effect => match own_field(self.kind, effect) {
                    Some((name, value)) => {
                        self.own.insert(name.into(), value);
                    }
                    None => self.permission_field(effect),
                },
            }
        }
    }

    /// Fields inside the decision of a permission request.
    fn permission_field(&mut self, effect: &Effect) {
        let decision = self.own.get_mut("decision").and_then(Value::as_object_mut);
        match (effect, decision) {
            (Effect::Interrupt, Some(own)) => {
                own.insert("interrupt".into(), true.into());
            }
            (Effect::Permissions { updates }, Some(own)) => {
                own.insert("updatedPermissions".into(), updates.clone());
            }
            _ => self.lose(effects::label(effect)),
        }
    }

    fn worktree(mut self, answer: &Answer, decision: Decision, reason: Option<String>) -> Reply {
        if decision == Decision::Deny {
            let stderr = format!("{}\n", reason.as_deref().unwrap_or(DEFAULT_REASON));
            return Reply { exit_code: 1, stderr, degraded: self.degraded, ..Reply::default() };
        }
        let mut stdout = String::new();
        for effect in &answer.effects {
            match effect {
                Effect::WorktreePath { path } => stdout = format!("{path}\n"),
                other => self.lose(effects::label(other)),
            }
        }
        Reply { stdout, degraded: self.degraded, ..Reply::default() }
    }

    fn finish(mut self) -> Reply {
        let can = profile::capabilities(self.kind);
        if !self.feedback.is_empty() {
            let text = self.feedback.join("\n");
            let tells_model = matches!(self.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
            if tells_model && !self.top.contains_key("decision") {
                self.block(&text);
            } else if can.context {
                self.contexts.push(text);
            } else {
                self.messages.push(text);
            }
        }
        if !self.contexts.is_empty() {
            if can.context {
                self.own.insert("additionalContext".into(), self.contexts.join("\n").into());
            } else {
                self.lose("context");
            }
        }
        if !self.messages.is_empty() {
            if can.message {
                self.top.insert("systemMessage".into(), self.messages.join("\n").into());
            } else {
                self.lose("a message");
            }
        }
        if !self.own.is_empty() {
            let mut own = Map::new();
            own.insert("hookEventName".into(), self.kind.name().into());
            own.append(&mut self.own);
            self.top.insert("hookSpecificOutput".into(), own.into());
        }
        let stdout =
            if self.top.is_empty() { String::new() } else { format!("{}\n", Value::Object(self.top)) };
        Reply { stdout, degraded: self.degraded, ..Reply::default() }
    }
}

/// Other content, which an Amplifier hook may give in place of an input.
fn replaced(answer: &Answer) -> Option<&Value> {
    answer.effects.iter().find_map(|effect| match effect {
        Effect::ReplaceContent { content } => Some(content),
        _ => None,
    })
}

/// The field of an effect in the event's own output, where the event has it.
fn own_field(kind: &EventKind, effect: &Effect) -> Option<(&'static str, Value)> {
    use EventKind::{
        CwdChanged, Elicitation, ElicitationResult, FileChanged, MessageDisplay, PermissionDenied,
        PostToolUse, SessionStart, UserPromptExpansion, UserPromptSubmit,
    };
    match (kind, effect) {
        (SessionStart | UserPromptSubmit, Effect::SessionTitle { text }) => {
            Some(("sessionTitle", text.as_str().into()))
        }
        (SessionStart, Effect::InitialPrompt { text }) => Some(("initialUserMessage", text.as_str().into())),
        (SessionStart, Effect::ReloadSkills) => Some(("reloadSkills", true.into())),
        (SessionStart | CwdChanged | FileChanged, Effect::WatchPaths { paths }) => {
            Some(("watchPaths", paths.clone().into()))
        }
        (UserPromptSubmit | UserPromptExpansion, Effect::HidePrompt) => {
            Some(("suppressOriginalPrompt", true.into()))
        }
        (PermissionDenied, Effect::Retry) => Some(("retry", true.into())),
        (PostToolUse, Effect::ClassifierContext { text }) => {
            Some(("classifierContext", text.as_str().into()))
        }
        (MessageDisplay, Effect::DisplayContent { text }) => Some(("displayContent", text.as_str().into())),
        (Elicitation | ElicitationResult, Effect::Elicitation { action, .. }) => {
            Some(("action", action.as_str().into()))
        }
        _ => None,
    }
}

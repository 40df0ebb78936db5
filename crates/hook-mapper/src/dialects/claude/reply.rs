//! An outcome in Claude Code's words. JSON beside exit 0 is preferred to exit 2, which would show the hook's command line to the model.

use std::path::{Component, PathBuf};

use hook_core::{
    Answer, Audience, Capabilities, Decision, Effect, EngineFailure, Event, EventKind, Outcome, Reply,
    ReplyPolicy,
};
use serde_json::{Map, Value, json};

use super::answer::DEFAULT_REASON;
use super::{profile, terminal};
use crate::effects;

pub(super) fn write_reply(
    event: Option<&Event>,
    result: Result<&Outcome, &EngineFailure>,
    policy: &ReplyPolicy,
) -> Reply {
    match (result, event) {
        (Ok(outcome), Some(event)) => carry(event, &outcome.answer, policy),
        // A payload that concerns no hook.
        (Ok(_), None) => Reply::default(),
        (Err(failure), event) => failed(event, failure, policy),
    }
}

fn failed(event: Option<&Event>, failure: &EngineFailure, policy: &ReplyPolicy) -> Reply {
    let deny = failure.deny || policy.fail_closed;
    let stderr = format!("{}\n", failure.message);
    let mut reply = match event {
        // Without an event only the exit code is understood.
        None if deny => return Reply { exit_code: 2, stderr, ..Reply::default() },
        Some(event)
            if deny && profile::capabilities(event).block && !profile::block_prolongs(&event.kind) =>
        {
            return carry(event, &Answer::deny(&failure.message), policy);
        }
        // Standard output would be taken for the path.
        Some(event) if event.kind == EventKind::WorktreeCreate => {
            return Reply { exit_code: 1, stderr, ..Reply::default() };
        }
        _ => {
            Reply { stdout: format!("{}\n", json!({ "systemMessage": failure.message })), ..Reply::default() }
        }
    };
    if let Some(event) = event.filter(|event| !profile::capabilities(event).message) {
        reply.degraded.push(format!("{} shows no message, so nobody reads: {}", event.kind, failure.message));
    }
    reply
}

/// Puts the document together, and lists what it cannot say.
struct Writer<'a> {
    event: &'a Event,
    kind: &'a EventKind,
    can: Capabilities,
    top: Map<String, Value>,
    own: Map<String, Value>,
    messages: Vec<String>,
    contexts: Vec<String>,
    feedback: Vec<String>,
    elicitation: Option<(&'a str, Option<&'a Value>)>,
    degraded: Vec<String>,
}

fn carry(event: &Event, answer: &Answer, policy: &ReplyPolicy) -> Reply {
    let kind = &event.kind;
    let can = profile::capabilities(event);
    let mut writer = Writer {
        event,
        kind,
        can,
        top: Map::new(),
        own: Map::new(),
        messages: Vec::new(),
        contexts: Vec::new(),
        feedback: Vec::new(),
        elicitation: None,
        degraded: Vec::new(),
    };
    let (decision, reason) = writer.decide(answer, policy);
    if matches!(kind, EventKind::WorktreeCreate | EventKind::WorktreeRemove) {
        return writer.worktree(answer, decision, reason);
    }
    writer.decision(decision, reason.as_deref());
    writer.rewrites(answer, decision);
    writer.effects(answer, decision);

    if answer.stop {
        if *kind == EventKind::SessionStart {
            // Documented, and not what the client does.
            writer.degraded.push("the agent goes on after SessionStart, whatever a hook says".into());
        }
        if can.stop {
            writer.top.insert("continue".into(), false.into());
            if let Some(reason) = &answer.stop_reason {
                writer.top.insert("stopReason".into(), reason.as_str().into());
            }
        } else {
            writer.lose("a stop of the agent");
        }
    }
    writer.finish(decision)
}

impl<'a> Writer<'a> {
    fn lose(&mut self, what: &str) {
        self.degraded.push(format!("{what} cannot be delivered on {}", self.kind));
    }

    /// The decision this event can carry. A deny stays a deny; what asks or rewrites in vain becomes one, by policy.
    fn decide(&mut self, answer: &Answer, policy: &ReplyPolicy) -> (Decision, Option<String>) {
        let reason = answer.reason.clone().filter(|reason| !reason.trim().is_empty());
        // The client lets the call run and stops after it; its documentation says that a stop outranks every decision.
        if answer.stop && answer.decision != Decision::Deny && *self.kind == EventKind::PreToolUse {
            return (Decision::Deny, Some("A hook stopped the agent".into()));
        }
        let decision = match answer.decision {
            Decision::Ask if self.can.ask => Decision::Ask,
            Decision::Defer if *self.kind == EventKind::PreToolUse && !policy.interactive => Decision::Defer,
            Decision::Defer if self.can.ask => {
                // Where a person sits, a defer is ignored and the call would go its usual way.
                self.degraded.push(format!("a defer became a question: {} cannot defer here", self.kind));
                Decision::Ask
            }
            Decision::Ask | Decision::Defer if self.can.block && policy.deny_unsupported_ask => {
                self.degraded.push(format!("a question became a deny: {} cannot ask", self.kind));
                return (Decision::Deny, reason.or_else(|| Some("a hook wants a human to decide".into())));
            }
            Decision::Ask | Decision::Defer => {
                self.lose("a question");
                Decision::None
            }
            decision => decision,
        };
        match answer.updated_input.as_ref().or_else(|| replaced(answer)) {
            Some(rewrite) if decision != Decision::Deny && !self.applies(rewrite, decision) => {
                if self.can.block && policy.deny_unsupported_rewrite {
                    self.degraded.push(format!("a rewrite became a deny: {} cannot apply it", self.kind));
                    let wanted = crate::values::text(Some(rewrite)).unwrap_or_default();
                    return (Decision::Deny, Some(format!("a hook wants this instead: {wanted}")));
                }
                self.lose("a rewrite");
                (decision, reason)
            }
            _ => (decision, reason),
        }
    }

    /// True where the rewritten input is what will run. A deferred call comes again, and is rewritten then.
    fn applies(&self, rewrite: &Value, decision: Decision) -> bool {
        // A permission request takes another input with an allow only: the person would be asked about the old one.
        let taken = *self.kind != EventKind::PermissionRequest || decision == Decision::Allow;
        self.can.rewrite_input && taken && rewrite.is_object()
    }

    fn decision(&mut self, decision: Decision, reason: Option<&str>) {
        let can = self.can;
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
        let rewrite = answer.updated_input.as_ref().or_else(|| replaced(answer));
        if let Some(input) = rewrite.filter(|input| self.applies(input, decision)) {
            match (decision, self.own.get_mut("decision").and_then(Value::as_object_mut)) {
                (Decision::Deny, _) => {}
                (Decision::Defer, _) => self.lose("a rewrite beside a defer"),
                (_, Some(own)) => drop(own.insert("updatedInput".into(), input.clone())),
                (_, None) => drop(self.own.insert("updatedInput".into(), input.clone())),
            }
        }
        if let Some(output) = &answer.updated_output {
            if self.can.rewrite_output {
                self.own.insert("updatedToolOutput".into(), output.clone());
            } else {
                self.lose("another result");
            }
        }
    }

    fn effects(&mut self, answer: &'a Answer, decision: Decision) {
        for effect in &answer.effects {
            match effect {
                Effect::Context { text } => self.contexts.push(text.clone()),
                Effect::Feedback { text, to: Audience::Model } => self.feedback.push(text.clone()),
                Effect::Feedback { to: Audience::Nobody, .. } => {}
                Effect::Feedback { text, .. } | Effect::Message { text, .. } => {
                    self.messages.push(text.clone())
                }
                Effect::TerminalSequence { text }
                    if !profile::is_deaf(self.kind) && terminal::is_allowed(text) =>
                {
                    let known = self.top.get("terminalSequence").and_then(Value::as_str).unwrap_or_default();
                    let all = format!("{known}{text}");
                    self.top.insert("terminalSequence".into(), all.into());
                }
                Effect::ReplaceContent { .. } => {}
                Effect::Elicitation { action, content } if self.answers_servers() => {
                    // "A decline from any hook wins over another hook's accept."
                    if rank(action) >= self.elicitation.map_or(0, |(known, _)| rank(known)) {
                        self.elicitation = Some((action, content.as_ref()));
                    }
                }
                effect => match own_field(self.event, effect) {
                    Some((name, value)) => self.put(name, value),
                    None => self.permission_field(effect, decision),
                },
            }
        }
    }

    fn answers_servers(&self) -> bool {
        matches!(self.kind, EventKind::Elicitation | EventKind::ElicitationResult)
    }

    /// Sets a field of the event's own output: lists grow, notes are put below each other, of anything else the last counts.
    fn put(&mut self, name: &'static str, value: Value) {
        match (self.own.get_mut(name), value) {
            (Some(Value::Array(known)), Value::Array(more)) => {
                for item in more {
                    if !known.contains(&item) {
                        known.push(item);
                    }
                }
            }
            (Some(Value::String(known)), Value::String(more)) if name == "classifierContext" => {
                known.push('\n');
                known.push_str(&more);
                *known = profile::cut(known, profile::CLASSIFIER_CONTEXT);
            }
            (_, value) => drop(self.own.insert(name.into(), value)),
        }
    }

    /// Fields inside the decision of a permission request. An allow takes rules, a deny takes an interrupt; the other way
    /// round the document would not fit, and the decision be lost with it.
    fn permission_field(&mut self, effect: &Effect, decision: Decision) {
        let own = self.own.get_mut("decision").and_then(Value::as_object_mut);
        match (effect, decision, own) {
            (Effect::Interrupt, Decision::Deny, Some(own)) => {
                own.insert("interrupt".into(), true.into());
            }
            (Effect::Permissions { updates: Value::Array(more) }, Decision::Allow, Some(own)) => {
                let known = own.entry("updatedPermissions").or_insert_with(|| json!([]));
                if let Value::Array(known) = known {
                    known.extend(more.iter().cloned());
                }
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
                Effect::WorktreePath { path } if *self.kind == EventKind::WorktreeCreate => {
                    stdout = format!("{}\n", self.absolute(path))
                }
                other => self.lose(effects::label(other)),
            }
        }
        if answer.stop {
            self.lose("a stop of the agent");
        }
        if answer.updated_output.is_some() {
            self.lose("another result");
        }
        if stdout.is_empty() && *self.kind == EventKind::WorktreeCreate {
            self.degraded.push("no hook gave a path, so the worktree is not created".into());
        }
        Reply { stdout, degraded: self.degraded, ..Reply::default() }
    }

    /// A relative path means the directory that the hook ran in. Absolute paths with `.` or `..` are refused, so both go.
    fn absolute(&self, path: &str) -> String {
        let cwd = self.event.session.cwd.as_deref().filter(|cwd| cwd.is_absolute());
        let (Some(cwd), false) = (cwd, path.starts_with('/')) else { return path.to_owned() };
        let mut whole = PathBuf::new();
        for part in cwd.join(path).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::CurDir => {}
                part => whole.push(part),
            }
        }
        whole.to_string_lossy().into_owned()
    }

    fn finish(mut self, decision: Decision) -> Reply {
        let can = self.can;
        let declined = decision == Decision::Deny && self.answers_servers();
        if declined {
            // Older clients decline by this field alone.
            self.own.insert("action".into(), "decline".into());
        } else if let Some((action, content)) = self.elicitation {
            self.own.insert("action".into(), action.into());
            if let Some(content) = content.filter(|_| action == "accept") {
                self.own.insert("content".into(), content.clone());
            }
        }
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
            if profile::message_is_context(self.event) {
                self.top.insert("systemMessage".into(), self.contexts.join("\n").into());
            } else if can.context && decision != Decision::Defer {
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

/// Which answer to an MCP server beats which.
fn rank(action: &str) -> u8 {
    match action {
        "decline" => 2,
        "cancel" => 1,
        _ => 0,
    }
}

/// The field of an effect in the event's own output, where the event has it.
fn own_field(event: &Event, effect: &Effect) -> Option<(&'static str, Value)> {
    use EventKind::{
        CwdChanged, FileChanged, MessageDisplay, PermissionDenied, PostToolUse, SessionStart,
        UserPromptExpansion, UserPromptSubmit,
    };
    match (&event.kind, effect) {
        (SessionStart | UserPromptSubmit, Effect::SessionTitle { text }) if profile::takes_title(event) => {
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
            Some(("classifierContext", profile::cut(text, profile::CLASSIFIER_CONTEXT).into()))
        }
        (MessageDisplay, Effect::DisplayContent { text }) => Some(("displayContent", text.as_str().into())),
        _ => None,
    }
}

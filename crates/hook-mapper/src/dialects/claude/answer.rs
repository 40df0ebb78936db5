//! What a Claude Code hook says ("Exit code output", "JSON output", "Decision control").

use hook_core::{
    Answer, Audience, Decision, Effect, EventKind, Exit, FailureKind, HandlerFailure, HandlerOutput, HookCx,
    Level, Note, OnFailure, ProcessOutput, Reading, Status,
};
use serde_json::{Map, Value};

use super::document::{self, Stdout};
use super::profile::{self, Block};
use crate::{hints, values};

/// The text of a block without one.
pub(super) const DEFAULT_REASON: &str = "Blocked by hook";

pub(super) fn read_answer(cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
    match output {
        HandlerOutput::Process(process) => process_answer(cx, process),
        HandlerOutput::Answer(answer) => Reading::new(Status::Ok, answer.clone(), "the closure's answer"),
        HandlerOutput::Failure(failure) => failure_answer(cx, failure),
        _ => Reading::new(Status::Error, Answer::default(), "an output that this dialect cannot read"),
    }
}

fn process_answer(cx: &HookCx<'_>, process: &ProcessOutput) -> Reading {
    let kind = &cx.event.kind;
    // Text over the limit is cut somewhere; half a document is none.
    let stdout = match process.stdout.dropped {
        0 => document::take(&process.stdout.text, kind),
        _ => Stdout::Invalid("it is longer than is kept".into()),
    };
    let stderr = process.stderr.text.trim();
    let mut reading = match process.exit {
        _ if matches!(kind, EventKind::WorktreeCreate | EventKind::WorktreeRemove) => {
            worktree(cx, process, &stdout)
        }
        Exit::Code(2) => exit_2(cx, &stdout, stderr),
        Exit::Code(0) => exit_0(cx, &stdout),
        exit => other_exit(cx, exit, &stdout, stderr),
    };
    reading.stdout = Some(stdout.form());
    reading.notes.extend(process.notes.iter().cloned());
    match &stdout {
        Stdout::Invalid(why) => {
            reading.notes.push(Note::warning(format!("standard output is no JSON: {why}")))
        }
        Stdout::Misfit(why) => {
            reading.notes.push(Note::warning(format!("standard output does not fit: {why}")))
        }
        _ => {}
    }
    reading
}

fn exit_0(cx: &HookCx<'_>, stdout: &Stdout<'_>) -> Reading {
    let kind = &cx.event.kind;
    match stdout {
        Stdout::Empty => Reading::new(Status::Ok, Answer::default(), "exit 0 without output is no opinion"),
        Stdout::Text(text) if profile::text_is_context(kind) => {
            Reading::new(Status::Ok, Answer::context(*text), "plain text becomes context on this event")
        }
        Stdout::Text(_) => {
            let mut reading =
                Reading::new(Status::Ok, Answer::default(), "plain text reaches nobody on this event");
            reading.notes.push(Note::info("standard output is plain text, so it decides nothing"));
            reading
        }
        Stdout::Json(map) => Reading::new(Status::Ok, json_answer(cx, map), "the JSON document decides"),
        Stdout::Invalid(_) => {
            failed(cx, FailureKind::Parse, "standard output is no JSON", "invalid JSON is a hook error")
        }
        Stdout::Misfit(why) => failed(cx, FailureKind::Parse, why, "JSON that does not fit is a hook error"),
    }
}

fn exit_2(cx: &HookCx<'_>, stdout: &Stdout<'_>, stderr: &str) -> Reading {
    let kind = &cx.event.kind;
    let from_json = match stdout {
        Stdout::Json(map) => Some(json_answer(cx, map)),
        _ => None,
    };
    let json_reason =
        from_json.as_ref().filter(|a| a.decision == Decision::Deny).and_then(|a| a.reason.clone());
    let json_feedback = from_json.as_ref().and_then(|answer| {
        answer.effects.iter().find_map(|effect| match effect {
            Effect::Feedback { text, .. } => Some(text.clone()),
            _ => None,
        })
    });
    let text = json_reason.filter(|reason| reason != DEFAULT_REASON).or(json_feedback);
    let text =
        text.unwrap_or_else(|| if stderr.is_empty() { DEFAULT_REASON.to_owned() } else { stderr.to_owned() });

    // Context and messages beside the block are still delivered; a decision is not.
    let mut answer = Answer::default();
    if let Some(json) =
        from_json.filter(|_| !matches!(kind, EventKind::Elicitation | EventKind::ElicitationResult))
    {
        answer.stop = json.stop;
        answer.stop_reason = json.stop_reason;
        answer.effects = json.effects;
        answer.effects.retain(|effect| !matches!(effect, Effect::Feedback { .. }));
    }
    let mut reading = match block_of(cx) {
        Block::Holds(to) => {
            answer.decision = Decision::Deny;
            answer.reason = Some(text);
            answer.reason_to = to;
            if matches!(kind, EventKind::Elicitation | EventKind::ElicitationResult) {
                answer.effects.push(Effect::Elicitation { action: "decline".into(), content: None });
            }
            Reading::new(Status::Blocked, answer, "exit 2 blocks")
        }
        Block::Tells(to) => {
            if to != Audience::Nobody {
                answer.effects.push(Effect::Feedback { text, to });
            }
            Reading::new(Status::Blocked, answer, "exit 2 cannot block on this event; the text is passed on")
        }
        Block::Nothing => {
            answer.effects.clear();
            answer.reason_to = Audience::Nobody;
            let rule = "exit codes mean nothing on this event";
            let mut reading = Reading::new(Status::Ignored, answer, rule);
            reading.notes.push(Note::warning(format!("exit 2 does nothing on {kind}")));
            reading
        }
    };
    reading.notes.extend(hints::accidental_block(stderr));
    reading
}

/// What a block does on this event; policy changes cannot be held back ("ConfigChange decision control").
fn block_of(cx: &HookCx<'_>) -> Block {
    let policy =
        cx.event.kind == EventKind::ConfigChange && cx.event.variant.as_deref() == Some("policy_settings");
    if policy { Block::Tells(Audience::Nobody) } else { profile::block(&cx.event.kind) }
}

fn other_exit(cx: &HookCx<'_>, exit: Exit, stdout: &Stdout<'_>, stderr: &str) -> Reading {
    if let Stdout::Json(map) = stdout {
        let rule = "the JSON document decides beside any other exit code";
        return Reading::new(Status::Ok, json_answer(cx, map), rule);
    }
    let (kind, how) = match exit {
        Exit::Code(code) => (FailureKind::Exit, format!("exit {code}")),
        Exit::Signal(signal) => (FailureKind::Signal, format!("ended by signal {signal}")),
    };
    let first = stderr.lines().find(|line| !line.trim().is_empty());
    let what = first.map_or_else(|| how.clone(), |line| format!("{how}: {}", line.trim()));
    failed(cx, kind, &what, "any other exit code is a hook error and decides nothing")
}

fn failure_answer(cx: &HookCx<'_>, failure: &HandlerFailure) -> Reading {
    let kind = &cx.event.kind;
    let mut reading = if *kind == EventKind::WorktreeCreate
        || (*kind == EventKind::PreModelSwitch && failure.kind == FailureKind::Timeout)
    {
        let answer = Answer { reason_to: Audience::User, ..Answer::deny(&failure.message) };
        let mut reading = Reading::new(Status::Error, answer, "a failing hook blocks on this event");
        reading.failure = Some(failure.kind);
        reading
    } else {
        failed(cx, failure.kind, &failure.message, "a hook that did not answer decides nothing")
    };
    if failure.kind == FailureKind::Timeout {
        reading.status = Status::Timeout;
    }
    reading.notes.extend(failure.notes.iter().cloned());
    reading
}

/// A failed hook: nothing, or with `onFailure: "block"` like exit 2 (on permission requests a deny; on stop events nothing, since
/// the agent would never end).
fn failed(cx: &HookCx<'_>, failure: FailureKind, what: &str, rule: &str) -> Reading {
    let kind = &cx.event.kind;
    let exempt = matches!(
        kind,
        EventKind::Stop | EventKind::SubagentStop | EventKind::TaskCompleted | EventKind::TeammateIdle
    );
    let wanted = cx.hook.on_failure.for_kind(failure, OnFailure::Continue) == OnFailure::Block;
    let blocks = wanted && !exempt && !cx.hook.background;
    let mut reading = if blocks {
        let text = format!("a hook failed, and its onFailure is \"block\": {what}");
        let answer = match block_of(cx) {
            Block::Holds(reason_to) => Answer { reason_to, ..Answer::deny(text) },
            _ if *kind == EventKind::PermissionRequest => Answer::deny(text),
            Block::Tells(to) if to != Audience::Nobody => {
                Answer::default().with(Effect::Feedback { text, to })
            }
            _ => Answer::default(),
        };
        Reading::new(Status::Error, answer, "onFailure is \"block\"")
    } else {
        let message =
            Effect::Message { text: format!("a {kind} hook failed: {what}"), level: Level::Warning };
        Reading::new(Status::Error, Answer::default().with(message), rule)
    };
    reading.failure = Some(failure);
    reading
}

/// Hooks that print the path of a worktree: the last line that is not empty ("WorktreeCreate").
fn worktree(cx: &HookCx<'_>, process: &ProcessOutput, stdout: &Stdout<'_>) -> Reading {
    let kind = &cx.event.kind;
    let stderr = process.stderr.text.trim();
    let refuse = |text: &str| {
        let text = if text.is_empty() { DEFAULT_REASON } else { text };
        let answer = Answer { reason_to: Audience::User, ..Answer::deny(text) };
        Reading::new(Status::Blocked, answer, "any exit code but 0 fails the worktree")
    };
    if process.exit != Exit::Code(0) {
        return refuse(stderr);
    }
    if *kind == EventKind::WorktreeRemove {
        return Reading::new(Status::Ok, Answer::default(), "exit 0 lets the removal go on");
    }
    let named = match stdout {
        Stdout::Json(map) => {
            map.get("hookSpecificOutput").and_then(|own| own.get("worktreePath")).and_then(Value::as_str)
        }
        _ => process.stdout.text.lines().map(str::trim).rfind(|line| !line.is_empty()),
    };
    match named {
        Some(path) => {
            let effect = Effect::WorktreePath { path: path.to_owned() };
            Reading::new(Status::Ok, Answer::default().with(effect), "the last line is the path")
        }
        None => refuse("the hook printed no path"),
    }
}

/// The document's fields, as far as they count on this event.
fn json_answer(cx: &HookCx<'_>, map: &Map<String, Value>) -> Answer {
    let kind = &cx.event.kind;
    let takes = profile::takes(kind);
    let mut answer = Answer::default();
    let text = |name: &str| map.get(name).and_then(Value::as_str).map(String::from);

    if takes.stop && map.get("continue") == Some(&Value::Bool(false)) {
        answer.stop = true;
        answer.stop_reason = text("stopReason");
    }
    if let (true, Some(message)) = (takes.message, text("systemMessage")) {
        answer.effects.push(Effect::Message { text: message, level: Level::Info });
    }
    if let Some(sequence) = text("terminalSequence") {
        answer.effects.push(Effect::TerminalSequence { text: sequence });
    }
    match (map.get("decision").and_then(Value::as_str), block_of(cx)) {
        (Some("block"), Block::Holds(to)) => {
            answer.decision = Decision::Deny;
            answer.reason = Some(text("reason").unwrap_or_else(|| DEFAULT_REASON.to_owned()));
            answer.reason_to = to;
            if matches!(kind, EventKind::Elicitation | EventKind::ElicitationResult) {
                answer.effects.push(Effect::Elicitation { action: "decline".into(), content: None });
            }
        }
        (Some("block"), Block::Tells(to))
            if matches!(kind, EventKind::PostToolUse | EventKind::PostToolUseFailure) =>
        {
            let text = text("reason").unwrap_or_else(|| DEFAULT_REASON.to_owned());
            answer.effects.push(Effect::Feedback { text, to });
        }
        (Some("approve"), _) if *kind == EventKind::PreToolUse => {
            answer.decision = Decision::Allow;
            answer.reason = text("reason");
            answer.reason_to = Audience::User;
        }
        _ => {}
    }
    if let Some(Value::Object(own)) = map.get("hookSpecificOutput") {
        specific(kind, own, takes.context, &mut answer);
    }
    answer
}

fn specific(kind: &EventKind, own: &Map<String, Value>, context: bool, answer: &mut Answer) {
    let text = |name: &str| own.get(name).and_then(Value::as_str).map(String::from);
    let flag = |name: &str| own.get(name) == Some(&Value::Bool(true));
    let mut defers = false;
    match kind {
        EventKind::PreToolUse | EventKind::PreModelSwitch => {
            let (decision, to) = match own.get("permissionDecision").and_then(Value::as_str) {
                Some("allow") => (Decision::Allow, Audience::User),
                Some("deny") => (Decision::Deny, Audience::Model),
                Some("ask") => (Decision::Ask, Audience::User),
                Some("defer") => (Decision::Defer, Audience::Nobody),
                _ => (Decision::None, Audience::Model),
            };
            if decision > answer.decision {
                answer.decision = decision;
                answer.reason = text("permissionDecisionReason")
                    .or_else(|| (decision == Decision::Deny).then(|| DEFAULT_REASON.to_owned()));
                answer.reason_to = if *kind == EventKind::PreModelSwitch { Audience::User } else { to };
            }
            defers = answer.decision == Decision::Defer;
            if !defers && *kind == EventKind::PreToolUse {
                answer.updated_input = own.get("updatedInput").filter(|input| input.is_object()).cloned();
            }
        }
        EventKind::PermissionRequest => {
            if let Some(Value::Object(decision)) = own.get("decision") {
                permission(decision, answer);
            }
        }
        EventKind::PermissionDenied if flag("retry") => answer.effects.push(Effect::Retry),
        EventKind::PostToolUse => {
            let output = values::first(own, &["updatedToolOutput", "updatedMCPToolOutput"]);
            answer.updated_output = output.cloned();
            answer.effects.extend(text("classifierContext").map(|text| Effect::ClassifierContext { text }));
        }
        EventKind::MessageDisplay => {
            answer.effects.extend(text("displayContent").map(|text| Effect::DisplayContent { text }));
        }
        EventKind::Elicitation | EventKind::ElicitationResult => {
            if let Some(action) = text("action").filter(|_| answer.decision != Decision::Deny) {
                let content = own.get("content").filter(|_| action == "accept").cloned();
                if action == "decline" {
                    answer.decision = Decision::Deny;
                    answer.reason_to = Audience::Nobody;
                }
                answer.effects.push(Effect::Elicitation { action, content });
            }
        }
        _ => {}
    }
    let own_effects = [
        text("initialUserMessage").map(|text| Effect::InitialPrompt { text }),
        text("sessionTitle").map(|text| Effect::SessionTitle { text }),
        flag("suppressOriginalPrompt").then_some(Effect::HidePrompt),
        flag("reloadSkills").then_some(Effect::ReloadSkills),
        own.get("watchPaths").and_then(Value::as_array).map(|paths| Effect::WatchPaths {
            paths: paths.iter().filter_map(Value::as_str).map(String::from).collect(),
        }),
    ];
    answer.effects.extend(own_effects.into_iter().flatten());
    if context && !defers {
        answer.effects.extend(text("additionalContext").map(|text| Effect::Context { text }));
    }
}

/// "PermissionRequest decision control".
fn permission(decision: &Map<String, Value>, answer: &mut Answer) {
    let text = |name: &str| decision.get(name).and_then(Value::as_str).map(String::from);
    if text("behavior").as_deref() == Some("allow") {
        answer.decision = Decision::Allow;
        answer.updated_input = decision.get("updatedInput").filter(|input| input.is_object()).cloned();
        if let Some(updates) = values::first(decision, &["updatedPermissions"]) {
            answer.effects.push(Effect::Permissions { updates: updates.clone() });
        }
        return;
    }
    answer.decision = Decision::Deny;
    answer.reason = Some(text("message").unwrap_or_else(|| DEFAULT_REASON.to_owned()));
    answer.reason_to = Audience::Model;
    if decision.get("interrupt") == Some(&Value::Bool(true)) {
        answer.effects.push(Effect::Interrupt);
    }
}

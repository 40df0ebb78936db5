//! What an Amplifier hook said ("Shell hooks module for Amplifier, Output" and "Event-Specific Decision Control").

use std::time::Duration;

use hook_core::{
    Answer, Audience, Decision, Effect, EventKind, Exit, FailureKind, Handler, HandlerFailure, HandlerOutput,
    HookCx, Level, Note, OnFailure, ProcessOutput, Reading, Status, StdoutForm,
};
use serde_json::{Map, Value};

use super::input;
use super::profile::PROFILE;
use super::prompt;
use crate::{hints, values};

pub(super) const DEFAULT_REASON: &str = "Hook blocked operation";

/// The actions an event takes from a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gate {
    pub(super) deny: bool,
    pub(super) modify: bool,
    pub(super) inject: bool,
}

/// The table of decision control; an event that is not in it takes nothing.
pub(super) fn gate(kind: &EventKind) -> Gate {
    let (deny, modify, inject) = match kind {
        EventKind::PreToolUse | EventKind::UserPromptSubmit => (true, true, true),
        EventKind::Stop | EventKind::SubagentStop | EventKind::PermissionRequest => (true, false, false),
        EventKind::PostToolUse | EventKind::SessionStart | EventKind::PreCompact => (false, false, true),
        _ => (false, false, false),
    };
    Gate { deny, modify, inject }
}

pub(super) fn read_answer(cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
    let reading = match output {
        HandlerOutput::Process(process) => read_process(cx, process),
        HandlerOutput::Answer(answer) => {
            Reading::new(Status::Ok, answer.clone(), "the host's closure answered")
        }
        HandlerOutput::Model { reply } => prompt::read_reply(cx, reply),
        HandlerOutput::Failure(failure) => read_failure(cx, failure),
        // The module has no handlers but commands and prompts.
        _ => {
            let failure = HandlerFailure {
                kind: FailureKind::Parse,
                message: "the handler gave something that this dialect does not read".into(),
                notes: Vec::new(),
            };
            read_failure(cx, &failure)
        }
    };
    if cx.hook.may_block { reading } else { advice_only(reading) }
}

/// The module's setting `allow_blocking` is false: a deny goes on, and the user reads that it would have been one.
fn advice_only(mut reading: Reading) -> Reading {
    if reading.answer.decision != Decision::Deny {
        return reading;
    }
    let mut answer = std::mem::take(&mut reading.answer);
    let reason = answer.reason.take().unwrap_or_else(|| DEFAULT_REASON.into());
    let text = format!("{reason} (not blocked: the setting allow_blocking is false)");
    answer.effects.push(Effect::Message { text, level: Level::Warning });
    reading.answer = Answer { effects: answer.effects, ..Answer::default() };
    if reading.failure.is_none() {
        reading.status = Status::Ignored;
    }
    reading.rule.push_str("; allow_blocking is false, so it goes on");
    reading
}

fn read_process(cx: &HookCx<'_>, process: &ProcessOutput) -> Reading {
    let stdout = process.stdout.text.trim();
    let mut notes = process.notes.clone();
    let (document, form) = parse(stdout, process.stdout.dropped, &mut notes);
    let code = match process.exit {
        Exit::Code(code) => code,
        // As the module sees it: a process that a signal ended has a negative code.
        Exit::Signal(signal) => -signal,
    };
    let stderr = process.stderr.text.trim();
    let gate = gate(&cx.event.kind);
    let mut reading = if code == 2 {
        notes.extend(hints::accidental_block(stderr));
        blocked(cx, gate, document.as_ref(), stderr)
    } else {
        match &document {
            Some(document) => read_document(cx, gate, document, code),
            None if code == 0 => {
                Reading::new(Status::Ok, Answer::default(), "exit 0 without an answer goes on")
            }
            None => failed(cx, gate, exit_kind(process.exit), exit_message(stderr, code)),
        }
    };
    reading.stdout = Some(form);
    reading.notes.splice(0..0, notes);
    reading
}

/// The whole of standard output has to be one object; everything else is plain text, which nobody reads.
fn parse(stdout: &str, dropped: u64, notes: &mut Vec<Note>) -> (Option<Map<String, Value>>, StdoutForm) {
    if stdout.is_empty() {
        return (None, StdoutForm::Empty);
    }
    if dropped > 0 {
        notes.push(Note::warning("standard output is longer than what is kept and is not read as an answer"));
        return (None, StdoutForm::Text);
    }
    match serde_json::from_str(stdout) {
        Ok(Value::Object(document)) => (Some(document), StdoutForm::Json),
        Ok(_) => (None, StdoutForm::Text),
        Err(error) if stdout.starts_with('{') => {
            notes.push(Note::warning(format!(
                "standard output looks like an answer but is no JSON ({error}); it was taken for text"
            )));
            (None, StdoutForm::InvalidJson)
        }
        Err(_) => (None, StdoutForm::Text),
    }
}

/// Exit code 2.
fn blocked(cx: &HookCx<'_>, gate: Gate, document: Option<&Map<String, Value>>, stderr: &str) -> Reading {
    let reason = Some(stderr.to_owned()).filter(|text| !text.is_empty());
    let reason = reason
        .or_else(|| values::some_text(document?.get("reason")))
        .unwrap_or_else(|| DEFAULT_REASON.into());
    let message = document.and_then(|document| values::some_text(document.get("systemMessage")));
    if gate.deny {
        return Reading::new(Status::Blocked, with_message(deny(cx, reason), message), "exit 2 blocks");
    }
    let answer = warn_instead(reason, message);
    Reading::new(Status::Ignored, answer, format!("exit 2 cannot block {}", cx.event.kind))
}

/// The rows of the table from the top; a row whose action the event does not take is passed over.
fn read_document(cx: &HookCx<'_>, gate: Gate, document: &Map<String, Value>, code: i32) -> Reading {
    let message = values::some_text(document.get("systemMessage"));
    let reason = values::some_text(document.get("reason"));
    let mut passed_over = None;
    let mut lost = None;

    if document.get("decision").and_then(Value::as_str) == Some("block") {
        let reason = reason.clone().unwrap_or_else(|| DEFAULT_REASON.into());
        if gate.deny {
            return Reading::new(Status::Ok, with_message(deny(cx, reason), message), "decision block");
        }
        passed_over = Some(reason);
        lost = Some("decision block");
    }
    if passed_over.is_none() && document.get("continue") == Some(&Value::Bool(false)) {
        let stop = values::some_text(document.get("stopReason"));
        let reason = reason.or(stop).or_else(|| message.clone()).unwrap_or_else(|| DEFAULT_REASON.into());
        if gate.deny {
            return Reading::new(Status::Ok, with_message(deny(cx, reason), message), "continue false");
        }
        passed_over = Some(reason);
        lost = Some("continue false");
    }
    let with_texts = |answer: Answer| match passed_over.clone() {
        Some(reason) => {
            let warning = warn_instead(reason, message.clone());
            Answer { effects: [answer.effects, warning.effects].concat(), ..answer }
        }
        None => with_message(answer, message.clone()),
    };
    if let Some(text) = values::text(document.get("contextInjection")) {
        if gate.inject {
            return Reading::new(Status::Ok, with_texts(Answer::context(text)), "contextInjection");
        }
        lost = lost.or(Some("contextInjection"));
    }
    if let Some(content) = values::first(document, &["newContent"]) {
        if gate.modify {
            let answer = match (&cx.event.kind, content) {
                (EventKind::PreToolUse, Value::Object(_)) => Answer::rewrite(content.clone()),
                _ => Answer::default().with(Effect::ReplaceContent { content: content.clone() }),
            };
            return Reading::new(Status::Ok, with_texts(answer), "newContent");
        }
        lost = lost.or(Some("newContent"));
    }

    if let Some(lost) = lost {
        let rule = format!("{lost} does not count on {}", cx.event.kind);
        return Reading::new(Status::Ignored, with_texts(Answer::default()), rule);
    }
    // An object that decides nothing is an answer whatever the code; only an author who said that failures block is held
    // to the code.
    let kind = if code < 0 { FailureKind::Signal } else { FailureKind::Exit };
    if code != 0 && fail_mode(cx, kind) == OnFailure::Block {
        return failed(cx, gate, kind, message.unwrap_or_else(|| exit_message("", code)));
    }
    if cx.event.kind == EventKind::PermissionRequest
        && document.get("decision").and_then(Value::as_str) == Some("approve")
    {
        return Reading::new(Status::Ok, with_texts(Answer::allow()), "decision approve");
    }
    Reading::new(Status::Ok, with_texts(Answer::default()), "an answer without a decision goes on")
}

fn read_failure(cx: &HookCx<'_>, failure: &HandlerFailure) -> Reading {
    let message = match failure.kind {
        FailureKind::Timeout => format!("Hook timed out after {}", seconds(timeout(cx))),
        _ => failure.message.clone(),
    };
    let mut reading = match cx.hook.handler {
        Handler::Prompt(_) => prompt::failed(cx, failure.kind, message),
        _ => failed(cx, gate(&cx.event.kind), failure.kind, message),
    };
    reading.notes.splice(0..0, failure.notes.iter().cloned());
    reading
}

/// A failure goes on with a warning, unless the hook's author said that failures block. On stop events it never keeps an
/// agent going that a hook kept going before: a broken hook would hold the session for ever.
pub(super) fn failed(cx: &HookCx<'_>, gate: Gate, kind: FailureKind, message: String) -> Reading {
    let status = if kind == FailureKind::Timeout { Status::Timeout } else { Status::Error };
    let stops = matches!(cx.event.kind, EventKind::Stop | EventKind::SubagentStop);
    let looping = stops && input::stop_active(cx);
    let mut reading = match fail_mode(cx, kind) {
        OnFailure::Block if gate.deny && !looping => {
            Reading::new(status, deny(cx, message), "onFailure block")
        }
        _ => {
            let warning = Effect::Message { text: message, level: Level::Warning };
            Reading::new(status, Answer::default().with(warning), "a failed hook goes on with a warning")
        }
    };
    reading.failure = Some(kind);
    reading
}

fn fail_mode(cx: &HookCx<'_>, kind: FailureKind) -> OnFailure {
    cx.hook.on_failure.for_kind(kind, PROFILE.on_failure)
}

pub(super) fn deny(cx: &HookCx<'_>, reason: String) -> Answer {
    // A refused prompt never reaches the model, so its reason is the user's.
    let prompt = cx.event.kind == EventKind::UserPromptSubmit;
    let reason_to = if prompt { Audience::User } else { Audience::Model };
    Answer { decision: Decision::Deny, reason: Some(reason), reason_to, ..Answer::default() }
}

fn with_message(answer: Answer, message: Option<String>) -> Answer {
    match message {
        Some(text) => answer.with(Effect::Message { text, level: Level::Info }),
        None => answer,
    }
}

/// A deny that the event does not take: the user reads its reason, unless the hook had a message for the user.
pub(super) fn warn_instead(reason: String, message: Option<String>) -> Answer {
    match message {
        Some(_) => with_message(Answer::default(), message),
        None => Answer::default().with(Effect::Message { text: reason, level: Level::Warning }),
    }
}

fn exit_kind(exit: Exit) -> FailureKind {
    match exit {
        Exit::Code(_) => FailureKind::Exit,
        Exit::Signal(_) => FailureKind::Signal,
    }
}

fn exit_message(stderr: &str, code: i32) -> String {
    if stderr.is_empty() { format!("Hook exited with code {code}") } else { stderr.to_owned() }
}

/// The budget the hook had, as the module counts it.
fn timeout(cx: &HookCx<'_>) -> Duration {
    let default = (PROFILE.default_timeout)(&cx.event.kind, cx.hook.handler.kind());
    let own = cx.hook.limits.timeout.unwrap_or(default);
    cx.hook.limits.ceiling.or(PROFILE.max_timeout).map_or(own, |ceiling| own.min(ceiling))
}

fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}

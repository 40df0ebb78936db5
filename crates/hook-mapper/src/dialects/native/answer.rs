//! What a native hook said.

use hook_core::{
    Answer, Audience, Decision, Effect, EventKind, Exit, FailureKind, HandlerFailure, HandlerOutput, HookCx,
    Level, Note, OnFailure, ProcessOutput, Reading, Status, StdoutForm,
};
use serde_json::Value;

use super::document::{self, Said};
use super::profile::{self, PROFILE};
use crate::hints;

pub(super) const DEFAULT_REASON: &str = "A hook blocked this";

pub(super) fn read_answer(cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
    match output {
        HandlerOutput::Process(process) => read_process(cx, process),
        HandlerOutput::Answer(answer) => {
            settle(cx, Reading::new(Status::Ok, answer.clone(), "the host's closure answered"))
        }
        HandlerOutput::Failure(HandlerFailure { kind, message, notes }) => {
            let mut reading = failed(cx, *kind, message.clone());
            reading.notes.splice(0..0, notes.iter().cloned());
            reading
        }
        _ => failed(
            cx,
            FailureKind::Parse,
            "the handler gave something that this dialect does not read".into(),
        ),
    }
}

fn read_process(cx: &HookCx<'_>, process: &ProcessOutput) -> Reading {
    let stdout = process.stdout.text.trim();
    let stderr = process.stderr.text.trim();
    let mut notes = process.notes.clone();
    let (said, form, broken) = parse(cx, stdout, process.stdout.dropped);
    let blocks = process.exit == Exit::Code(2);
    let denies = said.as_ref().is_some_and(|said| said.answer.decision == Decision::Deny);

    let reading = if blocks {
        notes.extend(hints::accidental_block(stderr));
        notes.extend(broken.map(|(_, why)| Note::warning(why)));
        let mut answer = said.map(|said| said.answer).unwrap_or_default();
        answer.decision = Decision::Deny;
        let stderr = Some(stderr.to_owned()).filter(|text| !text.is_empty());
        answer.reason = answer.reason.or(stderr).or_else(|| Some(DEFAULT_REASON.to_owned()));
        answer.reason_to = deny_reader(&cx.event.kind);
        answer.updated_input = None;
        settle(cx, Reading::new(Status::Blocked, answer, "exit 2 blocks"))
    } else if let (true, Some(said)) = (denies, said.as_ref()) {
        // A deny that was said counts, however the process ended afterwards.
        let mut answer = said.answer.clone();
        answer.reason.get_or_insert_with(|| DEFAULT_REASON.to_owned());
        answer.reason_to = deny_reader(&cx.event.kind);
        notes.extend(said.unreadable.iter().map(|what| Note::warning(what.as_str())));
        settle(cx, Reading::new(Status::Ok, answer, "decision deny"))
    } else if process.exit != Exit::Code(0) {
        let (kind, how) = match process.exit {
            Exit::Code(code) => (FailureKind::Exit, format!("the hook exited with code {code}")),
            Exit::Signal(signal) => (FailureKind::Signal, format!("signal {signal} ended the hook")),
        };
        failed(cx, kind, if stderr.is_empty() { how } else { format!("{how}: {stderr}") })
    } else if let Some((kind, why)) = broken {
        failed(cx, kind, why)
    } else {
        match said {
            Some(said) if !said.unreadable.is_empty() => failed(
                cx,
                FailureKind::Parse,
                format!("the answer cannot be read: {}", said.unreadable.join("; ")),
            ),
            Some(said) => settle(cx, Reading::new(Status::Ok, said.answer, "the answer document")),
            None if stdout.is_empty() => {
                Reading::new(Status::Ok, Answer::default(), "exit 0 without a word goes on")
            }
            None => text(cx, stdout),
        }
    };
    let form = if reading.failure == Some(FailureKind::Parse) && form == StdoutForm::Json {
        StdoutForm::SchemaError
    } else {
        form
    };
    let mut reading = Reading { stdout: Some(form), ..reading };
    reading.notes.splice(0..0, notes);
    reading
}

type Broken = Option<(FailureKind, String)>;

/// Standard output that begins with a brace was meant as an answer, so it fails where it cannot be read as one.
fn parse(cx: &HookCx<'_>, stdout: &str, dropped: u64) -> (Option<Said>, StdoutForm, Broken) {
    let braces = stdout.starts_with('{');
    if stdout.is_empty() {
        return (None, StdoutForm::Empty, None);
    }
    if dropped > 0 {
        let why = "standard output is longer than what is kept, so its answer cannot be read";
        let broken = braces.then(|| (FailureKind::Oversize, why.to_owned()));
        return (None, StdoutForm::Text, broken);
    }
    match serde_json::from_str(stdout) {
        Ok(Value::Object(found)) => (Some(document::read(&cx.event.kind, &found)), StdoutForm::Json, None),
        Ok(_) => (None, StdoutForm::Text, None),
        Err(error) if braces => {
            let why = format!("standard output looks like an answer but is no JSON: {error}");
            (None, StdoutForm::InvalidJson, Some((FailureKind::Parse, why)))
        }
        Err(_) => (None, StdoutForm::Text, None),
    }
}

fn text(cx: &HookCx<'_>, stdout: &str) -> Reading {
    if matches!(cx.event.kind, EventKind::SessionStart | EventKind::UserPromptSubmit) {
        return Reading::new(Status::Ok, Answer::context(stdout), "plain text is context");
    }
    let mut reading = Reading::new(Status::Ok, Answer::default(), "plain text is not an answer");
    reading.notes.push(Note::info(format!(
        "plain text on standard output reaches nobody on {}; print {{\"context\": …}} or {{\"message\": …}} instead",
        cx.event.kind
    )));
    reading
}

/// What a decision is worth on this event: where nothing can be held back, a deny becomes word to the model.
fn settle(cx: &HookCx<'_>, mut reading: Reading) -> Reading {
    let kind = &cx.event.kind;
    if reading.answer.decision == Decision::None || profile::blocks(kind) {
        return reading;
    }
    let answer = &mut reading.answer;
    let decision = std::mem::take(&mut answer.decision);
    let reason = answer.reason.take();
    if decision == Decision::Deny {
        let text = reason.unwrap_or_else(|| DEFAULT_REASON.to_owned());
        answer.effects.insert(0, Effect::Feedback { text, to: Audience::Model });
        reading.rule = format!("{}; {kind} cannot be blocked, so the reason is feedback", reading.rule);
    } else {
        reading.notes.push(Note::warning(format!("{} decides nothing on {kind}", decision.name())));
    }
    reading
}

/// A failed hook. On stop events it never keeps an agent going that a hook kept going before.
fn failed(cx: &HookCx<'_>, kind: FailureKind, message: String) -> Reading {
    let status = if kind == FailureKind::Timeout { Status::Timeout } else { Status::Error };
    let stops = matches!(cx.event.kind, EventKind::Stop | EventKind::SubagentStop);
    let looping = stops && cx.session.state.stop_active;
    let mode = cx.hook.on_failure.for_kind(kind, PROFILE.on_failure);
    let mut reading = if mode == OnFailure::Block && profile::blocks(&cx.event.kind) && !looping {
        let reason_to = deny_reader(&cx.event.kind);
        let answer = Answer { reason_to, ..Answer::deny(message.clone()) };
        Reading::new(status, answer, "onFailure block")
    } else {
        let text = format!("{}: {message}", cx.hook.label());
        let warning = Effect::Message { text, level: Level::Warning };
        Reading::new(status, Answer::default().with(warning), "onFailure continue")
    };
    reading.failure = Some(kind);
    reading.notes.push(Note::warning(message));
    reading
}

/// A refused prompt never reaches the model, so its reason is the user's.
fn deny_reader(kind: &EventKind) -> Audience {
    match kind {
        EventKind::UserPromptSubmit | EventKind::UserPromptExpansion => Audience::User,
        _ => Audience::Model,
    }
}

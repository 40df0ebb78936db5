//! What a native hook said.

use hook_core::{
    Answer, Audience, Decision, Effect, EventKind, Exit, FailureKind, Handler, HandlerFailure, HandlerOutput,
    HookCx, Level, Note, OnFailure, ProcessOutput, Reading, Status, StdoutForm, Stream,
};
use serde_json::Value;

use super::document::{self, Said};
use super::profile::{self, PROFILE};
use crate::dialects::asked;
use crate::{hints, verdict};

pub(super) const DEFAULT_REASON: &str = "A hook blocked this";

pub(super) fn read_answer(cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
    match output {
        HandlerOutput::Process(process) => read_process(cx, process),
        HandlerOutput::Http { status, body, notes } => {
            let mut reading = read_http(cx, *status, body);
            reading.notes.splice(0..0, notes.iter().cloned());
            reading
        }
        HandlerOutput::Mcp { text, structured, is_error, notes } => {
            let mut reading = read_mcp(cx, text, structured.as_ref(), *is_error);
            reading.notes.splice(0..0, notes.iter().cloned());
            reading
        }
        HandlerOutput::Model { reply } => read_model(cx, reply),
        HandlerOutput::Answer(answer) => {
            if let Handler::Deny { .. } = cx.hook.handler {
                let answer = Answer { reason_to: deny_reader(&cx.event.kind), ..answer.clone() };
                return settle(cx, Reading::new(Status::Blocked, answer, "the deny handler refuses"));
            }
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
    let (said, form, broken) = parse(cx, stdout, process.stdout.dropped, "standard output");
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
    } else if let (true, Some(said)) = (denies, &said) {
        denied(cx, said)
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
            Some(said) => answered(cx, said),
            None if stdout.is_empty() => {
                Reading::new(Status::Ok, Answer::default(), "exit 0 without a word goes on")
            }
            None => text(cx, stdout, "standard output"),
        }
    };
    let mut reading = finished(reading, form);
    reading.notes.splice(0..0, notes);
    reading
}

/// A deny that was said counts, however the run ended afterwards.
fn denied(cx: &HookCx<'_>, said: &Said) -> Reading {
    let mut answer = said.answer.clone();
    answer.reason.get_or_insert_with(|| DEFAULT_REASON.to_owned());
    answer.reason_to = deny_reader(&cx.event.kind);
    let mut reading = settle(cx, Reading::new(Status::Ok, answer, "decision deny"));
    reading.notes.splice(0..0, said.unreadable.iter().map(|what| Note::warning(what.as_str())));
    reading
}

/// An answer document of a run that succeeded.
fn answered(cx: &HookCx<'_>, said: Said) -> Reading {
    if said.unreadable.is_empty() {
        return settle(cx, Reading::new(Status::Ok, said.answer, "the answer document"));
    }
    let why = format!("the answer cannot be read: {}", said.unreadable.join("; "));
    failed(cx, FailureKind::Parse, why)
}

fn finished(reading: Reading, form: StdoutForm) -> Reading {
    let misfit = reading.failure == Some(FailureKind::Parse) && form == StdoutForm::Json;
    Reading { stdout: Some(if misfit { StdoutForm::SchemaError } else { form }), ..reading }
}

/// A policy server: 2xx with an answer document or nothing, as a process that exits with 0. A deny counts under any status.
fn read_http(cx: &HookCx<'_>, status: u16, body: &Stream) -> Reading {
    let text = body.text.trim();
    let (said, form, broken) = parse(cx, text, body.dropped, "the body");
    let good = (200..300).contains(&status);
    let denies = said.as_ref().is_some_and(|said| said.answer.decision == Decision::Deny);
    let reading = match (said, broken) {
        (Some(said), _) if denies => denied(cx, &said),
        _ if !good => failed(cx, FailureKind::Exit, format!("the server answered with status {status}")),
        (_, Some((kind, why))) => failed(cx, kind, why),
        (Some(said), None) => answered(cx, said),
        (None, None) if text.is_empty() => {
            Reading::new(Status::Ok, Answer::default(), "2xx without a body goes on")
        }
        (None, None) => {
            let why = "the server answered with something that is no JSON object";
            failed(cx, FailureKind::Parse, why.to_owned())
        }
    };
    finished(reading, form)
}

/// A tool's result counts as the output of a process that exits with 0, with `isError` as one that fails. A deny counts either
/// way. Structured content without a text is the answer itself.
fn read_mcp(cx: &HookCx<'_>, said: &Stream, structured: Option<&Value>, is_error: bool) -> Reading {
    let whole = structured.filter(|_| said.text.trim().is_empty()).map(Value::to_string);
    let given = whole.as_deref().unwrap_or_else(|| said.text.trim());
    let (document, form, broken) = parse(cx, given, said.dropped, "the tool's text");
    let denies = document.as_ref().is_some_and(|said| said.answer.decision == Decision::Deny);
    let reading = match (document, broken) {
        (Some(document), _) if denies => denied(cx, &document),
        _ if is_error => {
            let line = given.lines().next().unwrap_or("without a word");
            let line: String = line.chars().take(200).collect();
            failed(cx, FailureKind::Exit, format!("the tool failed: {line}"))
        }
        (_, Some((kind, why))) => failed(cx, kind, why),
        (Some(document), None) => answered(cx, document),
        (None, None) if given.is_empty() => {
            Reading::new(Status::Ok, Answer::default(), "a result without text goes on")
        }
        (None, None) => text(cx, given, "the tool's text"),
    };
    finished(reading, form)
}

/// A model's verdict: ok is no opinion; not ok does what it does under Claude Code, and elsewhere denies.
fn read_model(cx: &HookCx<'_>, reply: &str) -> Reading {
    let judgement = match verdict::strict(reply) {
        Ok(judgement) => judgement,
        Err(why) => return failed(cx, FailureKind::Parse, format!("the model gave no verdict: {why}")),
    };
    if judgement.ok {
        return Reading::new(Status::Ok, Answer::default(), "the verdict is ok, which is no opinion");
    }
    let answer =
        asked::refused(cx.event, &cx.hook.handler, &judgement, DEFAULT_REASON).unwrap_or_else(|| {
            let reason = Some(judgement.reason).filter(|reason| !reason.trim().is_empty());
            Answer::deny(reason.unwrap_or_else(|| DEFAULT_REASON.to_owned()))
        });
    settle(cx, Reading::new(Status::Ok, answer, "the verdict is not ok"))
}

type Broken = Option<(FailureKind, String)>;

/// Standard output that begins with a brace was meant as an answer, so it fails where it cannot be read as one.
fn parse(cx: &HookCx<'_>, stdout: &str, dropped: u64, name: &str) -> (Option<Said>, StdoutForm, Broken) {
    let braces = stdout.starts_with('{');
    if stdout.is_empty() {
        return (None, StdoutForm::Empty, None);
    }
    if dropped > 0 {
        let why = format!("{name} is longer than what is kept, so its answer cannot be read");
        let broken = braces.then_some((FailureKind::Oversize, why));
        return (None, StdoutForm::Text, broken);
    }
    match serde_json::from_str(stdout) {
        Ok(Value::Object(found)) => (Some(document::read(&cx.event.kind, &found)), StdoutForm::Json, None),
        Ok(_) => (None, StdoutForm::Text, None),
        Err(error) if braces => {
            let why = format!("{name} looks like an answer but is no JSON: {error}");
            (None, StdoutForm::InvalidJson, Some((FailureKind::Parse, why)))
        }
        Err(_) => (None, StdoutForm::Text, None),
    }
}

fn text(cx: &HookCx<'_>, said: &str, name: &str) -> Reading {
    if matches!(cx.event.kind, EventKind::SessionStart | EventKind::UserPromptSubmit) {
        return Reading::new(Status::Ok, Answer::context(said), "plain text is context");
    }
    let mut reading = Reading::new(Status::Ok, Answer::default(), "plain text is not an answer");
    reading.notes.push(Note::info(format!(
        "{name} is plain text, which reaches nobody on {}; say {{\"context\": …}} or {{\"message\": …}} instead",
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

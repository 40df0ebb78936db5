//! What an AIMON hook said ("Hook Configuration Guide, Exit codes", "http", "mcp", "deny").
//!
//! A hook that has no objection has no opinion: it never allows what others would ask about.

use hook_core::{
    Answer, Decision, Effect, EventKind, Exit, FailureKind, Handler, HandlerFailure, HandlerOutput, HookCx,
    Level, Note, OnFailure, ProcessOutput, Reading, Status, StdoutForm, Stream,
};

use serde_json::{Map, Value};

use super::document::{self, From, Said};
use super::profile::{PROFILE, own_event, refuses};
use super::text::cut;
use crate::dialects::asked;
use crate::{hints, verdict};

/// The reason of a refusal that gives none.
pub(super) const DEFAULT_REASON: &str = "A hook refused this and gave no reason";

/// Reasons are cut after so many UTF-16 units.
const LONGEST_REASON: usize = 4000;

/// Exit codes of a shell whose command could not be started.
const NOT_STARTED: [i32; 2] = [126, 127];

pub(super) fn read_answer(cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
    match output {
        HandlerOutput::Process(process) => read_process(cx, process),
        HandlerOutput::Http { status, body, notes } => noted(read_http(cx, *status, body), notes),
        HandlerOutput::Mcp { text, structured, is_error, notes } => {
            noted(read_mcp(cx, text, structured.as_ref(), *is_error), notes)
        }
        HandlerOutput::Model { reply } => read_model(cx, reply),
        HandlerOutput::Answer(answer) => {
            settle(cx, Reading::new(Status::Ok, answer.clone(), "it refuses without running anything"))
        }
        HandlerOutput::Failure(HandlerFailure { kind, message, notes }) => {
            noted(failed(cx, *kind, message.clone()), notes)
        }
        _ => failed(
            cx,
            FailureKind::Parse,
            "the handler gave something that this dialect does not read".into(),
        ),
    }
}

fn read_process(cx: &HookCx<'_>, process: &ProcessOutput) -> Reading {
    let stderr = process.stderr.text.trim();
    let mut notes = process.notes.clone();
    let reading = match process.exit {
        Exit::Code(0) => {
            Reading::new(Status::Ok, Answer::default(), "exit 0 goes on; standard output is not read")
        }
        Exit::Code(2) => {
            notes.extend(hints::accidental_block(stderr));
            let reason =
                if stderr.is_empty() { DEFAULT_REASON.to_owned() } else { cut(stderr, LONGEST_REASON) };
            settle(cx, Reading::new(Status::Blocked, Answer::deny(reason), "exit 2 refuses"))
        }
        Exit::Code(code) => {
            let how = format!("the hook exited with code {code}");
            let kind = if NOT_STARTED.contains(&code) { FailureKind::Spawn } else { FailureKind::Exit };
            failed(cx, kind, if stderr.is_empty() { how } else { format!("{how}: {stderr}") })
        }
        Exit::Signal(signal) => failed(cx, FailureKind::Signal, format!("signal {signal} ended the hook")),
    };
    let stdout = process.stdout.text.trim();
    let form = if stdout.is_empty() { StdoutForm::Empty } else { StdoutForm::Text };
    let mut reading = Reading { stdout: Some(form), ..reading };
    reading.notes.splice(0..0, notes);
    reading
}

/// The same with what was noticed before.
fn noted(mut reading: Reading, notes: &[Note]) -> Reading {
    reading.notes.splice(0..0, notes.iter().cloned());
    reading
}

/// A webhook's answer: a document counts under a status of 200 to 299 only.
fn read_http(cx: &HookCx<'_>, status: u16, body: &Stream) -> Reading {
    const NO_REASON: &str = "the server refused and gave no reason";
    if !(200..300).contains(&status) {
        return failed(cx, FailureKind::Exit, format!("the server answered with status {status}"));
    }
    if body.dropped > 0 {
        let why = "the server's answer is longer than what is kept, so it cannot be read";
        return failed(cx, FailureKind::Oversize, why.to_owned());
    }
    let text = body.text.trim();
    if text.is_empty() {
        let reading = Reading::new(Status::Ok, Answer::default(), "an answer without a body goes on");
        return Reading { stdout: Some(StdoutForm::Empty), ..reading };
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(document)) => said(cx, &document, From::Http, NO_REASON),
        Ok(_) if cx.hook.strict => failed(cx, FailureKind::Parse, "the server's answer is no object".into()),
        Ok(_) => {
            let reading = Reading::new(Status::Ok, Answer::default(), "an answer that is no object goes on");
            Reading { stdout: Some(StdoutForm::Text), ..reading }
        }
        Err(error) => failed(cx, FailureKind::Parse, format!("the server's answer is no JSON: {error}")),
    }
}

/// A policy server's answer: plain text is a side effect and nothing else.
fn read_mcp(cx: &HookCx<'_>, text: &Stream, structured: Option<&Value>, is_error: bool) -> Reading {
    let kept = text.text.trim();
    if is_error {
        let line: String = kept.lines().next().unwrap_or("without a word").chars().take(200).collect();
        return failed(cx, FailureKind::Exit, format!("the tool failed: {line}"));
    }
    let looks_like_one = kept.starts_with('{');
    if text.dropped > 0 && looks_like_one {
        let why = "the tool's answer is longer than what is kept, so it cannot be read";
        return failed(cx, FailureKind::Oversize, why.to_owned());
    }
    // Servers that give structured content are asked to give it as text, too; not all of them do.
    let document = match serde_json::from_str(kept) {
        Ok(Value::Object(document)) => Some(document),
        _ if kept.is_empty() => structured.and_then(Value::as_object).cloned(),
        _ => None,
    };
    match document {
        Some(document) => {
            let fallback = match &cx.hook.handler {
                Handler::Mcp(call) => format!("{} of the server {} refused", call.tool, call.server),
                _ => DEFAULT_REASON.to_owned(),
            };
            said(cx, &document, From::Mcp, &fallback)
        }
        // As of a server's: a guard that got words and no document has no decision. Nothing at all is an allow in both modes.
        None if cx.hook.strict && refuses(&cx.event.kind) && !kept.is_empty() => {
            failed(cx, FailureKind::Parse, "the tool's answer is no document".to_owned())
        }
        None => {
            let form = if kept.is_empty() { StdoutForm::Empty } else { StdoutForm::Text };
            let rule = "a result that is no document goes on";
            Reading { stdout: Some(form), ..Reading::new(Status::Ok, Answer::default(), rule) }
        }
    }
}

/// A document, by the guide or by the strict mode.
fn said(cx: &HookCx<'_>, document: &Map<String, Value>, from: From, fallback: &str) -> Reading {
    let said = match cx.hook.strict {
        true => document::read_strict(document, from),
        false => Ok(document::read(document, from)),
    };
    match said {
        Ok(said) => answered(cx, said, fallback),
        Err(why) => failed(cx, FailureKind::Parse, why),
    }
}

/// An answer document, on the two events whose hooks can give one.
fn answered(cx: &HookCx<'_>, said: Said, fallback: &str) -> Reading {
    let Said { mut answer, notes } = said;
    if answer.decision == Decision::Deny {
        answer.reason.get_or_insert_with(|| fallback.to_owned());
        let mut reading = settle(cx, Reading::new(Status::Ok, answer, "decision deny"));
        reading.stdout = Some(StdoutForm::Json);
        reading.notes.extend(notes);
        return reading;
    }
    let mut reading = Reading::new(Status::Ok, answer, "the answer document");
    if cx.event.kind != EventKind::PreToolUse && reading.answer.updated_input.take().is_some() {
        reading.notes.push(Note::warning("the tool ran already, so its input cannot be replaced"));
    }
    reading.stdout = Some(StdoutForm::Json);
    reading.notes.extend(notes);
    reading
}

/// The files of this agent have no prompt hooks; one that a host made by hand refuses where its verdict is not ok.
fn read_model(cx: &HookCx<'_>, reply: &str) -> Reading {
    match verdict::strict(reply) {
        Ok(judgement) if judgement.ok => {
            Reading::new(Status::Ok, Answer::default(), "the verdict is ok, which is no opinion")
        }
        Ok(judgement) => {
            let answer = asked::refused(cx.event, &cx.hook.handler, &judgement, DEFAULT_REASON);
            settle(cx, Reading::new(Status::Ok, answer.unwrap_or_default(), "the verdict is not ok"))
        }
        Err(why) => failed(cx, FailureKind::Parse, format!("the model gave no verdict: {why}")),
    }
}

/// A refusal counts where somebody consumes it; elsewhere it is a warning and nothing else, and what stands beside it goes, too.
fn settle(cx: &HookCx<'_>, mut reading: Reading) -> Reading {
    let kind = &cx.event.kind;
    if reading.answer.decision == Decision::None || refuses(kind) {
        return reading;
    }
    let event = own_event(cx.hook, kind);
    let reason = reading.answer.reason.take().unwrap_or_default();
    let text = format!("a refusal has no effect on {event}: {reason}");
    reading.rule = format!("{}; nobody consumes it on {event}", reading.rule);
    reading.status = Status::Ignored;
    reading.answer = Answer::default();
    reading.notes.push(Note::warning(text));
    reading
}

/// A hook that failed goes on with a warning: a broken script must not become a silent gatekeeper. In strict mode a guard that
/// could not decide refuses, and its reason tells nothing of how it is made.
fn failed(cx: &HookCx<'_>, kind: FailureKind, message: String) -> Reading {
    let status = if kind == FailureKind::Timeout { Status::Timeout } else { Status::Error };
    let mode = cx.hook.on_failure.for_kind(kind, PROFILE.on_failure);
    let mut reading = if mode == OnFailure::Block && refuses(&cx.event.kind) {
        let reason = if cx.hook.strict {
            format!("A hook that guards {} could not decide", own_event(cx.hook, &cx.event.kind))
        } else {
            message.clone()
        };
        Reading::new(status, Answer::deny(reason), "onFailure block")
    } else {
        let text = format!("{}: {message}", cx.hook.label());
        let warning = Effect::Message { text, level: Level::Warning };
        Reading::new(status, Answer::default().with(warning), "a failed hook goes on with a warning")
    };
    reading.failure = Some(kind);
    reading.notes.push(Note::warning(message));
    reading
}

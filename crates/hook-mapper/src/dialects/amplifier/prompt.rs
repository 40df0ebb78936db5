//! Prompt hooks: the question and the answer ("Shell hooks module for Amplifier, Prompt-based hooks").

use std::io;

use hook_core::{Answer, Decision, Effect, FailureKind, HookCx, Level, ModelError, Note, Reading, Status};
use serde_json::ser::Formatter;
use serde_json::{Map, Serializer, Value};

use super::answer::{self, gate};
use super::input;
use super::profile::ID;
use crate::values;
use crate::verdict::{self, Basis};

const PLACEHOLDER: &str = "$ARGUMENTS";

/// Characters of a tool's result that the model gets to see.
const RESULT_LENGTH: usize = 500;

/// The reason of a deny that came without one.
const DEFAULT_REASON: &str = "Prompt hook returned ok=false";

/// The template with the event in place of every `$ARGUMENTS`; without one it is sent as it is.
pub(super) fn expand(cx: &HookCx<'_>, template: &str) -> String {
    if !template.contains(PLACEHOLDER) {
        return template.to_owned();
    }
    template.replace(PLACEHOLDER, &arguments(&data(cx)))
}

/// The event data; of another agent's event what a command hook would read.
fn data(cx: &HookCx<'_>) -> Map<String, Value> {
    let event = cx.event;
    let own = event.raw.value.as_object().filter(|_| event.dialect == ID);
    let mut data = match own {
        Some(data) => data.clone(),
        None => serde_json::from_str(&input::write_event(cx)).unwrap_or_default(),
    };
    if let (true, Some(tool)) = (event.rewritten, &event.tool) {
        for key in ["input", "tool_input"] {
            if let Some(input) = data.get_mut(key) {
                *input = tool.input.clone();
            }
        }
    }
    data
}

/// One line per thing that is known; where nothing is, all of the data.
fn arguments(data: &Map<String, Value>) -> String {
    // A value that is null counts where its other name has none either.
    let of =
        |keys: [&str; 2]| values::first(data, &keys).or_else(|| keys.iter().find_map(|key| data.get(*key)));
    let text = |keys: &[&str]| values::text(values::first(data, keys));
    let lines = [
        text(&["prompt"]).map(|prompt| format!("User prompt: {prompt}")),
        text(&["name", "tool_name"]).map(|name| format!("Tool: {name}")),
        of(["input", "tool_input"]).map(|input| format!("Input: {input:#}")),
        of(["result", "tool_result"]).map(|result| format!("Result: {}", cut(format!("{result:#}")))),
        text(&["trigger"]).map(|trigger| format!("Trigger: {trigger}")),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    if lines.is_empty() { one_line(data) } else { lines.join("\n") }
}

fn cut(mut json: String) -> String {
    if let Some((at, _)) = json.char_indices().nth(RESULT_LENGTH) {
        json.truncate(at);
        json.push_str("...");
    }
    json
}

/// JSON with a blank after every comma and colon, as the module prints it.
fn one_line(data: &Map<String, Value>) -> String {
    let mut out = Vec::new();
    // Writing plain values into memory cannot fail.
    let _ = serde::Serialize::serialize(data, &mut Serializer::with_formatter(&mut out, Spaced));
    String::from_utf8_lossy(&out).into_owned()
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// A model's answer: a yes goes on and tells the user why, a no is a deny where the event takes one.
pub(super) fn read_reply(cx: &HookCx<'_>, reply: &str) -> Reading {
    if reply.trim().is_empty() {
        return failed(cx, FailureKind::Parse, ModelError::Empty.to_string());
    }
    let judgement = verdict::lenient(reply);
    let reason = Some(judgement.reason).filter(|reason| !reason.trim().is_empty());
    let mut reading = if judgement.ok {
        let message = reason.map(|text| Effect::Message { text, level: Level::Info });
        let answer = Answer { effects: message.into_iter().collect(), ..Answer::default() };
        Reading::new(Status::Ok, answer, "the model says yes")
    } else {
        let reason = reason.unwrap_or_else(|| DEFAULT_REASON.to_owned());
        if gate(&cx.event.kind).deny {
            Reading::new(Status::Ok, answer::deny(cx, reason), "the model says no")
        } else {
            let rule = format!("a no of the model does not count on {}", cx.event.kind);
            Reading::new(Status::Ignored, answer::warn_instead(reason, None), rule)
        }
    };
    match judgement.basis {
        Basis::Object => {}
        Basis::Words => reading.notes.push(Note::info(
            "the model's answer holds no JSON object, so its words were counted; ask for {\"ok\": …, \"reason\": …}",
        )),
        Basis::Nothing => reading.notes.push(Note::warning(
            "the model's answer says neither yes nor no, which goes on; ask for {\"ok\": …, \"reason\": …}",
        )),
    }
    reading
}

/// Without an answer the operation goes on, and the log says why, not the user.
pub(super) fn failed(cx: &HookCx<'_>, kind: FailureKind, message: String) -> Reading {
    let strict = answer::failed(cx, gate(&cx.event.kind), kind, message.clone());
    if strict.answer.decision == Decision::Deny {
        return strict;
    }
    let status = if kind == FailureKind::Timeout { Status::Timeout } else { Status::Error };
    let mut reading = Reading::new(status, Answer::default(), "a prompt hook without an answer goes on");
    reading.failure = Some(kind);
    reading.notes.push(Note::warning(message));
    reading
}

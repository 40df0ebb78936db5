//! What a Claude Code hook says ("Exit code output", "JSON output", "Decision control").

use hook_core::{
    Answer, Audience, Decision, Effect, Event, EventKind, Exit, FailureKind, Handler, HandlerFailure,
    HandlerOutput, HookCx, Level, Note, OnFailure, ProcessOutput, Reading, Status, StdoutForm, Stream,
};
use serde_json::{Map, Value};

use super::document::{self, Stdout};
use super::profile::{self, Block, PROFILE};
use super::{remarks, terminal};
use crate::dialects::asked;
use crate::{hints, values, verdict};

/// The text of a block without one.
pub(super) const DEFAULT_REASON: &str = "Blocked by hook";

pub(super) fn read_answer(cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
    match output {
        HandlerOutput::Process(process) => process_answer(cx, process),
        HandlerOutput::Answer(answer) => Reading::new(Status::Ok, answer.clone(), "the closure's answer"),
        HandlerOutput::Http { status, body, notes } => {
            let mut reading = http_answer(cx, *status, body);
            reading.notes.splice(0..0, notes.iter().cloned());
            reading
        }
        HandlerOutput::Mcp { text, structured, is_error, notes } => {
            let mut reading = mcp_answer(cx, text, structured.is_some(), *is_error);
            reading.notes.splice(0..0, notes.iter().cloned());
            reading
        }
        HandlerOutput::Model { reply } => model_answer(cx, reply),
        HandlerOutput::Failure(failure) => failure_answer(cx, failure),
        _ => Reading::new(Status::Error, Answer::default(), "an output that this dialect cannot read"),
    }
}

fn process_answer(cx: &HookCx<'_>, process: &ProcessOutput) -> Reading {
    let kind = &cx.event.kind;
    let whole = process.stdout.dropped == 0;
    if let Some(rest) = document::after_async(&process.stdout.text) {
        return background(cx, document::take(rest, whole, kind), process);
    }
    let stdout = document::take(&process.stdout.text, whole, kind);
    let stderr = process.stderr.text.trim();
    let mut reading = match process.exit {
        _ if matches!(kind, EventKind::WorktreeCreate | EventKind::WorktreeRemove) => {
            worktree(cx, process, &stdout)
        }
        Exit::Code(2) => exit_2(cx, &stdout, stderr),
        Exit::Code(0) => document_answer(cx, &stdout, stderr, STDOUT),
        exit => other_exit(cx, exit, &stdout, stderr),
    };
    reading.stdout = Some(stdout.form());
    reading.notes.extend(process.notes.iter().cloned());
    reading.notes.extend(remarks_on(cx, &stdout, STDOUT));
    reading
}

const STDOUT: &str = "standard output";
const BODY: &str = "the body";
const TOOL_TEXT: &str = "the tool's text";

/// What the hook's author should know of what the hook said.
fn remarks_on(cx: &HookCx<'_>, text: &Stdout<'_>, name: &str) -> Vec<Note> {
    let warning = match text {
        Stdout::Json(map) => return remarks::on(cx.event, map),
        Stdout::Invalid(why) => format!("{name} is no JSON: {why}"),
        Stdout::Cut => format!("{name} is longer than is kept, and half a document is none"),
        Stdout::Text(text) if document::hides_document(text) => {
            "text before the JSON document makes all of it plain text; print nothing but the document"
                .to_owned()
        }
        Stdout::Misfit(why) => format!("{name} does not fit: {why}"),
        _ => return Vec::new(),
    };
    vec![Note::warning(warning)]
}

/// A hook that sent itself into the background: what it decides comes too late, what it tells the model does not.
fn background(cx: &HookCx<'_>, stdout: Stdout<'_>, process: &ProcessOutput) -> Reading {
    let mut answer = Answer::default();
    if let Stdout::Json(map) = &stdout {
        let said = json_answer(cx, map);
        answer.effects.extend(said.effects.into_iter().filter_map(|effect| match effect {
            Effect::Context { text } | Effect::Message { text, .. } => Some(Effect::Context { text }),
            _ => None,
        }));
    }
    let mut reading =
        Reading::new(Status::Ok, answer, "a first line {\"async\": true} leaves the decision to others");
    reading.stdout = Some(StdoutForm::Json);
    reading.notes.extend(process.notes.iter().cloned());
    if process.exit != Exit::Code(0) {
        reading
            .notes
            .push(Note::warning("the hook went into the background, so its exit code decides nothing"));
    }
    reading
}

/// What a hook said that succeeded; `name` is where it said it.
fn document_answer(cx: &HookCx<'_>, stdout: &Stdout<'_>, stderr: &str, name: &str) -> Reading {
    let kind = &cx.event.kind;
    match stdout {
        Stdout::Empty => Reading::new(Status::Ok, Answer::default(), "exit 0 without output is no opinion"),
        Stdout::Text(text) if profile::text_is_context(kind) => {
            Reading::new(Status::Ok, Answer::context(*text), "plain text becomes context on this event")
        }
        Stdout::Text(_) => {
            let mut reading =
                Reading::new(Status::Ok, Answer::default(), "plain text reaches nobody on this event");
            reading.notes.push(Note::info(format!("{name} is plain text, so it decides nothing")));
            reading
        }
        Stdout::Json(map) => Reading::new(Status::Ok, json_answer(cx, map), "the JSON document decides"),
        Stdout::Invalid(_) => {
            let what = format!("{name} is no JSON");
            failed(cx, FailureKind::Parse, &what, stderr, "invalid JSON is a hook error")
        }
        Stdout::Cut => {
            let what = format!("{name} is longer than is kept");
            failed(cx, FailureKind::Oversize, &what, stderr, "half a JSON document is a hook error")
        }
        Stdout::Misfit(why) => {
            failed(cx, FailureKind::Parse, why, stderr, "JSON that does not fit is a hook error")
        }
    }
}

/// Exit 2 of a hook that runs in the background and wakes the model, on any event: it says why on standard error, else on standard
/// output ("Claude Code hooks reference, Run hooks in the background").
fn wake(stdout: &Stdout<'_>, stderr: &str, json: Answer) -> Reading {
    let said = match stdout {
        Stdout::Text(text) => Some((*text).to_owned()),
        Stdout::Json(map) => Some(Value::Object(map.clone()).to_string()),
        _ => None,
    };
    let text =
        if stderr.is_empty() { said.unwrap_or_else(|| DEFAULT_REASON.to_owned()) } else { stderr.to_owned() };
    let mut answer = Answer { effects: json.effects, ..Answer::default() };
    answer.effects.retain(|effect| !matches!(effect, Effect::Feedback { .. } | Effect::Elicitation { .. }));
    answer.effects.push(Effect::Feedback { text, to: Audience::Model });
    Reading::new(Status::Blocked, answer, "exit 2 wakes the model")
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
    if cx.hook.wakes_model() {
        return wake(stdout, stderr, from_json.unwrap_or_default());
    }

    let block = profile::block_on(cx.event);
    if block == Block::Nothing {
        return exit_2_is_void(kind, from_json.unwrap_or_default());
    }
    // Everything beside the block still counts; a decision does not, nor does the answer to an MCP server.
    let mut answer = Answer::default();
    if let Some(json) = from_json {
        answer.stop = json.stop;
        answer.stop_reason = json.stop_reason;
        answer.updated_output = json.updated_output;
        answer.effects = json.effects;
        answer
            .effects
            .retain(|effect| !matches!(effect, Effect::Feedback { .. } | Effect::Elicitation { .. }));
    }
    let mut reading = match block {
        Block::Holds(to) => {
            answer.decision = Decision::Deny;
            answer.reason = Some(text);
            answer.reason_to = to;
            if matches!(kind, EventKind::Elicitation | EventKind::ElicitationResult) {
                answer.effects.push(Effect::Elicitation { action: "decline".into(), content: None });
            }
            Reading::new(Status::Blocked, answer, "exit 2 blocks")
        }
        Block::Tells(_) | Block::Nothing => {
            if let Block::Tells(to @ (Audience::Model | Audience::User)) = block {
                answer.effects.push(Effect::Feedback { text, to });
            }
            Reading::new(Status::Blocked, answer, "exit 2 cannot block on this event; the text is passed on")
        }
    };
    reading.notes.extend(hints::accidental_block(stderr));
    reading
}

/// Exit 2 where exit codes mean nothing: a document still counts, but whoever exits with 2 does not allow.
fn exit_2_is_void(kind: &EventKind, mut answer: Answer) -> Reading {
    if answer.decision != Decision::Deny {
        answer = Answer {
            stop: answer.stop,
            stop_reason: answer.stop_reason,
            effects: answer.effects,
            ..Answer::default()
        };
        answer.reason_to = Audience::Nobody;
        answer
            .effects
            .retain(|effect| !matches!(effect, Effect::Permissions { .. } | Effect::DisplayContent { .. }));
    }
    let silent = answer.decision == Decision::None && !answer.stop && answer.effects.is_empty();
    let (status, rule) = if silent {
        (Status::Ignored, "exit codes mean nothing on this event")
    } else {
        (Status::Ok, "exit codes mean nothing on this event; the JSON document decides")
    };
    let mut reading = Reading::new(status, answer, rule);
    reading.notes.push(Note::warning(format!("exit 2 does nothing on {kind}")));
    reading
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
    failed(cx, kind, &how, stderr, "any other exit code is a hook error and decides nothing")
}

/// "HTTP response handling": a status decides nothing by itself, and a body is a JSON object or empty.
fn http_answer(cx: &HookCx<'_>, status: u16, body: &Stream) -> Reading {
    let kind = &cx.event.kind;
    let said = document::take(&body.text, body.dropped == 0, kind);
    let good = (200..300).contains(&status);
    let mut reading = match (&said, kind) {
        _ if !good => {
            let what = format!("the server answered with status {status}");
            let mut reading =
                call_failed(cx, FailureKind::Exit, &what, "a status other than 2xx is a hook error");
            let line = body.text.trim().lines().next().unwrap_or_default();
            if !line.is_empty() {
                let line: String = line.chars().take(200).collect();
                reading.notes.push(Note::info(format!("the server said: {line}")));
            }
            reading
        }
        // What it says on this event is thrown away.
        (_, EventKind::WorktreeRemove) => {
            Reading::new(Status::Ok, Answer::default(), "a status of 2xx lets the removal go on")
        }
        (Stdout::Text(_), _) => {
            let what = "the server answered with something that is no JSON object";
            call_failed(cx, FailureKind::Parse, what, "a body that is no JSON object is a hook error")
        }
        (Stdout::Json(map), EventKind::WorktreeCreate) => match worktree_path(map) {
            Some(path) => worktree_named(path.to_owned(), "the body names the path")
                .unwrap_or_else(|why| blocked_by_failure(FailureKind::Parse, &why)),
            None => blocked_by_failure(FailureKind::Parse, "the server named no worktreePath"),
        },
        (_, EventKind::WorktreeCreate) => {
            blocked_by_failure(FailureKind::Parse, "the server named no worktreePath")
        }
        (Stdout::Empty, _) => Reading::new(Status::Ok, Answer::default(), "2xx without a body is no opinion"),
        _ => document_answer(cx, &said, "", BODY),
    };
    reading.stdout = Some(said.form());
    if good {
        reading.notes.extend(remarks_on(cx, &said, BODY));
    }
    reading
}

/// A tool's text counts as standard output does ("MCP tool hook fields").
fn mcp_answer(cx: &HookCx<'_>, text: &Stream, structured: bool, is_error: bool) -> Reading {
    let kind = &cx.event.kind;
    let said = document::take(&text.text, text.dropped == 0, kind);
    let mut reading = match kind {
        _ if is_error => {
            let line = text.text.trim().lines().next().unwrap_or("without a word");
            let line: String = line.chars().take(200).collect();
            let what = format!("the tool failed: {line}");
            call_failed(cx, FailureKind::Exit, &what, "a result with isError is a hook error")
        }
        EventKind::WorktreeCreate | EventKind::WorktreeRemove => {
            worktree(cx, &ProcessOutput::new(Exit::Code(0), text.text.as_str(), ""), &said)
        }
        _ if matches!(said, Stdout::Empty) => {
            Reading::new(Status::Ok, Answer::default(), "a result without text is no opinion")
        }
        _ => document_answer(cx, &said, "", TOOL_TEXT),
    };
    reading.stdout = Some(said.form());
    if !is_error {
        reading.notes.extend(remarks_on(cx, &said, TOOL_TEXT));
    }
    if structured && matches!(said, Stdout::Empty) {
        reading.notes.push(Note::warning(
            "the tool gave structured content only, which is not read; let it give the same as text",
        ));
    }
    reading
}

/// A failed call; a worktree that was not made cannot be entered.
fn call_failed(cx: &HookCx<'_>, failure: FailureKind, what: &str, rule: &str) -> Reading {
    if cx.event.kind == EventKind::WorktreeCreate {
        return blocked_by_failure(failure, what);
    }
    failed(cx, failure, what, "", rule)
}

/// "Prompt-based hooks" and "Agent-based hooks".
fn model_answer(cx: &HookCx<'_>, reply: &str) -> Reading {
    let judgement = match verdict::strict(reply) {
        Ok(judgement) => judgement,
        Err(why) => {
            let what = "the model's reply is no verdict";
            let mut reading =
                failed(cx, FailureKind::Parse, what, "", "a reply that is no verdict is a hook error");
            reading.notes.push(Note::warning(why));
            return reading;
        }
    };
    if judgement.ok {
        return Reading::new(Status::Ok, Answer::default(), "the verdict is ok, which is no opinion");
    }
    match asked::refused(cx.event, &cx.hook.handler, &judgement, DEFAULT_REASON) {
        Some(answer) => Reading::new(Status::Ok, answer, "the verdict is not ok"),
        None => {
            let rule = format!("a verdict changes nothing on {}", cx.event.kind);
            Reading::new(Status::Ignored, Answer::default(), rule)
        }
    }
}

fn failure_answer(cx: &HookCx<'_>, failure: &HandlerFailure) -> Reading {
    let kind = &cx.event.kind;
    let mut reading = if *kind == EventKind::WorktreeCreate
        || (*kind == EventKind::PreModelSwitch && failure.kind == FailureKind::Timeout)
    {
        blocked_by_failure(failure.kind, &failure.message)
    } else {
        failed(cx, failure.kind, &failure.message, "", "a hook that did not answer decides nothing")
    };
    if failure.kind == FailureKind::Timeout {
        reading.status = Status::Timeout;
    }
    reading.notes.extend(failure.notes.iter().cloned());
    reading
}

fn blocked_by_failure(failure: FailureKind, what: &str) -> Reading {
    let answer = Answer { reason_to: Audience::User, ..Answer::deny(what) };
    let mut reading = Reading::new(Status::Error, answer, "a failing hook blocks on this event");
    reading.failure = Some(failure);
    reading
}

/// A failed hook: nothing but word to the user with the first line of its error, or with `onFailure: "block"` like exit 2 with
/// the whole of it (on permission requests a deny; where a block prolongs work nothing, since it would never end).
fn failed(cx: &HookCx<'_>, failure: FailureKind, what: &str, stderr: &str, rule: &str) -> Reading {
    let kind = &cx.event.kind;
    let wanted = cx.hook.on_failure.for_kind(failure, PROFILE.on_failure) == OnFailure::Block;
    // `onFailure` is a member of command and http handlers only.
    let asked = matches!(cx.hook.handler, Handler::Prompt(_) | Handler::Agent(_));
    let blocks = wanted && !asked && !profile::block_prolongs(kind) && !cx.hook.background;
    let with = |text: &str| if text.is_empty() { what.to_owned() } else { format!("{what}: {text}") };
    let mut reading = if blocks {
        let text = format!("a hook failed, and its onFailure is \"block\": {}", with(stderr));
        let answer = match profile::block_on(cx.event) {
            Block::Holds(reason_to) => Answer { reason_to, ..Answer::deny(text) },
            _ if *kind == EventKind::PermissionRequest => Answer::deny(text),
            Block::Tells(to) if to != Audience::Nobody => {
                Answer::default().with(Effect::Feedback { text, to })
            }
            _ => Answer::default(),
        };
        Reading::new(Status::Error, answer, "onFailure is \"block\"")
    } else {
        let first = stderr.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let text = format!("a {kind} hook failed: {}", with(first));
        let message = Effect::Message { text, level: Level::Warning };
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
        Stdout::Json(map) => worktree_path(map).map(str::to_owned),
        Stdout::Misfit(_) => None,
        _ => {
            let lines = process.stdout.text.lines().map(terminal::plain);
            lines.map(|line| line.trim().to_owned()).rfind(|line| !line.is_empty())
        }
    };
    match named {
        Some(path) => worktree_named(path, "the last line is the path").unwrap_or_else(|why| refuse(&why)),
        None => refuse("the hook printed no path"),
    }
}

fn worktree_path(document: &Map<String, Value>) -> Option<&str> {
    document.get("hookSpecificOutput")?.get("worktreePath")?.as_str().filter(|path| !path.trim().is_empty())
}

/// The worktree at this path, or why the agent would refuse it.
fn worktree_named(path: String, rule: &str) -> Result<Reading, String> {
    if path.starts_with('/') && path.split('/').any(|part| matches!(part, "." | "..")) {
        return Err(format!("the path {path} has a `.` or `..` in it; print where it leads"));
    }
    Ok(Reading::new(Status::Ok, Answer::default().with(Effect::WorktreePath { path }), rule))
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
    // "slash_command": the model reads it with the next turn; on the other source nobody does.
    if let (true, Some(text)) = (profile::message_is_context(cx.event), text("systemMessage")) {
        answer.effects.push(Effect::Context { text });
    }
    let sequence = text("terminalSequence").filter(|text| !text.is_empty() && terminal::is_allowed(text));
    if let (false, Some(text)) = (profile::is_deaf(kind), sequence) {
        answer.effects.push(Effect::TerminalSequence { text });
    }
    match (map.get("decision").and_then(Value::as_str), profile::block_on(cx.event)) {
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
        specific(cx.event, own, takes.context, &mut answer);
    }
    answer
}

fn specific(event: &Event, own: &Map<String, Value>, context: bool, answer: &mut Answer) {
    let kind = &event.kind;
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
            let fields: &[&str] = match profile::is_mcp(event) {
                true => &["updatedToolOutput", "updatedMCPToolOutput"],
                false => &["updatedToolOutput"],
            };
            answer.updated_output = values::first(own, fields).cloned();
            let note = text("classifierContext").map(|text| profile::cut(&text, profile::CLASSIFIER_CONTEXT));
            answer.effects.extend(note.map(|text| Effect::ClassifierContext { text }));
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
    let text = |name: &str| text(name).filter(|_| document::has(kind, name));
    let flag = |name: &str| flag(name) && document::has(kind, name);
    let paths = own.get("watchPaths").and_then(Value::as_array).filter(|_| document::has(kind, "watchPaths"));
    let own_effects = [
        text("initialUserMessage").map(|text| Effect::InitialPrompt { text }),
        text("sessionTitle")
            .filter(|_| profile::takes_title(event))
            .map(|text| Effect::SessionTitle { text }),
        flag("suppressOriginalPrompt").then_some(Effect::HidePrompt),
        flag("reloadSkills").then_some(Effect::ReloadSkills),
        paths.map(|paths| Effect::WatchPaths {
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

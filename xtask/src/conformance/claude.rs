//! Cases of the dialect `claude-code`: matchers, and the answer of one hook.

use anyhow::{Context, Result, bail};
use hook_engine::core::{
    Audience, Decision, Effect, EventKind, Exit, FailMode, FailureKind, Handler, HandlerFailure,
    HandlerOutput, Hook, HookCx, HostContext, HttpHandler, MemoryFiles, OnFailure, ProcessOutput,
    PromptHandler, Reading, SessionView, Status, Stream, Subject,
};
use serde_json::{Map, Value, json};

use super::world;
use crate::check::Check;

const AGENT: &str = "claude-code";

pub(super) fn matcher(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let name = check.given_text("event");
    let mut group = json!({"hooks": [{"type": "command", "command": "true"}]});
    if let Some(text) = check.given("matcher") {
        group["matcher"] = text.clone();
    }
    let file = json!({"hooks": {name: [group]}}).to_string();
    let files = MemoryFiles::new().with(format!("{}/.claude/settings.json", world::PROJECT), file);
    let loaded = world::load_tree(&files, dialect.profile().id, Map::new());

    let row = dialect.event_row(name).with_context(|| format!("no event {name:?}"))?;
    let mut more = Map::new();
    if let Some(value) = check.given("value") {
        match row.subject {
            Subject::Tool => more.insert("tool_name".into(), value.clone()),
            Subject::Field(field) => more.insert(field.into(), value.clone()),
            Subject::None => bail!("the case has a value, and {name} has no subject"),
        };
    }
    let incoming = world::read(dialect.as_ref(), world::claude_payload(name, &more))?;
    let event = world::event_of(incoming, &EventKind::from_name(name))?;
    check.equals("match", &json!(world::selects(&loaded, &event)));
    Ok(())
}

/// A handler of the project's settings with an `if`, on a call of a tool.
pub(super) fn if_rule(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let name = match check.given_text("event") {
        "" => "PreToolUse",
        name => name,
    };
    let handler = json!({"type": "command", "command": "true", "if": check.given_value("if")});
    let file = json!({"hooks": {name: [{"hooks": [handler]}]}}).to_string();
    // The session began in its directory, so that is the project, too.
    let project = check.given("cwd").and_then(Value::as_str).unwrap_or(world::PROJECT);
    let mut host = HostContext { home: world::host().home, ..HostContext::new(project) };
    host.home = check.given("home").and_then(Value::as_str).map(Into::into).or(host.home);
    let files = MemoryFiles::new().with(format!("{project}/.claude/settings.json"), file);
    let loaded = world::load_in(&host, &files, dialect.profile().id, Map::new(), (Vec::new(), None));

    let mut more = Map::new();
    for key in ["tool_name", "tool_input", "cwd"] {
        more.extend(check.given(key).map(|value| (key.to_owned(), value.clone())));
    }
    let incoming = world::read(dialect.as_ref(), world::claude_payload(name, &more))?;
    let event = world::event_of(incoming, &EventKind::from_name(name))?;
    check.equals("match", &json!(world::runs(&loaded, &event, &host)));
    Ok(())
}

pub(super) fn response(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let name = check.given_text("event");
    let kind = EventKind::from_name(name);
    let more = check.given("input").and_then(Value::as_object).cloned().unwrap_or_default();
    let incoming = world::read(dialect.as_ref(), world::claude_payload(name, &more))?;
    let event = world::event_of(incoming, &kind)?;

    let handler = handler(check)?;
    let (output, on_failure) = output(check, &handler)?;
    let (host, session) = (world::host(), SessionView::default());
    let hook = Hook { handler, ..world::hook(dialect.profile().id, &kind, on_failure) };
    let cx = HookCx { event: &event, hook: &hook, session: &session, host: &host };
    let reading = dialect.read_answer(&cx, &output);
    compare(check, &kind, &reading);
    Ok(())
}

/// The handler the case speaks of; a command where it names none.
fn handler(check: &Check<'_>) -> Result<Handler> {
    let handler = check.given("handler").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(key) =
        handler.keys().find(|key| !["type", "onFailure", "continueOnBlock"].contains(&key.as_str()))
    {
        bail!("no adapter for the handler's member {key:?}");
    }
    let asked = || PromptHandler {
        prompt: "Fine?".into(),
        model: None,
        continue_on_block: handler.get("continueOnBlock") == Some(&Value::Bool(true)),
    };
    Ok(match handler.get("type").and_then(Value::as_str) {
        None | Some("command") => world::command(),
        Some("http") => Handler::Http(HttpHandler::new("http://127.0.0.1/hook")),
        Some("prompt") => Handler::Prompt(asked()),
        Some("agent") => Handler::Agent(asked()),
        Some(other) => bail!("no adapter for handlers of type {other:?}"),
    })
}

/// The handler's output and its `onFailure`.
fn output(check: &Check<'_>, handler: &Handler) -> Result<(HandlerOutput, FailMode)> {
    // What a hook says means the same with and without a person in front.
    if check.given("mode").is_some_and(|mode| mode != "headless") {
        bail!("no adapter for this mode");
    }
    let on_failure =
        check.given("handler").and_then(|handler| handler.get("onFailure")).and_then(Value::as_str);
    let on_failure = FailMode {
        default: match on_failure {
            Some("block") => Some(OnFailure::Block),
            Some("continue") => Some(OnFailure::Continue),
            Some(other) => bail!("onFailure {other:?}"),
            None => None,
        },
        by_kind: Vec::new(),
    };
    let failure = |kind: FailureKind, message: &str| {
        HandlerOutput::Failure(HandlerFailure { kind, message: message.into(), notes: Vec::new() })
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let timed_out = check.given("timed_out").and_then(Value::as_bool).unwrap_or_default();
    let (stdout, stderr) = (check.given_text("stdout"), check.given_text("stderr"));
    let code = check.given("exit_code").and_then(Value::as_i64);
    let (status, body) = (check.given("http_status"), check.given("http_body"));
    let reply = check.given("model_reply");
    let output = match (code, status, reply) {
        _ if timed_out => failure(FailureKind::Timeout, "timed out"),
        (Some(code), _, _) => {
            HandlerOutput::Process(ProcessOutput::new(Exit::Code(i32::try_from(code)?), stdout, stderr))
        }
        (None, Some(status), _) if !status.is_null() => HandlerOutput::Http {
            status: u16::try_from(status.as_u64().context("given.http_status is no number")?)?,
            body: Stream::new(body.map(text).unwrap_or_default()),
            notes: Vec::new(),
        },
        (None, _, Some(reply)) => HandlerOutput::Model { reply: text(reply) },
        // A server without a status was not reached.
        (None, _, None) if matches!(handler, Handler::Http(_)) => {
            failure(FailureKind::Unreachable, "connection refused")
        }
        (None, _, None) => bail!("no adapter for an output without exit code"),
    };
    Ok((output, on_failure))
}

/// A decision as the cases write it.
pub(super) fn permission(decision: Decision) -> Value {
    match decision {
        Decision::None => Value::Null,
        decision => json!(decision.name()),
    }
}

fn audience(audience: Audience) -> &'static str {
    match audience {
        Audience::Model => "model",
        Audience::User => "user",
        Audience::Nobody => "nobody",
    }
}

fn compare(check: &mut Check<'_>, kind: &EventKind, reading: &Reading) {
    let answer = &reading.answer;
    let outcome = match reading.status {
        Status::Ok => "ok",
        Status::Blocked => "block",
        Status::Error => "hook_error",
        Status::Timeout => "cancelled",
        other => other.name(),
    };
    check.equals("outcome", &json!(outcome));
    check.equals("stdout_as", &json!(reading.stdout));
    let blocked = answer.decision == Decision::Deny;
    check.equals("blocked", &json!(blocked));
    check.equals("permission", &permission(answer.decision));
    check.equals("reason", &json!(answer.reason));
    // A reason that was dropped has no reader.
    let reader = if answer.reason.is_some() { answer.reason_to } else { Audience::Nobody };
    check.equals("reason_to", &json!(audience(reader)));
    let contexts: Vec<&str> = answer.contexts().collect();
    let context = (!contexts.is_empty()).then(|| contexts.join("\n"));
    check.equals("context", &json!(context));
    let at_stop = matches!(kind, EventKind::Stop | EventKind::SubagentStop);
    check.equals("continues_turn", &json!(at_stop && (blocked || context.is_some())));
    check.equals("stop", &json!(answer.stop));
    check.equals("stop_reason", &json!(answer.stop_reason));
    check.equals("updated_input", &json!(answer.updated_input));
    check.equals("updated_output", &json!(answer.updated_output));

    let mut found: Map<String, Value> = Map::new();
    for effect in &answer.effects {
        match effect {
            Effect::Feedback { text, to } => {
                found.insert("feedback".into(), json!(text));
                found.insert("feedback_to".into(), json!(audience(*to)));
            }
            Effect::Elicitation { action, content } => {
                found.insert("action".into(), json!(action));
                found.insert("content".into(), json!(content));
            }
            Effect::WorktreePath { path } => drop(found.insert("worktree_path".into(), json!(path))),
            Effect::TerminalSequence { text } => drop(found.insert("terminal_sequence".into(), json!(text))),
            Effect::Interrupt => drop(found.insert("interrupt".into(), json!(true))),
            Effect::Retry => drop(found.insert("retry".into(), json!(true))),
            _ => {}
        }
    }
    for key in ["feedback", "feedback_to", "action", "content", "worktree_path", "terminal_sequence"] {
        check.equals(key, found.get(key).unwrap_or(&Value::Null));
    }
    // A flag that nobody set is false; a case may write null for it as well.
    for key in ["interrupt", "retry"] {
        let set = found.get(key).is_some();
        let unset = check.expected(key).is_some_and(Value::is_null) && !set;
        check.equals(key, &if unset { Value::Null } else { json!(set) });
    }
}

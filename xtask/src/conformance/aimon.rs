//! Cases of the dialect `aimon` that need neither several files nor several hooks.

use anyhow::{Context, Result, bail};
use hook_engine::core::{
    Answer, Decision, Dialect, Effect, Event, Exit, FailMode, FailureKind, Handler, HandlerFailure,
    HandlerOutput, HookCx, HttpHandler, Incoming, Level, McpHandler, MemoryFiles, ProcessOutput, Reading,
    SessionView, Stream,
};
use hook_engine::rewake;
use serde_json::{Map, Value, json};

use super::aimon_config::UNSUPPORTED;
use super::world;
use crate::check::Check;

const AGENT: &str = "aimon";

/// The events that an event of the agent becomes; on events of tools a call of Bash, unless `data` says otherwise.
pub(super) fn fire(dialect: &dyn Dialect, event: &str, data: Map<String, Value>) -> Result<Incoming> {
    let row = dialect.event_row(event).with_context(|| format!("no event {event:?}"))?;
    let mut all = Map::new();
    if ["preTool", "postTool", "permissionRequest", "permissionDenied"].contains(&row.name) {
        all.insert("tool_name".into(), json!("Bash"));
        all.insert("tool_input".into(), json!({"command": "ls"}));
    }
    all.extend(data);
    world::read(dialect, json!({"event": event, "data": all, "session_id": "s1", "cwd": world::PROJECT}))
}

fn first(incoming: Incoming) -> Result<Event> {
    incoming.events.into_iter().next().context("the payload became no event")
}

pub(super) fn matcher(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let mut entry = json!({"hooks": [{"type": "command", "command": "true"}]});
    if let Some(text) = check.given("matcher") {
        entry["matcher"] = text.clone();
    }
    let file = json!({"hooks": {"PreToolUse": [entry]}}).to_string();
    let files = MemoryFiles::new().with(format!("{}/.aimon/hooks.json", world::PROJECT), file);
    let loaded = world::load_tree(&files, dialect.profile().id, Map::new());
    let mut data = Map::new();
    data.insert("tool_name".into(), check.given_value("tool_name"));
    data.insert("tool_input".into(), check.given_value("tool_input"));
    let event = first(fire(dialect.as_ref(), "preTool", data)?)?;
    check.equals("match", &json!(world::runs(&loaded, &event, &world::host())));
    let fallback = loaded.diagnostics.iter().any(|finding| super::aimon_config::is_fallback(finding.code));
    check.equals("fallback", &json!(fallback));
    Ok(())
}

pub(super) fn event(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let name = check.given_text("name");
    let file = json!({"hooks": {name: [{"hooks": [{"type": "command", "command": "true"}]}]}}).to_string();
    let files = MemoryFiles::new().with(format!("{}/.aimon/hooks.json", world::PROJECT), file);
    let loaded = world::load_tree(&files, dialect.profile().id, Map::new());
    let hook = loaded.hooks().next();
    let row = hook.and_then(|hook| dialect.event_row(&hook.event_name));
    let ignored = loaded.diagnostics.iter().any(|finding| finding.code == UNSUPPORTED);
    check.equals("event", &json!(row.map(|row| row.name)));
    check.equals("ignored", &json!(ignored));
    check.equals("unknown", &json!(hook.is_none() && !ignored));
    Ok(())
}

pub(super) fn duration(check: &mut Check<'_>) -> Result<()> {
    let read = rewake::duration::parse(check.given_text("text"));
    check.equals("error", &json!(read.is_err()));
    check.equals("millis", &json!(read.ok().and_then(|time| u64::try_from(time.as_millis()).ok())));
    Ok(())
}

pub(super) fn cron(check: &mut Check<'_>) -> Result<()> {
    let cron = rewake::cron::Cron::parse(check.given_text("expr"));
    let zone = rewake::zone::Zone::find(check.given_text("zone"));
    check.equals("error", &json!(cron.is_err() || zone.is_none()));
    let after = check.given_text("after");
    let (Ok(cron), Some(zone)) = (cron, zone) else { return Ok(()) };
    let mut at = world::millis(after).with_context(|| format!("{after:?} is no time"))?;
    let wanted = check.expected("next").and_then(Value::as_array).map_or(0, Vec::len);
    let mut next = Vec::new();
    for _ in 0..wanted {
        let Some(time) = cron.next(&zone, at) else { break };
        next.push(rewake::zone::rfc3339(time));
        at = time;
    }
    check.equals("next", &json!(next));
    Ok(())
}

pub(super) fn exit(check: &mut Check<'_>) -> Result<()> {
    let stderr = check.given_text("stderr");
    let output = match check.given("exit_code") {
        Some(Value::Number(code)) => {
            let code = i32::try_from(code.as_i64().context("given.exit_code is no whole number")?)?;
            let stdout = check.given_text("stdout");
            HandlerOutput::Process(ProcessOutput::new(Exit::Code(code), stdout, stderr))
        }
        _ => failure(FailureKind::Timeout),
    };
    let event = check.given_text("event").to_owned();
    let reading = read(check, &event, &output, world::command())?;
    judge(check, &event, &reading);
    Ok(())
}

fn failure(kind: FailureKind) -> HandlerOutput {
    let message = format!("failed by {}", kind.name());
    HandlerOutput::Failure(HandlerFailure { kind, message, notes: Vec::new() })
}

fn read(check: &Check<'_>, event: &str, output: &HandlerOutput, handler: Handler) -> Result<Reading> {
    let dialect = world::dialect(AGENT)?;
    let event = first(fire(dialect.as_ref(), event, more_data(check))?)?;
    let mut hook = world::hook(dialect.profile().id, &event.kind, FailMode::default());
    hook.handler = handler;
    let (host, session) = (world::host(), SessionView::default());
    let cx = HookCx { event: &event, hook: &hook, session: &session, host: &host };
    Ok(dialect.read_answer(&cx, output))
}

/// What a case may say of its event beside the name.
pub(super) fn more_data(check: &Check<'_>) -> Map<String, Value> {
    let mut data = Map::new();
    for (given, member) in
        [("tool", "tool_name"), ("tool_input", "tool_input"), ("trigger", "compaction_trigger")]
    {
        if let Some(value) = check.given(given) {
            data.insert(member.into(), value.clone());
        }
    }
    data
}

pub(super) fn response(check: &mut Check<'_>) -> Result<()> {
    let body = check.given("body").map_or_else(String::new, |body| match body {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let event = check.given_text("event").to_owned();
    let body = Stream::new(body);
    let is_error = check.given("is_error").and_then(Value::as_bool).unwrap_or_default();
    let status = check.given("status").and_then(Value::as_u64);
    let notes = Vec::new();
    let (output, handler) = match check.given_text("handler") {
        "http" => {
            let handler = Handler::Http(HttpHandler::new("https://example.test/hook"));
            let output = match status {
                Some(status) => HandlerOutput::Http { status: u16::try_from(status)?, body, notes },
                None => failure(FailureKind::Unreachable),
            };
            (output, handler)
        }
        "mcp" => {
            let call = McpHandler {
                server: "policy".into(),
                tool: "judge".into(),
                input: Map::new(),
                allowed_env_vars: Vec::new(),
            };
            (HandlerOutput::Mcp { text: body, structured: None, is_error, notes }, Handler::Mcp(call))
        }
        other => bail!("no adapter for handlers of type {other:?}"),
    };
    let reading = read(check, &event, &output, handler)?;
    judge(check, &event, &reading);
    check.equals("updated_input", &json!(reading.answer.updated_input));
    check.equals("feedback", &json!(feedback(&reading.answer)));
    Ok(())
}

/// What the model is told.
pub(super) fn feedback(answer: &Answer) -> Option<String> {
    let texts: Vec<&str> = answer.contexts().collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The agent's word for a decision.
pub(super) fn decision(event: &str, answer: &Answer) -> &'static str {
    match answer.decision {
        Decision::Deny if event.eq_ignore_ascii_case("permissionRequest") => "deny",
        Decision::Deny => "block",
        Decision::Ask => "ask",
        _ => "allow",
    }
}

fn judge(check: &mut Check<'_>, event: &str, reading: &Reading) {
    let answer = &reading.answer;
    check.equals("decision", &json!(decision(event, answer)));
    let reason = answer.reason.clone().unwrap_or_default();
    check.equals("reason", &json!(answer.reason));
    check.equals("reason_nonempty", &json!(!reason.trim().is_empty()));
    if let Some(suffix) = check.expected("reason_suffix").and_then(Value::as_str)
        && !reason.ends_with(suffix)
    {
        check.mismatch("reason_suffix", json!(suffix), json!(reason));
    }
    if let Some(prefix) = check.expected("reason_prefix_of") {
        let letter = prefix.get("char").and_then(Value::as_str).unwrap_or_default();
        let count = prefix.get("count").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let wanted = letter.repeat(count.unwrap_or_default());
        let longer =
            reason.strip_prefix(&wanted).is_none_or(|rest| !letter.is_empty() && rest.starts_with(letter));
        if longer {
            check.mismatch("reason_prefix_of", prefix.clone(), json!(reason));
        }
    }
    let told = answer
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::Message { level: Level::Warning | Level::Error, .. }));
    let warned = told || reading.notes.iter().any(|note| note.level > Level::Info);
    check.equals("warn", &json!(warned));
}

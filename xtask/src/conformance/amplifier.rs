//! Cases of the dialect `amplifier` that need neither files nor processes.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use hook_engine::core::{
    Document, EventKind, Exit, FailMode, Handler, HandlerOutput, HookCx, MemoryFiles, ProcessOutput, Reply,
    ReplyPolicy, SessionView,
};
use hook_engine::{exec, state};
use serde_json::{Map, Value, json};

use super::world;
use crate::check::Check;

const AGENT: &str = "amplifier";
/// The members of a result that a case may assert.
pub(super) const RESULT_KEYS: &[&str] = &[
    "action",
    "reason",
    "data",
    "context_injection",
    "user_message",
    "user_message_contains",
    "user_message_level",
];

pub(super) fn matcher(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let mut group = json!({"hooks": [{"type": "command", "command": "true"}]});
    if let Some(text) = check.given("matcher") {
        group["matcher"] = text.clone();
    }
    let file = json!({"hooks": {"PreToolUse": [group]}}).to_string();
    let files = MemoryFiles::new().with(format!("{}/.amplifier/hooks/hooks.json", world::PROJECT), file);
    let loaded = world::load_tree(&files, dialect.profile().id, Map::new());

    let data = json!({"tool_name": check.given_value("tool_name"), "tool_input": {}});
    let incoming = world::read(dialect.as_ref(), world::amplifier_payload("tool:pre", &data))?;
    let event = world::event_of(incoming, &EventKind::PreToolUse)?;
    check.equals("match", &json!(world::selects(&loaded, &event)));
    Ok(())
}

pub(super) fn event(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let data = check.given_value("data");
    let payload = world::amplifier_payload(check.given_text("amplifier_event"), &data);
    let incoming = world::read(dialect.as_ref(), payload)?;
    let kinds: Vec<&str> = incoming.events.iter().map(|event| event.kind.name()).collect();
    check.equals("claude_events", &json!(kinds));
    let value = incoming.events.first().map(|event| match &event.tool {
        Some(tool) => tool.native_name.clone(),
        None => event.subject.clone().unwrap_or_default(),
    });
    check.equals("matcher_value", &json!(value));
    Ok(())
}

/// The event as Amplifier fires it for a hook event.
fn fired_as(check: &Check<'_>, event: &str) -> Result<String> {
    let given = check.given_text("amplifier_event");
    if !given.is_empty() {
        return Ok(given.to_owned());
    }
    let dialect = world::dialect(AGENT)?;
    let row = dialect.event_row(event).with_context(|| format!("no event {event:?}"))?;
    Ok(row.fired_as.first().copied().unwrap_or(row.name).to_owned())
}

pub(super) fn payload(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let name = check.given_text("event");
    let kind = EventKind::from_name(name);
    let data = check.given_value("data");
    let fired = fired_as(check, name)?;
    let incoming = world::read(dialect.as_ref(), world::amplifier_payload(&fired, &data))?;
    let event = world::event_of(incoming, &kind)?;

    let (host, session) = (world::host(), SessionView::default());
    let hook = world::hook(dialect.profile().id, &kind, FailMode::default());
    let cx = HookCx { event: &event, hook: &hook, session: &session, host: &host };
    let text = dialect.write_event(&cx);
    let stdin: Value = serde_json::from_str(&text).with_context(|| format!("stdin is no JSON: {text:?}"))?;
    let expected = check.expected("stdin").and_then(Value::as_object).context("expect.stdin is no object")?;
    check.includes("stdin", expected, &stdin);
    Ok(())
}

pub(super) fn response(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let name = check.given_text("event");
    let kind = EventKind::from_name(name);
    let tool = if kind == EventKind::SubagentStop { "Task" } else { "Bash" };
    let data = json!({"tool_name": tool, "tool_input": {}, "result": ""});
    let fired = fired_as(check, name)?;
    let incoming = world::read(dialect.as_ref(), world::amplifier_payload(&fired, &data))?;
    let event = world::event_of(incoming, &kind)?;

    let code = check.given("exit_code").and_then(Value::as_i64).context("given.exit_code is no number")?;
    let code = i32::try_from(code)?;
    let exit = if code < 0 { Exit::Signal(-code) } else { Exit::Code(code) };
    let (stdout, stderr) = (check.given_text("stdout"), check.given_text("stderr"));
    let output = HandlerOutput::Process(ProcessOutput::new(exit, stdout, stderr));

    let (host, session) = (world::host(), SessionView::default());
    let hook = world::hook(dialect.profile().id, &kind, FailMode::default());
    let cx = HookCx { event: &event, hook: &hook, session: &session, host: &host };
    let reading = dialect.read_answer(&cx, &output);
    let outcome = world::alone(hook.clone(), reading, stderr, (code >= 0).then_some(code));
    let reply = dialect.write_reply(Some(&event), Ok(&outcome), &ReplyPolicy::default());
    let actual = result_of(&reply)?;

    check_result(check, &actual);
    Ok(())
}

/// Compares the result that a case expects as its own members.
pub(super) fn check_result(check: &mut Check<'_>, actual: &Value) {
    let mut expected = Map::new();
    for key in RESULT_KEYS {
        if let Some(value) = check.expected(key) {
            expected.insert((*key).to_owned(), value.clone());
        }
    }
    compare_result(check, "result", &expected, actual);
}

/// The result in a reply to Amplifier. Silence is `continue`.
pub(super) fn result_of(reply: &Reply) -> Result<Value> {
    if reply.stdout.trim().is_empty() {
        return Ok(json!({"action": "continue"}));
    }
    serde_json::from_str(&reply.stdout).with_context(|| format!("the reply is no JSON: {:?}", reply.stdout))
}

/// Compares a result: the listed members only.
pub(super) fn compare_result(check: &mut Check<'_>, at: &str, expected: &Map<String, Value>, actual: &Value) {
    for (key, value) in expected {
        let place = format!("{at}.{key}");
        if key == "user_message_contains" {
            let message = actual.get("user_message").and_then(Value::as_str).unwrap_or_default();
            if !value.as_str().is_some_and(|part| message.contains(part)) {
                check.mismatch(place, value.clone(), json!(message));
            }
        } else if RESULT_KEYS.contains(&key.as_str()) {
            let found = actual.get(key).unwrap_or(&Value::Null);
            check.compare(&place, value, found);
        } else {
            check.fail(format!("{place}: the runner does not know this key"));
        }
    }
}

pub(super) fn config(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let mut files = MemoryFiles::new();
    for (name, content) in check.given("files").and_then(Value::as_object).into_iter().flatten() {
        let path = world::path(name, world::PROJECT, world::HOME);
        files = files.with(path, content.as_str().unwrap_or_default());
    }
    let switches = check.given("module_config").and_then(Value::as_object).cloned().unwrap_or_default();
    let loaded = world::load_tree(&files, dialect.profile().id, switches);

    let mut actual: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    // A plugin that is switched off counts as not there.
    let off: Vec<&Path> =
        loaded.plugins.iter().filter(|p| p.disabled_at.is_some()).map(|p| p.file.as_path()).collect();
    let there = |document: &&Document| !document.file.as_deref().is_some_and(|file| off.contains(&file));
    for binding in loaded.documents.iter().filter(there).flat_map(|document| &document.bindings) {
        for hook in &binding.hooks {
            let timeout = exec::budget::effective_timeout(hook, dialect.profile());
            let mut handler = json!({
                "event": binding.event_name,
                "matcher": hook.matcher.text.as_deref().unwrap_or("*"),
                "type": match &hook.handler {
                    Handler::Unknown { kind } => kind,
                    known => known.kind().name(),
                },
                "timeout": timeout.as_secs_f64(),
                "parallel": binding.parallel,
            });
            match &hook.handler {
                Handler::Command(command) => handler["command"] = json!(command.command),
                Handler::Prompt(asked) => handler["prompt"] = json!(asked.prompt),
                _ => {}
            }
            actual.entry(binding.event_name.clone()).or_default().push(handler);
        }
    }
    let mut expected: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for handler in check.expected("handlers").and_then(Value::as_array).into_iter().flatten() {
        let event = handler.get("event").and_then(Value::as_str).unwrap_or_default();
        expected.entry(event.to_owned()).or_default().push(handler.clone());
    }
    if check.expected("handlers").is_some() {
        let counts = |map: &BTreeMap<String, Vec<Value>>| -> BTreeMap<String, usize> {
            map.iter().map(|(event, handlers)| (event.clone(), handlers.len())).collect()
        };
        if counts(&expected) != counts(&actual) {
            check.mismatch("handlers", json!(expected), json!(actual));
        }
        for (event, handlers) in &expected {
            let found = actual.get(event).into_iter().flatten();
            for (index, (expected, actual)) in handlers.iter().zip(found).enumerate() {
                let members = expected.as_object().context("a handler is no object")?;
                check.includes(&format!("handlers {event}[{index}]"), members, actual);
            }
        }
    }

    for wanted in check.expected("diagnostics").and_then(Value::as_array).into_iter().flatten() {
        let file = world::path(wanted["file"].as_str().unwrap_or_default(), world::PROJECT, world::HOME);
        let found = loaded.diagnostics.iter().any(|d| d.file.as_deref().is_some_and(|f| f.ends_with(&file)));
        if !found {
            let all: Vec<String> =
                loaded.diagnostics.iter().map(|d| format!("{} {:?}", d.code.slug(), d.file)).collect();
            check.mismatch("diagnostics", wanted.clone(), json!(all));
        }
    }
    Ok(())
}

pub(super) fn envfile(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let content = check.given_text("content");
    let file = state::env_file::parse(content, &|_| None, dialect.profile().protected_variables);
    let vars: BTreeMap<String, String> = file.vars.into_iter().collect();
    check.equals("vars", &json!(vars));
    Ok(())
}

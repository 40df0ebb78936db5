//! Cases of `aimon/scenario`: chains of scripted hooks, whole tool calls, what one command is given, and budgets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hook_engine::config::{DocumentSpec, parse};
use hook_engine::core::{
    Answer, Call, CommandHandler, Decision, Dialect, Effect, Executor, Exit, FailMode, FailureKind, Handler,
    HandlerFailure, HandlerKind, HandlerOutput, HookCx, Incoming, Layer, Net, Outcome, ProcessOutput,
    SessionView, fold,
};
use hook_engine::exec::budget;
use hook_engine::mapper::Dialects;
use hook_engine::{Engine, ToolEnd, ToolRequest};
use serde_json::{Map, Value, json};

use super::{aimon, world};
use crate::check::Check;

const AGENT: &str = "aimon";

pub(super) fn scenario(check: &mut Check<'_>) -> Result<()> {
    match check.given_text("kind") {
        "chain" => chain(check),
        "merge" => merge(check),
        "tool-call" => tool_call(check),
        "payload" => payload(check),
        "command-text" => command_text(check),
        "net" => net(check),
        other => bail!("no adapter for scenarios of kind {other:?}"),
    }
}

/// Plays commands: each is the id of a hook, and does what its script says.
struct Scripted {
    scripts: BTreeMap<String, Value>,
    seen: Mutex<Vec<(String, Value)>>,
}

#[async_trait::async_trait]
impl Executor for Scripted {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        let Handler::Command(CommandHandler { command: id, .. }) = &cx.hook.handler else {
            return failure("no command");
        };
        let stdin: Value = serde_json::from_slice(&call.input).unwrap_or_default();
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push((id.clone(), stdin));
        let script = self.scripts.get(id).cloned().unwrap_or_default();
        if script["throws"] == json!(true) {
            return failure("the script says so");
        }
        if let Some(returns) = script.get("returns") {
            return HandlerOutput::Answer(answer(returns));
        }
        let code = script["exit"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or_default();
        let stderr = script["stderr"].as_str().unwrap_or_default();
        HandlerOutput::Process(ProcessOutput::new(Exit::Code(code), "", stderr))
    }
}

fn failure(message: &str) -> HandlerOutput {
    HandlerOutput::Failure(HandlerFailure {
        kind: FailureKind::Spawn,
        message: message.to_owned(),
        notes: Vec::new(),
    })
}

/// A scripted result as an answer. Nothing said is no opinion.
fn answer(result: &Value) -> Answer {
    let text = |key: &str| result[key].as_str().map(str::to_owned);
    let decision = match result["decision"].as_str() {
        Some("deny" | "block") => Decision::Deny,
        Some("ask") => Decision::Ask,
        _ => Decision::None,
    };
    let object = |key: &str| result.get(key).filter(|value| !value.is_null()).cloned();
    Answer {
        decision,
        reason: text("reason").or_else(|| text("prompt")),
        updated_input: object("updated_input"),
        updated_output: object("updated_output"),
        effects: text("feedback").map(|text| Effect::Context { text }).into_iter().collect(),
        ..Answer::default()
    }
}

/// An engine whose hooks play scripts: event → hooks with `id`, and `matcher` where they have one.
fn engine(hooks: &Map<String, Value>) -> Result<(Engine, Arc<Scripted>)> {
    let mut events = Map::new();
    let mut scripts = BTreeMap::new();
    for (event, list) in hooks {
        let mut entries = Vec::new();
        for hook in list.as_array().context("the hooks of an event are no list")? {
            let id = hook["id"].as_str().context("a hook without id")?;
            let known = ["id", "matcher", "returns", "throws", "exit", "stderr"];
            if let Some(key) =
                hook.as_object().and_then(|hook| hook.keys().find(|key| !known.contains(&key.as_str())))
            {
                bail!("the runner does not know {key:?} of a hook");
            }
            let mut entry = json!({"hooks": [{"type": "command", "command": id}]});
            if let Some(matcher) = hook.get("matcher") {
                entry["matcher"] = matcher.clone();
            }
            entries.push(entry);
            scripts.insert(id.to_owned(), hook.clone());
        }
        events.insert(event.clone(), entries.into());
    }
    let dialect = world::dialect(AGENT)?;
    let path = format!("{}/.aimon/hooks.json", world::PROJECT);
    let spec = DocumentSpec::new(path, dialect.profile().id, Layer::Project);
    let parsed = parse(json!({"hooks": events}).to_string().as_bytes(), &spec, &Dialects::standard());
    let scripted = Arc::new(Scripted { scripts, seen: Mutex::default() });
    let engine = Engine::builder(world::host()).documents(parsed.document).executor(scripted.clone()).build();
    Ok((engine, scripted))
}

fn dispatch(engine: &Engine, incoming: &Incoming) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(engine.dispatch(incoming)))
}

impl Scripted {
    fn taken(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn chain(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let event = check.given_text("event");
    let mut hooks = Map::new();
    hooks.insert(event.to_owned(), check.given_value("hooks"));
    let (engine, scripted) = engine(&hooks)?;
    let incoming = aimon::fire(dialect.as_ref(), event, aimon::more_data(check))?;
    let outcome = dispatch(&engine, &incoming)?;
    let taken = scripted.taken();
    let ran: Vec<&str> = taken.iter().map(|(id, _)| id.as_str()).collect();
    check.equals("ran", &json!(ran));
    if let Some(expected) = check.expected("seen").and_then(Value::as_object) {
        let seen: Map<String, Value> =
            taken.iter().map(|(id, stdin)| (id.clone(), stdin["tool_input"].clone())).collect();
        check.includes("seen", expected, &Value::Object(seen));
    }
    let answer = &outcome.answer;
    check.equals("decision", &json!(aimon::decision(event, answer)));
    check.equals("reason", &json!(answer.reason));
    check.equals("feedback", &json!(aimon::feedback(answer)));
    let given = check.given_value("tool_input");
    check.equals("final_input", answer.updated_input.as_ref().unwrap_or(&given));
    Ok(())
}

fn merge(check: &mut Check<'_>) -> Result<()> {
    let results = check.given("results").and_then(Value::as_array).context("no results")?;
    let answers: Vec<Answer> = results.iter().filter(|result| !result.is_null()).map(answer).collect();
    // The agent keeps reasons and feedback in one field.
    let texts: Vec<String> = answers
        .iter()
        .flat_map(|answer| {
            answer.contexts().map(str::to_owned).chain(answer.reason.clone()).collect::<Vec<_>>()
        })
        .collect();
    let merged = fold::merge(answers);
    check.equals(
        "decision",
        &json!(match merged.decision {
            Decision::Deny => "deny",
            Decision::Ask => "ask",
            _ => "allow",
        }),
    );
    check.equals("feedback", &json!((!texts.is_empty()).then(|| texts.join("\n"))));
    check.equals("updated_input", &json!(merged.updated_input));
    check.equals("updated_output", &json!(merged.updated_output));
    Ok(())
}

/// A call of a tool as the agent makes it: permissionRequest, preTool, the tool, postTool.
fn tool_call(check: &mut Check<'_>) -> Result<()> {
    let hooks = check.given("hooks").and_then(Value::as_object).context("no hooks")?;
    let (engine, scripted) = engine(hooks)?;
    let input = check.given("tool_input").cloned().unwrap_or_else(|| json!({"command": "ls"}));
    let request = ToolRequest::new(check.given_text("tool"), input);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let call = runtime.block_on(engine.tool_call(request, |_| async { Ok(json!("done")) }))?;

    let taken = scripted.taken();
    let ran: Vec<&str> = taken.iter().map(|(id, _)| id.as_str()).collect();
    check.equals("ran", &json!(ran));
    check.equals("tool_ran", &json!(matches!(call.end, ToolEnd::Ran(_))));
    check.equals("final_input", &call.input);
    let told = taken.iter().find_map(|(_, stdin)| stdin["tool_result_status"].as_str());
    check.equals("post_status", &json!(told));
    let reason = match call.end {
        ToolEnd::Refused { reason, .. } => Some(reason),
        _ => None,
    };
    check.equals("reason", &json!(reason));
    if let Some(part) = check.expected("reason_contains").and_then(Value::as_str)
        && !reason.as_deref().unwrap_or_default().contains(part)
    {
        check.mismatch("reason_contains", json!(part), json!(reason));
    }
    Ok(())
}

/// Members of an event's data that a case may give by their own names.
const DATA: &[&str] = &[
    "invoker_name",
    "invoker_type",
    "iteration",
    "tool_result_status",
    "principal_id",
    "principal_type",
    "deny_reason",
    "user_message",
    "user_message_length",
    "success",
    "iteration_count",
    "session_id",
    "execution_id",
    "agent_runtime_id",
    "session_clean",
    "termination_reason",
    "subagent_name",
    "task_id",
    "subagent_goal",
    "subagent_description",
    "compaction_trigger",
    "message_count",
    "estimated_tokens",
    "messages_summarized",
    "pre_compact_tokens",
    "post_compact_tokens",
    "reload_counter",
    "config_source",
    "failure_reason",
];

fn payload(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let name = check.given_text("event");
    let mut data = aimon::more_data(check);
    for key in DATA {
        if check.given(key).is_some() {
            data.insert((*key).to_owned(), check.given_value(key));
        }
    }
    let incoming = world::read(dialect.as_ref(), json!({"event": name, "data": data}))?;
    let event = incoming.events.into_iter().next().context("the payload became no event")?;
    let mut hook = world::hook(dialect.profile().id, &event.kind, FailMode::default());
    hook.event_name = name.to_owned();
    match check.given_text("source").split_once('#') {
        Some((layer, entry)) => {
            hook.origin.entry = entry.parse().context("the source's number")?;
            hook.origin.layer = match layer {
                "user" => Layer::User,
                "local" => Layer::Local,
                _ => Layer::Project,
            };
        }
        None => {
            hook.origin.layer = Layer::Skill;
            hook.origin.source = Some(check.given_text("source").into());
        }
    }
    let (host, session) = (world::host(), SessionView::default());
    let cx = HookCx { event: &event, hook: &hook, session: &session, host: &host };
    let stdin: Value = serde_json::from_str(&dialect.write_event(&cx))?;
    let named = dialect.variables(&cx).into_iter();
    let env: Map<String, Value> = named.map(|(name, value)| (name, json!(value.to_string_lossy()))).collect();
    for (key, actual) in [("stdin", &stdin), ("env", &Value::Object(env))] {
        if let Some(expected) = check.expected(key).and_then(Value::as_object) {
            check.includes(key, expected, actual);
        }
    }
    Ok(())
}

fn command_text(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect(AGENT)?;
    let handler = json!({"type": "command", "command": check.given_value("command")});
    let file = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}).to_string();
    let path = format!("{}/.aimon/hooks.json", world::PROJECT);
    let spec = DocumentSpec::new(path, dialect.profile().id, Layer::Project);
    let document = parse(file.as_bytes(), &spec, &Dialects::standard()).document.context("no document")?;
    let hook = &document.bindings.first().and_then(|b| b.hooks.first()).context("no hook")?;
    let Handler::Command(CommandHandler { command, args: None, .. }) = &hook.handler else {
        bail!("the handler is no shell line");
    };
    // The input has no way into the line.
    let _ = check.given("tool_input");
    check.equals("argv_script", &json!(command));
    Ok(())
}

fn net(check: &mut Check<'_>) -> Result<()> {
    let dialect: Arc<dyn Dialect> = world::dialect(AGENT)?;
    let profile = dialect.profile();
    let millis = |key: &str| check.given(key).and_then(Value::as_u64).map(Duration::from_millis);
    let rule = profile.net.context("the dialect has no net")?;
    let rule = Net { policy: millis("policy_timeout_ms").unwrap_or(rule.policy), ..rule };
    let net = budget::net(millis("declared_ms"), rule, profile.max_timeout);
    check.equals("net_ms", &json!(u64::try_from(net.as_millis())?));
    Ok(())
}

//! Cases of `aimon/rewake`: a timeline of calls, events from outside and reloads against a clock that stands until it is moved.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use hook_engine::Engine;
use hook_engine::config::{DocumentSpec, parse};
use hook_engine::core::{
    Call, Decision, Executor, Exit, Handler, HandlerKind, HandlerOutput, HookCx, Layer, ManualClock,
    ProcessOutput,
};
use hook_engine::mapper::Dialects;
use hook_engine::rewake::envelope::{End, EndRecord};
use hook_engine::rewake::store::{Filter, MemoryStore};
use hook_engine::rewake::{duration, spec};
use serde_json::{Map, Value, json};

use super::{aimon, world};
use crate::check::Check;

const AGENT: &str = "aimon";

/// Hooks by the command they run, which is their id in the case, and what each was told when it was woken.
#[derive(Default)]
struct Hooks {
    calls: Mutex<BTreeMap<String, u64>>,
    fires: Mutex<Vec<(String, Value)>>,
}

#[async_trait::async_trait]
impl Executor for Hooks {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        if let Handler::Command(handler) = &cx.hook.handler {
            let id = handler.command.clone();
            *self.calls.lock().unwrap_or_else(PoisonError::into_inner).entry(id.clone()).or_default() += 1;
            let told: Value = serde_json::from_slice(&call.input).unwrap_or_default();
            if let Some(wake) = told.get("rewake") {
                self.fires.lock().unwrap_or_else(PoisonError::into_inner).push((id, wake.clone()));
            }
        }
        HandlerOutput::Process(ProcessOutput::new(Exit::Code(0), "", ""))
    }
}

/// What stays while engines come and go with their hook files.
struct Bench {
    clock: Arc<ManualClock>,
    store: Arc<MemoryStore>,
    hooks: Arc<Hooks>,
    quota: Option<u32>,
}

impl Bench {
    /// An engine with these hooks, each with the block or without.
    fn engine(&self, check: &Check<'_>, ids: &[(String, bool)]) -> Engine {
        let matcher = check.given("matcher").cloned().unwrap_or_else(|| json!("Bash"));
        let entry = |(id, asks): &(String, bool)| {
            let mut handler = json!({"type": "command", "command": id});
            if *asks {
                handler["asyncRewake"] = check.given_value("spec");
            }
            json!({"matcher": matcher, "hooks": [handler]})
        };
        let entries: Vec<Value> = ids.iter().map(entry).collect();
        let path = format!("{}/.aimon/hooks.json", world::PROJECT);
        let spec = DocumentSpec::new(path, hook_engine::core::DialectId(AGENT), Layer::Project);
        let text = json!({"hooks": {"preTool": entries}}).to_string();
        let parsed = parse(text.as_bytes(), &spec, &Dialects::standard());
        let mut host = world::host();
        host.clock = self.clock.clone();
        let builder = Engine::builder(host)
            .documents(parsed.document)
            .executor(self.hooks.clone())
            .rewake(self.store.clone());
        match self.quota {
            Some(quota) => builder.rewake_quota(quota).build(),
            None => builder.build(),
        }
    }
}

pub(super) fn rewake(check: &mut Check<'_>) -> Result<()> {
    let read = spec::parse(&check.given_value("spec"));
    check.equals("error", &json!(read.is_err()));
    if let Err(error) = &read {
        let place = format!("{} {}", error.path.join(" "), error.message);
        let about = check.expected("about").and_then(Value::as_str).unwrap_or_default().to_owned();
        let named = if place.contains(&about) { about } else { place };
        check.equals("about", &json!(named));
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(timeline(check))
}

async fn timeline(check: &mut Check<'_>) -> Result<()> {
    let start = world::millis(check.given_text("start")).context("given.start is no time")?;
    let at_start = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(start)?);
    let quota = check.given("quota").and_then(Value::as_u64).map(u32::try_from).transpose()?;
    let bench = Bench {
        clock: Arc::new(ManualClock::new(at_start)),
        store: Arc::new(MemoryStore::new()),
        hooks: Arc::default(),
        quota,
    };
    let steps = check.given_value("timeline");
    let steps = steps.as_array().context("given.timeline is no list")?;
    let mut known: Vec<(String, bool)> = Vec::new();
    for step in steps.iter().filter(|step| step["do"] == "dispatch") {
        for id in ids(step) {
            let asks =
                step.get("asks").and_then(Value::as_array).is_none_or(|asks| asks.contains(&json!(id)));
            if !known.iter().any(|(one, _)| *one == id) {
                known.push((id, asks));
            }
        }
    }
    // The engine that wakes knows every hook; a call reaches those that its step names.
    let mut engine = bench.engine(check, &known);
    let (mut resolved, mut live, mut cancelled, mut fires) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut now = Duration::ZERO;
    let dialect = world::dialect(AGENT)?;
    for step in steps {
        let at = step["at"].as_str().context("a step without a time")?;
        let at =
            if at == "PT0S" { Duration::ZERO } else { duration::parse(at).map_err(anyhow::Error::msg)? };
        // Time passes in small steps, so that everything fires when it is due.
        while now < at {
            let by = (at - now).min(Duration::from_secs(30));
            bench.clock.advance(by);
            now += by;
            round(&bench, &engine, now, &mut fires).await?;
        }
        match step["do"].as_str().unwrap_or_default() {
            "dispatch" => {
                let wanted = ids(step);
                let own: Vec<_> = known.iter().filter(|(id, _)| wanted.contains(id)).cloned().collect();
                let reached = bench.engine(check, &own);
                let mut data = Map::new();
                data.insert("tool_name".into(), step["tool"].clone());
                data.insert("tool_input".into(), step["tool_input"].clone());
                let incoming = aimon::fire(dialect.as_ref(), "preTool", data)?;
                let outcome = reached.dispatch(&incoming).await;
                let refused = outcome.answer.decision == Decision::Deny;
                live.push(if refused { "deny" } else { "allow" });
            }
            "resolve" => {
                let brought: BTreeMap<String, String> = serde_json::from_value(step["payload"].clone())?;
                let (kind, key) = (step["type"].as_str(), step["key"].as_str());
                let scheduler = engine.scheduler().context("no scheduler")?;
                resolved.push(
                    scheduler.resolve(kind.unwrap_or_default(), key.unwrap_or_default(), &brought).await?,
                );
                round(&bench, &engine, now, &mut fires).await?;
            }
            "reload-without" => {
                let gone = step["hook"].as_str().unwrap_or_default();
                let left: Vec<_> = known.iter().filter(|(id, _)| id != gone).cloned().collect();
                engine = bench.engine(check, &left);
                let count = engine.cancel_vanished().await?;
                cancelled.push(json!({"hook": gone, "count": count}));
            }
            "end" => {}
            other => bail!("the runner knows no step {other:?}"),
        }
    }
    let fired = Value::Array(fires);
    for key in ["fires", "fires_any_order"] {
        compare(check, key, fired.clone());
    }
    let hooks = bench.names(&known, check);
    let records = records(&bench).await?;
    let dropped = records.iter().rev().filter(|one| !matches!(one.end, End::Fired | End::Cancelled));
    let dropped: Vec<Value> = dropped
        .map(|one| json!({"reason": one.why, "hook": hooks.get(&*one.hook), "attempt": one.attempt}))
        .collect();
    compare(check, "dropped", Value::Array(dropped));
    check.equals("cancelled", &json!(cancelled));
    check.equals("resolved", &json!(resolved));
    check.equals("live", &json!(live));
    check.equals("calls", &json!(*bench.hooks.calls.lock().unwrap_or_else(PoisonError::into_inner)));
    let pending = hook_engine::rewake::store::RewakeStore::list(&*bench.store, &Filter::default()).await?;
    check.equals("pending", &json!(pending.len()));
    Ok(())
}

impl Bench {
    /// The case's names of hooks by their ids.
    fn names(&self, known: &[(String, bool)], check: &Check<'_>) -> BTreeMap<String, String> {
        let mut names = BTreeMap::new();
        for one in known {
            let engine = self.engine(check, std::slice::from_ref(one));
            for hook in engine.generation().hooks() {
                names.insert(hook.id.as_str().to_owned(), one.0.clone());
            }
        }
        names
    }
}

async fn records(bench: &Bench) -> Result<Vec<EndRecord>> {
    Ok(hook_engine::rewake::store::RewakeStore::records(&*bench.store, &Filter::default(), usize::MAX)
        .await?)
}

/// Wakes what is due.
async fn round(bench: &Bench, engine: &Engine, now: Duration, fires: &mut Vec<Value>) -> Result<()> {
    engine.wake_due().await?;
    let new = std::mem::take(&mut *bench.hooks.fires.lock().unwrap_or_else(PoisonError::into_inner));
    for (hook, wake) in new {
        fires.push(json!({
            "at": iso(now), "hook": hook, "attempt": wake["attempt"], "payload": wake["payload"],
        }));
    }
    Ok(())
}

/// Whole minutes or hours, as the cases write them.
fn iso(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    match (minutes / 60, minutes % 60, time.as_secs() % 60) {
        (0, 0, seconds) => format!("PT{seconds}S"),
        (0, minutes, 0) => format!("PT{minutes}M"),
        (hours, 0, 0) => format!("PT{hours}H"),
        (hours, minutes, 0) => format!("PT{hours}H{minutes}M"),
        (_, _, _) => format!("PT{}S", time.as_secs()),
    }
}

/// Compares lists of objects by the keys that the case names.
fn compare(check: &mut Check<'_>, key: &str, found: Value) {
    let Some(expected) = check.expected(key).and_then(Value::as_array).cloned() else { return };
    let mut found = found.as_array().cloned().unwrap_or_default();
    for (index, one) in found.iter_mut().enumerate() {
        let names = expected.get(index).or(expected.last()).and_then(Value::as_object);
        if let (Some(one), Some(names)) = (one.as_object_mut(), names) {
            one.retain(|name, _| names.contains_key(name));
        }
    }
    if key.ends_with("any_order") {
        found.sort_by_key(|one| one["hook"].to_string());
    }
    check.equals(key, &Value::Array(found));
}

fn ids(step: &Value) -> Vec<String> {
    let many = step.get("hooks").and_then(Value::as_array).into_iter().flatten();
    let one = step.get("hook").into_iter();
    many.chain(one).filter_map(Value::as_str).map(str::to_owned).collect()
}

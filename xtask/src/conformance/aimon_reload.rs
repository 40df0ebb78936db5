//! Cases of `aimon/reload`: other hook files under an engine that runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use hook_engine::config::{LoadRequest, StdFiles, load};
use hook_engine::core::{
    Answer, DialectId, Event, EventKind, HostContext, Layer, MemoryFiles, Observer, Outcome, RewakeMissed,
    RewakeSpec, RewakeTrigger,
};
use hook_engine::mapper::Dialects;
use hook_engine::registry::watch::Timing;
use hook_engine::rewake::envelope::{Envelope, Snapshot};
use hook_engine::rewake::store::{Filter, MemoryStore, RewakeStore};
use hook_engine::{Engine, Reload};
use serde_json::{Map, Value, json};

use super::{aimon_config, world};
use crate::check::Check;

const AGENT: DialectId = DialectId("aimon");

/// Files of a tree by their paths in the case.
type Tree = BTreeMap<PathBuf, String>;

fn tree(check: &Check<'_>, when: &str) -> Tree {
    let given = check.given_value(when);
    let files = given["files"].as_object().cloned().unwrap_or_default();
    let path = |name: &String| PathBuf::from(world::path(name, world::PROJECT, world::HOME));
    files.iter().map(|(name, text)| (path(name), text.as_str().unwrap_or_default().to_owned())).collect()
}

/// Keeps what hooks were told of reloads.
#[derive(Default)]
struct Events(Mutex<Vec<Value>>);

impl Observer for Events {
    fn decided(&self, event: &Event, _: &Outcome) {
        if event.kind == EventKind::ConfigReload {
            let told = Value::Object(event.fields.clone());
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(told);
        }
    }
}

pub(super) fn reload(check: &mut Check<'_>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        if check.given("edits").is_some() {
            return burst(check).await;
        }
        let (before, after) = (tree(check, "before"), tree(check, "after"));
        let at = |tree: &Tree| {
            let files =
                tree.iter().fold(MemoryFiles::new(), |files, (path, text)| files.with(path, text.as_str()));
            world::load_tree(&files, AGENT, Map::new())
        };
        let refused = check.given("fail_register_number").and_then(Value::as_u64);
        let store = Arc::new(MemoryStore::new());
        let events = Arc::new(Events::default());
        let mut builder = Engine::builder(world::host())
            .documents(at(&before).documents)
            .rewake(store.clone())
            .observer(events.clone());
        if let Some(number) = refused {
            builder = builder.reload_check(move |hooks| match hooks.len() as u64 >= number {
                true => Err(format!("number {number} is refused")),
                false => Ok(()),
            });
        }
        let engine = builder.build();
        let mut registered = Vec::new();
        for hook in check.given("programmatic").and_then(Value::as_array).into_iter().flatten() {
            let id = hook["id"].as_str().context("a hook in code without id")?;
            registered.push(engine.register(EventKind::PreToolUse, None, id, |_| Answer::default()));
        }
        let pending = pending(check, &engine, &store).await?;
        let source = after.keys().chain(before.keys()).find(|path| before.get(*path) != after.get(*path));
        let reload = engine.reload(&at(&after), source.map(PathBuf::as_path)).await;
        let told =
            events.0.lock().unwrap_or_else(PoisonError::into_inner).first().cloned().unwrap_or_default();
        finish(check, &engine, &told);
        let of_code = |hook: &&Arc<hook_engine::core::Hook>| hook.origin.layer == Layer::Code;
        let generation = engine.generation();
        let code: Vec<&str> =
            generation.hooks().iter().filter(of_code).map(|hook| hook.id.as_str()).collect();
        check.equals("programmatic", &json!(code));
        check.equals("cancelled", &cancelled(&reload, &pending));
        check.equals("pending_after", &json!(store.list(&Filter::default()).await?.len()));
        Ok(())
    })
}

/// Puts the envelopes of the case into the store: what they are of, by hook.
async fn pending(check: &Check<'_>, engine: &Engine, store: &MemoryStore) -> Result<BTreeMap<String, Value>> {
    let dialect = world::dialect(AGENT.0)?;
    let mut known = BTreeMap::new();
    for one in check.given("pending").and_then(Value::as_array).into_iter().flatten() {
        let generation = engine.generation();
        let fits = |value: &Value| value["source"] == one["source"] && value["hook_id_suffix"] == one["hook"];
        let hook = generation
            .hooks()
            .iter()
            .find(|hook| fits(&aimon_config::describe(dialect.as_ref(), hook, None)))
            .context("no such hook to wait")?;
        let spec = RewakeSpec {
            trigger: RewakeTrigger::Delay(Duration::from_secs(3600)),
            timeout: RewakeSpec::DEFAULT_TIMEOUT,
            max_attempts: 1,
            payload: BTreeMap::new(),
            reason: "pending".to_owned(),
            missed: RewakeMissed::default(),
            hold: false,
        };
        let snapshot = Snapshot {
            dialect: AGENT.0.to_owned(),
            session: None,
            payload: "{}".to_owned(),
            event: 0,
            host: "".into(),
        };
        let (spec, snapshot) = (Arc::new(spec), Arc::new(snapshot));
        let envelopes = (0..one["count"].as_u64().unwrap_or(1)).map(|number| Envelope {
            id: format!("{}-{number}", hook.id.as_str()).into(),
            chain: "chain".into(),
            context: "c".into(),
            hook: hook.id.as_str().into(),
            spec: spec.clone(),
            snapshot: snapshot.clone(),
            attempt: 1,
            first_scheduled: 0,
            due: Some(i64::MAX),
            brought: BTreeMap::new(),
        });
        store.put(envelopes.collect(), None).await?;
        known.insert(hook.id.as_str().to_owned(), one.clone());
    }
    Ok(known)
}

/// What was cancelled, in the words of the case.
fn cancelled(reload: &Reload, pending: &BTreeMap<String, Value>) -> Value {
    let gone = reload.vanished.iter().filter_map(|id| pending.get(id.as_str()).cloned());
    let all = gone.map(|mut one| {
        one["count"] = json!(reload.cancelled);
        one
    });
    Value::Array(all.collect())
}

/// Compares the event and the hooks in force.
fn finish(check: &mut Check<'_>, engine: &Engine, told: &Value) {
    if let Some(expected) = check.expected("event").and_then(Value::as_object).cloned() {
        let mut actual = Map::new();
        for name in expected.keys() {
            let value = match name.as_str() {
                "failure_reason_nonempty" => {
                    json!(told["failure_reason"].as_str().is_some_and(|reason| !reason.is_empty()))
                }
                name => told[name].clone(),
            };
            actual.insert(name.clone(), value);
        }
        check.equals("event", &Value::Object(actual));
    }
    let Some(expected) = check.expected("handlers").and_then(Value::as_array).cloned() else { return };
    let Ok(dialect) = world::dialect(AGENT.0) else { return };
    let generation = engine.generation();
    let files = generation.hooks().iter().filter(|hook| hook.origin.layer != Layer::Code);
    let mut found = aimon_config::described(dialect.as_ref(), files, None);
    for (one, wanted) in found.iter_mut().zip(&expected) {
        if let (Some(one), Some(wanted)) = (one.as_object_mut(), wanted.as_object()) {
            one.retain(|name, _| wanted.contains_key(name));
        }
    }
    check.equals("handlers", &Value::Array(found));
}

/// Real files, edited several times while they are watched.
async fn burst(check: &mut Check<'_>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let place = move |path: &Path| {
        let inside = path.strip_prefix("/").unwrap_or(path);
        root.join(inside)
    };
    let write = |tree: &Tree| -> Result<()> {
        for (path, text) in tree {
            let path = place(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(())
    };
    let (before, after) = (tree(check, "before"), tree(check, "after"));
    write(&before)?;
    let mut host = HostContext::new(place(Path::new(world::PROJECT)));
    host.home = Some(place(Path::new(world::HOME)));
    let events = Arc::new(Events::default());
    let engine = Engine::builder(host.clone()).observer(events.clone()).build();
    let millis = |name: &str| Duration::from_millis(check.given(name).and_then(Value::as_u64).unwrap_or(100));
    let timing =
        Timing { poll: millis("poll_ms"), quiet: millis("debounce_ms"), longest: Duration::from_secs(5) };
    let gap = millis("edit_gap_ms");
    let edits = check.given("edits").and_then(Value::as_u64).unwrap_or(1);
    let reloads = Arc::new(AtomicUsize::new(0));
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let count = reloads.clone();
    let _watching = engine.watch(
        Arc::new(StdFiles),
        timing,
        move |files| load(&LoadRequest::new(&host, files, &Dialects::standard())),
        move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = tell.send(());
        },
    );
    for edit in 1..=edits {
        tokio::time::sleep(gap).await;
        let blanks = "\n".repeat(usize::try_from(edits - edit)?);
        write(&after.iter().map(|(path, text)| (path.clone(), format!("{text}{blanks}"))).collect())?;
    }
    tokio::time::timeout(Duration::from_secs(10), told.recv()).await.context("no reload came")?;
    // A second one would come within the quiet time and a look.
    tokio::time::sleep(timing.quiet * 2 + timing.poll * 2).await;
    check.equals("reloads", &json!(reloads.load(Ordering::Relaxed)));
    let event = events.0.lock().unwrap_or_else(PoisonError::into_inner).first().cloned().unwrap_or_default();
    finish(check, &engine, &event);
    Ok(())
}

//! Envelopes of hooks that wait, and hook files that change under an engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use hook_engine::Engine;
use hook_engine::config::{LoadRequest, StdFiles, load};
use hook_engine::core::{Clock, Files, HostContext, RewakeMissed, RewakeSpec, RewakeTrigger, SystemClock};
use hook_engine::mapper::Dialects;
use hook_engine::registry::watch::Timing;
use hook_engine::rewake::envelope::{Envelope, Snapshot};
use hook_engine::rewake::scheduler::{Scheduler, Waker, Woken};
use hook_engine::rewake::store::{Claim, Filter, MemoryStore, RewakeStore, SqliteStore};
use serde_json::json;

use super::{Row, typical};

/// What a hook and an event have in common for all of their envelopes.
struct Shared(Arc<RewakeSpec>, Arc<Snapshot>);

impl Shared {
    fn new() -> Shared {
        let spec = RewakeSpec {
            trigger: RewakeTrigger::Delay(Duration::from_secs(3600)),
            timeout: RewakeSpec::DEFAULT_TIMEOUT,
            max_attempts: 3,
            payload: BTreeMap::from([("ticket".to_owned(), "x".repeat(58))]),
            reason: "bench".to_owned(),
            missed: RewakeMissed::default(),
            hold: false,
        };
        let snapshot = Snapshot {
            dialect: "native".to_owned(),
            session: Some("s".to_owned()),
            payload: json!({"event": "PreToolUse", "data": {"tool_name": "Bash", "tool_input": {"command": "x".repeat(2000)}}}).to_string(),
            event: 0,
            host: "".into(),
        };
        Shared(Arc::new(spec), Arc::new(snapshot))
    }

    fn batch(&self, first: u64, size: u64) -> Vec<Envelope> {
        let (context, hook): (Arc<str>, Arc<str>) = ("native s".into(), "guard".into());
        let one = |number: u64| {
            let id: Arc<str> = format!("rw-{number:024x}").into();
            Envelope {
                id: id.clone(),
                chain: id,
                context: context.clone(),
                hook: hook.clone(),
                spec: self.0.clone(),
                snapshot: self.1.clone(),
                attempt: 1,
                first_scheduled: 0,
                due: i64::try_from(number * 7919 % 1_000_003).ok(),
                brought: BTreeMap::new(),
            }
        };
        (first..first + size).map(one).collect()
    }
}

/// Memory of this process, in bytes; `None` where the system does not tell.
fn resident() -> Option<f64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').nth(1)?.parse::<f64>().ok()? * 4096.0)
}

pub(super) fn measure(rows: &mut Vec<Row>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        envelopes(rows).await?;
        lateness(rows).await?;
        reload(rows).await
    })
}

async fn envelopes(rows: &mut Vec<Row>) -> Result<()> {
    const MANY: u64 = 1_000_000;
    const BATCH: u64 = 1000;
    let shared = Shared::new();
    let store = MemoryStore::new();
    let before = resident();
    let mut taken = Duration::ZERO;
    for first in (0..MANY).step_by(BATCH as usize) {
        let batch = shared.batch(first, BATCH);
        let begun = Instant::now();
        store.put(batch, None).await?;
        taken += begun.elapsed();
    }
    if let Some((before, after)) = before.zip(resident()) {
        let each = (after - before) / MANY as f64;
        rows.push(Row {
            work: "one of 1,000,000 pending envelopes in memory",
            measured: each,
            budget: 512.0,
            unit: "B",
        });
    }
    let each = taken.as_secs_f64() * 1e6 / MANY as f64;
    rows.push(Row { work: "scheduling one of them", measured: each, budget: 5.0, unit: "us" });
    drop(store);

    let folder = tempfile::tempdir()?;
    let store = SqliteStore::new(folder.path().join("rewakes.db"));
    let mut batches = Vec::new();
    for first in (0..30 * BATCH).step_by(BATCH as usize) {
        let batch = shared.batch(first, BATCH);
        let begun = Instant::now();
        store.put(batch, None).await?;
        batches.push(begun.elapsed());
    }
    let each = typical(batches) * 1e6 / BATCH as f64;
    rows.push(Row {
        work: "scheduling one durably, in batches of 1,000",
        measured: each,
        budget: 100.0,
        unit: "us",
    });
    Ok(())
}

/// Notes how much later than planned it was called, and does nothing.
struct Late(Mutex<Vec<i64>>);

#[async_trait::async_trait]
impl Waker for Late {
    async fn wake(&self, claim: &Claim) -> Woken {
        let now = SystemClock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(now - claim.planned * 1000);
        Woken::Fired(Vec::new())
    }
}

/// A thousand wake-ups a second, for three seconds.
async fn lateness(rows: &mut Vec<Row>) -> Result<()> {
    const MANY: i64 = 3000;
    let shared = Shared::new();
    let store = Arc::new(MemoryStore::new());
    let scheduler = Scheduler::new(store.clone(), Arc::new(SystemClock));
    let start = scheduler.now() + 200;
    let mut all = shared.batch(0, MANY.unsigned_abs());
    for (envelope, millisecond) in all.iter_mut().zip(0..MANY) {
        (envelope.first_scheduled, envelope.due) = (start, Some(start + millisecond));
    }
    store.put(all, None).await?;
    let late = Late(Mutex::default());
    let done = async {
        while !store.list(&Filter::default()).await.is_ok_and(|pending| pending.is_empty()) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    scheduler.run(&late, done, |_| (), |_| ()).await;
    let mut all = late.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_unstable();
    let Some(p99) = all.get(all.len() * 99 / 100).filter(|_| all.len() >= 3000) else {
        bail!("{} of {MANY} hooks were woken", all.len());
    };
    rows.push(Row {
        work: "lateness of 1,000 wake-ups a second, 99th percentile",
        measured: *p99 as f64 / 1e3,
        budget: 10.0,
        unit: "ms",
    });
    Ok(())
}

async fn reload(rows: &mut Vec<Row>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let file = root.join(".hooks/hooks.json");
    std::fs::create_dir_all(root.join(".hooks"))?;
    let write = |number: u32| {
        let hooks =
            json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "deny", "reason": number.to_string()}]}]}});
        std::fs::write(&file, hooks.to_string())
    };
    write(0)?;
    let host = HostContext::new(&root);
    let engine = Engine::builder(host.clone()).build();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let read = move |files: &dyn Files| load(&LoadRequest::new(&host, files, &Dialects::standard()));
    let _watching = engine.watch(Arc::new(StdFiles), Timing::default(), read, move |reload| {
        let _ = tell.send(reload.failure.clone());
    });
    let mut taken = Vec::new();
    for number in 1..=10 {
        let begun = Instant::now();
        write(number)?;
        let failure =
            tokio::time::timeout(Duration::from_secs(10), told.recv()).await.context("no reload")?;
        taken.push(begun.elapsed());
        if let Some(Some(failure)) = failure {
            bail!("{failure}");
        }
    }
    rows.push(Row {
        work: "a saved file in force",
        measured: typical(taken) * 1e3,
        budget: 300.0,
        unit: "ms",
    });
    Ok(())
}

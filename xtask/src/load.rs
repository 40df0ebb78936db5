//! Events beside hook files that change all the time: every event sees one whole set of hooks, none fails, none waits.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hook_engine::Engine;
use hook_engine::config::{LoadRequest, StdFiles, load};
use hook_engine::core::{EventHint, Files, Handler, HostContext, Incoming, Payload};
use hook_engine::mapper::Dialects;
use hook_engine::registry::watch::Timing;
use serde_json::json;

/// Events a second.
const RATE: u32 = 200;

/// Between two changes of the file.
const CHANGE: Duration = Duration::from_millis(100);

/// Hooks of a set; every one of them tells the set's number.
const HOOKS: usize = 20;

/// An event runs no process and waits for nobody. One that takes so long was held up; a busy machine takes some of it.
pub const LONGEST: Duration = Duration::from_millis(50);

/// The file: a set of hooks that all say the same number. Half of the time it is replaced, half of the time written over.
fn write(file: &Path, number: u64) -> Result<()> {
    let hooks: Vec<_> = (0..HOOKS)
        .map(|n| json!({"type": "deny", "id": format!("h{n}"), "reason": number.to_string()}))
        .collect();
    let text = json!({"hooks": {"PreToolUse": [{"hooks": hooks}]}}).to_string();
    if number.is_multiple_of(2) {
        let aside = file.with_extension("new");
        std::fs::write(&aside, text)?;
        std::fs::rename(aside, file)?;
    } else {
        std::fs::write(file, text)?;
    }
    Ok(())
}

#[derive(Default)]
struct Seen {
    events: u64,
    sets: u64,
    slowest: Duration,
}

/// Runs for so long, and says what it saw. No event may take longer than `longest`.
///
/// # Errors
/// An event saw hooks of two sets, or none, or was held up; or no change came into force.
pub fn run(time: Duration, longest: Duration) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        let file = root.join(".hooks/hooks.json");
        std::fs::create_dir_all(root.join(".hooks"))?;
        write(&file, 0)?;
        let host = HostContext::new(&root);
        let engine = Engine::builder(host.clone()).build();
        let (good, failed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (count_good, count_failed) = (good.clone(), failed.clone());
        let read = move |files: &dyn Files| load(&LoadRequest::new(&host, files, &Dialects::standard()));
        // Without a time of quiet a file that is written all the time would never be looked at.
        let timing = Timing { quiet: Duration::from_millis(20), longest: Duration::from_millis(80), ..Timing::default() };
        let watching = engine.watch(Arc::new(StdFiles), timing, read, move |reload| {
            let count = if reload.failure.is_none() { &count_good } else { &count_failed };
            count.fetch_add(1, Ordering::Relaxed);
        });
        let until = Instant::now() + time;
        let writer = tokio::task::spawn_blocking(move || {
            let mut number = 0;
            while Instant::now() < until {
                std::thread::sleep(CHANGE);
                number += 1;
                write(&file, number)?;
            }
            Ok::<_, anyhow::Error>(number)
        });
        let seen = events(&engine, until).await?;
        let written = writer.await??;
        watching.stop();
        let (good, failed) = (good.load(Ordering::Relaxed), failed.load(Ordering::Relaxed));
        println!(
            "{} events beside {written} changes in {} s: {} sets seen, {good} reloads, {failed} of half-written files refused, slowest event {:.2} ms",
            seen.events,
            time.as_secs_f64(),
            seen.sets,
            seen.slowest.as_secs_f64() * 1e3
        );
        if seen.sets < written / 4 {
            bail!("{written} sets were written and {} seen", seen.sets);
        }
        if seen.slowest > longest {
            bail!("an event took {:?}", seen.slowest);
        }
        Ok(())
    })
}

/// Fires events at the rate until then.
async fn events(engine: &Engine, until: Instant) -> Result<Seen> {
    let payload = json!({"event": "PreToolUse", "session_id": "s", "data": {"tool_name": "Bash", "tool_input": {"command": "ls"}}});
    let Some(dialect) = engine.dialects().find("native").cloned() else { bail!("no native dialect") };
    let incoming: Incoming = dialect.read(Payload::from_value(payload), &EventHint::default())?;
    let mut every = tokio::time::interval(Duration::from_secs(1) / RATE);
    let (mut seen, mut last) = (Seen::default(), String::new());
    while Instant::now() < until {
        every.tick().await;
        let begun = Instant::now();
        let outcome = engine.dispatch(&incoming).await;
        seen.slowest = seen.slowest.max(begun.elapsed());
        seen.events += 1;
        // Behind the first one that denies nobody is asked any more; which hooks were chosen shows all the same.
        let told = outcome.runs.iter().filter_map(|run| match &run.hook.handler {
            Handler::Deny { reason } => Some(reason.as_str()),
            _ => None,
        });
        let told: Vec<&str> = told.collect();
        let decided = outcome.answer.reason.as_deref();
        let Some(first) = told.first().filter(|first| told.len() == HOOKS && decided == Some(**first)) else {
            bail!("an event saw {} hooks of {HOOKS}, and was decided by {decided:?}", told.len());
        };
        if told.iter().any(|one| one != first) {
            bail!("an event saw hooks of several sets: {told:?}");
        }
        if *first != last {
            seen.sets += 1;
            last = (*first).to_owned();
        }
    }
    Ok(seen)
}

/// A short run, as a step of CI, whose machine may be busy with something else.
///
/// # Errors
/// As [`run`].
pub fn step() -> Result<()> {
    run(Duration::from_secs(2), Duration::from_secs(2))
}

//! Processes that schedule, resolve and wake hooks on one store, and are killed in the middle of it, again and again: nothing is lost,
//! nothing is woken more often than it may be, and what is woken twice says so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hook_engine::core::{RewakeMissed, RewakeSpec, RewakeTrigger, SystemClock};
use hook_engine::rewake::envelope::Snapshot;
use hook_engine::rewake::scheduler::{Scheduled, Scheduler, Waker, Wish, Woken};
use hook_engine::rewake::store::{Claim, Filter, SqliteStore};

/// Wake-ups of one chain.
const ATTEMPTS: u32 = 2;

/// Short, so that what a killed process claimed comes back soon.
const LEASE: Duration = Duration::from_millis(60);

/// How long the rest may take once nobody is killed any more.
const REST: Duration = Duration::from_secs(20);

/// What a process did, line by line. A line is written at once or not at all.
struct Log(File);

impl Log {
    fn open(folder: &Path) -> Result<Log> {
        Ok(Log(OpenOptions::new().create(true).append(true).open(folder.join("log"))?))
    }

    fn line(&self, words: &[&str]) {
        // Without its log a run proves nothing; the parent sees that something is missing.
        let _ = (&self.0).write_all(format!("{}\n", words.join("\t")).as_bytes());
    }
}

struct Noting(Log);

#[async_trait::async_trait]
impl Waker for Noting {
    async fn wake(&self, claim: &Claim) -> Woken {
        let envelope = &claim.envelope;
        self.0.line(&["woken", &envelope.id, &envelope.attempt.to_string(), &claim.fire_id()]);
        Woken::Fired(vec![envelope.spec.clone()])
    }
}

fn scheduler(folder: &Path) -> Scheduler {
    let store = Arc::new(SqliteStore::new(folder.join("rewakes.db")));
    Scheduler::new(store, Arc::new(SystemClock)).lease(LEASE)
}

fn wish(trigger: RewakeTrigger) -> Wish {
    let spec = RewakeSpec {
        trigger,
        timeout: Duration::from_secs(3600),
        max_attempts: ATTEMPTS,
        payload: BTreeMap::new(),
        reason: "crash".to_owned(),
        missed: RewakeMissed::default(),
        hold: false,
    };
    let snapshot = Snapshot {
        dialect: "native".to_owned(),
        session: None,
        payload: "{}".to_owned(),
        event: 0,
        host: "".into(),
    };
    Wish { context: "c".into(), hook: "h".into(), spec: Arc::new(spec), snapshot: Arc::new(snapshot) }
}

fn event(key: u64) -> RewakeTrigger {
    RewakeTrigger::Event { kind: "crash".to_owned(), key: key.to_string() }
}

/// Keys that envelopes wait for.
const KEYS: u64 = 8;

/// Works until it is killed.
///
/// # Errors
/// The store or the log fails.
pub fn work(folder: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let scheduler = scheduler(folder);
        let (log, noting) = (Log::open(folder)?, Noting(Log::open(folder)?));
        loop {
            let delay = RewakeTrigger::Delay(Duration::from_millis(fastrand::u64(1..20)));
            let wishes = vec![wish(delay), wish(event(fastrand::u64(..KEYS)))];
            for scheduled in scheduler.schedule(wishes).await? {
                let Scheduled::Pending(id) = scheduled else { bail!("a wish was dropped") };
                log.line(&["scheduled", &id]);
            }
            scheduler.resolve("crash", &fastrand::u64(..KEYS).to_string(), &BTreeMap::new()).await?;
            scheduler.tick(&noting).await?;
        }
    })
}

/// Two processes at a time, `rounds` times, each killed at a moment that chance picks.
///
/// # Errors
/// Something was lost, was woken too often, or was woken twice without saying so.
pub fn run(rounds: u32) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let own = std::env::current_exe()?;
    for _ in 0..rounds {
        let start = || {
            let mut command = Command::new(&own);
            command.arg("crash").arg("--work").arg(folder.path()).stdout(Stdio::null()).spawn()
        };
        let mut working = [start()?, start()?];
        std::thread::sleep(Duration::from_millis(fastrand::u64(5..60)));
        for child in &mut working {
            if let Some(status) = child.try_wait()? {
                bail!("a process ended by itself: {status}");
            }
            child.kill()?;
            child.wait()?;
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(judge(folder.path(), rounds))
}

async fn judge(folder: &Path, rounds: u32) -> Result<()> {
    let scheduler = scheduler(folder);
    let noting = Noting(Log::open(folder)?);
    let until = Instant::now() + REST;
    while !scheduler.store().list(&Filter::default()).await?.is_empty() {
        if Instant::now() > until {
            bail!("what was left is still pending after {} s", REST.as_secs());
        }
        for key in 0..KEYS {
            scheduler.resolve("crash", &key.to_string(), &BTreeMap::new()).await?;
        }
        scheduler.tick(&noting).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let log = std::fs::read_to_string(folder.join("log")).context("the log")?;
    let mut scheduled = BTreeSet::new();
    let mut woken: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    for line in log.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["scheduled", id] => drop(scheduled.insert(id)),
            ["woken", id, attempt, fire] => woken.entry(id).or_default().push((attempt.parse()?, fire)),
            _ => bail!("the log has a line that nobody wrote: {line:?}"),
        }
    }
    let records = scheduler.store().records(&Filter::default(), usize::MAX).await?;
    let ended: BTreeSet<&str> = records.iter().map(|record| &*record.id).collect();
    let mut twice = 0_u64;
    for (id, fires) in &woken {
        if let Some((attempt, _)) = fires.iter().find(|(attempt, _)| *attempt > ATTEMPTS) {
            bail!("{id} was woken for the {attempt}th time of {ATTEMPTS}");
        }
        if fires.iter().any(|fire| fire != &fires[0]) {
            bail!("{id} was woken more than once, and told as different wake-ups: {fires:?}");
        }
        twice += u64::from(fires.len() > 1);
    }
    if let Some(lost) = scheduled.iter().find(|id| !ended.contains(**id)) {
        bail!("{lost} was scheduled and has no end");
    }
    if let Some(lost) = woken.keys().find(|id| !ended.contains(**id)) {
        bail!("{lost} was woken and has no end");
    }
    println!(
        "{rounds} rounds: {} scheduled, {} woken, {} of them more than once with one fire_id, {} ends, none lost",
        scheduled.len(),
        woken.len(),
        twice,
        ended.len()
    );
    Ok(())
}

/// A few rounds, as a step of CI.
///
/// # Errors
/// As [`run`].
pub fn step() -> Result<()> {
    run(25)
}

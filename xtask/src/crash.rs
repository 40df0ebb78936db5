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
use hook_engine::rewake::store::{Claim, Filter, PostgresStore, RewakeStore, SqliteStore};

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

/// The store that processes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// A database in a file.
    Sqlite,
    /// The database that `HOOK_TEST_POSTGRES_URL` names.
    Postgres,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Sqlite => "sqlite",
            Kind::Postgres => "postgres",
        }
    }

    fn store(self, folder: &Path) -> Result<Arc<dyn RewakeStore>> {
        Ok(match self {
            Kind::Sqlite => Arc::new(SqliteStore::new(folder.join("rewakes.db"))),
            Kind::Postgres => Arc::new(PostgresStore::new(&url()?)?.schema(schema(folder))),
        })
    }

    fn scheduler(self, folder: &Path) -> Result<Scheduler> {
        Ok(Scheduler::new(self.store(folder)?, Arc::new(SystemClock)).lease(LEASE))
    }
}

/// Where the tests' PostgreSQL is.
const URL: &str = "HOOK_TEST_POSTGRES_URL";

fn url() -> Result<String> {
    std::env::var(URL).with_context(|| format!("{URL} names no database; `.ci/postgres COMMAND` starts one"))
}

/// A schema of its own for each run.
fn schema(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    format!("hook_crash_{}", letters.collect::<String>())
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

/// Leaves the database as it was. What a failed run has left stays, to be looked at.
async fn drop_schema(name: &str) -> Result<()> {
    let (client, connection) = tokio_postgres::connect(&url()?, tokio_postgres::NoTls).await?;
    let running = tokio::spawn(connection);
    client.batch_execute(&format!("DROP SCHEMA {name} CASCADE")).await?;
    drop(client);
    Ok(running.await??)
}

/// Works until it is killed.
///
/// # Errors
/// The store or the log fails.
pub fn work(folder: &Path, kind: Kind) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let scheduler = kind.scheduler(folder)?;
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
pub fn run(rounds: u32, kind: Kind) -> Result<()> {
    let folder = tempfile::tempdir()?;
    // Somebody has to be there before both are killed while they connect.
    let extra = if kind == Kind::Postgres { Duration::from_millis(30) } else { Duration::ZERO };
    let own = std::env::current_exe()?;
    for _ in 0..rounds {
        let start = || {
            let mut command = Command::new(&own);
            command.args(["crash", "--store", kind.word(), "--work"]).arg(folder.path());
            command.stdout(Stdio::null()).spawn()
        };
        let mut working = [start()?, start()?];
        std::thread::sleep(Duration::from_millis(fastrand::u64(5..60)) + extra);
        for child in &mut working {
            if let Some(status) = child.try_wait()? {
                bail!("a process ended by itself: {status}");
            }
            child.kill()?;
            child.wait()?;
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        judge(folder.path(), rounds, kind).await?;
        if kind == Kind::Postgres {
            drop_schema(&schema(folder.path())).await?;
        }
        Ok(())
    })
}

async fn judge(folder: &Path, rounds: u32, kind: Kind) -> Result<()> {
    let scheduler = kind.scheduler(folder)?;
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
        "{rounds} rounds on {}: {} scheduled, {} woken, {} of them more than once with one fire_id, {} ends, none lost",
        kind.word(),
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
    run(25, Kind::Sqlite)?;
    match std::env::var_os(URL) {
        Some(_) => run(10, Kind::Postgres),
        None => {
            println!("skipped on postgres: {URL} names no database");
            Ok(())
        }
    }
}

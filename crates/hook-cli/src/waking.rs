//! Waking hooks from the command: where envelopes are kept, and how a later process finds their hooks again.
//!
//! Without a server every process of the command wakes what is due, after it has given its own answer.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use hook_engine::core::{DialectId, HostContext};
use hook_engine::mapper::Dialects;
use hook_engine::rewake::scheduler::{Round, Scheduler, Waker, Woken};
use hook_engine::rewake::store::{Claim, SqliteStore, StoreError};
use hook_engine::{BackgroundMode, Engine, EngineBuilder};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::args::SourceArgs;
use crate::error::CliError;
use crate::session::Parts;
use crate::world::World;
use crate::{output, session};

/// Pending envelopes of one session, at most.
pub(crate) const QUOTA: u32 = 64;

/// How long records are kept.
pub(crate) const KEPT: i64 = 7 * 24 * 3_600_000;

/// What a later process needs to read the same hook files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Wiring {
    pub(crate) agent: String,
    pub(crate) project: PathBuf,
    #[serde(flatten)]
    pub(crate) sources: SourceArgs,
}

impl Wiring {
    /// The wiring that stands in an envelope.
    pub(crate) fn read(text: &str) -> Result<Wiring, CliError> {
        serde_json::from_str(text)
            .map_err(|error| CliError::data(format!("the wiring of an envelope cannot be read: {error}")))
    }
}

/// Keeps the wishes of hooks for later.
#[derive(Debug, Clone)]
pub(crate) struct Waking {
    store: SqliteStore,
    wiring: Arc<str>,
}

/// The store of this user; `None` where there is no place for it.
pub(crate) fn store(host: &HostContext) -> Option<SqliteStore> {
    host.state.as_ref().map(|state| SqliteStore::new(state.join("rewakes.db")))
}

impl Waking {
    /// For hooks of these files, fired by this agent. The files are named from anywhere ([`session::absolute`]).
    pub(crate) fn of(host: &HostContext, agent: DialectId, sources: &SourceArgs) -> Option<Waking> {
        wired(store(host)?, host, agent, sources)
    }

    /// For many engines on one store; nothing is kept before [`Waking::shared`] says for whom.
    pub(crate) fn on_store(store: SqliteStore) -> Waking {
        Waking { store, wiring: "".into() }
    }

    /// The same store for these files, where their host keeps its envelopes there.
    pub(crate) fn shared(
        &self,
        host: &HostContext,
        agent: DialectId,
        sources: &SourceArgs,
    ) -> Option<Waking> {
        let own = store(host)?;
        let store = if own.path() == self.store.path() { self.store.clone() } else { own };
        wired(store, host, agent, sources)
    }

    /// The engine keeps wishes here.
    pub(crate) fn on(self, builder: EngineBuilder) -> EngineBuilder {
        builder.rewake(Arc::new(self.store)).rewake_quota(QUOTA).rewake_note(self.wiring)
    }

    /// Starts a process that wakes what is due, and does not wait for it.
    pub(crate) fn start_if_due(&self) {
        let due = match self.store.glance() {
            Ok(next) => next.is_some_and(|at| at <= now()),
            Err(error) => return output::words(&format!("hook: no hook is woken: {error}\n")),
        };
        if !due {
            return;
        }
        let started = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            command.args(["rewake", "tick"]);
            // The agent waits until its pipes are closed; nobody reads what this one would say.
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn()
        });
        if let Err(error) = started {
            output::words(&format!("hook: hooks that are due could not be woken: {error}\n"));
        }
    }
}

fn wired(store: SqliteStore, host: &HostContext, agent: DialectId, sources: &SourceArgs) -> Option<Waking> {
    let wiring =
        Wiring { agent: agent.0.to_owned(), project: host.project.clone(), sources: sources.clone() };
    let wiring = serde_json::to_string(&wiring).ok()?.into();
    Some(Waking { store, wiring })
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.ok().and_then(|time| i64::try_from(time.as_millis()).ok()).unwrap_or(0)
}

/// Engines by the wiring of the envelopes that they wake.
struct Engines {
    store: SqliteStore,
    made: Mutex<HashMap<Arc<str>, Engine>>,
}

impl Engines {
    fn make(&self, wiring: &str) -> Result<Engine, CliError> {
        let wiring = Wiring::read(wiring)?;
        let dialects = Dialects::standard();
        let agent = session::dialect(&dialects, &wiring.agent)?.profile().id;
        let host = World::of_process().host_at(wiring.project.clone());
        let loaded = session::load_files(&host, &dialects, &wiring.sources, Some(agent))?;
        let sessions = session::sessions(&host);
        let waking = Waking {
            store: self.store.clone(),
            wiring: serde_json::to_string(&wiring).unwrap_or_default().into(),
        };
        Ok(session::engine(Parts {
            host,
            dialects,
            loaded: &loaded,
            sources: &wiring.sources,
            only: None,
            sessions,
            background: BackgroundMode::Await,
            confirms: false,
            waking: Some(waking),
            spool: None,
            observer: None,
        }))
    }
}

#[async_trait]
impl Waker for Engines {
    async fn wake(&self, claim: &Claim) -> Woken {
        let wiring = &claim.envelope.snapshot.host;
        let engine = {
            let mut made = self.made.lock().await;
            match made.get(wiring) {
                Some(engine) => engine.clone(),
                None => match self.make(wiring) {
                    Ok(engine) => made.entry(wiring.clone()).or_insert(engine).clone(),
                    Err(error) => return Woken::Dropped(error.to_string()),
                },
            }
        };
        engine.wake(claim).await
    }
}

/// Wakes everything that is due, in every project of this user, and forgets old records. `None` where a signal ended it: what was
/// claimed comes back.
pub(crate) fn tick(host: &HostContext, store: SqliteStore) -> Result<Option<Round>, CliError> {
    let scheduler = Scheduler::new(Arc::new(store.clone()), host.clock.clone()).quota(QUOTA);
    let engines = Engines { store, made: Mutex::default() };
    let ticked = session::block_on(async {
        let round = scheduler.tick(&engines).await?;
        scheduler.store().forget(scheduler.now() - KEPT).await?;
        for engine in engines.made.lock().await.values() {
            engine.close().await;
        }
        Ok::<_, StoreError>(round)
    })?;
    ticked.transpose().map_err(failed)
}

/// A failing store, for people.
pub(crate) fn failed(error: StoreError) -> CliError {
    CliError::io("envelopes", std::io::Error::other(error))
}

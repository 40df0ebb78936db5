//! Engines that are kept: one for each agent, project, wiring and environment, so that each decides what a process of its own would.
//!
//! Before an event is answered the files behind its engine are looked at. What has changed by then counts for it already, and the
//! watcher sees to the rest: that a change is in force, and told, when no event comes.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use hook_engine::config::{Loaded, StdFiles};
use hook_engine::core::{DialectId, Files, HostContext, McpServers, Note, Observer, SessionStore};
use hook_engine::mapper::Dialects;
use hook_engine::registry::watch::{Recorder, Seen, Timing, Watch};
use hook_engine::{BackgroundMode, Engine, Reload};
use tokio::sync::{RwLock, RwLockReadGuard};
use tokio::task::JoinHandle;

use super::stamped::{Stamped, Stamps};
use crate::args::SourceArgs;
use crate::error::CliError;
use crate::output;
use crate::session::{self, Parts};
use crate::waking::{Waking, Wiring};

/// Engines that are kept at most; the one that was not needed for the longest time makes room.
const MOST: usize = 32;

/// An engine that nobody needed for so long is closed.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// What tells one engine from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) agent: DialectId,
    pub(crate) project: PathBuf,
    pub(crate) sources: SourceArgs,
    environment: BTreeMap<OsString, OsString>,
    program: Option<PathBuf>,
}

impl Key {
    pub(crate) fn new(agent: DialectId, host: &HostContext, sources: &SourceArgs) -> Key {
        Key {
            agent,
            project: host.project.clone(),
            sources: sources.clone(),
            environment: host.environment.clone(),
            program: host.hook_command.clone(),
        }
    }
}

/// Hears of reloads.
pub(crate) type Listener = dyn Fn(&Key, &Reload) + Send + Sync;

/// All engines of a server.
pub(crate) struct Warms {
    dialects: Dialects,
    waking: Waking,
    made: Mutex<HashMap<Key, Arc<Warm>>>,
    listener: Arc<Listener>,
}

/// An engine, and what it was made of.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) engine: Engine,
    /// What was read last; newer than the engine where it could not be put in force.
    pub(crate) loaded: Arc<Loaded>,
    servers: Arc<McpServers>,
    stamps: Arc<Stamps>,
    seen: Arc<Seen>,
}

/// One engine that is kept.
pub(crate) struct Warm {
    key: Key,
    host: HostContext,
    dialects: Dialects,
    waking: Option<Waking>,
    pub(crate) sessions: Arc<dyn SessionStore>,
    current: Mutex<Current>,
    /// Who holds it reads files.
    reading: Mutex<()>,
    used: Mutex<Instant>,
    listener: Arc<Listener>,
    watching: Mutex<Option<JoinHandle<()>>>,
    /// Shared by events that are at work; who has it alone may end what they use.
    at_work: RwLock<()>,
}

/// Hook files, read.
struct Read {
    loaded: Loaded,
    servers: McpServers,
    stamps: Stamps,
    seen: Seen,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these is replaced whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Warms {
    pub(crate) fn new(
        dialects: Dialects,
        waking: Waking,
        listener: impl Fn(&Key, &Reload) + Send + Sync + 'static,
    ) -> Warms {
        Warms { dialects, waking, made: Mutex::default(), listener: Arc::new(listener) }
    }

    /// The engine for this host; it is made where it is not there.
    pub(crate) fn get(&self, key: &Key, host: &HostContext) -> Result<Arc<Warm>, CliError> {
        if let Some(warm) = lock(&self.made).get(key) {
            *lock(&warm.used) = Instant::now();
            return Ok(warm.clone());
        }
        let made = Warm::make(self, key, host)?;
        let mut all = lock(&self.made);
        // Somebody else may have been faster; that one has heard events already.
        let warm = all.entry(key.clone()).or_insert_with(|| {
            made.watch();
            made.clone()
        });
        let warm = warm.clone();
        let oldest = |all: &HashMap<Key, Arc<Warm>>| {
            all.iter().min_by_key(|(_, warm)| *lock(&warm.used)).map(|(key, _)| key.clone())
        };
        while all.len() > MOST {
            let Some(warm) = oldest(&all).and_then(|key| all.remove(&key)) else { break };
            retire(warm);
        }
        Ok(warm)
    }

    /// The engine that was needed last for this agent, project and wiring, whatever its environment.
    pub(crate) fn latest(&self, agent: DialectId, project: &Path, sources: &SourceArgs) -> Option<Arc<Warm>> {
        let all = lock(&self.made);
        let fits = |warm: &&Arc<Warm>| {
            warm.key.agent == agent && warm.key.project == project && warm.key.sources == *sources
        };
        all.values().filter(fits).max_by_key(|warm| *lock(&warm.used)).cloned()
    }

    /// Closes what nobody needs. Hooks that wait for something may wait for what an MCP server tells, so that their engines stay.
    pub(crate) fn sweep(&self, waiting: &[Wiring]) {
        let mut all = lock(&self.made);
        let awaited = |key: &Key| {
            waiting.iter().any(|wiring| {
                wiring.agent == key.agent.0 && wiring.project == key.project && wiring.sources == key.sources
            })
        };
        let idle: Vec<Key> = all
            .iter()
            .filter(|(key, warm)| lock(&warm.used).elapsed() > IDLE && !awaited(key))
            .map(|(key, _)| key.clone())
            .collect();
        for warm in idle.iter().filter_map(|key| all.remove(key)) {
            retire(warm);
        }
    }

    /// What is kept: agent, project, hooks.
    pub(crate) fn list(&self) -> Vec<(DialectId, PathBuf, usize)> {
        let all = lock(&self.made);
        let hooks = |warm: &Warm| lock(&warm.current).engine.generation().hooks().len();
        all.values().map(|warm| (warm.key.agent, warm.key.project.clone(), hooks(warm))).collect()
    }

    /// Ends all of them: background hooks get `grace`, then everything that is left is ended.
    pub(crate) async fn close(&self, grace: Duration) {
        let all: Vec<Arc<Warm>> = lock(&self.made).drain().map(|(_, warm)| warm).collect();
        let closing = all.iter().map(|warm| warm.close(grace));
        futures_util::future::join_all(closing).await;
    }
}

/// Closes an engine when nothing runs in it any more.
fn retire(warm: Arc<Warm>) {
    tokio::spawn(async move {
        warm.close(IDLE).await;
    });
}

impl Warm {
    fn make(warms: &Warms, key: &Key, host: &HostContext) -> Result<Arc<Warm>, CliError> {
        let read = read(key, host, &warms.dialects)?;
        let sessions = session::sessions(host);
        let waking = warms.waking.shared(host, key.agent, &key.sources);
        let engine = engine(host, &warms.dialects, &read.loaded, &key.sources, &sessions, waking.clone());
        Ok(Arc::new(Warm {
            key: key.clone(),
            host: host.clone(),
            dialects: warms.dialects.clone(),
            waking,
            sessions,
            current: Mutex::new(Current {
                engine,
                loaded: Arc::new(read.loaded),
                servers: Arc::new(read.servers),
                stamps: Arc::new(read.stamps),
                seen: Arc::new(read.seen),
            }),
            reading: Mutex::default(),
            used: Mutex::new(Instant::now()),
            listener: warms.listener.clone(),
            watching: Mutex::default(),
            at_work: RwLock::default(),
        }))
    }

    /// The engine as its files are now.
    pub(crate) fn fresh(self: &Arc<Warm>) -> Current {
        let current = lock(&self.current).clone();
        if current.stamps.changed().is_none() {
            return current;
        }
        let reading = lock(&self.reading);
        let current = lock(&self.current).clone();
        // Somebody else has read them meanwhile.
        let Some(changed) = current.stamps.changed().map(Path::to_owned) else { return current };
        let (next, reload) = self.read_again(current, &changed);
        *lock(&self.current) = next.clone();
        drop(reading);
        if let Some((engine, reload)) = reload {
            let warm = self.clone();
            tokio::spawn(async move {
                let reload = engine.finish_reload(reload).await;
                (warm.listener)(&warm.key, &reload);
            });
        }
        next
    }

    /// What is in force once the files are read again, and what there is to tell of it.
    fn read_again(&self, current: Current, changed: &Path) -> (Current, Option<(Engine, Reload)>) {
        // The wiring could be read before. Where it cannot be now, what was read then stays.
        let Ok(read) = read(&self.key, &self.host, &self.dialects) else { return (current, None) };
        let same = current.loaded.documents == read.loaded.documents
            && current.loaded.diagnostics == read.loaded.diagnostics;
        let settled = current.loaded.settings == read.loaded.settings && *current.servers == read.servers;
        let loaded = Arc::new(read.loaded);
        let mut next = Current {
            engine: current.engine.clone(),
            loaded: loaded.clone(),
            servers: Arc::new(read.servers),
            stamps: Arc::new(read.stamps),
            seen: Arc::new(read.seen),
        };
        if same && settled {
            return (next, None);
        }
        let reload = current.engine.begin_reload(&loaded, Some(changed));
        if reload.failure.is_none() && !settled {
            // Bounds, models and servers are the engine's own: these need another one.
            let waking = self.waking.clone();
            next.engine =
                engine(&self.host, &self.dialects, &loaded, &self.key.sources, &self.sessions, waking);
            close_later(current.engine.clone());
        }
        let told = (next.engine.clone(), reload);
        (next, Some(told))
    }

    /// An engine of its own for a payload that names no session: what it remembers is forgotten with it.
    pub(crate) fn one_off(&self, current: &Current) -> Engine {
        let waking = self.waking.clone();
        engine(&self.host, &self.dialects, &current.loaded, &self.key.sources, &self.sessions, waking)
    }

    /// Looks after the files for as long as the engine is kept.
    fn watch(self: &Arc<Warm>) {
        let seen = (*lock(&self.current).seen).clone();
        let warm: Weak<Warm> = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            let mut watch = Watch::new(Arc::new(StdFiles), Timing::default(), seen);
            loop {
                watch.changed().await;
                let Some(warm) = warm.upgrade() else { return };
                let current = tokio::task::block_in_place(|| warm.fresh());
                watch.follow((*current.seen).clone());
            }
        });
        *lock(&self.watching) = Some(task);
    }

    /// Held while an event is at work in the engine.
    pub(crate) async fn at_work(&self) -> RwLockReadGuard<'_, ()> {
        self.at_work.read().await
    }

    async fn close(&self, grace: Duration) {
        if let Some(watching) = lock(&self.watching).take() {
            watching.abort();
        }
        let engine = lock(&self.current).engine.clone();
        let done = async {
            let _alone = self.at_work.write().await;
            engine.background_done().await;
        };
        let _ = tokio::time::timeout(grace, done).await;
        engine.close().await;
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        if let Some(watching) = lock(&self.watching).take() {
            watching.abort();
        }
    }
}

/// How long calls that are on their way may take once their engine was replaced.
const CALLS: Duration = Duration::from_secs(60);

fn close_later(engine: Engine) {
    tokio::spawn(async move {
        tokio::time::sleep(CALLS).await;
        engine.background_done().await;
        engine.close().await;
    });
}

fn read(key: &Key, host: &HostContext, dialects: &Dialects) -> Result<Read, CliError> {
    let stamped = Stamped::new(&StdFiles);
    let recorder = Recorder::new(&stamped);
    let files: &dyn Files = &recorder;
    let loaded = session::load_from(files, host, dialects, &key.sources, Some(key.agent))?;
    let servers = session::load_servers(files, host, dialects, &key.sources, &loaded.settings)?;
    let (seen, servers) = (recorder.seen(), servers.servers);
    Ok(Read { loaded, servers, stamps: stamped.stamps(), seen })
}

/// Writes down what belongs to no event. What belongs to one goes to its agent.
struct Watcher;

impl Observer for Watcher {
    fn noticed(&self, note: &Note) {
        output::words(&format!("hook serve: {}\n", note.text));
    }
}

fn engine(
    host: &HostContext,
    dialects: &Dialects,
    loaded: &Loaded,
    sources: &SourceArgs,
    sessions: &Arc<dyn SessionStore>,
    waking: Option<Waking>,
) -> Engine {
    session::engine(Parts {
        host: host.clone(),
        dialects: dialects.clone(),
        loaded,
        sources,
        only: None,
        sessions: sessions.clone(),
        background: BackgroundMode::Tasks,
        confirms: true,
        waking,
        spool: None,
        observer: Some(Arc::new(Watcher)),
    })
}

//! What a server does, whoever asks it and however.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime};

use async_trait::async_trait;
use hook_engine::Engine;
use hook_engine::core::{EventHint, HostContext, Incoming, Outcome};
use hook_engine::mapper::Dialects;
use hook_engine::rewake::scheduler::{Scheduler, Waker, Woken};
use hook_engine::rewake::store::{Claim, Filter, RewakeStore, SqliteStore, StoreError};
use hook_engine::rewake::zone::rfc3339;
use hook_engine::state::{FileSessions, MAX_AGE};
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::sync::{Mutex, watch};

use super::metrics::Metrics;
use super::place::Place;
use super::warm::{Key, Warms};
use super::webhook::Deliveries;
use crate::answer::{self, Dialogue, Spoken};
use crate::args::SourceArgs;
use crate::background::Place as Background;
use crate::waking::Wiring;
use crate::world::World;
use crate::{dispatch, session};

/// A server.
pub(crate) struct Server {
    /// What it stands in itself: for those who bring no world of their own.
    pub(crate) world: World,
    pub(crate) place: Place,
    pub(crate) build: String,
    pub(crate) umask: u32,
    pub(crate) dialects: Dialects,
    pub(crate) sources: SourceArgs,
    pub(crate) warms: Warms,
    pub(crate) store: SqliteStore,
    pub(crate) scheduler: Scheduler,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) started: SystemTime,
    pub(crate) http: OnceLock<SocketAddr>,
    pub(crate) token: String,
    pub(crate) secret: Option<Vec<u8>>,
    pub(crate) deliveries: Mutex<Deliveries>,
    /// True as soon as it is to end.
    pub(crate) stop: watch::Sender<bool>,
    /// Those who wait for its end.
    pub(crate) leaving: Mutex<Vec<UnixStream>>,
}

/// A payload and where it comes from.
pub(crate) struct Question<'a> {
    pub(crate) agent: Option<&'a str>,
    pub(crate) event: Option<&'a str>,
    pub(crate) sources: &'a SourceArgs,
    pub(crate) world: &'a World,
    pub(crate) payload: &'a str,
}

/// An answer, and what is to be done when it has been given.
pub(crate) struct Given {
    pub(crate) spoken: Spoken,
    pub(crate) decision: &'static str,
    after: Option<After>,
}

struct After {
    engine: Engine,
    /// The engine was made for this payload.
    own: bool,
    host: HostContext,
    incoming: Incoming,
    outcome: Outcome,
}

/// Why a payload is left to the process that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// It says what is wrong with the payload in the same words.
    Unreadable,
    /// It says what is wrong with the wiring.
    Wiring,
}

impl Left {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Left::Unreadable => "payload",
            Left::Wiring => "wiring",
        }
    }
}

impl Server {
    /// Answers a payload as a process of its own would.
    pub(crate) async fn answer(&self, question: &Question<'_>) -> Result<Given, Left> {
        let began = Instant::now();
        let payload = dispatch::parse(question.payload).map_err(|_| Left::Unreadable)?;
        let agent = match question.agent {
            Some(word) => self.dialects.find(word),
            None => session::recognise(&self.dialects, &payload),
        };
        let agent = agent.cloned().ok_or(Left::Unreadable)?;
        let hint = EventHint { event: question.event.map(str::to_owned), ..EventHint::default() };
        let text = payload.text.clone();
        let id = agent.profile().id;
        let dialogue = Dialogue {
            dialects: &self.dialects,
            agent,
            hint,
            text: &text,
            sources: question.sources,
            world: question.world,
        };
        let incoming = dialogue.read(payload).map_err(|_| Left::Unreadable)?;
        let remark = dialogue.remark(&incoming);
        let host = dialogue.host(incoming.events.first());
        let key = Key::new(id, &host, question.sources);
        let got =
            tokio::task::block_in_place(|| self.warms.get(&key, &host).map(|warm| (warm.fresh(), warm)));
        let (current, warm) = got.map_err(|_| Left::Wiring)?;
        let _at_work = warm.at_work().await;
        let loaded = &current.loaded;
        let again = session::read_again(dialogue.agent.as_ref(), &text, &dialogue.hint, loaded);
        let incoming = again.unwrap_or(incoming);
        let remarked = |mut spoken: Spoken| {
            spoken.stderr.insert_str(0, remark.as_deref().unwrap_or_default());
            spoken
        };
        if let Some(closed) = dialogue.closed(incoming.events.first(), loaded) {
            let decision = if closed.holds { "deny" } else { "none" };
            self.metrics.dispatched(id.0, decision, &[], began.elapsed());
            return Ok(Given { spoken: remarked(closed), decision, after: None });
        }
        // What such a session remembers ends with its one event, as in a process of its own.
        let own = !names_session(&incoming);
        let engine = if own { warm.one_off(&current) } else { current.engine.clone() };
        let mut outcome = Outcome::default();
        if engine.concerns(&incoming) {
            outcome = engine.dispatch(&incoming).await;
        }
        let spoken = dialogue.reply(&engine, &incoming, &mut outcome, loaded, warm.sessions.as_ref());
        let decision = outcome.answer.decision.name();
        self.metrics.dispatched(id.0, decision, &outcome.runs, began.elapsed());
        let after = After { engine, own, host, incoming, outcome };
        Ok(Given { spoken: remarked(spoken), decision, after: Some(after) })
    }

    /// What an answer leaves to be done once the agent has it, or does not want it any more.
    pub(crate) async fn given(&self, given: Given, delivered: bool) {
        let Some(After { engine, own, host, incoming, outcome }) = given.after else { return };
        if delivered {
            for note in engine.confirm(&incoming, &outcome) {
                self.say(&note.text);
            }
        }
        // Runs that processes of their own look after: those from before this server was there.
        let (place, sessions) = (host.clone(), session::sessions(&host));
        let tended = tokio::task::spawn_blocking({
            let incoming = incoming.clone();
            move || Background { host: &place, sessions: sessions.as_ref(), incoming: &incoming }.tend()
        });
        let _ = tended.await;
        if let (true, Some(state)) = (answer::starts_session(&incoming), &host.state) {
            let sessions = FileSessions::new(state.join("sessions"), host.clock.clone());
            let swept = tokio::task::spawn_blocking(move || sessions.sweep(MAX_AGE));
            let _ = swept.await;
        }
        if own {
            engine.background_done().await;
            engine.close().await;
        }
    }

    /// Makes envelopes due.
    pub(crate) async fn resolve(
        &self,
        kind: &str,
        key: &str,
        brought: &BTreeMap<String, String>,
    ) -> Result<u64, StoreError> {
        let count = self.scheduler.resolve(kind, key, brought).await?;
        self.metrics.resolved(count);
        Ok(count)
    }

    /// How it is doing.
    pub(crate) async fn status(&self) -> Value {
        let pending = self.store.list(&Filter::default()).await;
        let engines = self.warms.list();
        let engines = engines
            .iter()
            .map(|(agent, project, hooks)| json!({"agent": agent.0, "project": project, "hooks": hooks}));
        let (answered, declined) = self.metrics.sums();
        let since = self.started.duration_since(SystemTime::UNIX_EPOCH);
        let since = since.ok().and_then(|time| i64::try_from(time.as_millis()).ok()).unwrap_or(0);
        json!({
            "pid": std::process::id(),
            "version": env!("CARGO_PKG_VERSION"),
            "since": rfc3339(since),
            "socket": self.place.socket(),
            "http": self.http.get().map(|at| format!("http://{at}")),
            "token_file": self.http.get().map(|_| self.place.token()),
            "engines": engines.collect::<Vec<_>>(),
            "answered": answered,
            "declined": declined,
            "pending": pending.as_ref().map(Vec::len).ok(),
            "trouble": pending.as_ref().err().map(ToString::to_string),
        })
    }

    /// Words for whoever looks after the server. Nothing of an environment or a payload is ever among them.
    pub(crate) fn say(&self, text: &str) {
        crate::output::words(&format!("hook serve: {text}\n"));
    }

    /// Done as soon as it is to end.
    pub(crate) fn over(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stop = self.stop.subscribe();
        async move {
            let _ = stop.wait_for(|stop| *stop).await;
        }
    }

    /// True as soon as it is to end.
    pub(crate) fn stopping(&self) -> bool {
        *self.stop.borrow()
    }

    pub(crate) fn project_of(&self, event_cwd: bool) -> Option<PathBuf> {
        self.world.here.clone().filter(|_| !event_cwd)
    }
}

fn names_session(incoming: &Incoming) -> bool {
    let events = incoming.events.iter().map(|event| &event.session);
    let control = incoming.control.iter().map(|control| &control.session);
    events.chain(control).all(|session| session.id.as_deref().is_some_and(|id| !id.is_empty()))
}

#[async_trait]
impl Waker for Server {
    async fn wake(&self, claim: &Claim) -> Woken {
        let found = tokio::task::block_in_place(|| {
            let wiring = Wiring::read(&claim.envelope.snapshot.host)?;
            let agent = session::dialect(&self.dialects, &wiring.agent)?.profile().id;
            if let Some(warm) = self.warms.latest(agent, &wiring.project, &wiring.sources) {
                return Ok(warm.fresh());
            }
            let host = self.world.host_at(wiring.project.clone());
            let key = Key::new(agent, &host, &wiring.sources);
            self.warms.get(&key, &host).map(|warm| warm.fresh())
        });
        match found {
            Ok(current) => current.engine.wake(claim).await,
            Err(error) => Woken::Dropped(error.to_string()),
        }
    }
}

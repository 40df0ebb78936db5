//! The engine: events in, outcomes and replies out.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hook_core::{
    Answer, Capabilities, Control, Decision, Diagnostic, DialectId, Document, Event, EventKind, Gate, Hook,
    HostContext, Incoming, Note, Observer, Outcome, Payload, Reply, ReplyPolicy, SessionStore, SessionView,
};
use hook_exec::Executors;
use hook_mapper::Dialects;
use hook_registry::{Generation, Registry};
use serde_json::Value;

use crate::builder::EngineBuilder;
use crate::chain::Chain;
use crate::code::{self, CodeExecutor, CodeHook, Registration};
use crate::turn;

/// The hook engine. A clone is another handle on the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    host: HostContext,
    dialects: Dialects,
    documents: Vec<Document>,
    only: Option<Vec<EventKind>>,
    executors: Executors,
    sessions: Arc<dyn SessionStore>,
    gate: Arc<dyn Gate>,
    observers: Vec<Arc<dyn Observer>>,
    registry: Registry,
    diagnostics: Vec<Diagnostic>,
    generations: AtomicU64,
    code: Mutex<Vec<CodeHook>>,
    closures: Arc<CodeExecutor>,
    next_key: AtomicUsize,
}

impl Engine {
    /// Starts building an engine for this host.
    pub fn builder(host: HostContext) -> EngineBuilder {
        EngineBuilder::new(host)
    }

    pub(crate) fn new(builder: EngineBuilder) -> Engine {
        let EngineBuilder { host, dialects, documents, only, executors, sessions, gate, observers } = builder;
        let guard = |hook: &Hook| is_guard(&dialects, hook);
        let (generation, diagnostics) = Generation::build(1, &documents, only.as_deref(), &guard);
        let closures = Arc::new(CodeExecutor::default());
        let inner = Inner {
            executors: executors.with(closures.clone()),
            host,
            dialects,
            documents,
            only,
            sessions,
            gate,
            observers,
            registry: Registry::new(generation),
            diagnostics,
            generations: AtomicU64::new(1),
            code: Mutex::new(Vec::new()),
            closures,
            next_key: AtomicUsize::new(0),
        };
        Engine { inner: Arc::new(inner) }
    }

    /// The dialects this engine knows.
    pub fn dialects(&self) -> &Dialects {
        &self.inner.dialects
    }

    /// The host it was built for.
    pub fn host(&self) -> &HostContext {
        &self.inner.host
    }

    /// What compiling the documents had to say.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.inner.diagnostics
    }

    /// The generation in force.
    pub fn generation(&self) -> Arc<Generation> {
        self.inner.registry.current()
    }

    /// Registers a closure as a native hook of the layer `code`. It runs before the hooks of user and project files.
    ///
    /// The closure runs on the dispatching task and should return at once; a panic in it counts as a failed hook.
    pub fn register(
        &self,
        event: EventKind,
        matcher: Option<&str>,
        name: &str,
        closure: impl Fn(&Event) -> Answer + Send + Sync + 'static,
    ) -> Registration {
        let key = self.inner.next_key.fetch_add(1, Ordering::Relaxed);
        self.inner.closures.insert(key, Arc::new(closure));
        self.change_code(|hooks| hooks.push(CodeHook::new(key, event, matcher, name)));
        Registration { engine: self.clone(), key }
    }

    pub(crate) fn unregister(&self, key: usize) {
        self.change_code(|hooks| hooks.retain(|hook| hook.key != key));
        self.inner.closures.remove(key);
    }

    /// One writer at a time builds the next generation aside and swaps it in; running events keep theirs.
    fn change_code(&self, change: impl FnOnce(&mut Vec<CodeHook>)) {
        let inner = &self.inner;
        let mut hooks = inner.code.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut hooks);
        let mut documents = Cow::Borrowed(inner.documents.as_slice());
        if !hooks.is_empty() {
            documents.to_mut().push(code::document(&hooks));
        }
        let number = inner.generations.fetch_add(1, Ordering::Relaxed) + 1;
        let guard = |hook: &Hook| is_guard(&inner.dialects, hook);
        let (generation, _) = Generation::build(number, &documents, inner.only.as_deref(), &guard);
        inner.registry.swap(generation);
    }

    /// True where the payload would run a hook or change the engine: the cheap question before a runtime is made.
    pub fn concerns(&self, incoming: &Incoming) -> bool {
        let generation = self.generation();
        // A stop hook asks what its turn did before, so the events of a turn leave their mark wherever there is one.
        let stops = |hook: &Arc<Hook>| matches!(hook.event, EventKind::Stop | EventKind::SubagentStop);
        incoming.control.is_some()
            || incoming.events.iter().any(|event| {
                event.kind == EventKind::SessionEnd
                    || !generation.select(event).is_empty()
                    || (turn::concerns(event) && generation.hooks().iter().any(stops))
            })
    }

    /// Runs the hooks of all events of one payload, one event after the other, and joins their outcomes.
    pub async fn dispatch(&self, incoming: &Incoming) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(control) = &incoming.control {
            outcome.notes.push(control_note(control));
        }
        for event in &incoming.events {
            outcome = outcome.and(self.dispatch_event(event).await);
        }
        outcome
    }

    /// Runs the hooks of one event.
    pub async fn dispatch_event(&self, event: &Event) -> Outcome {
        let inner = &self.inner;
        let generation = self.generation();
        let candidates = generation.select(event);
        let mut notes = Vec::new();
        let key = session_key(&inner.host, event);

        let mut session = SessionView::default();
        if turn::concerns(event) {
            let mut fresh = true;
            match inner.sessions.update(&key, &mut |state| fresh = turn::enter(state, event)) {
                Ok(state) => session.state = state,
                Err(error) => notes.push(Note::warning(error.to_string())),
            }
            if !fresh {
                notes.push(Note::info(
                    "the hooks of this event ran already in this turn, under the agent's other name",
                ));
                return Outcome { notes, ..Outcome::default() };
            }
        } else if !candidates.is_empty() {
            match inner.sessions.load(&key) {
                Ok(state) => session.state = state,
                Err(error) => notes.push(Note::warning(error.to_string())),
            }
        }
        if !candidates.is_empty() {
            match inner.sessions.env_file(&key) {
                Ok(path) => session.env_file = Some(path),
                Err(error) => notes.push(Note::warning(error.to_string())),
            }
        }

        let chain = Chain {
            host: &inner.host,
            dialects: &inner.dialects,
            executors: &inner.executors,
            sessions: inner.sessions.as_ref(),
            gate: inner.gate.as_ref(),
            observers: &inner.observers,
            generation: generation.number(),
            session_key: &key,
        };
        let mut outcome = chain.run(event, candidates, session).await;
        outcome.notes.splice(0..0, notes);

        let anonymous = event.session.id.as_deref().is_none_or(str::is_empty);
        let stored = if event.kind == EventKind::SessionEnd || (anonymous && !outcome.runs.is_empty()) {
            inner.sessions.end(&key)
        } else if event.kind == EventKind::Stop && outcome.answer.decision == Decision::Deny {
            let decision = outcome.answer.decision;
            inner.sessions.update(&key, &mut |state| turn::leave(state, event, decision)).map(|_| ())
        } else {
            Ok(())
        };
        if let Err(error) = stored {
            outcome.notes.push(Note::warning(error.to_string()));
        }
        for observer in &inner.observers {
            observer.decided(event, &outcome);
        }
        outcome
    }

    /// The reply of `agent` to a payload.
    ///
    /// Where one payload became several events, the reply speaks of the first one that can carry the decision.
    pub fn reply(
        &self,
        agent: DialectId,
        incoming: &Incoming,
        outcome: &Outcome,
        policy: &ReplyPolicy,
    ) -> Reply {
        let Some(dialect) = self.inner.dialects.get(agent) else {
            return Reply { degraded: vec![format!("no dialect {agent}")], ..Reply::default() };
        };
        let blocks = outcome.answer.decision > Decision::Allow;
        let carrier = incoming.events.iter().find(|event| !blocks || dialect.capabilities(event).block);
        dialect.write_reply(carrier.or(incoming.events.first()), Ok(outcome), policy)
    }
}

fn control_note(control: &Control) -> Note {
    match control {
        Control::SkillLoaded { name, .. } => {
            Note::warning(format!("skill {name:?} was loaded; hooks of skills are not run by this version"))
        }
        Control::SkillUnloaded { name } => Note::info(format!("skill {name:?} was unloaded")),
        _ => Note::info("a control message of the agent that this version does not know"),
    }
}

/// An event without a session id has a session of its own, which ends with it: nothing is shared by accident.
fn session_key(host: &HostContext, event: &Event) -> String {
    static EVENTS: AtomicU64 = AtomicU64::new(0);
    match event.session.id.as_deref() {
        Some(id) if !id.is_empty() => id.to_owned(),
        _ => {
            let number = EVENTS.fetch_add(1, Ordering::Relaxed);
            format!("unknown {} {} {number}", host.project.display(), std::process::id())
        }
    }
}

/// True where a hook of this event can hold something back, in the hook's own dialect.
fn is_guard(dialects: &Dialects, hook: &Hook) -> bool {
    let Some(dialect) = dialects.get(hook.dialect) else { return false };
    let payload = Arc::new(Payload::from_value(Value::Null));
    let event = Event::new(hook.event.clone(), hook.dialect, hook.event_name.clone(), payload);
    let Capabilities { block, .. } = dialect.capabilities(&event);
    block
}

//! The engine: events in, outcomes and replies out.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;
use hook_core::{
    Answer, AskHandler, Candidate, Capabilities, Control, Decision, Diagnostic, DialectId, Document, Effect,
    Event, EventKind, Gate, Hook, HookId, HostContext, Incoming, Level, Note, Observer, Outcome, Payload,
    Reply, ReplyPolicy, SessionInfo, SessionState, SessionStore, SessionView, StopCap, Subject,
};
use hook_exec::Executors;
use hook_mapper::Dialects;
use hook_registry::{Generation, Registry};
use hook_state::MemorySessions;
use serde_json::Value;

use crate::background::{self, BackgroundMode, Tasks};
use crate::builder::EngineBuilder;
use crate::chain::{Background, Chain};
use crate::code::{self, CodeExecutor, CodeHook, Registration};
use crate::hold;
use crate::passing;
use crate::reload::Check;
use crate::rewakes::Rewakes;
use crate::skills::{self, SkillHooks};
use crate::turn::{self, Stopping};

/// The hook engine. A clone is another handle on the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

/// What hooks were written in: files, then code.
struct Written {
    documents: Vec<Document>,
    code: Vec<CodeHook>,
}

pub(crate) struct Inner {
    host: HostContext,
    dialects: Dialects,
    only: Option<Vec<EventKind>>,
    executors: Executors,
    sessions: Arc<dyn SessionStore>,
    gate: Arc<dyn Gate>,
    observers: Vec<Arc<dyn Observer>>,
    registry: Registry,
    diagnostics: Vec<Diagnostic>,
    generations: AtomicU64,
    /// What generations are made of. Who holds it is the one writer.
    written: Mutex<Written>,
    check: Option<Arc<Check>>,
    reloads: AtomicU64,
    confirms: bool,
    closures: Arc<CodeExecutor>,
    next_key: AtomicUsize,
    /// Sessions of agents that name none.
    anonymous: MemorySessions,
    skills: SkillHooks,
    background: BackgroundMode,
    tasks: Tasks,
    asks: Option<Arc<dyn AskHandler>>,
    rewakes: Option<Rewakes>,
}

impl Engine {
    /// Starts building an engine for this host.
    pub fn builder(host: HostContext) -> EngineBuilder {
        EngineBuilder::new(host)
    }

    pub(crate) fn new(builder: EngineBuilder) -> Engine {
        let EngineBuilder {
            host,
            dialects,
            documents,
            only,
            executors,
            sessions,
            gate,
            observers,
            background,
            settings,
            asks,
            rewake,
            check,
            confirms,
            hearing,
        } = builder;
        let guard = |hook: &Hook| runs_in_doubt(&dialects, hook);
        let (generation, diagnostics) = Generation::build(1, &documents, only.as_deref(), &guard);
        let closures = Arc::new(CodeExecutor::default());
        let skills = SkillHooks::new(settings, only.clone());
        let inner = Inner {
            executors: executors.with(closures.clone()),
            rewakes: Rewakes::new(rewake, host.clock.clone()),
            host,
            dialects,
            only,
            sessions,
            gate,
            observers,
            registry: Registry::new(generation),
            diagnostics,
            generations: AtomicU64::new(1),
            written: Mutex::new(Written { documents, code: Vec::new() }),
            check,
            reloads: AtomicU64::new(0),
            confirms,
            closures,
            next_key: AtomicUsize::new(0),
            anonymous: MemorySessions::new(),
            skills,
            background,
            tasks: Tasks::default(),
            asks,
        };
        let inner = Arc::new(inner);
        hearing.of(&inner);
        Engine { inner }
    }

    pub(crate) fn from_inner(inner: Arc<Inner>) -> Engine {
        Engine { inner }
    }

    /// Tells the observers what belongs to no event.
    pub(crate) fn notice(&self, note: Note) {
        for observer in self.observers() {
            observer.noticed(&note);
        }
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

    fn change_code(&self, change: impl FnOnce(&mut Vec<CodeHook>)) {
        let mut written = self.inner.written.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut written.code);
        let (generation, _) = self.build(&written.documents, &written.code);
        self.inner.registry.swap(generation);
    }

    /// Puts these documents in force, where the host's check lets them. One writer at a time builds the next generation aside and
    /// swaps it in; running events keep theirs.
    pub(crate) fn replace(&self, documents: &[Document]) -> Result<Vec<Diagnostic>, String> {
        let mut written = self.inner.written.lock().unwrap_or_else(PoisonError::into_inner);
        let (generation, diagnostics) = self.build(documents, &written.code);
        if let Some(check) = &self.inner.check {
            check(generation.hooks())?;
        }
        documents.clone_into(&mut written.documents);
        self.inner.registry.swap(generation);
        Ok(diagnostics)
    }

    fn build(&self, documents: &[Document], code: &[CodeHook]) -> (Generation, Vec<Diagnostic>) {
        let inner = &self.inner;
        let mut documents = Cow::Borrowed(documents);
        if !code.is_empty() {
            documents.to_mut().push(code::document(code));
        }
        let number = inner.generations.fetch_add(1, Ordering::Relaxed) + 1;
        let guard = |hook: &Hook| runs_in_doubt(&inner.dialects, hook);
        Generation::build(number, &documents, inner.only.as_deref(), &guard)
    }

    pub(crate) fn reloads(&self) -> &AtomicU64 {
        &self.inner.reloads
    }

    /// True where the payload would run a hook or change the engine: the cheap question before a runtime is made.
    pub fn concerns(&self, incoming: &Incoming) -> bool {
        let generation = self.generation();
        // A stop hook asks what its turn did before, so the events of a turn leave their mark wherever there is one.
        let stops = |hook: &Arc<Hook>| matches!(hook.event, EventKind::Stop | EventKind::SubagentStop);
        incoming.control.is_some()
            || incoming.events.iter().any(|event| {
                if event.kind == EventKind::SessionEnd || !generation.select(event).is_empty() {
                    return true;
                }
                let (sessions, key) = self.session_of(&event.session, event.dialect);
                // A state that cannot be read has to be told.
                let Ok(state) = sessions.load(&key) else { return true };
                let skills = self.skill_hooks(&key, &state);
                let all = || generation.hooks().iter().chain(skills.iter().flat_map(|set| set.hooks()));
                skills.as_ref().is_some_and(|set| !set.select(event).is_empty())
                    || (background::has_letters(&state, self.now()) && self.can_carry(event))
                    || turn::is_progress(&state, event)
                    || (turn::concerns(event) && all().any(stops))
            })
    }

    /// Runs the hooks of all events of one payload, one event after the other, and joins their outcomes.
    pub async fn dispatch(&self, incoming: &Incoming) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(control) = &incoming.control {
            outcome.notes.extend(self.control(control));
            // A guard that a skill could not bring must not be missed in silence.
            let lost = outcome.notes.iter().filter(|note| note.level == Level::Error);
            let told = lost.map(|note| Effect::Message { text: note.text.clone(), level: note.level });
            outcome.answer.effects.extend(told);
        }
        for event in &incoming.events {
            outcome = outcome.and(self.dispatch_event(event).await);
        }
        outcome
    }

    /// Takes a message of the agent to the engine.
    fn control(&self, control: &Control) -> Vec<Note> {
        let (sessions, key) = self.session_of(&control.session, control.dialect);
        let mut notes = skills::notes(control, &self.inner.dialects);
        if let Err(error) = sessions.update(&key, &mut |state| skills::apply(state, control)) {
            notes.push(Note { level: Level::Error, text: error.to_string() });
        }
        notes
    }

    /// The store and the key of a session. Agents that name no session have one for as long as the engine lives, in memory:
    /// nothing of it is left behind for others to find.
    pub(crate) fn session_of(
        &self,
        session: &SessionInfo,
        dialect: DialectId,
    ) -> (&dyn SessionStore, String) {
        match session.id.as_deref() {
            Some(id) if !id.is_empty() => (self.inner.sessions.as_ref(), id.to_owned()),
            _ => (&self.inner.anonymous, format!("unknown {dialect}")),
        }
    }

    /// Who answers questions.
    pub(crate) fn asks(&self) -> Option<&dyn AskHandler> {
        self.inner.asks.as_deref()
    }

    pub(crate) fn rewakes(&self) -> Option<&Rewakes> {
        self.inner.rewakes.as_ref()
    }

    pub(crate) fn observers(&self) -> &[Arc<dyn Observer>] {
        &self.inner.observers
    }

    pub(crate) fn gate(&self) -> &dyn Gate {
        self.inner.gate.as_ref()
    }

    pub(crate) fn executors(&self) -> &Executors {
        &self.inner.executors
    }

    /// The session as it is, without touching it.
    pub(crate) fn view(&self, event: &Event) -> SessionView {
        let (sessions, key) = self.session_of(&event.session, event.dialect);
        SessionView { state: sessions.load(&key).unwrap_or_default(), env_file: None }
    }

    /// The compiled hooks of the session's skills.
    pub(crate) fn skill_hooks_of(&self, event: &Event, state: &SessionState) -> Option<Arc<Generation>> {
        let (_, key) = self.session_of(&event.session, event.dialect);
        self.skill_hooks(&key, state)
    }

    /// The hooks that fit an event and are in force in its session.
    pub(crate) fn candidates_of(&self, event: &Event, state: &SessionState) -> Vec<Candidate> {
        let (_, key) = self.session_of(&event.session, event.dialect);
        self.candidates(&self.generation(), event, &key, state)
    }

    fn skill_hooks(&self, key: &str, state: &SessionState) -> Option<Arc<Generation>> {
        let dialects = &self.inner.dialects;
        self.inner.skills.generation(key, state, dialects, &|hook| runs_in_doubt(dialects, hook))
    }

    /// The hooks that fit an event and are in force in its session: those of files and of code, then those of loaded skills.
    fn candidates(
        &self,
        generation: &Generation,
        event: &Event,
        key: &str,
        state: &SessionState,
    ) -> Vec<Candidate> {
        let mut candidates = generation.select(event);
        candidates.retain(|candidate| skills::in_force(&candidate.hook.scope, event, state));
        if let Some(skills) = self.skill_hooks(key, state) {
            let own = skills.select(event).into_iter();
            candidates.extend(
                own.map(|candidate| Candidate { group: skills::FIRST_GROUP + candidate.group, ..candidate }),
            );
        }
        candidates
    }

    /// Runs the hooks of one event.
    pub async fn dispatch_event(&self, event: &Event) -> Outcome {
        let inner = &self.inner;
        let generation = self.generation();
        let mut notes = Vec::new();
        let (sessions, key) = self.session_of(&event.session, event.dialect);

        let mut session = SessionView::default();
        let mut fresh = true;
        let entered = if turn::concerns(event) {
            sessions.update(&key, &mut |state| fresh = turn::enter(state, event))
        } else {
            sessions.load(&key)
        };
        match entered {
            Ok(state) => session.state = state,
            Err(error) => notes.push(Note::warning(error.to_string())),
        }
        if !fresh {
            notes.push(Note::info(
                "the hooks of this event ran already in this turn, under the agent's other name",
            ));
            return Outcome { notes, ..Outcome::default() };
        }
        if turn::is_progress(&session.state, event) {
            match sessions.update(&key, &mut |state| state.stop_blocks = 0) {
                Ok(state) => session.state = state,
                Err(error) => notes.push(Note::warning(error.to_string())),
            }
        }
        match passing::leave(&event.kind, sessions, &key, &session.state) {
            Ok(Some(state)) => session.state = state,
            Ok(None) => {}
            Err(error) => notes.push(Note::warning(error.to_string())),
        }
        let candidates = self.candidates(&generation, event, &key, &session.state);
        if !candidates.is_empty() {
            match sessions.env_file(&passing::file_key(&key, &event.kind)) {
                Ok(path) => session.env_file = Some(path),
                Err(error) => notes.push(Note::warning(error.to_string())),
            }
        }

        let (holds, lost) =
            hold::look(&candidates, event, &mut session.state, self.scheduler(), sessions, &key).await;
        notes.extend(lost);
        let chain = Chain {
            holds,
            host: &inner.host,
            dialects: &inner.dialects,
            executors: &inner.executors,
            sessions,
            gate: inner.gate.as_ref(),
            observers: &inner.observers,
            generation: generation.number(),
            session_key: &key,
            background: match inner.background {
                BackgroundMode::Await => Background::Mute,
                BackgroundMode::Tasks | BackgroundMode::HandOver => Background::PutOff,
            },
        };
        let has_mail = background::has_letters(&session.state, self.now()) && self.can_carry(event);
        let background: Vec<Candidate> = candidates.iter().filter(|c| c.hook.background).cloned().collect();
        let mut outcome = chain.run(event, candidates, session).await;
        outcome.notes.splice(0..0, notes);
        self.schedule(event, &mut outcome, &key).await;
        if has_mail {
            background::deliver(&mut outcome, sessions, &key, self.now(), inner.confirms);
        }
        if event.kind == EventKind::SessionEnd {
            inner.tasks.end(&key);
        }
        if inner.background == BackgroundMode::Tasks {
            let mut later = background::put_off(&outcome, &background);
            let beyond = later.split_off(later.len().min(inner.tasks.room(&key)));
            outcome.notes.extend(background::refuse(&beyond, sessions, &key));
            for candidate in later {
                let (engine, event) = (self.clone(), event.clone());
                inner.tasks.start(&key, async move {
                    engine.hear(&event, vec![candidate]).await;
                });
            }
        }

        if event.kind == EventKind::Stop {
            self.end_of_turn(event, &mut outcome, sessions, &key);
        }
        if event.kind == EventKind::SessionEnd {
            inner.skills.forget(&key);
            if let Err(error) = passing::end(sessions, &key).and_then(|()| sessions.end(&key)) {
                outcome.notes.push(Note::warning(error.to_string()));
            }
        }
        for observer in &inner.observers {
            observer.decided(event, &outcome);
        }
        outcome
    }

    /// Now, in milliseconds since 1970.
    fn now(&self) -> u64 {
        let since = self.inner.host.clock.now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        since.ok().and_then(|time| u64::try_from(time.as_millis()).ok()).unwrap_or(0)
    }

    /// Says that the reply to a payload has reached the agent, for hosts that promised to
    /// ([`EngineBuilder::confirms_replies`]): what it told the model on behalf of earlier hooks need not be told again. Gives what
    /// went wrong.
    pub fn confirm(&self, incoming: &Incoming, outcome: &Outcome) -> Vec<Note> {
        let notes = incoming.events.iter().filter_map(|event| {
            let (sessions, key) = self.session_of(&event.session, event.dialect);
            background::confirm(outcome, sessions, &key)
        });
        notes.collect()
    }

    fn can_carry(&self, event: &Event) -> bool {
        let dialect = self.inner.dialects.get(event.dialect);
        dialect.is_some_and(|dialect| background::can_carry(event, dialect.capabilities(event).context))
    }

    /// Runs the background hooks with these ids that fit the payload, and keeps what they tell the model for a later event of
    /// the session. For hosts that put them off ([`BackgroundMode::HandOver`]): the outcome of the dispatch names them.
    pub async fn run_background(&self, incoming: &Incoming, hooks: &[HookId]) -> Outcome {
        let mut outcome = Outcome::default();
        for event in &incoming.events {
            let state = self.view(event).state;
            let mut candidates = self.candidates_of(event, &state);
            candidates.retain(|candidate| candidate.hook.background && hooks.contains(&candidate.hook.id));
            outcome = outcome.and(self.hear(event, candidates).await);
        }
        outcome
    }

    /// Waits until no background hook of this engine runs any more.
    pub async fn background_done(&self) {
        let mut running = self.inner.tasks.take();
        while running.join_next().await.is_some() {}
    }

    /// Ends what executors keep between events (started MCP servers), in about a second at most. An engine that is dropped ends
    /// it beside the host's work; one whose runtime ends first has it killed. Later events start it anew.
    pub async fn close(&self) {
        self.inner.executors.close().await;
    }

    /// Runs background hooks, each for itself: what one answers ends no other, and none waits until another is done to be heard.
    async fn hear(&self, event: &Event, candidates: Vec<Candidate>) -> Outcome {
        // A loop and no closure: only so does the compiler see that the whole future may move between threads.
        let mut started = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            started.push(self.hear_one(event, candidate));
        }
        join_all(started).await.into_iter().fold(Outcome::default(), Outcome::and)
    }

    /// Runs one background hook and keeps what it says.
    async fn hear_one(&self, event: &Event, candidate: Candidate) -> Outcome {
        let (sessions, key) = self.session_of(&event.session, event.dialect);
        let mut outcome = self.fire_again(event, candidate).await;
        self.schedule(event, &mut outcome, &key).await;
        outcome.notes.extend(background::keep(&outcome, sessions, &key));
        outcome
    }

    /// Runs one hook for an event that is over.
    pub(crate) async fn fire_again(&self, event: &Event, candidate: Candidate) -> Outcome {
        let inner = &self.inner;
        let (sessions, key) = self.session_of(&event.session, event.dialect);
        let session = SessionView {
            env_file: sessions.env_file(&passing::file_key(&key, &event.kind)).ok(),
            ..self.view(event)
        };
        let chain = Chain {
            holds: hold::Holds::new(),
            host: &inner.host,
            dialects: &inner.dialects,
            executors: &inner.executors,
            sessions,
            gate: inner.gate.as_ref(),
            observers: &inner.observers,
            generation: self.generation().number(),
            session_key: &key,
            background: Background::Hear,
        };
        chain.run(event, vec![candidate], session).await
    }

    /// Counts how often stop hooks kept the agent going, and lets a stop through that was held back too often.
    fn end_of_turn(&self, event: &Event, outcome: &mut Outcome, sessions: &dyn SessionStore, key: &str) {
        let Some(dialect) = self.inner.dialects.get(event.dialect) else { return };
        let takes_context = dialect.capabilities(event).context;
        let answer = &outcome.answer;
        let goes_on = !answer.stop
            && (answer.decision == Decision::Deny || (takes_context && answer.contexts().next().is_some()));
        let cap = stop_cap(dialect.profile().stop_cap, &self.inner.host);
        let mut stopping = Stopping::Stops;
        let mut note = |state: &mut SessionState| stopping = turn::leave(state, event, goes_on, cap);
        // Where nothing was counted there is nothing to count on.
        let known = goes_on || sessions.load(key).is_ok_and(|state| state.stop_blocks > 0);
        if known && let Err(error) = sessions.update(key, &mut note) {
            outcome.notes.push(Note::warning(error.to_string()));
        }
        if let Stopping::Capped(times) = stopping {
            let text = format!(
                "stop hooks kept the agent going {times} times in a row without a tool call in between; this time it may stop"
            );
            let answer = &mut outcome.answer;
            (answer.decision, answer.reason) = (Decision::None, None);
            answer
                .effects
                .retain(|effect| !matches!(effect, Effect::Context { .. } | Effect::Feedback { .. }));
            answer.effects.push(Effect::Message { text: text.clone(), level: Level::Warning });
            outcome.decided_by = None;
            outcome.notes.push(Note::warning(text));
        }
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

/// The bound on stop hooks, as the environment has it.
fn stop_cap(cap: StopCap, host: &HostContext) -> u32 {
    let set = cap.variable.and_then(|name| host.variable(name)).and_then(|value| value.trim().parse().ok());
    set.unwrap_or(cap.times)
}

/// True where a hook runs although its matcher cannot be read: it can hold something back, in its own dialect, or its event
/// has nothing that a matcher could see, so that nobody reads it.
fn runs_in_doubt(dialects: &Dialects, hook: &Hook) -> bool {
    let Some(dialect) = dialects.get(hook.dialect) else { return false };
    let payload = Arc::new(Payload::from_value(Value::Null));
    let event = Event::new(hook.event.clone(), hook.dialect, hook.event_name.clone(), payload);
    let Capabilities { block, .. } = dialect.capabilities(&event);
    block || dialect.event_row(&hook.event_name).is_some_and(|row| row.subject == Subject::None)
}

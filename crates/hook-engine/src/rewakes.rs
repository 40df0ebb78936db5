//! Hooks that are woken again ("Hook Configuration Guide, Async Rewake").
//!
//! After the hooks of an event have run, the wishes of those that did become envelopes. When the time of one comes, the event is
//! read once more from the agent's payload, as it was before any hook changed it, and fired at that hook alone. What the hook says
//! then decides nothing: the call it speaks of is over. It goes to the host's listener, or into the session's mailbox.

use std::sync::Arc;

use async_trait::async_trait;
use hook_core::{
    Decision, Effect, Event, EventHint, EventKind, Letter, Note, Outcome, Payload, Run, SessionState, Status,
    Wake,
};
use hook_rewake::envelope::{Envelope, Snapshot, why};
use hook_rewake::scheduler::{Round, Scheduled, Scheduler, Waker, Wish, Woken};
use hook_rewake::store::{Claim, Filter, RewakeStore, StoreError};
use serde_json::Value;

use crate::background;
use crate::engine::Engine;
use crate::hold;
use crate::redact;

/// Hears what a woken hook said.
pub(crate) type Listener = dyn Fn(&Envelope, &Outcome) + Send + Sync;

/// How an engine wakes hooks.
pub(crate) struct Rewakes {
    pub(crate) scheduler: Scheduler,
    pub(crate) listener: Option<Arc<Listener>>,
    pub(crate) host: Arc<str>,
    redact: Arc<Redact>,
}

/// Takes out of a payload what is not to be kept, and says whether there was anything.
pub(crate) type Redact = dyn Fn(&mut Value) -> bool + Send + Sync;

/// What a host brings for it.
#[derive(Default)]
pub(crate) struct RewakeParts {
    pub(crate) redact: Option<Arc<Redact>>,
    pub(crate) store: Option<Arc<dyn RewakeStore>>,
    pub(crate) quota: Option<u32>,
    pub(crate) host: Arc<str>,
    pub(crate) listener: Option<Arc<Listener>>,
}

impl Rewakes {
    pub(crate) fn new(parts: RewakeParts, clock: Arc<dyn hook_core::Clock>) -> Option<Rewakes> {
        let scheduler = Scheduler::new(parts.store?, clock);
        let scheduler = match parts.quota {
            Some(quota) => scheduler.quota(quota),
            None => scheduler,
        };
        let redact = parts.redact.unwrap_or_else(|| Arc::new(redact::secrets));
        Some(Rewakes { scheduler, listener: parts.listener, host: parts.host, redact })
    }

    /// What is kept of a payload: its text as it came, where nothing is taken out of it.
    fn kept(&self, payload: &Payload) -> String {
        let mut value = payload.value.clone();
        if (self.redact)(&mut value) { value.to_string() } else { payload.text.clone() }
    }
}

/// True where a hook ran and wishes to be woken. A hook whose matcher did not fit wishes nothing.
fn wishes(run: &Run) -> bool {
    run.hook.rewake.is_some()
        && !matches!(run.status(), Status::Skipped | Status::Background)
        && !hold::stands_in(run)
}

/// Whose envelopes those of a session are.
fn context(event: &Event, session: &str) -> Arc<str> {
    format!("{} {session}", event.dialect).into()
}

impl Engine {
    /// The scheduler behind hooks that wish to be woken, to resolve events, and to look at and cancel what is pending through its
    /// store; `None` where the host brought no store.
    pub fn scheduler(&self) -> Option<&Scheduler> {
        self.rewakes().map(|rewakes| &rewakes.scheduler)
    }

    /// Wakes all hooks whose time has come.
    ///
    /// # Errors
    /// The store of envelopes fails; what was claimed by then comes back later.
    pub async fn wake_due(&self) -> Result<Round, StoreError> {
        match self.scheduler() {
            Some(scheduler) => scheduler.tick(self).await,
            None => Ok(Round::default()),
        }
    }

    /// Wakes hooks as their times come, until `stop` is done. A failing store is told to `trouble`, and asked again.
    pub async fn keep_waking(&self, stop: impl Future<Output = ()>, trouble: impl Fn(&StoreError)) {
        match self.scheduler() {
            Some(scheduler) => scheduler.run(self, stop, trouble, |_| ()).await,
            None => stop.await,
        }
    }

    /// Cancels this engine's envelopes of hooks that are not there any more, and gives their number: what a host does after its hook
    /// files have changed. Engines are told apart by their notes ([`EngineBuilder::rewake_note`](crate::EngineBuilder::rewake_note)).
    ///
    /// # Errors
    /// The store of envelopes fails.
    pub async fn cancel_vanished(&self) -> Result<u64, StoreError> {
        let Some(scheduler) = self.scheduler() else { return Ok(0) };
        let store = scheduler.store();
        let generation = self.generation();
        let own = store.list(&Filter::default()).await?.into_iter().filter(|one| self.is_own(one));
        let mut vanished: Vec<Arc<str>> = own.map(|one| one.hook).collect();
        vanished.sort();
        vanished.dedup();
        vanished.retain(|id| !generation.hooks().iter().any(|hook| hook.id.as_str() == &**id));
        let mut count = 0;
        for id in vanished {
            count += self.cancel_own(&id).await?;
        }
        Ok(count)
    }

    /// True for envelopes of hooks that this engine has read. Others share its store, and hooks of theirs may have the same ids.
    fn is_own(&self, envelope: &Envelope) -> bool {
        self.rewakes().is_some_and(|rewakes| rewakes.host == envelope.snapshot.host)
    }

    /// Cancels this engine's envelopes of a hook that is gone.
    pub(crate) async fn cancel_own(&self, hook: &str) -> Result<u64, StoreError> {
        let Some(scheduler) = self.scheduler() else { return Ok(0) };
        let store = scheduler.store();
        let filter = Filter { hook: Some(hook.into()), ..Filter::default() };
        let mut count = 0;
        for envelope in store.list(&filter).await?.iter().filter(|one| self.is_own(one)) {
            count += u64::from(store.cancel(&envelope.id, scheduler.now(), why::VANISHED).await?);
        }
        Ok(count)
    }

    /// Makes envelopes of what the hooks of an event wish. Whatever becomes of that, the outcome stands.
    pub(crate) async fn schedule(&self, event: &Event, outcome: &mut Outcome, session: &str) {
        let wishing: Vec<Run> = outcome.runs.iter().filter(|run| wishes(run)).cloned().collect();
        if wishing.is_empty() {
            return;
        }
        let mut note = |run: &Run, text: String| {
            outcome.notes.push(Note::warning(format!("{}: {text}", run.hook.origin)));
        };
        // An answer that comes later is no approval.
        let permission = matches!(event.kind, EventKind::PermissionRequest | EventKind::PermissionDenied);
        let Some(rewakes) = self.rewakes().filter(|_| !permission) else {
            for run in &wishing {
                let why = match permission {
                    true => "questions of permission are not asked again".to_owned(),
                    false => {
                        format!("it wants to be woken again ({}), and nothing here wakes hooks", reason(run))
                    }
                };
                note(run, format!("{why}; what it decided now stands"));
            }
            return;
        };
        let snapshot = Arc::new(Snapshot {
            dialect: event.dialect.0.to_owned(),
            session: event.session.id.clone(),
            payload: rewakes.kept(&event.raw),
            event: self.index(event),
            host: rewakes.host.clone(),
        });
        let wishes = wishing.iter().filter_map(|run| {
            Some(Wish {
                context: context(event, session),
                hook: run.hook.id.as_str().into(),
                spec: Arc::new(run.hook.rewake.clone()?),
                snapshot: snapshot.clone(),
            })
        });
        match rewakes.scheduler.schedule(wishes.collect()).await {
            Ok(results) => {
                let mut pending = Vec::new();
                for (run, result) in wishing.iter().zip(results) {
                    match result {
                        Scheduled::Pending(chain) => pending.push((run, chain)),
                        Scheduled::Dropped(why::QUOTA) => {
                            note(
                                run,
                                "it is not woken again: too many hooks of this session wait already".into(),
                            );
                        }
                        Scheduled::Dropped(why) => note(run, format!("it is not woken again: {why}")),
                    }
                }
                let (sessions, _) = self.session_of(&event.session, event.dialect);
                for (run, chain) in pending {
                    hold::begin(run, event, &chain, outcome, sessions, session);
                }
            }
            Err(error) => {
                for run in &wishing {
                    note(run, format!("it is not woken again: {error}"));
                }
            }
        }
    }

    /// Which of the events of its payload this one is.
    fn index(&self, event: &Event) -> usize {
        let Some(dialect) = self.dialects().get(event.dialect) else { return 0 };
        let Ok(incoming) = dialect.read((*event.raw).clone(), &EventHint::default()) else { return 0 };
        let same =
            |one: &Event| one.kind == event.kind && one.tool == event.tool && one.subject == event.subject;
        incoming.events.iter().position(same).unwrap_or(0)
    }

    /// The event of an envelope, once more.
    fn rebuilt(&self, claim: &Claim) -> Result<Event, String> {
        let snapshot = &claim.envelope.snapshot;
        let dialect = self
            .dialects()
            .find(&snapshot.dialect)
            .ok_or_else(|| format!("no dialect {}", snapshot.dialect))?;
        let gone = |why: String| format!("the event cannot be fired again: {why}");
        let payload = Payload::parse(&snapshot.payload).map_err(|error| gone(error.to_string()))?;
        let incoming =
            dialect.read(payload, &EventHint::default()).map_err(|error| gone(error.to_string()))?;
        let event = incoming.events.into_iter().nth(snapshot.event);
        let mut event = event.ok_or_else(|| gone("its payload has none".to_owned()))?;
        // A host may have put the event into a session that its payload does not name.
        event.session.id.clone_from(&snapshot.session);
        event.wake = Some(Arc::new(Wake {
            id: claim.envelope.id.to_string(),
            fire_id: claim.fire_id(),
            attempt: claim.envelope.attempt,
            max_attempts: claim.envelope.spec.max_attempts,
            reason: claim.envelope.spec.reason.clone(),
            payload: claim.envelope.payload(),
        }));
        Ok(event)
    }
}

fn reason(run: &Run) -> &str {
    run.hook.rewake.as_ref().map_or("", |spec| &spec.reason)
}

#[async_trait]
impl Waker for Engine {
    async fn wake(&self, claim: &Claim) -> Woken {
        let event = match self.rebuilt(claim) {
            Ok(event) => event,
            Err(why) => return Woken::Dropped(why),
        };
        let view = self.view(&event);
        let id = &*claim.envelope.hook;
        let mut candidates = self.candidates_of(&event, &view.state);
        candidates.retain(|candidate| candidate.hook.id.as_str() == id);
        let Some(candidate) = candidates.pop() else {
            let generation = self.generation();
            let skills = self.skill_hooks_of(&event, &view.state);
            let mut all = generation.hooks().iter().chain(skills.iter().flat_map(|set| set.hooks()));
            let there = all.any(|hook| hook.id.as_str() == id);
            return Woken::Dropped(
                if there { "its matcher does not fit" } else { why::HOOK_GONE }.to_owned(),
            );
        };
        // Whoever approved the hook when it wished may have changed his mind since, or the hook has.
        if let Err(why) = self.gate().admit(&candidate.hook) {
            return Woken::Dropped(why);
        }
        let outcome = self.fire_again(&event, candidate).await;
        match self.rewakes().and_then(|rewakes| rewakes.listener.as_ref()) {
            Some(listener) => listener(&claim.envelope, &outcome),
            None => {
                if let Some(letter) = letter(&event, &outcome) {
                    self.leave(&event, letter);
                }
            }
        }
        let (sessions, key) = self.session_of(&event.session, event.dialect);
        let last = claim.envelope.attempt >= claim.envelope.spec.max_attempts;
        if outcome.runs.iter().any(|run| hold::decided(run, &event, last, sessions, &key)) {
            return Woken::Fired(Vec::new());
        }
        let links = outcome.runs.iter().filter(|run| wishes(run)).filter_map(|run| run.hook.rewake.clone());
        Woken::Fired(links.map(Arc::new).collect())
    }
}

impl Engine {
    /// Puts a letter into the mailbox of the event's session.
    fn leave(&self, event: &Event, letter: Letter) {
        let (sessions, key) = self.session_of(&event.session, event.dialect);
        let mut add =
            |state: &mut SessionState| background::add_letters(state, std::iter::once(letter.clone()));
        if let Err(error) = sessions.update(&key, &mut add) {
            for observer in self.observers() {
                let outcome = Outcome { notes: vec![Note::warning(error.to_string())], ..Outcome::default() };
                observer.decided(event, &outcome);
            }
        }
    }
}

/// What the model is told of a woken hook: never more than that a hook said it, and of which call.
fn letter(event: &Event, outcome: &Outcome) -> Option<Letter> {
    let run = outcome.runs.iter().find(|run| run.ran())?;
    let wake = event.wake.as_ref()?;
    let about = match &event.tool {
        Some(tool) => format!("{} {}", tool.name, tool.input),
        None => event.kind.to_string(),
    };
    let answer = &outcome.answer;
    let texts = answer.effects.iter().filter_map(|effect| match effect {
        Effect::Context { text } | Effect::Feedback { text, .. } | Effect::Message { text, .. } => {
            Some(text.as_str())
        }
        _ => None,
    });
    let said: Vec<&str> = texts.collect();
    let verdict = match answer.decision {
        Decision::Deny => format!("refuses it: {}", answer.reason.as_deref().unwrap_or("no reason given")),
        Decision::Ask | Decision::Defer => "has no answer yet".to_owned(),
        _ if event.tool.is_some() && run.status() == Status::Ok => "has no objection to it".to_owned(),
        _ if said.is_empty() => return None,
        _ => "says".to_owned(),
    };
    let mut text = format!(
        "A hook looked again at {about} ({}; this is no approval by the user): it {verdict}",
        wake.reason
    );
    for line in said {
        text.push('\n');
        text.push_str(line);
    }
    Some(Letter { hook: run.hook.id.as_str().to_owned(), text })
}

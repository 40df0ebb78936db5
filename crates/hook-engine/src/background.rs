//! Hooks that run in the background: started with their event, heard with a later one.
//!
//! What such a hook decides comes too late and counts for nothing. What it tells the model is kept in the session and goes
//! out with the next event that can carry it ("Claude Code hooks reference, Run hooks in the background").

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hook_core::{
    Answer, Candidate, Decision, Effect, Event, EventKind, Letter, Note, Outcome, Run, SessionState,
    SessionStore, Status,
};
use tokio::task::{AbortHandle, JoinSet};

/// What becomes of the background hooks of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BackgroundMode {
    /// They run as tasks of the runtime that dispatches; [`Engine::background_done`](crate::Engine::background_done) waits for
    /// them.
    #[default]
    Tasks,
    /// They are awaited with the others, for a person who looks on. What they say is shown with their run and goes nowhere.
    Await,
    /// Their runs are recorded with [`Status::Background`], and the host runs them with
    /// [`Engine::run_background`](crate::Engine::run_background), in another process perhaps.
    HandOver,
}

/// Letters that a session keeps; older ones go.
const MAX_LETTERS: usize = 64;

/// Background hooks that run for one session at a time, as tasks; what is beyond is not started.
const MOST_TASKS: usize = 16;

/// The background runs of one engine.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<Running>);

#[derive(Default)]
struct Running {
    all: JoinSet<()>,
    of_session: HashMap<String, Vec<AbortHandle>>,
}

impl Tasks {
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many more may run for a session. What is done is forgotten.
    pub(crate) fn room(&self, session: &str) -> usize {
        let mut running = self.lock();
        while running.all.try_join_next().is_some() {}
        running.of_session.retain(|_, tasks| {
            tasks.retain(|task| !task.is_finished());
            !tasks.is_empty()
        });
        MOST_TASKS.saturating_sub(running.of_session.get(session).map_or(0, Vec::len))
    }

    /// Starts one more.
    pub(crate) fn start(&self, session: &str, work: impl Future<Output = ()> + Send + 'static) {
        let mut running = self.lock();
        let task = running.all.spawn(work);
        running.of_session.entry(session.to_owned()).or_default().push(task);
    }

    /// Ends those of a session; their hooks end with them.
    pub(crate) fn end(&self, session: &str) {
        for task in self.lock().of_session.remove(session).into_iter().flatten() {
            task.abort();
        }
    }

    /// Takes all that still run.
    pub(crate) fn take(&self) -> JoinSet<()> {
        std::mem::take(&mut self.lock().all)
    }
}

/// The candidates whose runs were put off.
pub(crate) fn put_off(outcome: &Outcome, candidates: &[Candidate]) -> Vec<Candidate> {
    let later = |candidate: &&Candidate| {
        outcome.runs.iter().any(|run| {
            run.status() == Status::Background && std::sync::Arc::ptr_eq(&run.hook, &candidate.hook)
        })
    };
    candidates.iter().filter(later).cloned().collect()
}

/// What a background hook has to say to the model.
fn letters(run: &Run) -> Vec<Letter> {
    let answer = &run.reading.answer;
    let mut texts: Vec<&str> = Vec::new();
    if matches!(run.status(), Status::Ok | Status::Blocked) {
        texts.extend(answer.contexts());
        texts.extend(answer.messages().map(|(text, _)| text));
    }
    // A hook that wakes the model says why by its exit code, on whatever event.
    if run.hook.wakes_model() && run.exit_code == Some(2) {
        let told = answer.effects.iter().find_map(|effect| match effect {
            Effect::Feedback { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.push(answer.reason.as_deref().or(told).unwrap_or(&run.stderr));
    }
    let letter = |text: &str| Letter { hook: run.hook.id.as_str().to_owned(), text: text.to_owned() };
    texts.into_iter().filter(|text| !text.is_empty()).map(letter).collect()
}

/// Tells the model, with a later event, of hooks that were not started.
pub(crate) fn refuse(beyond: &[Candidate], sessions: &dyn SessionStore, session: &str) -> Option<Note> {
    let letter = |candidate: &Candidate| {
        let hook = candidate.hook.id.as_str().to_owned();
        let text =
            format!("The background hook {hook} was not started: {MOST_TASKS} run for this session already.");
        Letter { hook, text }
    };
    if beyond.is_empty() {
        return None;
    }
    let letters: Vec<Letter> = beyond.iter().map(letter).collect();
    let mut add = |state: &mut SessionState| add_letters(state, letters.iter().cloned());
    sessions.update(session, &mut add).err().map(|error| Note::warning(error.to_string()))
}

/// Keeps what background hooks said for a later event.
pub(crate) fn keep(outcome: &Outcome, sessions: &dyn SessionStore, session: &str) -> Option<Note> {
    let fresh: Vec<Letter> = outcome.runs.iter().flat_map(letters).collect();
    if fresh.is_empty() {
        return None;
    }
    let mut add = |state: &mut SessionState| add_letters(state, fresh.iter().cloned());
    sessions.update(session, &mut add).err().map(|error| Note::warning(error.to_string()))
}

/// Puts letters into a mailbox; the oldest make room.
pub(crate) fn add_letters(state: &mut SessionState, letters: impl Iterator<Item = Letter>) {
    state.mailbox.extend(letters);
    let over = state.mailbox.len().saturating_sub(MAX_LETTERS);
    state.mailbox.drain(..over);
}

/// True where the event can carry letters at all. A text at the end of a turn would start another one.
pub(crate) fn can_carry(event: &Event, takes_context: bool) -> bool {
    takes_context && !matches!(event.kind, EventKind::Stop | EventKind::SubagentStop | EventKind::SessionEnd)
}

/// True where the letters can go beside this answer: an agent that carries one thing at a time would lose them.
fn has_room(answer: &Answer) -> bool {
    answer.decision <= Decision::Allow
        && answer.updated_input.is_none()
        && answer.updated_output.is_none()
        && !answer.effects.iter().any(|effect| matches!(effect, Effect::ReplaceContent { .. }))
}

/// How long a reply with letters may be on its way, in milliseconds. A process that has not confirmed it by then was ended.
const LEASE: u64 = 60_000;

fn overdue(state: &SessionState, now: u64) -> bool {
    !state.handed.is_empty() && now.saturating_sub(state.handed_at) > LEASE
}

/// True where letters wait.
pub(crate) fn has_letters(state: &SessionState, now: u64) -> bool {
    !state.mailbox.is_empty() || overdue(state, now)
}

/// Puts the letters of the session into the outcome. Where the host confirms its replies they are kept until then.
pub(crate) fn deliver(
    outcome: &mut Outcome,
    sessions: &dyn SessionStore,
    session: &str,
    now: u64,
    confirms: bool,
) {
    if !has_room(&outcome.answer) {
        return;
    }
    let mut letters = Vec::new();
    let taken = sessions.update(session, &mut |state| {
        letters = if overdue(state, now) { std::mem::take(&mut state.handed) } else { Vec::new() };
        letters.append(&mut state.mailbox);
        if confirms && !letters.is_empty() {
            state.handed.extend(letters.iter().cloned());
            state.handed_at = now;
        }
    });
    if let Err(error) = taken {
        outcome.notes.push(Note::warning(error.to_string()));
    }
    for letter in letters {
        outcome
            .notes
            .push(Note::info(format!("the background hook {} said something meanwhile", letter.hook)));
        outcome.answer.effects.push(Effect::Context { text: letter.text });
    }
}

/// Forgets the letters that went out with this outcome.
pub(crate) fn confirm(outcome: &Outcome, sessions: &dyn SessionStore, session: &str) -> Option<Note> {
    let sent: Vec<&str> = outcome.answer.contexts().collect();
    // Most events bring none, and their sessions need no other look.
    if sent.is_empty() || sessions.load(session).is_ok_and(|state| state.handed.is_empty()) {
        return None;
    }
    let mut forget = |state: &mut SessionState| state.handed.retain(|letter| !sent.contains(&&*letter.text));
    sessions.update(session, &mut forget).err().map(|error| Note::warning(error.to_string()))
}

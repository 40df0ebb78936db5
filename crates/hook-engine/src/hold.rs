//! Calls that are held until a hook was woken: `"hold": true` in a block `asyncRewake`.
//!
//! The first call is refused, and the same one again, as long as the hook waits. What the woken hook says then decides the next time
//! the same call is made, once: the hook is not asked for that one, so that it does not begin to wait anew.

use std::collections::HashMap;

use hook_core::{
    Answer, Candidate, Decision, Event, EventKind, Held, HeldVerdict, HookId, Note, Outcome, Reading, Run,
    SessionState, SessionStore, Status,
};
use hook_rewake::scheduler::Scheduler;
use hook_rewake::store::Filter;
use sha2::{Digest, Sha256};

/// What is already decided of a call, by hook.
pub(crate) type Holds = HashMap<HookId, Held>;

const WAITING: &str = "it is held until the hook was woken";
const RELEASED: &str = "the woken hook had no objection to this call";
const REFUSED: &str = "the woken hook refused this call";

/// The call as this hook sees it.
fn key(hook: &HookId, event: &Event) -> Option<String> {
    let tool = event.tool.as_ref().filter(|_| event.kind == EventKind::PreToolUse)?;
    let mut digest = Sha256::new();
    for part in [tool.name.as_str(), &tool.input.to_string()] {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    let call: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("{} {call}", hook.as_str()))
}

/// What is known of the call before its hooks run. One whose hook waits no more without a verdict (it expired, or was cancelled) is
/// free again; a verdict is used up.
pub(crate) async fn look(
    candidates: &[Candidate],
    event: &Event,
    state: &mut SessionState,
    scheduler: Option<&Scheduler>,
    sessions: &dyn SessionStore,
    session: &str,
) -> (Holds, Option<Note>) {
    let mut holds = Holds::new();
    let mut over = Vec::new();
    for hook in candidates.iter().map(|candidate| &candidate.hook) {
        let holding = hook.rewake.as_ref().is_some_and(|spec| spec.hold);
        let Some(key) = key(&hook.id, event).filter(|_| holding) else { continue };
        let Some(held) = state.held.get(&key) else { continue };
        if held.verdict.is_some() {
            over.push(key);
        } else {
            let filter = Filter { hook: Some(hook.id.as_str().into()), ..Filter::default() };
            let pending = match scheduler {
                Some(scheduler) => scheduler.store().list(&filter).await,
                None => Ok(Vec::new()),
            };
            // A store that cannot be asked lets nothing go.
            if pending.is_ok_and(|pending| !pending.iter().any(|one| *one.chain == *held.chain)) {
                over.push(key);
                continue;
            }
        }
        holds.insert(hook.id.clone(), held.clone());
    }
    if over.is_empty() {
        return (holds, None);
    }
    let mut forget = |state: &mut SessionState| over.iter().for_each(|key| drop(state.held.remove(key)));
    match sessions.update(session, &mut forget) {
        Ok(new) => {
            *state = new;
            (holds, None)
        }
        Err(error) => (holds, Some(Note::warning(error.to_string()))),
    }
}

/// What a hook is taken to say of a call that is held, in place of being asked.
pub(crate) fn reading(held: &Held) -> Reading {
    match &held.verdict {
        None => Reading::new(Status::Blocked, Answer::deny(waiting(&held.reason)), WAITING),
        Some(HeldVerdict::Released) => Reading::new(Status::Ok, Answer::default(), RELEASED),
        Some(HeldVerdict::Refused(why)) => Reading::new(Status::Blocked, Answer::deny(why.clone()), REFUSED),
    }
}

/// True where the run stands for what was decided before.
pub(crate) fn stands_in(run: &Run) -> bool {
    [WAITING, RELEASED, REFUSED].contains(&run.reading.rule.as_str())
}

fn waiting(reason: &str) -> String {
    format!("This call is held: {reason}. Make it again when that is decided.")
}

/// Holds the call for a hook that was put on the list of those to be woken.
pub(crate) fn begin(
    run: &Run,
    event: &Event,
    chain: &str,
    outcome: &mut Outcome,
    sessions: &dyn SessionStore,
    session: &str,
) {
    let Some(spec) = run.hook.rewake.as_ref().filter(|spec| spec.hold) else { return };
    let Some(key) = key(&run.hook.id, event) else { return };
    let held = Held { chain: chain.to_owned(), reason: spec.reason.clone(), verdict: None };
    let mut add = |state: &mut SessionState| drop(state.held.insert(key.clone(), held.clone()));
    if let Err(error) = sessions.update(session, &mut add) {
        outcome.notes.push(Note::warning(error.to_string()));
    }
    if outcome.answer.decision != Decision::Deny {
        outcome.answer.decision = Decision::Deny;
        outcome.answer.reason = Some(waiting(&spec.reason));
        outcome.answer.updated_input = None;
        outcome.decided_by = outcome.runs.iter().position(|one| one.hook.id == run.hook.id);
    }
}

/// Keeps what the woken hook decided, for the next time the call is made. True where nothing is left to wait for.
pub(crate) fn decided(
    run: &Run,
    event: &Event,
    last: bool,
    sessions: &dyn SessionStore,
    session: &str,
) -> bool {
    let holding = run.hook.rewake.as_ref().is_some_and(|spec| spec.hold);
    let Some(key) = key(&run.hook.id, event).filter(|_| holding) else { return false };
    let answer = &run.reading.answer;
    let verdict = match (answer.decision, run.status()) {
        (Decision::None | Decision::Allow, Status::Ok) => HeldVerdict::Released,
        // It may say otherwise the next time; a hook that failed has decided nothing.
        _ if !last => return false,
        _ => HeldVerdict::Refused(answer.reason.clone().unwrap_or_else(|| run.reading.rule.clone())),
    };
    let mut keep = |state: &mut SessionState| {
        if let Some(held) = state.held.get_mut(&key) {
            held.verdict = Some(verdict.clone());
        }
    };
    // Without a note of it the call goes on being held until nothing waits any more, which is the safe side.
    sessions.update(session, &mut keep).is_ok()
}

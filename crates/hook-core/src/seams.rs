//! Small traits at which a host looks in or decides.

use crate::answer::Note;
use crate::event::Event;
use crate::hook::Hook;
use crate::outcome::{Outcome, Run};

/// Decides whether a hook may run at all (trust).
pub trait Gate: Send + Sync {
    /// `Ok` to run it; else why not, with what to do about it.
    ///
    /// # Errors
    /// The reason, for people.
    fn admit(&self, hook: &Hook) -> Result<(), String>;
}

/// A gate that stands open.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrustAll;

impl Gate for TrustAll {
    fn admit(&self, _hook: &Hook) -> Result<(), String> {
        Ok(())
    }
}

/// Sees events go by. Calls come from the dispatching task and should return at once.
pub trait Observer: Send + Sync {
    /// A hook is about to start.
    fn started(&self, _event: &Event, _hook: &Hook) {}

    /// A hook is done, or was skipped.
    fn finished(&self, _event: &Event, _run: &Run) {}

    /// The event is decided.
    fn decided(&self, _event: &Event, _outcome: &Outcome) {}

    /// Something is to be told that belongs to no event of an agent.
    fn noticed(&self, _note: &Note) {}
}

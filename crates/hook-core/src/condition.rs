//! What is asked of an event when a hook's turn comes: the part of its matcher that looks at the input, and its `if`.

use std::fmt::Debug;

use crate::diagnostic::Location;
use crate::session::HookCx;

/// An `if` rule as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionSpec {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub location: Option<Location>,
}

/// What a condition says of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The hook runs.
    pub holds: bool,
    /// Why, in one sentence without a full stop that shows the value it saw.
    pub why: String,
    /// What could not be judged within the limits, so that it holds to be on the safe side. People are told when it decides.
    pub unsure: Option<String>,
}

impl Verdict {
    /// The hook runs.
    pub fn holds(why: impl Into<String>) -> Verdict {
        Verdict::of(true, why)
    }

    /// The hook does not run.
    pub fn fails(why: impl Into<String>) -> Verdict {
        Verdict::of(false, why)
    }

    /// Either of the two.
    pub fn of(holds: bool, why: impl Into<String>) -> Verdict {
        Verdict { holds, why: why.into(), unsure: None }
    }
}

/// A compiled condition. Testing never fails and never compiles anything; in doubt an `if` holds
/// ("Claude Code hooks reference, Common fields: `if`"), and so does what goes beyond a limit.
pub trait Condition: Send + Sync + Debug {
    /// Tests the event as the hook sees it: in a chain, with the input as rewritten so far.
    fn test(&self, cx: &HookCx<'_>) -> Verdict;

    /// Its parts, one line each, with what each says of the event and the value it saw; empty where it has no parts.
    fn parts(&self, _cx: &HookCx<'_>) -> Vec<String> {
        Vec::new()
    }
}

//! The `if` of a hook: a rule on the event as a whole, asked after the matcher.

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
}

impl Verdict {
    /// The hook runs.
    pub fn holds(why: impl Into<String>) -> Verdict {
        Verdict { holds: true, why: why.into() }
    }

    /// The hook does not run.
    pub fn fails(why: impl Into<String>) -> Verdict {
        Verdict { holds: false, why: why.into() }
    }
}

/// A compiled `if` rule. Testing never fails and never compiles anything; in doubt a condition holds
/// ("Claude Code hooks reference, Common fields: `if`").
pub trait Condition: Send + Sync + Debug {
    /// Tests the event as the hook sees it: in a chain, with the input as rewritten so far.
    fn test(&self, cx: &HookCx<'_>) -> Verdict;
}

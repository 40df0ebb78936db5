//! In which order the chosen hooks run, and how their answers are joined.
//!
//! A plan has one stage per source dialect. A short circuit ends only its own stage; across stages answers are
//! [joined](crate::fold::join), so a deny wins wherever it was said.

use std::sync::Arc;
use std::time::Duration;

use crate::condition::Condition;
use crate::hook::{DialectId, Hook};

/// A hook whose event fits, and its matcher as far as names go, offered to its dialect for planning. Candidates come in dispatch order.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The hook.
    pub hook: Arc<Hook>,
    /// The group it was written in, unique within a generation; hooks of one group have one number.
    pub group: usize,
    /// The group's hooks were written to run at the same time.
    pub parallel: bool,
    /// The part of its matcher that looks at the input; asked when its turn comes, so that it meets what hooks before it rewrote.
    pub predicate: Option<Arc<dyn Condition>>,
    /// Its `if`, compiled; asked when its turn comes.
    pub condition: Option<Arc<dyn Condition>>,
}

/// How the hooks of one group run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One after the other.
    Sequential,
    /// All at once.
    Parallel,
}

/// Which answer ends the stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRule {
    /// None: every hook runs.
    Never,
    /// A deny.
    OnDeny,
    /// Any answer that [acts](crate::Answer::acts).
    OnAnswer,
}

/// What the next hook of a sequence sees after a rewrite of the tool input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRule {
    /// The original input: hooks do not see each other's rewrites.
    Keep,
    /// The rewritten input.
    Thread,
}

/// How the answers of one group become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldRule {
    /// [`join_all`](crate::fold::join_all).
    Join,
    /// The same, but of several rewrites that of the hook which finished last counts ("Claude Code hooks reference, PreToolUse
    /// decision control").
    JoinAsFinished,
    /// [`select`](crate::fold::select).
    Select,
    /// [`join_reasons`](crate::fold::join_reasons).
    JoinReasons,
    /// [`merge`](crate::fold::merge).
    Merge,
}

/// Hooks that run together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Indexes of candidates, in configured order.
    pub members: Vec<usize>,
    /// How they run.
    pub order: Order,
    /// What ends the stage.
    pub stop: StopRule,
    /// What the next one sees.
    pub input: InputRule,
    /// How their answers are joined.
    pub fold: FoldRule,
}

/// All groups of one source dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The dialect.
    pub dialect: DialectId,
    /// Its groups, in order.
    pub groups: Vec<Group>,
    /// A budget that all hooks of the stage share.
    pub budget: Option<Budget>,
}

/// A budget that the hooks of one stage share ("Claude Code hooks reference, SessionEnd").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// No hook runs longer than this after the stage began.
    pub total: Duration,
    /// The timeout of a hook that has none of its own; `None` leaves it the dialect's default.
    pub default: Option<Duration>,
}

/// A candidate that will not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// The candidate.
    pub member: usize,
    /// Why, for people.
    pub why: String,
}

/// What one dialect makes of its own candidates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The stages. [`Dialect::plan`](crate::Dialect::plan) gives one; the engine strings them together, native first.
    pub stages: Vec<Stage>,
    /// Candidates left out.
    pub skipped: Vec<Skip>,
}

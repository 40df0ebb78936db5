//! What all hooks of one event decided together, with a record of each run.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::answer::{Answer, Note, Reading, Status};
use crate::hook::Hook;

/// The record of one hook on one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The hook.
    pub hook: Arc<Hook>,
    /// The generation of the registry it came from.
    pub generation: u64,
    /// When it started, by the host's clock.
    pub started: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// What it said and by which rule; for a skipped hook the rule says why it was not run.
    pub reading: Reading,
    /// What it wrote to standard error, trimmed, for people. At most the kept part of the stream.
    pub stderr: String,
    /// Its exit code, where it was a process that exited.
    pub exit_code: Option<i32>,
}

impl Run {
    /// How it ended.
    pub fn status(&self) -> Status {
        self.reading.status
    }

    /// True where the hook was started.
    pub fn ran(&self) -> bool {
        self.reading.status != Status::Skipped
    }
}

/// What all hooks of one event decided together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The joined answer.
    pub answer: Answer,
    /// Every hook that was chosen, in dispatch order.
    pub runs: Vec<Run>,
    /// Index into `runs` of the hook that decided.
    pub decided_by: Option<usize>,
    /// Remarks on the event as a whole (a conflict between rewrites, something that could not be carried).
    pub notes: Vec<Note>,
}

impl Outcome {
    /// Joins the outcome of a second event of the same payload.
    #[must_use]
    pub fn and(mut self, next: Outcome) -> Outcome {
        let offset = self.runs.len();
        let next_decides = next.answer.decision > self.answer.decision;
        if next_decides || self.decided_by.is_none() {
            self.decided_by = next.decided_by.map(|index| index + offset);
        }
        self.answer = crate::fold::join(self.answer, next.answer);
        self.runs.extend(next.runs);
        self.notes.extend(next.notes);
        self
    }

    /// The run that decided.
    pub fn decider(&self) -> Option<&Run> {
        self.decided_by.and_then(|index| self.runs.get(index))
    }
}

//! One immutable set of hooks.

use std::collections::HashMap;
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{Candidate, Diagnostic, Document, Event, EventKind, Hook, HookId};

use crate::entries::{self, Entry};
use crate::index::Index;

/// One immutable set of hooks, compiled and indexed.
#[derive(Debug)]
pub struct Generation {
    number: u64,
    hooks: Vec<Arc<Hook>>,
    by_event: HashMap<EventKind, Index>,
}

impl Generation {
    /// Compiles documents, given in dispatch order within each layer.
    ///
    /// `only` restricts compiling to hooks of these events: all others are listed and never selected. `guard` says of a hook
    /// whether its unreadable matcher counts as matching, and its unreadable `if` as holding. The diagnostics concern the set as a
    /// whole; what is wrong with one file was said when it was read.
    pub fn build(
        number: u64,
        documents: &[Document],
        only: Option<&[EventKind]>,
        guard: &dyn Fn(&Hook) -> bool,
    ) -> (Generation, Vec<Diagnostic>) {
        let (hooks, entries) = entries::flatten(documents, only, guard);
        let mut by_event: HashMap<EventKind, Index> = HashMap::new();
        for entry in entries {
            by_event.entry(entry.hook.event.clone()).or_default().push(entry);
        }
        let diagnostics = duplicate_ids(&hooks);
        (Generation { number, hooks, by_event }, diagnostics)
    }

    /// Its number; later generations have higher ones.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Every hook in dispatch order, disabled ones too.
    pub fn hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// The hooks whose event and matcher fit, in dispatch order. Of a matcher that looks at the input, only what it says of names is
    /// judged here; the rest comes with the candidate, to be asked when its turn comes.
    pub fn select(&self, event: &Event) -> Vec<Candidate> {
        let Some(index) = self.by_event.get(&event.kind) else { return Vec::new() };
        let values: Vec<&str> = event.match_values().collect();
        let candidate = |entry: &Entry| Candidate {
            hook: entry.hook.clone(),
            group: entry.group,
            parallel: entry.parallel,
            predicate: entry.predicate(),
            condition: entry.condition.clone(),
        };
        index.matching(&values).map(candidate).collect()
    }

    /// Every hook in dispatch order, and whether [`select`](Generation::select) gives it for this event.
    pub fn matched(&self, event: &Event) -> impl Iterator<Item = (&Arc<Hook>, bool)> {
        let values: Vec<&str> = event.match_values().collect();
        let index = self.by_event.get(&event.kind);
        let selected: Vec<usize> =
            index.into_iter().flat_map(|index| index.matching(&values)).map(|entry| entry.place).collect();
        // Both are in dispatch order.
        let mut selected = selected.into_iter().peekable();
        let flag = move |(place, hook)| (hook, selected.next_if_eq(&place).is_some());
        self.hooks.iter().enumerate().map(flag)
    }
}

/// Two files may give the same explicit id; derived ids differ by construction unless a document was handed over twice.
fn duplicate_ids(hooks: &[Arc<Hook>]) -> Vec<Diagnostic> {
    let mut first: HashMap<&HookId, &Arc<Hook>> = HashMap::new();
    let mut found = Vec::new();
    for hook in hooks {
        let Some(earlier) = first.insert(&hook.id, hook) else { continue };
        if earlier.origin.file == hook.origin.file {
            continue;
        }
        let message =
            format!("the id {} is already taken by the hook at {}; both run", hook.id, earlier.origin);
        let mut diagnostic =
            Diagnostic::new(codes::DUPLICATE_ID, message).pointer(hook.origin.pointer.clone());
        if let Some(location) = &hook.origin.location {
            diagnostic = diagnostic.at(location.clone(), "second hook with this id");
        }
        found.push(diagnostic.help("give each hook an id of its own"));
    }
    found
}

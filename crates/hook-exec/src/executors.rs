//! The set of executors.

use std::collections::HashMap;
use std::sync::Arc;

use hook_core::{Executor, HandlerKind};

/// One executor per kind of handler.
#[derive(Clone, Default)]
pub struct Executors {
    by_kind: HashMap<HandlerKind, Arc<dyn Executor>>,
}

impl Executors {
    /// An empty set.
    pub fn new() -> Executors {
        Executors::default()
    }

    /// Adds an executor; an earlier one for the same kind is replaced.
    #[must_use]
    pub fn with(mut self, executor: Arc<dyn Executor>) -> Executors {
        self.by_kind.insert(executor.kind(), executor);
        self
    }

    /// The executor for this kind.
    pub fn get(&self, kind: HandlerKind) -> Option<&Arc<dyn Executor>> {
        self.by_kind.get(&kind)
    }
}

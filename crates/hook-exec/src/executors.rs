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

    /// Ends what the executors keep between runs, one executor after the other.
    pub async fn close(&self) {
        for executor in self.by_kind.values() {
            executor.close().await;
        }
    }

    /// The executor for this kind.
    pub fn get(&self, kind: HandlerKind) -> Option<&Arc<dyn Executor>> {
        self.by_kind.get(&kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_core::{Answer, Call, HandlerOutput, HookCx};

    struct Says(HandlerKind, Answer);

    #[async_trait::async_trait]
    impl Executor for Says {
        fn kind(&self) -> HandlerKind {
            self.0
        }

        async fn run(&self, _cx: &HookCx<'_>, _call: Call) -> HandlerOutput {
            HandlerOutput::Answer(self.1.clone())
        }
    }

    #[test]
    fn the_last_executor_of_a_kind_is_found() {
        let says = |kind| Arc::new(Says(kind, Answer::default()));
        let (first, last) = (says(HandlerKind::Command), says(HandlerKind::Command));
        let set = Executors::new().with(first).with(says(HandlerKind::Http)).with(last.clone());
        let found = set.get(HandlerKind::Command).unwrap();
        assert!(std::ptr::addr_eq(Arc::as_ptr(found), Arc::as_ptr(&last)));
        assert_eq!(set.get(HandlerKind::Http).unwrap().kind(), HandlerKind::Http);
        assert!(set.get(HandlerKind::Prompt).is_none());
    }
}

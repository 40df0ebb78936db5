//! The generation in force.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::generation::Generation;

/// Holds the generation in force. Readers never wait for a writer.
#[derive(Debug)]
pub struct Registry {
    current: ArcSwap<Generation>,
}

impl Registry {
    /// A registry with its first generation.
    pub fn new(generation: Generation) -> Registry {
        Registry { current: ArcSwap::from_pointee(generation) }
    }

    /// The generation in force.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// Puts another generation in force and gives the one before.
    pub fn swap(&self, generation: Generation) -> Arc<Generation> {
        self.current.swap(Arc::new(generation))
    }
}

//! The table of dialects: one row per agent.

mod aimon;
mod amplifier;
mod asked;
mod claude;
mod groups;
mod native;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use hook_core::{Dialect, DialectId};

pub use aimon::Aimon;
pub use amplifier::Amplifier;
pub use claude::Claude;
pub use native::Native;

/// The dialects an engine knows.
#[derive(Clone, Default)]
pub struct Dialects {
    all: Vec<Arc<dyn Dialect>>,
}

impl Dialects {
    /// No dialect.
    pub fn new() -> Dialects {
        Dialects::default()
    }

    /// Every dialect of this crate, native first.
    pub fn standard() -> Dialects {
        let dialects = Dialects::new().with(Arc::new(Native)).with(Arc::new(Amplifier));
        dialects.with(Arc::new(Aimon)).with(Arc::new(Claude))
    }

    /// Adds a dialect; one with the same id is replaced.
    #[must_use]
    pub fn with(mut self, dialect: Arc<dyn Dialect>) -> Dialects {
        self.all.retain(|known| known.profile().id != dialect.profile().id);
        self.all.push(dialect);
        self
    }

    /// The dialect with this id.
    pub fn get(&self, id: DialectId) -> Option<&Arc<dyn Dialect>> {
        self.all.iter().find(|dialect| dialect.profile().id == id)
    }

    /// The dialect that answers to this word: an id or an alias.
    pub fn find(&self, word: &str) -> Option<&Arc<dyn Dialect>> {
        self.all.iter().find(|dialect| dialect.profile().answers_to(word))
    }

    /// All of them, native first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Dialect>> {
        self.all.iter()
    }
}

//! Where envelopes are kept.
//!
//! A claim takes an envelope for a time (the lease) and gives it a token. Who holds the token settles the envelope; after the lease
//! another may claim it, and the first one's token is worth nothing any more. So every wake-up happens at least once, and one that
//! happens twice has the same [`fire_id`](Claim::fire_id) both times.

mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::envelope::{EndRecord, Envelope};

pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

/// What became of an envelope that was put into a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is new.
    Stored,
    /// It took the place of one with the same id.
    Replaced,
    /// Its context has as many as it may; it was not stored.
    OverQuota,
}

/// An envelope that somebody may wake now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The envelope.
    pub envelope: Envelope,
    /// The moment it was planned for, in milliseconds since 1970.
    pub planned: i64,
    /// Proves that the claim is in force.
    pub token: u64,
    /// How often it was claimed, this time included.
    pub delivery: u32,
}

impl Claim {
    /// The same for every delivery of this wake-up, and different for every other one.
    pub fn fire_id(&self) -> String {
        format!("{}@{}", self.envelope.id, self.planned)
    }
}

/// Why a store could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The claim is not in force any more: its lease is over and another one has it, or the envelope is gone.
    #[error("the claim on {0} is not in force any more")]
    Fenced(Arc<str>),
    /// Others keep the store busy.
    #[error("the store of envelopes is locked by another process; try again, or see who holds {0}")]
    Locked(String),
    /// There is no room.
    #[error("there is no room left for the store of envelopes at {0}; make room and try again")]
    Full(String),
    /// A newer version of this program wrote it.
    #[error(
        "the store of envelopes at {place} has version {found}, this program knows {known}; use the newer program"
    )]
    Newer {
        /// Where it is.
        place: String,
        /// Its version.
        found: i64,
        /// The newest one known here.
        known: i64,
    },
    /// It is somewhere else, and cannot be reached; why.
    #[error("the store of envelopes at {place} cannot be reached: {why}")]
    Unreachable {
        /// Where it is.
        place: String,
        /// What the system says.
        why: String,
    },
    /// It cannot be read or written; why.
    #[error("the store of envelopes at {place}: {why}")]
    Broken {
        /// Where it is.
        place: String,
        /// What the system says.
        why: String,
    },
}

/// Which envelopes or records are meant. Empty: all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those of this context.
    pub context: Option<Arc<str>>,
    /// Those of this hook.
    pub hook: Option<Arc<str>>,
}

impl Filter {
    fn fits(&self, context: &str, hook: &str) -> bool {
        self.context.as_deref().is_none_or(|wanted| wanted == context)
            && self.hook.as_deref().is_none_or(|wanted| wanted == hook)
    }
}

/// A store of envelopes. Each call is one transaction. Times are milliseconds since 1970.
#[async_trait]
pub trait RewakeStore: Send + Sync {
    /// Stores envelopes, at most `quota` per context. An id that is there is replaced, and counts once.
    ///
    /// # Errors
    /// The store fails; nothing is stored.
    async fn put(&self, envelopes: Vec<Envelope>, quota: Option<u32>) -> Result<Vec<Put>, StoreError>;

    /// Claims up to `most` envelopes that something has to be done about, the earliest first, until `now + lease`.
    ///
    /// # Errors
    /// The store fails; nothing is claimed.
    async fn claim(&self, now: i64, lease: i64, most: usize) -> Result<Vec<Claim>, StoreError>;

    /// Ends what was claimed, keeps the records, and stores what comes next.
    ///
    /// # Errors
    /// The claim is not in force, or the store fails; nothing is changed.
    async fn settle(
        &self,
        claim: &Claim,
        records: Vec<EndRecord>,
        next: Vec<Envelope>,
        quota: Option<u32>,
    ) -> Result<Vec<Put>, StoreError>;

    /// Makes every envelope due that waits for this event and has time left, and gives their number. Both words count letter by
    /// letter. What was brought along overlays the envelopes' own payload.
    ///
    /// # Errors
    /// The store fails; nothing is changed.
    async fn resolve(
        &self,
        kind: &str,
        key: &str,
        brought: &BTreeMap<String, String>,
        now: i64,
    ) -> Result<u64, StoreError>;

    /// Removes an envelope; false where there is none. `why` stands in its record.
    ///
    /// # Errors
    /// The store fails; nothing is changed.
    async fn cancel(&self, id: &str, now: i64, why: &str) -> Result<bool, StoreError>;

    /// Removes all envelopes of a hook, and gives their number.
    ///
    /// # Errors
    /// The store fails; nothing is changed.
    async fn cancel_hook(&self, hook: &str, now: i64) -> Result<u64, StoreError>;

    /// The pending envelopes, the earliest first.
    ///
    /// # Errors
    /// The store fails.
    async fn list(&self, filter: &Filter) -> Result<Vec<Envelope>, StoreError>;

    /// One pending envelope.
    ///
    /// # Errors
    /// The store fails.
    async fn get(&self, id: &str) -> Result<Option<Envelope>, StoreError>;

    /// When something has to be done next; `None` where nothing is pending.
    ///
    /// # Errors
    /// The store fails.
    async fn next(&self) -> Result<Option<i64>, StoreError>;

    /// Keeps records of envelopes that never were stored.
    ///
    /// # Errors
    /// The store fails.
    async fn record(&self, records: Vec<EndRecord>) -> Result<(), StoreError>;

    /// What became of envelopes, the latest first.
    ///
    /// # Errors
    /// The store fails.
    async fn records(&self, filter: &Filter, most: usize) -> Result<Vec<EndRecord>, StoreError>;

    /// Forgets records from before this moment, and gives their number.
    ///
    /// # Errors
    /// The store fails.
    async fn forget(&self, before: i64) -> Result<u64, StoreError>;

    /// Waits until somebody else may have put something in. It is a hint that saves time: it may come for nothing, and it may not come
    /// at all, as from stores that give none.
    async fn hint(&self) {
        std::future::pending().await
    }
}

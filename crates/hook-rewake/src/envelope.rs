//! A scheduled wake-up of one hook.

use std::collections::BTreeMap;
use std::sync::Arc;

use hook_core::{RewakeSpec, RewakeTrigger};
use serde::{Deserialize, Serialize};

/// What the agent said when the hook asked to be woken: enough to fire the same event at the same hook again. Envelopes of one
/// event share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The dialect of the agent, by its id.
    pub dialect: String,
    /// The agent's session; `None` where it names none.
    pub session: Option<String>,
    /// The agent's payload, as it came: before any hook changed the input.
    pub payload: String,
    /// Which of the events that the payload became.
    pub event: usize,
    /// What the host needs to find its hooks again; nobody else reads it.
    #[serde(default)]
    pub host: Arc<str>,
}

/// A scheduled wake-up ("Hook Configuration Guide, Async Rewake"). Times are milliseconds since 1970, UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// Its id. Scheduling an id again replaces what is there.
    pub id: Arc<str>,
    /// The id of the first link of its chain; its own where it is the first.
    pub chain: Arc<str>,
    /// Whose it is: quotas count per context, and what the woken hook says goes there.
    pub context: Arc<str>,
    /// The hook that is woken, and no other.
    pub hook: Arc<str>,
    /// What the hook wished for.
    pub spec: Arc<RewakeSpec>,
    /// The event it belongs to.
    pub snapshot: Arc<Snapshot>,
    /// Which wake-up this is, from 1.
    pub attempt: u32,
    /// When the first link of the chain was scheduled; the time allowed counts from here.
    pub first_scheduled: i64,
    /// When it fires; `None` as long as it waits for an event from outside.
    pub due: Option<i64>,
    /// What the event from outside brought along.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub brought: BTreeMap<String, String>,
}

impl Envelope {
    /// A fire after this moment is discarded.
    pub fn expires(&self) -> i64 {
        self.first_scheduled.saturating_add(millis(self.spec.timeout))
    }

    /// When something has to be done about it: it fires, or the time it may wait is over.
    pub fn wake_at(&self) -> i64 {
        self.due.unwrap_or_else(|| self.expires().saturating_add(1))
    }

    /// What the woken hook is told: its own payload, overlaid with what the event brought.
    pub fn payload(&self) -> BTreeMap<String, String> {
        let mut all = self.spec.payload.clone();
        all.extend(self.brought.iter().map(|(name, value)| (name.clone(), value.clone())));
        all
    }

    /// The type and the key it waits for.
    pub fn waits_for(&self) -> Option<(&str, &str)> {
        match &self.spec.trigger {
            RewakeTrigger::Event { kind, key } if self.due.is_none() => Some((kind, key)),
            _ => None,
        }
    }
}

/// Whole milliseconds, as many as fit.
pub(crate) fn millis(time: std::time::Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// How an envelope ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum End {
    /// The hook was woken.
    Fired,
    /// Its time was over before it could fire.
    Expired,
    /// Somebody cancelled it, or its hook is gone.
    Cancelled,
    /// It could not be scheduled or woken.
    Dropped,
}

/// What became of an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndRecord {
    /// The envelope.
    pub id: Arc<str>,
    /// The first link of its chain.
    pub chain: Arc<str>,
    /// Whose it was.
    pub context: Arc<str>,
    /// The hook.
    pub hook: Arc<str>,
    /// Which wake-up it was.
    pub attempt: u32,
    /// When it ended.
    pub at: i64,
    /// How.
    pub end: End,
    /// Why, for people; one of the constants in [`why`] where it was dropped by a rule.
    pub why: String,
    /// Tells deliveries of one planned moment apart from those of another; the same for every repetition of one. `None` where
    /// nothing was delivered.
    pub fire_id: Option<String>,
}

impl EndRecord {
    /// The end of this envelope.
    pub fn new(envelope: &Envelope, at: i64, end: End, why: impl Into<String>) -> EndRecord {
        EndRecord {
            id: envelope.id.clone(),
            chain: envelope.chain.clone(),
            context: envelope.context.clone(),
            hook: envelope.hook.clone(),
            attempt: envelope.attempt,
            at,
            end,
            why: why.into(),
            fire_id: None,
        }
    }
}

/// Why envelopes are dropped.
pub mod why {
    /// The context has as many pending envelopes as it may.
    pub const QUOTA: &str = "quota";
    /// Its hook was woken as often as it may be.
    pub const MAX_ATTEMPTS: &str = "max-attempts";
    /// The time allowed is over.
    pub const EXPIRED: &str = "expired";
    /// The context it belongs to is gone.
    pub const CONTEXT_GONE: &str = "context-gone";
    /// No hook has its id any more.
    pub const HOOK_GONE: &str = "hook-gone";
    /// A reload took its hook away.
    pub const VANISHED: &str = "its hook is gone";
    /// The cron expression has no further time.
    pub const NEVER: &str = "never-due";
    /// It was claimed again and again and never settled: whoever wakes it does not survive it.
    pub const DELIVERIES: &str = "deliveries";
}

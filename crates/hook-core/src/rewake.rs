//! When a hook wants to be woken again ("Hook Configuration Guide, Async Rewake").

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What wakes a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum RewakeTrigger {
    /// So much time after it ran. Never zero.
    Delay(Duration),
    /// The times of a five-field cron expression.
    Cron {
        /// The expression, as written.
        expression: String,
        /// An IANA time zone.
        zone: String,
    },
    /// An event from outside, told by both words, which count letter by letter.
    Event {
        /// Its type; not blank.
        kind: String,
        /// Its key; not blank.
        key: String,
    },
}

/// The block `asyncRewake` of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RewakeSpec {
    /// What wakes it.
    pub trigger: RewakeTrigger,
    /// A wake-up later than this after the first run is dropped. Never zero.
    pub timeout: Duration,
    /// How often it is woken at most; at least 1.
    pub max_attempts: u32,
    /// What the woken hook is told.
    pub payload: BTreeMap<String, String>,
    /// Why, for people; not blank.
    pub reason: String,
}

impl RewakeSpec {
    /// The timeout of a block that names none.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60 * 60);

    /// The attempts of a block that names none.
    pub const DEFAULT_ATTEMPTS: u32 = 3;
}

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

/// What becomes of times of a series that passed while nobody was there to wake the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum RewakeMissed {
    /// They are over.
    Skip,
    /// The hook is woken once for all of them.
    #[default]
    Once,
    /// The hook is woken for every one that is not longer ago than this.
    All {
        /// How long.
        window: Duration,
    },
}

/// What a woken hook is told of its wake-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub struct Wake {
    /// The envelope's id.
    pub id: String,
    /// The same for every repetition of this wake-up, and different for every other one.
    pub fire_id: String,
    /// Which wake-up it is, from 1.
    pub attempt: u32,
    /// How many there are at most.
    pub max_attempts: u32,
    /// Why, as the hook said.
    pub reason: String,
    /// The hook's own words, overlaid with what an event from outside brought along.
    pub payload: BTreeMap<String, String>,
}

impl Wake {
    /// All of it as names and texts: the payload's members, then what is known of the wake-up, which goes before.
    pub fn words(&self) -> Vec<(String, String)> {
        let known = [
            ("id", self.id.clone()),
            ("fire_id", self.fire_id.clone()),
            ("attempt", self.attempt.to_string()),
            ("max_attempts", self.max_attempts.to_string()),
            ("reason", self.reason.clone()),
        ];
        let known = known.map(|(name, value)| (name.to_owned(), value));
        self.payload.clone().into_iter().chain(known).collect()
    }
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
    /// What becomes of missed times of a cron trigger.
    #[serde(default)]
    pub missed: RewakeMissed,
    /// The same call is refused as long as the hook waits, and then decided by what the woken hook says.
    #[serde(default)]
    pub hold: bool,
}

impl RewakeSpec {
    /// The timeout of a block that names none.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60 * 60);

    /// The attempts of a block that names none.
    pub const DEFAULT_ATTEMPTS: u32 = 3;
}

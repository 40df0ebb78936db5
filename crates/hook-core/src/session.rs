//! What the engine remembers of a session, and what everything that speaks for a hook gets to see.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::Event;
use crate::hook::Hook;
use crate::host::HostContext;

/// State of one session that outlives a process. Every member defaults, so that an older file still reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SessionState {
    /// Variables that hooks left for later hooks of the session ("Shell hooks module for Amplifier, Environment variables").
    pub variables: BTreeMap<String, String>,
    /// Variables that hooks left when the working directory or a watched file changed; they go when the directory changes
    /// again ("Claude Code hooks reference, Persist environment variables").
    pub passing: BTreeMap<String, String>,
    /// Keys of `once` hooks that ran.
    pub spent: BTreeSet<String>,
    /// Per once-per-turn key: the native event that ran it in this turn.
    pub turn: BTreeMap<String, String>,
    /// A stop hook kept this turn going.
    pub stop_active: bool,
    /// How often in a row stop hooks kept the agent going, since its last tool call.
    pub stop_blocks: u32,
    /// The skills that the session has loaded, in the order of their first load.
    pub skills: Skills,
    /// What background hooks left for the next event that can carry it.
    pub mailbox: Vec<Letter>,
    /// Letters that were put into a reply of which nobody has said yet that it reached the agent.
    pub handed: Vec<Letter>,
    /// When that was, in milliseconds since 1970.
    pub handed_at: u64,
    /// Calls that are held until a hook was woken, by hook and call.
    pub held: BTreeMap<String, Held>,
}

/// A call that is held ("hold" of a block `asyncRewake`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// The chain of envelopes it waits for.
    pub chain: String,
    /// Why it waits, for people.
    pub reason: String,
    /// What the woken hook decided; `None` as long as it waits.
    pub verdict: Option<HeldVerdict>,
}

/// What became of a call that was held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HeldVerdict {
    /// The hook has no objection any more.
    Released,
    /// It refuses; why.
    Refused(String),
}

/// The skills of a session, in the order of their first load. Copies share what they hold until one of them is changed: every
/// event of the session takes a copy of its state.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<LoadedSkill>", into = "Vec<LoadedSkill>")]
pub struct Skills(Arc<Vec<LoadedSkill>>);

impl Skills {
    /// The skills, to be changed.
    pub fn to_mut(&mut self) -> &mut Vec<LoadedSkill> {
        Arc::make_mut(&mut self.0)
    }
}

impl std::ops::Deref for Skills {
    type Target = [LoadedSkill];

    fn deref(&self) -> &[LoadedSkill] {
        &self.0
    }
}

impl PartialEq for Skills {
    fn eq(&self, other: &Skills) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for Skills {}

impl From<Vec<LoadedSkill>> for Skills {
    fn from(skills: Vec<LoadedSkill>) -> Skills {
        Skills(Arc::new(skills))
    }
}

impl From<Skills> for Vec<LoadedSkill> {
    fn from(skills: Skills) -> Vec<LoadedSkill> {
        Arc::unwrap_or_clone(skills.0)
    }
}

/// A skill that a session has loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadedSkill {
    /// Its name.
    pub name: String,
    /// The dialect of the agent that loaded it.
    pub dialect: String,
    /// Its directory, where the agent named it.
    #[serde(default)]
    pub directory: Option<PathBuf>,
    /// Its `hooks`, as the agent sent them; null where only the name is known and the hooks stand in a file.
    #[serde(default)]
    pub hooks: Value,
}

/// Something a background hook said, waiting for its reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Letter {
    /// The hook that said it.
    pub hook: String,
    /// The text, for the model.
    pub text: String,
}

/// Why a store could not do its work.
#[derive(Debug, thiserror::Error)]
#[error("session state at {path}: {cause}")]
pub struct StoreError {
    /// The file or directory.
    pub path: PathBuf,
    /// What went wrong.
    #[source]
    pub cause: std::io::Error,
}

/// Keeps the state of sessions. Session ids come from outside and are never trusted as file names.
pub trait SessionStore: Send + Sync {
    /// The state of a session; empty for one that is not known.
    ///
    /// # Errors
    /// The store cannot be read.
    fn load(&self, session: &str) -> Result<SessionState, StoreError>;

    /// Changes the state under the session's lock and gives what it is then. Two processes that update at the same time
    /// both take effect, one after the other.
    ///
    /// # Errors
    /// The store cannot be locked, read or written.
    fn update(
        &self,
        session: &str,
        change: &mut dyn FnMut(&mut SessionState),
    ) -> Result<SessionState, StoreError>;

    /// The session's env file, created empty with mode 0600 where it is missing.
    ///
    /// # Errors
    /// The file cannot be created.
    fn env_file(&self, session: &str) -> Result<PathBuf, StoreError>;

    /// Keeps a text that is too long for its reader in a file of the session, mode 0600, and gives the file.
    ///
    /// # Errors
    /// The file cannot be written.
    fn spill(&self, session: &str, text: &str) -> Result<PathBuf, StoreError>;

    /// Forgets a session and removes its files.
    ///
    /// # Errors
    /// A file cannot be removed.
    fn end(&self, session: &str) -> Result<(), StoreError>;
}

/// A session as a dialect sees it while it prepares a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionView {
    /// The state when the event began.
    pub state: SessionState,
    /// The env file, where there is one.
    pub env_file: Option<PathBuf>,
}

/// What everything that speaks for a hook gets: the event as this hook sees it, the hook, the session, the host.
#[derive(Debug, Clone, Copy)]
pub struct HookCx<'a> {
    /// The event; in a chain, with the input as rewritten so far.
    pub event: &'a Event,
    /// The hook.
    pub hook: &'a Hook,
    /// The session.
    pub session: &'a SessionView,
    /// The host.
    pub host: &'a HostContext,
}

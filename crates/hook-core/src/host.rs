//! What the host lends to the libraries, which read neither the environment nor the home directory themselves.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Tells the time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Now.
    fn now(&self) -> SystemTime;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A clock that stands until it is moved, for tests and replays.
#[derive(Debug)]
pub struct ManualClock(Mutex<SystemTime>);

impl ManualClock {
    /// A clock that shows `start`.
    pub fn new(start: SystemTime) -> ManualClock {
        ManualClock(Mutex::new(start))
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *now += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The world as the host wants the engine to see it.
#[derive(Debug, Clone)]
pub struct HostContext {
    /// The environment hooks inherit.
    pub environment: BTreeMap<OsString, OsString>,
    /// The project's root, absolute.
    pub project: PathBuf,
    /// The user's home, absolute.
    pub home: Option<PathBuf>,
    /// The directory of user-level hook files (`~/.config/hook`).
    pub config: Option<PathBuf>,
    /// The directory of managed hook files (`/etc/hook`).
    pub managed: Option<PathBuf>,
    /// The directory for state that outlives a process.
    pub state: Option<PathBuf>,
    /// The `hook` command, given to hooks as `$HOOK`.
    pub hook_command: Option<PathBuf>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl HostContext {
    /// A host with an empty environment and no directories but the project.
    pub fn new(project: impl Into<PathBuf>) -> HostContext {
        HostContext {
            environment: BTreeMap::new(),
            project: project.into(),
            home: None,
            config: None,
            managed: None,
            state: None,
            hook_command: None,
            clock: Arc::new(SystemClock),
        }
    }

    /// What processes started for hooks inherit: the environment without what is for the agent alone, its telemetry settings
    /// (`OTEL_*`; "Claude Code hooks reference, environment").
    pub fn inherited(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.environment.iter().filter(|(name, _)| !name.as_encoded_bytes().starts_with(b"OTEL_"))
    }

    /// A variable of the environment that is valid UTF-8.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(OsStr::new(name)).and_then(|value| value.to_str())
    }
}

//! Sessions in memory.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use hook_core::{SessionState, SessionStore, StoreError};
use tempfile::TempPath;

#[derive(Default)]
struct Entry {
    state: SessionState,
    env_file: Option<TempPath>,
    spilled: Vec<TempPath>,
}

/// Sessions that live as long as this value. Env files are temporary files of mode 0600; they go with it.
#[derive(Default)]
pub struct MemorySessions {
    sessions: Mutex<HashMap<String, Entry>>,
}

impl MemorySessions {
    /// No session.
    pub fn new() -> MemorySessions {
        MemorySessions::default()
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, Entry>) -> T) -> T {
        work(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl SessionStore for MemorySessions {
    fn load(&self, session: &str) -> Result<SessionState, StoreError> {
        Ok(self.with(|all| all.get(session).map(|entry| entry.state.clone()).unwrap_or_default()))
    }

    fn update(
        &self,
        session: &str,
        change: &mut dyn FnMut(&mut SessionState),
    ) -> Result<SessionState, StoreError> {
        Ok(self.with(|all| {
            let entry = all.entry(session.to_owned()).or_default();
            change(&mut entry.state);
            entry.state.clone()
        }))
    }

    fn env_file(&self, session: &str) -> Result<PathBuf, StoreError> {
        self.with(|all| {
            let entry = all.entry(session.to_owned()).or_default();
            // A hook may have removed it.
            if let Some(path) = entry.env_file.as_deref().filter(|path| path.exists()) {
                return Ok(path.to_owned());
            }
            let made = tempfile::Builder::new().prefix("hook-").suffix(".env").tempfile();
            let file = made.map_err(|cause| StoreError { path: "temporary env file".into(), cause })?;
            let path = file.into_temp_path();
            let shown = path.to_path_buf();
            entry.env_file = Some(path);
            Ok(shown)
        })
    }

    fn spill(&self, session: &str, text: &str) -> Result<PathBuf, StoreError> {
        let write = || {
            let mut file = tempfile::Builder::new().prefix("hook-").suffix(".txt").tempfile()?;
            file.write_all(text.as_bytes())?;
            Ok(file.into_temp_path())
        };
        let path = write().map_err(|cause| StoreError { path: "temporary text file".into(), cause })?;
        let shown = path.to_path_buf();
        self.with(|all| all.entry(session.to_owned()).or_default().spilled.push(path));
        Ok(shown)
    }

    fn end(&self, session: &str) -> Result<(), StoreError> {
        self.with(|all| all.remove(session));
        Ok(())
    }
}

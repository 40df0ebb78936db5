//! Sessions in files.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hook_core::{Clock, SessionState, SessionStore, StoreError};

use crate::name::file_name;

/// How long a session that nobody touches is kept.
pub const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Sessions as files of one directory, shared by any number of processes.
///
/// Per session: `NAME.json` the state, `NAME.lock` its lock, `NAME.env` the env file. The directory has mode 0700, files 0600. The
/// state is replaced as a whole; a process that dies in between leaves the old one. A state that cannot be read is moved
/// aside to `NAME.bad`, and the session starts anew.
#[derive(Debug, Clone)]
pub struct FileSessions {
    directory: PathBuf,
    clock: Arc<dyn Clock>,
}

/// The lock of one session, held until dropped. The lock file stays: removing it would let two processes hold two locks.
struct Locked<'a> {
    store: &'a FileSessions,
    name: String,
    _lock: File,
}

impl FileSessions {
    /// Sessions under this directory, which is made when it is first needed.
    pub fn new(directory: PathBuf, clock: Arc<dyn Clock>) -> FileSessions {
        FileSessions { directory, clock }
    }

    /// Removes the sessions that nobody touched for `age`, and says how many. A session that is in use is left alone.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn sweep(&self, age: Duration) -> Result<usize, StoreError> {
        let entries = match fs_read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            other => self.told(&self.directory, other)?,
        };
        let mut removed = 0;
        for entry in entries.flatten() {
            let path = entry.path();
            let is_lock = path.extension().is_some_and(|extension| extension == "lock");
            let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|_| is_lock) else {
                continue;
            };
            // Whoever holds the lock is using the session.
            let Ok(lock) = open_private(&path) else { continue };
            if lock.try_lock().is_err() {
                continue;
            }
            let parts = ["json", "env", "lock", "bad"].map(|part| self.part(name, part));
            let touched = parts.iter().filter_map(|part| fs::metadata(part).ok()?.modified().ok()).max();
            let old =
                touched.is_some_and(|at| self.clock.now().duration_since(at).is_ok_and(|since| since >= age));
            if old {
                for part in &parts {
                    self.told(part, remove(part))?;
                }
                removed += 1;
            }
        }
        Ok(removed)
    }

    fn part(&self, name: &str, extension: &str) -> PathBuf {
        self.directory.join(format!("{name}.{extension}"))
    }

    fn told<T>(&self, path: &Path, result: io::Result<T>) -> Result<T, StoreError> {
        result.map_err(|cause| StoreError { path: path.to_owned(), cause })
    }

    fn lock(&self, session: &str) -> Result<Locked<'_>, StoreError> {
        self.told(&self.directory, private_directory(&self.directory))?;
        let name = file_name(session);
        let path = self.part(&name, "lock");
        loop {
            let lock = self.told(&path, open_private(&path))?;
            self.told(&path, lock.lock())?;
            // A sweep may have removed the file between opening and locking: then this lock guards nothing.
            let current = fs::metadata(&path).ok().map(|data| (data.dev(), data.ino()));
            let held = self.told(&path, lock.metadata())?;
            if current == Some((held.dev(), held.ino())) {
                return Ok(Locked { store: self, name, _lock: lock });
            }
        }
    }
}

impl Locked<'_> {
    fn read(&self) -> Result<SessionState, StoreError> {
        let path = self.store.part(&self.name, "json");
        let bytes = match fs_read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SessionState::default()),
            other => self.store.told(&path, other)?,
        };
        match serde_json::from_slice(&bytes) {
            Ok(state) => Ok(state),
            Err(_) => {
                self.store.told(&path, fs::rename(&path, self.store.part(&self.name, "bad")))?;
                Ok(SessionState::default())
            }
        }
    }

    fn write(&self, state: &SessionState) -> Result<(), StoreError> {
        let path = self.store.part(&self.name, "json");
        let write = || {
            // Temporary files of this crate have mode 0600.
            let mut file = tempfile::NamedTempFile::new_in(&self.store.directory)?;
            file.write_all(&serde_json::to_vec(state)?)?;
            file.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        self.store.told(&path, write())
    }
}

impl SessionStore for FileSessions {
    fn load(&self, session: &str) -> Result<SessionState, StoreError> {
        // A session without a state needs no lock and leaves no trace.
        if !self.part(&file_name(session), "json").exists() {
            return Ok(SessionState::default());
        }
        self.lock(session)?.read()
    }

    fn update(
        &self,
        session: &str,
        change: &mut dyn FnMut(&mut SessionState),
    ) -> Result<SessionState, StoreError> {
        let locked = self.lock(session)?;
        let before = locked.read()?;
        let mut state = before.clone();
        change(&mut state);
        if state != before {
            locked.write(&state)?;
        }
        Ok(state)
    }

    fn env_file(&self, session: &str) -> Result<PathBuf, StoreError> {
        let path = self.part(&file_name(session), "env");
        let regular = |data: fs::Metadata| data.is_file();
        if fs::symlink_metadata(&path).is_ok_and(regular) {
            return Ok(path);
        }
        let _locked = self.lock(session)?;
        match self.told(&path, create_private(&path)) {
            Err(error) if error.cause.kind() == io::ErrorKind::AlreadyExists => {
                if fs::symlink_metadata(&path).is_ok_and(regular) {
                    return Ok(path);
                }
                let cause = io::Error::other("the env file is no regular file; remove it");
                Err(StoreError { path, cause })
            }
            other => other.map(|_| path),
        }
    }

    fn end(&self, session: &str) -> Result<(), StoreError> {
        let name = file_name(session);
        if !self.part(&name, "lock").exists() {
            return Ok(());
        }
        let _locked = self.lock(session)?;
        for extension in ["json", "env", "bad", "lock"] {
            let path = self.part(&name, extension);
            self.told(&path, remove(&path))?;
        }
        Ok(())
    }
}

/// Makes the directory, or checks that an existing one is ours alone: state in a directory that others can write is theirs.
fn private_directory(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(data) => {
            let mine = data.uid() == rustix::process::geteuid().as_raw();
            if !data.is_dir() {
                return Err(io::Error::other("is no directory"));
            }
            if !mine || data.mode() & 0o022 != 0 {
                return Err(io::Error::other(
                    "belongs to somebody else or can be written by others; expected an own directory of mode 0700",
                ));
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(path)
        }
        Err(error) => Err(error),
    }
}

fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[expect(clippy::disallowed_methods, reason = "session state is this crate's own, not a hook file")]
fn fs_read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

#[expect(clippy::disallowed_methods, reason = "session state is this crate's own, not a hook file")]
fn fs_read_dir(path: &Path) -> io::Result<fs::ReadDir> {
    fs::read_dir(path)
}

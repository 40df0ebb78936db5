//! Sessions in files.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hook_core::{Clock, SessionState, SessionStore, StoreError};

use crate::name::{file_name, is_file_name};

/// How long a session that nobody touches is kept.
pub const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The extensions of a session's files; the lock is the last to go.
const PARTS: [&str; 5] = ["json", "env", "bad", TEXTS, "lock"];

/// The directory of a session's long texts.
const TEXTS: &str = "texts";

/// How the names of temporary files begin and end.
const TEMPORARY: (&str, &str) = (".state-", ".tmp");

/// No writer works that long.
const TEMPORARY_AGE: Duration = Duration::from_secs(60 * 60);

/// Sessions as files of one directory, shared by any number of processes.
///
/// Per session: `NAME.json` the state, `NAME.lock` its lock, `NAME.env` the env file, `NAME.texts` a directory of texts that were
/// too long for their reader. The directory has mode 0700, files 0600. The
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

    /// Removes the sessions that nobody touched for `age`, and says how many. A session that is in use is left alone, and so
    /// is every file that is not a session's.
    ///
    /// # Errors
    /// The directory cannot be read, or a file cannot be removed; what can be removed is gone all the same.
    pub fn sweep(&self, age: Duration) -> Result<usize, StoreError> {
        if !self.directory.exists() {
            return Ok(0);
        }
        self.told(&self.directory, check_directory(&self.directory))?;
        let mut names = BTreeSet::new();
        let mut failed = None;
        for entry in self.told(&self.directory, fs_read_dir(&self.directory))?.flatten() {
            let file = entry.file_name();
            let Some(file) = file.to_str() else { continue };
            if file.starts_with(TEMPORARY.0) && file.ends_with(TEMPORARY.1) {
                // A young one may belong to a writer at work; an old one was left by a writer that was killed.
                let path = entry.path();
                if self.is_old(&[&path], age.max(TEMPORARY_AGE)) {
                    failed = failed.or(self.told(&path, remove(&path)).err());
                }
            } else if let Some((name, part)) = file.rsplit_once('.')
                && PARTS.contains(&part)
                && is_file_name(name)
            {
                names.insert(name.to_owned());
            }
        }
        let mut removed = 0;
        for name in names {
            match self.sweep_one(&name, age) {
                Ok(gone) => removed += usize::from(gone),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(removed), Err)
    }

    fn sweep_one(&self, name: &str, age: Duration) -> Result<bool, StoreError> {
        let parts = PARTS.map(|part| self.part(name, part));
        let [content @ .., lock] = &parts;
        // A lock that this sweep has to make says nothing about the session's age.
        let parts: Vec<&PathBuf> = content.iter().chain(lock.exists().then_some(lock)).collect();
        if !self.is_old(&parts, age) {
            return Ok(false);
        }
        let file = self.told(lock, open_private(lock))?;
        // Whoever holds the lock is using the session; whoever held it a moment ago has touched it.
        if file.try_lock().is_err() || !is_current(lock, &file) || !self.is_old(&parts, age) {
            return Ok(false);
        }
        self.remove_parts(name)?;
        Ok(true)
    }

    fn is_old(&self, paths: &[&PathBuf], age: Duration) -> bool {
        let touched = paths.iter().filter_map(|path| fs::symlink_metadata(path).ok()?.modified().ok()).max();
        touched.is_some_and(|at| self.clock.now().duration_since(at).is_ok_and(|since| since >= age))
    }

    /// Call it only under the lock; that goes last.
    fn remove_parts(&self, name: &str) -> Result<(), StoreError> {
        PARTS.iter().map(|part| self.part(name, part)).try_for_each(|path| self.told(&path, remove(&path)))
    }

    fn part(&self, name: &str, extension: &str) -> PathBuf {
        self.directory.join(format!("{name}.{extension}"))
    }

    /// Dates a file by the host's clock, by which a sweep reckons. Where that cannot be done the file system's date stays.
    fn mark(&self, file: &File) {
        let _ = file.set_modified(self.clock.now());
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
            if is_current(&path, &lock) {
                // Reading a session is using it.
                self.mark(&lock);
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
            let mut file = tempfile::Builder::new()
                .prefix(TEMPORARY.0)
                .suffix(TEMPORARY.1)
                .tempfile_in(&self.store.directory)?;
            file.write_all(&serde_json::to_vec(state)?)?;
            self.store.mark(file.as_file());
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
        // Under the lock even where the file is there: this checks the directory, and marks the session as used.
        let _locked = self.lock(session)?;
        match self.told(&path, create_private(&path)) {
            Err(error) if error.cause.kind() == io::ErrorKind::AlreadyExists => {
                if fs::symlink_metadata(&path).is_ok_and(regular) {
                    return Ok(path);
                }
                let cause = io::Error::other("the env file is no regular file; remove it");
                Err(StoreError { path, cause })
            }
            other => {
                self.mark(&other?);
                Ok(path)
            }
        }
    }

    fn spill(&self, session: &str, text: &str) -> Result<PathBuf, StoreError> {
        let locked = self.lock(session)?;
        let directory = self.part(&locked.name, TEXTS);
        self.told(&directory, private_directory(&directory))?;
        let write = || {
            let made = tempfile::Builder::new().prefix("text-").suffix(".txt").tempfile_in(&directory)?;
            let (mut file, path) = made.keep().map_err(|error| error.error)?;
            file.write_all(text.as_bytes())?;
            self.mark(&file);
            Ok(path)
        };
        self.told(&directory, write())
    }

    fn end(&self, session: &str) -> Result<(), StoreError> {
        let name = file_name(session);
        // Ending what never began leaves no trace either.
        if !PARTS.iter().any(|part| self.part(&name, part).exists()) {
            return Ok(());
        }
        let _locked = self.lock(session)?;
        self.remove_parts(&name)
    }
}

/// Makes the directory where it is missing, and checks it in any case: somebody may have been faster.
fn private_directory(path: &Path) -> io::Result<()> {
    match check_directory(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(path)?;
            check_directory(path)
        }
        checked => checked,
    }
}

/// Checks that a directory is ours alone: state in a directory that others can write is theirs.
fn check_directory(path: &Path) -> io::Result<()> {
    let data = fs::metadata(path)?;
    if !data.is_dir() {
        return Err(io::Error::other("is no directory"));
    }
    if data.uid() != rustix::process::geteuid().as_raw() || data.mode() & 0o022 != 0 {
        return Err(io::Error::other(
            "belongs to somebody else or can be written by others; expected an own directory of mode 0700",
        ));
    }
    Ok(())
}

/// True while the open file is the one at this path.
fn is_current(path: &Path, file: &File) -> bool {
    let identity = |data: fs::Metadata| (data.dev(), data.ino());
    let held = file.metadata().ok().map(identity);
    held.is_some() && held == fs::metadata(path).ok().map(identity)
}

fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Removes a file, or the directory of a session's texts; a link is removed and never followed.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        _ => fs::remove_file(path),
    };
    match removed {
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

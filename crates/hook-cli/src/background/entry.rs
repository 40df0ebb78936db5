//! What is written down of background runs while they run.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A supervisor and its hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// What it and everything that it starts is known by.
    pub(super) mark: String,
    pub(super) pid: u32,
    /// When it was started, by the system's own count: a number that was given to another process has another one.
    pub(super) began: Option<u64>,
    pub(super) hooks: Vec<String>,
}

/// The runs of one session: a directory of this user alone, a file for each supervisor.
pub(super) struct Runs {
    folder: PathBuf,
}

const FOLDER: &str = "background";

impl Runs {
    pub(super) fn of(state: &Path, session: &str) -> Runs {
        let name: String =
            Sha256::digest(session.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Runs { folder: state.join(FOLDER).join(name) }
    }

    /// Those of all sessions.
    pub(super) fn all(state: &Path) -> Vec<Runs> {
        let folders = fs::read_dir(state.join(FOLDER)).into_iter().flatten().flatten();
        folders.map(|entry| Runs { folder: entry.path() }).collect()
    }

    fn path(&self, mark: &str) -> PathBuf {
        self.folder.join(mark).with_extension("json")
    }

    pub(super) fn list(&self) -> Vec<Entry> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = files.map(|file| file.path());
        let entries = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
        entries.filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok()).collect()
    }

    pub(super) fn write(&self, entry: &Entry) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        // A reader never sees half of it.
        let aside = self.folder.join(format!(".{}", entry.mark));
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&aside)?;
        file.write_all(&serde_json::to_vec(entry)?)?;
        fs::rename(aside, self.path(&entry.mark))
    }

    /// Where the supervisor writes down what its hooks say, as it comes.
    pub(super) fn spool(&self, mark: &str) -> PathBuf {
        self.folder.join(mark).with_extension("out")
    }

    /// Removes an entry, and gives what its hooks had said; `None` where somebody else was faster.
    pub(super) fn take(&self, entry: &Entry) -> Option<String> {
        fs::remove_file(self.path(&entry.mark)).ok()?;
        let said = fs::read(self.spool(&entry.mark)).unwrap_or_default();
        self.remove(&entry.mark);
        Some(String::from_utf8_lossy(&said).into_owned())
    }

    pub(super) fn remove(&self, mark: &str) {
        let plain = !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
        if plain {
            let _ = fs::remove_file(self.path(mark));
            let _ = fs::remove_file(self.spool(mark));
            // It goes with its last entry.
            let _ = fs::remove_dir(&self.folder);
        }
    }

    pub(super) fn remove_all(&self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

//! Looking at files so that it can be seen later, without reading them again, that they are the same.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hook_engine::core::{EntryKind, FileEntry, Files};

/// What the system says about a path; `None` where nothing is there.
type Stamp = Option<[i64; 8]>;

fn stamp(path: &Path) -> Stamp {
    let data = fs::metadata(path).ok()?;
    let whole = |number: u64| i64::from_ne_bytes(number.to_ne_bytes());
    Some([
        whole(data.dev()),
        whole(data.ino()),
        whole(data.size()),
        i64::from(data.mode()),
        data.mtime(),
        data.mtime_nsec(),
        data.ctime(),
        data.ctime_nsec(),
    ])
}

/// Every path that was looked at, as it was before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stamps(BTreeMap<PathBuf, Stamp>);

impl Stamps {
    /// The first path that is not as it was.
    pub(crate) fn changed(&self) -> Option<&Path> {
        self.0.iter().find(|(path, before)| stamp(path) != **before).map(|(path, _)| path.as_path())
    }
}

/// Files that are noted down as they are read.
pub(crate) struct Stamped<'a> {
    files: &'a dyn Files,
    stamps: Mutex<Stamps>,
}

impl<'a> Stamped<'a> {
    pub(crate) fn new(files: &'a dyn Files) -> Stamped<'a> {
        Stamped { files, stamps: Mutex::default() }
    }

    pub(crate) fn stamps(self) -> Stamps {
        self.stamps.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stamp is from before the look: what changes in between is seen as a change.
    fn note(&self, path: &Path) -> &'a dyn Files {
        let mut stamps = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        if !stamps.0.contains_key(path) {
            stamps.0.insert(path.to_owned(), stamp(path));
        }
        self.files
    }
}

impl Files for Stamped<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.note(path).read(path, limit)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<FileEntry>> {
        self.note(path).list(path)
    }

    fn kind(&self, path: &Path) -> io::Result<EntryKind> {
        self.note(path).kind(path)
    }

    fn head(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.note(path).head(path, limit)
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        self.note(path).mode(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.note(path).canonical(path)
    }
}

#[cfg(test)]
mod tests {
    use hook_engine::config::StdFiles;

    use super::*;

    #[test]
    fn every_kind_of_change_is_seen() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("file"), "one").unwrap();
        fs::create_dir(at("folder")).unwrap();
        let look = || {
            let stamped = Stamped::new(&StdFiles);
            let _ = stamped.read(&at("file"), 9);
            let _ = stamped.read(&at("missing"), 9);
            let _ = stamped.list(&at("folder"));
            stamped.stamps()
        };
        assert_eq!(look().changed(), None);
        let changes: [(&str, &dyn Fn()); 5] = [
            ("file", &|| fs::write(at("file"), "two, and longer").unwrap()),
            ("missing", &|| fs::write(at("missing"), "").unwrap()),
            ("folder", &|| fs::write(at("folder/new"), "").unwrap()),
            ("folder", &|| fs::remove_file(at("folder/new")).unwrap()),
            ("file", &|| fs::remove_file(at("file")).unwrap()),
        ];
        for (path, change) in changes {
            let before = look();
            change();
            assert_eq!(before.changed(), Some(&*at(path)));
        }
    }
}

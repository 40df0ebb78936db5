//! Reading files through a trait, so that a tree in memory tests the code that reads real ones.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// What a path is, links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Something that is never read: a device, a pipe, a socket.
    Other,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name.
    pub name: std::ffi::OsString,
    /// What it is.
    pub kind: EntryKind,
}

/// Read access to files. Paths are absolute.
pub trait Files: Send + Sync {
    /// The file's bytes, refused beyond `limit` without reading on.
    ///
    /// # Errors
    /// `NotFound`; `FileTooLarge` beyond the limit; `InvalidInput` for what is no regular file; the system's error.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// The entries of a directory, sorted by name bytewise.
    ///
    /// # Errors
    /// `NotFound`, `NotADirectory`, or the system's error.
    fn list(&self, path: &Path) -> io::Result<Vec<FileEntry>>;

    /// What the path is.
    ///
    /// # Errors
    /// `NotFound`, or the system's error.
    fn kind(&self, path: &Path) -> io::Result<EntryKind>;

    /// The first `limit` bytes, for a look at a script's head.
    ///
    /// # Errors
    /// As [`Files::read`], but never `FileTooLarge`.
    fn head(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// The permission bits, where the platform has them.
    ///
    /// # Errors
    /// `NotFound`, or the system's error.
    fn mode(&self, path: &Path) -> io::Result<Option<u32>>;

    /// The path with links resolved; the path itself where the tree has no links.
    ///
    /// # Errors
    /// `NotFound`, or the system's error.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
}

/// A tree in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles {
    files: BTreeMap<PathBuf, (Vec<u8>, u32)>,
}

impl MemoryFiles {
    /// An empty tree.
    pub fn new() -> MemoryFiles {
        MemoryFiles::default()
    }

    /// Adds a file with mode 0644, its parent directories with it.
    #[must_use]
    pub fn with(self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> MemoryFiles {
        self.with_mode(path, content, 0o644)
    }

    /// Adds a file with its permission bits.
    #[must_use]
    pub fn with_mode(
        mut self,
        path: impl Into<PathBuf>,
        content: impl Into<Vec<u8>>,
        mode: u32,
    ) -> MemoryFiles {
        self.files.insert(path.into(), (content.into(), mode));
        self
    }

    fn file(&self, path: &Path) -> io::Result<&(Vec<u8>, u32)> {
        match self.kind(path)? {
            EntryKind::File => self.files.get(path).ok_or_else(|| io::ErrorKind::NotFound.into()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let (content, _) = self.file(path)?;
        if content.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(content.clone())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<FileEntry>> {
        let mut entries: BTreeMap<std::ffi::OsString, EntryKind> = BTreeMap::new();
        for file in self.files.keys() {
            let Ok(rest) = file.strip_prefix(path) else { continue };
            let mut parts = rest.components();
            let Some(first) = parts.next() else { continue };
            let kind = if parts.next().is_some() { EntryKind::Directory } else { EntryKind::File };
            entries.insert(first.as_os_str().to_owned(), kind);
        }
        if entries.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(entries.into_iter().map(|(name, kind)| FileEntry { name, kind }).collect())
    }

    fn kind(&self, path: &Path) -> io::Result<EntryKind> {
        if self.files.contains_key(path) {
            return Ok(EntryKind::File);
        }
        if self.files.keys().any(|file| file.starts_with(path)) {
            return Ok(EntryKind::Directory);
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn head(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let (content, _) = self.file(path)?;
        let end = content.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(content[..end].to_vec())
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        Ok(Some(self.file(path)?.1))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.kind(path).map(|_| path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_in_memory_lists_one_level_sorted() {
        let files = MemoryFiles::new().with("/p/b/x.json", "1").with("/p/a.json", "2");
        let names: Vec<_> =
            files.list(Path::new("/p")).unwrap().into_iter().map(|e| (e.name, e.kind)).collect();
        assert_eq!(names, [("a.json".into(), EntryKind::File), ("b".into(), EntryKind::Directory)]);
        assert_eq!(files.list(Path::new("/q")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(files.read(Path::new("/p/a.json"), 0).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(files.read(Path::new("/p/b"), 9).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}

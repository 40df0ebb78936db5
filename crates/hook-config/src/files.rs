//! The standard implementation of `Files`: the machine's own.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hook_core::{EntryKind, FileEntry, Files};

/// Files of the operating system. Only regular files are opened, and never more than was asked for is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct StdFiles;

impl StdFiles {
    fn open(path: &Path) -> io::Result<(std::fs::File, u64)> {
        // Asked before opening: to open a pipe would wait for its writer.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        Ok((file, length))
    }
}

fn kind_of(kind: std::fs::FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Directory
    } else {
        EntryKind::Other
    }
}

impl Files for StdFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let (file, length) = StdFiles::open(path)?;
        if length > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        // One byte more than allowed tells a file that grew meanwhile.
        file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
        if content.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(content)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<FileEntry>> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the implementation that reads the machine's files"
        )]
        let directory = std::fs::read_dir(path)?;
        let mut entries = Vec::new();
        for entry in directory {
            let entry = entry?;
            // A dangling link is nothing that could be read.
            let kind =
                std::fs::metadata(entry.path()).map_or(EntryKind::Other, |found| kind_of(found.file_type()));
            entries.push(FileEntry { name: entry.file_name(), kind });
        }
        entries.sort_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
        Ok(entries)
    }

    fn kind(&self, path: &Path) -> io::Result<EntryKind> {
        std::fs::metadata(path).map(|found| kind_of(found.file_type()))
    }

    fn head(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let (file, _) = StdFiles::open(path)?;
        let mut content = Vec::new();
        file.take(limit).read_to_end(&mut content)?;
        Ok(content)
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        let found = std::fs::metadata(path)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            Ok(Some(found.permissions().mode() & 0o7777))
        }
        #[cfg(not(unix))]
        {
            drop(found);
            Ok(None)
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        std::fs::write(&path, "12345").unwrap();
        let files = StdFiles;
        assert_eq!(files.read(&path, 5).unwrap(), b"12345");
        assert_eq!(files.read(&path, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(files.head(&path, 2).unwrap(), b"12");
        assert_eq!(files.read(dir.path(), 5).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(files.read(&dir.path().join("b"), 5).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(files.kind(dir.path()).unwrap(), EntryKind::Directory);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(StdFiles.read(&path, 5).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(StdFiles.head(&path, 5).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_huge_sparse_file_is_refused_by_its_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("huge.json");
        std::fs::File::create(&path).unwrap().set_len(64 << 30).unwrap();
        assert_eq!(StdFiles.read(&path, 8 << 20).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn entries_come_sorted_with_links_followed() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b", "a", "C"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::create_dir(dir.path().join("d")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path().join("d"), dir.path().join("e")).unwrap();
        let names: Vec<_> = StdFiles
            .list(dir.path())
            .unwrap()
            .into_iter()
            .map(|e| (e.name.into_string().unwrap(), e.kind))
            .collect();
        assert_eq!(
            names[..3],
            [("C".into(), EntryKind::File), ("a".into(), EntryKind::File), ("b".into(), EntryKind::File)]
        );
        assert!(names[3..].iter().all(|(_, kind)| *kind == EntryKind::Directory));
    }
}

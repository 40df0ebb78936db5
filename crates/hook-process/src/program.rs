//! The file that a program's name means.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file a name means: as it stands with a slash, relative to `directory`; else the first hit on `path`, whose relative parts
/// are relative to `directory`, too. A name that is not found stays as it is.
pub fn find_program(file: &Path, directory: &Path, path: Option<&OsStr>) -> PathBuf {
    if file.as_os_str().as_encoded_bytes().contains(&b'/') {
        return directory.join(file);
    }
    let folders = path.into_iter().flat_map(std::env::split_paths);
    let mut hits = folders.map(|folder| directory.join(folder).join(file));
    hits.find(|hit| is_executable(hit)).unwrap_or_else(|| file.to_owned())
}

/// A regular file that somebody may execute.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_and_a_path_is_not() {
        let path = Some(OsStr::new("/nowhere:/bin"));
        for (file, path, found) in [
            ("./run", path, "/work/./run"),
            ("/opt/run", path, "/opt/run"),
            ("sh", path, "/bin/sh"),
            ("sh", None, "sh"),
            ("no-such-program", path, "no-such-program"),
        ] {
            assert_eq!(find_program(Path::new(file), Path::new("/work"), path), Path::new(found), "{file}");
        }
        assert_eq!(
            find_program(Path::new("sh"), Path::new("/"), Some(OsStr::new("bin"))),
            Path::new("/bin/sh")
        );
    }
}

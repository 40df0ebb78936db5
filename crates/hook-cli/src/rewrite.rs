//! Changing a file that belongs to somebody else: whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// A file as it was found.
pub(crate) struct Found {
    /// The file itself, links followed.
    path: PathBuf,
    /// The way it was named is a link.
    linked: bool,
    /// Its text; `None` where there is none.
    pub(crate) text: Option<String>,
}

/// Reads a file that may be missing.
///
/// # Errors
/// It cannot be read, is no regular file, or is not UTF-8.
pub(crate) fn find(path: &Path) -> Result<Found, CliError> {
    let shown = || path.display().to_string();
    let linked = fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_symlink());
    let real = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound && !linked => path.to_owned(),
        Err(error) => {
            return Err(
                CliError::io(shown(), error).help("it is a link that leads nowhere; mend or remove it")
            );
        }
    };
    let text = match fs::metadata(&real) {
        Ok(data) if !data.is_file() => {
            return Err(CliError::io(shown(), io::Error::new(ErrorKind::InvalidInput, "not a regular file")));
        }
        Ok(_) => {
            let bytes = fs::read(&real).map_err(|error| CliError::io(shown(), error))?;
            let text = String::from_utf8(bytes).map_err(|error| {
                CliError::data(format!("{} is not UTF-8: {}", shown(), error.utf8_error()))
                    .help("it was left as it is; save it as UTF-8")
            })?;
            Some(text)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(CliError::io(shown(), error)),
    };
    Ok(Found { path: real, linked, text })
}

impl Found {
    /// Puts a new text into its place in one step. The mode is kept; a new file gets what the process gives new files.
    ///
    /// # Errors
    /// The file changed meanwhile, or cannot be written; then it is as it was.
    pub(crate) fn replace(&self, text: &str) -> Result<(), CliError> {
        let failed = |error: io::Error| CliError::io(self.path.display(), error);
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(|error| CliError::io(folder.display(), error))?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let aside = folder.join(format!(".{name}.{}.new", std::process::id()));
        // Nobody reads what is not finished; what nobody could read before stays so meanwhile, too.
        let private = if self.text.is_some() { 0o600 } else { 0o666 };
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(private)
            .open(&aside)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                if self.text.is_some() {
                    file.set_permissions(fs::metadata(&self.path)?.permissions())?;
                }
                file.sync_all()
            })
            .and_then(|()| self.unchanged())
            .and_then(|()| fs::rename(&aside, &self.path));
        if let Err(error) = written {
            let _ = fs::remove_file(&aside);
            return Err(failed(error));
        }
        Ok(())
    }

    /// Removes the file. A link is somebody's arrangement, so what it leads to is emptied instead.
    ///
    /// # Errors
    /// The file changed meanwhile, or cannot be removed.
    pub(crate) fn remove(&self) -> Result<(), CliError> {
        if self.linked {
            return self.replace("{}\n");
        }
        self.unchanged()
            .and_then(|()| fs::remove_file(&self.path))
            .map_err(|error| CliError::io(self.path.display(), error))
    }

    fn unchanged(&self) -> io::Result<()> {
        let now = match fs::read(&self.path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if now.as_deref() == self.text.as_deref().map(str::as_bytes) {
            return Ok(());
        }
        Err(io::Error::other("somebody changed it at the same time; try again"))
    }
}

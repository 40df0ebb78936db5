//! Where a server and those who ask it meet: a directory of this user alone.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::world::World;

/// The longest path that a socket can have on every system.
const LONGEST_SOCKET: usize = 103;

/// The directory of a server, below the state of its user.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    folder: PathBuf,
}

impl Place {
    /// `None` where this world has no place for state.
    pub(crate) fn of(world: &World) -> Option<Place> {
        world.state().map(|state| Place { folder: state.join("serve") })
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// Held by the server that runs.
    pub(crate) fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    /// Proves to the HTTP side that somebody is this user.
    pub(crate) fn token(&self) -> PathBuf {
        self.folder.join("token")
    }

    /// What a detached server says.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Webhook deliveries that were counted already.
    pub(crate) fn deliveries(&self) -> PathBuf {
        self.folder.join("deliveries")
    }

    /// Why the directory is not one to trust; `Ok(false)` where there is none.
    pub(crate) fn is_ours(&self) -> Result<bool, String> {
        let data = match fs::symlink_metadata(&self.folder) {
            Ok(data) => data,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(format!("{}: {error}", self.folder.display())),
        };
        let why = if !data.is_dir() {
            "is no directory"
        } else if data.uid() != rustix::process::geteuid().as_raw() {
            "belongs to somebody else"
        } else if data.permissions().mode() & 0o077 != 0 {
            "lets others in; set its mode to 700"
        } else {
            return Ok(true);
        };
        Err(format!("{} {why}", self.folder.display()))
    }

    /// Makes the directory, for this user alone.
    pub(crate) fn make(&self) -> Result<(), CliError> {
        let folder = self.folder.display();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(|error| CliError::io(folder.to_string(), error))?;
        self.is_ours().map_err(CliError::usage)?;
        if self.socket().as_os_str().len() > LONGEST_SOCKET {
            return Err(CliError::usage(format!("{} is too long for the path of a socket", folder))
                .help("set XDG_STATE_HOME to a shorter one"));
        }
        Ok(())
    }

    /// A file that this user alone can read, with this content.
    pub(crate) fn write(&self, path: &Path, content: &str) -> Result<(), CliError> {
        let written = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path);
        let written = written.and_then(|mut file| {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
            file.write_all(content.as_bytes())
        });
        written.map_err(|error| CliError::io(path.display(), error))
    }
}

/// Which program this is: a server of another build may decide otherwise, so nobody asks it.
pub(crate) fn build(program: Option<&Path>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    match program.and_then(|program| fs::metadata(program).ok()) {
        Some(data) => format!(
            "{version} {}:{} {} {}.{}",
            data.dev(),
            data.ino(),
            data.size(),
            data.mtime(),
            data.mtime_nsec()
        ),
        None => version.to_owned(),
    }
}

/// The mask of new files.
pub(crate) fn umask() -> u32 {
    // It can only be read by setting it; nobody makes files meanwhile.
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    rustix::process::umask(mask);
    mask.as_raw_mode()
}

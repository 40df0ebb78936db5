//! Starting a project.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::args::InitArgs;
use crate::error::CliError;
use crate::{exit, output};

const HOOKS: &str = include_str!("../templates/hooks.json");
const GUARD: &str = include_str!("../templates/guard.sh");

pub(crate) fn init(args: &InitArgs) -> Result<u8, CliError> {
    let folder = args.directory.join(".hooks");
    fs::create_dir_all(&folder).map_err(|error| CliError::io(folder.display(), error))?;
    let made =
        [create(&folder.join("hooks.json"), HOOKS, 0o644)?, create(&folder.join("guard.sh"), GUARD, 0o755)?];
    let mut words = String::new();
    for (name, made) in ["hooks.json", "guard.sh"].iter().zip(made) {
        let path = folder.join(name);
        let what = if made { "wrote" } else { "kept" };
        words.push_str(&format!("{what} {}\n", path.display()));
    }
    words.push_str(NEXT);
    output::words(&words);
    Ok(exit::OK)
}

const NEXT: &str = "\
Next:
  hook run PreToolUse --tool Bash --input '{\"command\": \"rm -rf /\"}'   see the guard block
  hook list                                                          see every hook
  hook check                                                         look for mistakes
Then let your agent run `hook dispatch --agent AGENT` on its hook events.
";

/// Writes a new file; true where it was written, false where one stands already, which is never touched.
fn create(path: &Path, text: &str, mode: u32) -> Result<bool, CliError> {
    match OpenOptions::new().write(true).create_new(true).mode(mode).open(path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes()).map_err(|error| CliError::io(path.display(), error))?;
            Ok(true)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(CliError::io(path.display(), error)),
    }
}

//! Starting a project.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::args::InitArgs;
use crate::error::CliError;
use crate::{exit, output};

const HOOKS: &str = r#"{
  "description": "The hooks of this project",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "sh \"$HOOK_ROOT/guard.sh\"",
            "timeout": 5,
            "onFailure": "block"
          }
        ]
      }
    ]
  }
}
"#;

const GUARD: &str = r#"#!/bin/sh
# Refuses commands that nobody wants an agent to run. Exit 2 blocks; what stands on standard error is the reason.
command=$("$HOOK" get .tool_input.command --default '') || exit 1

case $command in
  *'rm -rf /'* | *mkfs* | *'dd if='*)
    echo "this command is not allowed here: $command" >&2
    exit 2
    ;;
esac
"#;

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
    words.push_str("Try it:\n  hook run PreToolUse --tool Bash --input '{\"command\": \"rm -rf /\"}'\n");
    output::words(&words);
    Ok(exit::OK)
}

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

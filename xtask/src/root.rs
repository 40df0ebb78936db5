//! Where things stand in this tree.

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The tree's own cases.
pub fn cases() -> PathBuf {
    workspace().join("tests/cases")
}

/// The list of known gaps.
pub fn expected_failures() -> PathBuf {
    cases().join("expected-failures.txt")
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => workspace().join(directory),
        None => workspace().join("target"),
    }
}

/// The `cargo` that runs us.
pub fn cargo() -> std::process::Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(program);
    command.current_dir(workspace());
    command
}

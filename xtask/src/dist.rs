//! The command as it is released.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::root;

/// Builds `hook` with optimisation; on Linux with the C library linked in, because an agent starts the command for every
/// event and loading shared libraries is a third of a millisecond of each start.
///
/// # Errors
/// It cannot be built.
pub fn build() -> Result<PathBuf> {
    let mut cargo = root::cargo();
    cargo.args(["rustc", "--quiet", "--release", "--package", "hook-cli", "--bin", "hook"]);
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        cargo.args(["--", "-C", "target-feature=+crt-static", "-C", "relocation-model=static"]);
        // The standard library asks for this function weakly, and takes the slow way to start a process where it is not there.
        cargo.args(["-C", "link-arg=-Wl,-u,posix_spawn_file_actions_addchdir_np"]);
    }
    if !cargo.status().context("cargo")?.success() {
        bail!("hook-cli does not build");
    }
    Ok(root::target().join("release/hook"))
}

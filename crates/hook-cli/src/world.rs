//! The world as the engine gets to see it.

use std::env;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hook_engine::core::{HostContext, Profile};

use crate::error::CliError;

/// The host of this process: its environment and directories, and the project that `agent` works in.
pub(crate) fn host(agent: &Profile) -> Result<HostContext, CliError> {
    let here = env::current_dir().map_err(|error| CliError::io("the working directory", error))?;
    let base = named_project(agent).unwrap_or(here);
    let mut host = HostContext::new(project_root(&base));
    host.environment = env::vars_os().collect();
    host.home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    host.config = folder("XDG_CONFIG_HOME", host.home.as_deref(), ".config");
    host.state = folder("XDG_STATE_HOME", host.home.as_deref(), ".local/state");
    host.managed = Some(PathBuf::from("/etc/hook"));
    host.hook_command = env::current_exe().ok();
    Ok(host)
}

fn folder(variable: &str, home: Option<&Path>, below: &str) -> Option<PathBuf> {
    let set = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| home.map(|home| home.join(below))).map(|folder| folder.join("hook"))
}

/// The directory that the agent names as its project.
fn named_project(agent: &Profile) -> Option<PathBuf> {
    let names = agent.placeholders.iter().filter(|name| name.ends_with("PROJECT_DIR"));
    let mut paths = names.filter_map(env::var_os).map(PathBuf::from);
    paths.find(|path| path.is_absolute() && path.is_dir())
}

/// Upward to a `.hooks` of the same owner; a directory that somebody else put above ours does not count.
fn project_root(base: &Path) -> PathBuf {
    let me = rustix::process::geteuid().as_raw();
    let own =
        |folder: &&Path| folder.join(".hooks").metadata().is_ok_and(|data| data.is_dir() && data.uid() == me);
    base.ancestors().find(own).unwrap_or(base).to_owned()
}

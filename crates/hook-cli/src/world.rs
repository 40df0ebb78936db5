//! The world as the engine gets to see it.

use std::env;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hook_engine::core::{HostContext, Profile};

/// The host of this process: its environment and directories, and the project that `agent` works in.
///
/// The project is what the agent's own variable says, where the agent starts this program as one of its hooks; else the nearest
/// directory with hooks at or above this process's directory, else above the session's (`session_cwd`, from the payload); else
/// this process's directory.
pub(crate) fn host(agent: &Profile, session_cwd: Option<&Path>) -> HostContext {
    let here = env::current_dir();
    let session = session_cwd.filter(|path| path.is_absolute() && path.is_dir());
    let project = match (named_project(agent), &here) {
        (Some(named), _) => nearest_with_hooks(&named).unwrap_or(named),
        (None, Ok(here)) => nearest_with_hooks(here)
            .or_else(|| session.and_then(nearest_with_hooks))
            .unwrap_or_else(|| here.clone()),
        // A directory that was removed under this process is no reason to keep quiet.
        (None, Err(_)) => session
            .map(|session| nearest_with_hooks(session).unwrap_or_else(|| session.to_owned()))
            .unwrap_or_else(|| PathBuf::from("/")),
    };
    host_at(project)
}

/// The same for a project that is known.
pub(crate) fn host_at(project: PathBuf) -> HostContext {
    let mut host = HostContext::new(project);
    host.environment = env::vars_os().collect();
    host.home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    host.config = folder("XDG_CONFIG_HOME", host.home.as_deref(), ".config");
    host.state = folder("XDG_STATE_HOME", host.home.as_deref(), ".local/state");
    host.managed = Some(PathBuf::from("/etc/hook"));
    host.hook_command = env::current_exe().ok();
    host
}

fn folder(variable: &str, home: Option<&Path>, below: &str) -> Option<PathBuf> {
    let set = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| home.map(|home| home.join(below))).map(|folder| folder.join("hook"))
}

/// The directory that the agent names as its project. An agent that has no hooks of its own sets no variables for this program:
/// where they are set, they are those of another agent, around this one, whose project is not ours.
fn named_project(agent: &Profile) -> Option<PathBuf> {
    if !agent.runs_own_files {
        return None;
    }
    let names = agent.placeholders.iter().filter(|name| name.ends_with("PROJECT_DIR"));
    let mut paths = names.filter_map(env::var_os).map(PathBuf::from);
    paths.find(|path| path.is_absolute() && path.is_dir())
}

/// Upward to a `.hooks` of the same owner; a directory that somebody else put above ours does not count.
fn nearest_with_hooks(base: &Path) -> Option<PathBuf> {
    let me = rustix::process::geteuid().as_raw();
    let own =
        |folder: &&Path| folder.join(".hooks").metadata().is_ok_and(|data| data.is_dir() && data.uid() == me);
    base.ancestors().find(own).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::nearest_with_hooks;

    #[test]
    fn the_nearest_directory_with_hooks_counts_and_a_file_of_that_name_does_not() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("outer/.hooks")).unwrap();
        fs::create_dir_all(at("outer/inner/deep")).unwrap();
        fs::write(at("outer/inner/.hooks"), "").unwrap();
        assert_eq!(nearest_with_hooks(&at("outer/inner/deep")), Some(at("outer")));
        fs::remove_file(at("outer/inner/.hooks")).unwrap();
        fs::create_dir(at("outer/inner/.hooks")).unwrap();
        assert_eq!(nearest_with_hooks(&at("outer/inner/deep")), Some(at("outer/inner")));
    }
}

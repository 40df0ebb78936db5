//! The world as the engine gets to see it.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hook_engine::core::{HostContext, Profile};

/// What a process stands in: its environment, its directory and its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct World {
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// `None` where the directory was removed under the process.
    pub(crate) here: Option<PathBuf>,
    /// The `hook` command.
    pub(crate) program: Option<PathBuf>,
}

impl World {
    pub(crate) fn of_process() -> World {
        World {
            environment: env::vars_os().collect(),
            here: env::current_dir().ok(),
            program: env::current_exe().ok(),
        }
    }

    /// The host of this world, and the project that `agent` works in.
    ///
    /// The project is what the agent's own variable says, where the agent starts this program as one of its hooks; else the nearest
    /// directory with hooks at or above this world's directory, else above the session's (`session_cwd`, from the payload); else
    /// this world's directory.
    pub(crate) fn host(&self, agent: &Profile, session_cwd: Option<&Path>) -> HostContext {
        let session = session_cwd.filter(|path| path.is_absolute() && path.is_dir());
        let project = match (self.named_project(agent), &self.here) {
            (Some(named), _) => nearest_with_hooks(&named).unwrap_or(named),
            (None, Some(here)) => nearest_with_hooks(here)
                .or_else(|| session.and_then(nearest_with_hooks))
                .unwrap_or_else(|| here.clone()),
            // A directory that was removed under this process is no reason to keep quiet.
            (None, None) => session
                .map(|session| nearest_with_hooks(session).unwrap_or_else(|| session.to_owned()))
                .unwrap_or_else(|| PathBuf::from("/")),
        };
        self.host_at(project)
    }

    /// The same for a project that is known.
    pub(crate) fn host_at(&self, project: PathBuf) -> HostContext {
        let mut host = HostContext::new(project);
        host.home = self.path("HOME");
        host.config = self.folder("XDG_CONFIG_HOME", ".config");
        host.state = self.state();
        host.managed = Some(PathBuf::from("/etc/hook"));
        host.hook_command.clone_from(&self.program);
        host.environment.clone_from(&self.environment);
        host
    }

    /// The directory for state that outlives a process.
    pub(crate) fn state(&self) -> Option<PathBuf> {
        self.folder("XDG_STATE_HOME", ".local/state")
    }

    /// A variable that holds an absolute path.
    fn path(&self, variable: &str) -> Option<PathBuf> {
        self.environment.get(OsStr::new(variable)).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    fn folder(&self, variable: &str, below: &str) -> Option<PathBuf> {
        let base = self.path(variable).or_else(|| self.path("HOME").map(|home| home.join(below)));
        base.map(|base| base.join("hook"))
    }

    /// The directory that the agent names as its project. An agent that has no hooks of its own sets no variables for this program:
    /// where they are set, they are those of another agent, around this one, whose project is not ours.
    fn named_project(&self, agent: &Profile) -> Option<PathBuf> {
        if !agent.runs_own_files {
            return None;
        }
        let names = agent.placeholders.iter().filter(|name| name.ends_with("PROJECT_DIR"));
        let mut paths = names.filter_map(|name| self.path(name));
        paths.find(|path| path.is_dir())
    }
}

/// The host of this process, and the project that `agent` works in ([`World::host`]).
pub(crate) fn host(agent: &Profile, session_cwd: Option<&Path>) -> HostContext {
    World::of_process().host(agent, session_cwd)
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

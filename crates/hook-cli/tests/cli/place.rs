//! A directory with a project and a home, and the command in it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A project in a path with a blank, and an empty home.
pub(crate) struct Place {
    root: tempfile::TempDir,
}

/// What one call of the command gave.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        let place = Place { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.project()).unwrap();
        fs::create_dir_all(place.home()).unwrap();
        place
    }

    /// A copy of one of the examples.
    pub(crate) fn example(name: &str) -> Place {
        let place = Place::new();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        copy(&examples.join(name), &place.project());
        place
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("a project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Writes a file of the project.
    pub(crate) fn with(self, path: &str, content: &str) -> Place {
        write(&self.project().join(path), content);
        self
    }

    /// Writes a file of the home directory.
    pub(crate) fn with_home(self, path: &str, content: &str) -> Place {
        write(&self.home().join(path), content);
        self
    }

    /// The command in the project, in an environment of its own.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hook"));
        command.current_dir(self.project()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.home());
        command
    }

    pub(crate) fn hook(&self, arguments: &[&str]) -> Said {
        self.hook_fed(arguments, b"")
    }

    /// The command with this on its standard input.
    pub(crate) fn hook_fed(&self, arguments: &[&str], input: &[u8]) -> Said {
        let mut command = self.command();
        command.args(arguments);
        feed(command, input)
    }
}

/// Runs a command with this on its standard input.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // The command may answer without having read everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Said {
    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Fails where the output does not hold all of these.
    #[track_caller]
    pub(crate) fn shows(&self, parts: &[&str]) -> &Said {
        for part in parts {
            assert!(self.stdout.contains(part), "no {part:?} in {self:#?}");
        }
        self
    }

    /// The same for standard error.
    #[track_caller]
    pub(crate) fn tells(&self, parts: &[&str]) -> &Said {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {self:#?}");
        }
        self
    }

    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Said {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

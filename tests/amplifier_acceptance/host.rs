//! A host of the module as a real one is: a project and a home on disk, and one process of the command per event.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

/// The binary, built once for all tests.
fn binary() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| xtask::trials::build().unwrap())
}

/// The root registry of a project.
pub(crate) const REGISTRY: &str = ".amplifier/hooks/hooks.json";

/// A host with a project in a path with a blank.
pub(crate) struct Host {
    root: tempfile::TempDir,
    /// The id of its session.
    pub(crate) session: String,
    /// Variables that its processes inherit, besides `PATH` and `HOME`.
    variables: Vec<(String, String)>,
    /// The settings it mounts the module with.
    settings: Option<Value>,
}

impl Host {
    /// A host whose project is empty.
    pub(crate) fn new() -> Host {
        let root = tempfile::tempdir().unwrap();
        let host = Host { root, session: "one".into(), variables: Vec::new(), settings: None };
        fs::create_dir_all(host.path("")).unwrap();
        fs::create_dir_all(host.home("")).unwrap();
        host
    }

    /// A host whose root registry holds these events.
    pub(crate) fn with_hooks(events: &Value) -> Host {
        Host::new().with(REGISTRY, &json!({ "hooks": events }).to_string())
    }

    /// A host whose project is a copy of the example.
    pub(crate) fn example() -> Host {
        let host = Host::new();
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        copy(&workspace.join("examples/amplifier"), &host.path(""));
        host
    }

    /// The same host with a file of the project. Scripts get the run bit.
    pub(crate) fn with(self, name: &str, content: &str) -> Host {
        write(&self.path(name), content);
        self
    }

    /// The same host with a file of the home directory.
    pub(crate) fn with_home(self, name: &str, content: &str) -> Host {
        write(&self.home(name), content);
        self
    }

    /// The same host with a variable that its processes inherit.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Host {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same host, mounting the module with these settings.
    pub(crate) fn mounted(mut self, settings: Value) -> Host {
        self.settings = Some(settings);
        self
    }

    /// A path of the project.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("a project").join(name)
    }

    /// A path of the home directory.
    pub(crate) fn home(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home").join(name)
    }

    /// A file of the project; empty where there is none.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The lines of a file that hooks append to. The file is removed.
    pub(crate) fn take(&self, name: &str) -> Vec<String> {
        let text = self.read(name);
        let _ = fs::remove_file(self.path(name));
        text.lines().map(str::to_owned).collect()
    }

    /// The command in the project.
    pub(crate) fn hook(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(self.path("")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.home(""));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts the process of one event; it runs while others do.
    pub(crate) fn start(&self, event: &str, data: &Value) -> Child {
        let mut command = self.hook(&["dispatch", "--agent", "amplifier"]);
        if let Some(settings) = &self.settings {
            command.args(["--module-config", &settings.to_string()]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let payload = json!({ "event": event, "session_id": self.session, "data": data });
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        child
    }

    /// Fires one event and gives its HookResult.
    #[track_caller]
    pub(crate) fn fire(&self, event: &str, data: Value) -> Value {
        result(&self.start(event, &data).wait_with_output().unwrap())
    }

    /// Fires a shell command that the agent is about to run.
    #[track_caller]
    pub(crate) fn bash(&self, command: &str) -> Value {
        self.fire("tool:pre", json!({ "tool_name": "bash", "tool_input": { "command": command } }))
    }

    /// Fires a file that the agent is about to write.
    #[track_caller]
    pub(crate) fn write(&self, path: &str) -> Value {
        let input = json!({ "file_path": path, "content": "" });
        self.fire("tool:pre", json!({ "tool_name": "write_file", "tool_input": input }))
    }

    /// Fires a file that the agent has written.
    #[track_caller]
    pub(crate) fn written(&self, path: &str) -> Value {
        let input = json!({ "file_path": path, "content": "" });
        self.fire("tool:post", json!({ "tool_name": "write_file", "tool_input": input, "result": "ok" }))
    }

    /// Fires an event by hand and gives the report.
    #[track_caller]
    pub(crate) fn run(&self, event: &str, tool: &str, input: &Value) -> Value {
        let input = input.to_string();
        let output =
            self.hook(&["run", event, "--tool", tool, "--input", &input, "--json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// What `hook list --json` prints.
    #[track_caller]
    pub(crate) fn list(&self) -> Value {
        let output = self.hook(&["list", "--json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }
}

/// The HookResult of a process that ended.
#[track_caller]
pub(crate) fn result(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Fails where a member of the result is not the expected one; null means that it is not there.
#[track_caller]
pub(crate) fn expect(result: &Value, members: &Value) {
    expect_of("", result, members);
}

/// The same for a row of a table.
#[track_caller]
pub(crate) fn expect_of(row: &str, result: &Value, members: &Value) {
    for (name, value) in members.as_object().unwrap() {
        assert_eq!(&result[name], value, "{row}: {name} of {result:#}");
    }
}

/// A hook that runs a command.
pub(crate) fn command(line: &str) -> Value {
    json!({ "type": "command", "command": line })
}

/// A list with one group of one hook.
pub(crate) fn only(line: &str) -> Value {
    json!([{ "hooks": [command(line)] }])
}

/// The same for one matcher.
pub(crate) fn when(matcher: &str, line: &str) -> Value {
    json!({ "matcher": matcher, "hooks": [command(line)] })
}

/// A hook that appends a word to the project's file `log`.
pub(crate) fn note(word: &str) -> String {
    format!("echo {word} >> \"$AMPLIFIER_PROJECT_DIR/log\"")
}

/// A line that prints a JSON document. The document holds no single quote.
pub(crate) fn says(document: &Value) -> String {
    let text = document.to_string();
    assert!(!text.contains('\''), "{text}");
    format!("printf '%s' '{text}'")
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    if path.extension().is_some_and(|extension| extension == "sh") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
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

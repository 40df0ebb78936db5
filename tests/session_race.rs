//! Two cold `hook dispatch` processes share the state of one session.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests: what fails here fails the test, and the tests look at real files"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

/// The binary, built once for all tests of this file.
fn binary() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| xtask::trials::build().unwrap())
}

struct Project {
    directory: tempfile::TempDir,
}

impl Project {
    fn new(hooks: &Value) -> Project {
        let directory = tempfile::tempdir().unwrap();
        let hooks_file = directory.path().join("p/.hooks/hooks.json");
        std::fs::create_dir_all(hooks_file.parent().unwrap()).unwrap();
        std::fs::write(hooks_file, hooks.to_string()).unwrap();
        Project { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("p").join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Starts a process that dispatches one event; it runs while others do.
    fn dispatch(&self, event: &str, tool: &str) -> Child {
        let mut child = Command::new(binary())
            .args(["dispatch", "--agent", "native"])
            .current_dir(self.path(""))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.directory.path().join("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let data = json!({"tool_name": tool, "tool_input": {}});
        let payload = json!({"event": event, "data": data, "session_id": "one", "cwd": self.path("")});
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        child
    }
}

fn finish(children: Vec<Child>) {
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn a_once_hook_runs_once_though_eight_processes_dispatch_at_the_same_time() {
    let hook = json!({"type": "command", "command": "printf x >> ran", "once": true});
    let project = Project::new(&json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}));
    finish((0..8).map(|_| project.dispatch("PreToolUse", "Bash")).collect());
    assert_eq!(project.read("ran"), "x");
}

#[test]
fn variables_of_hooks_in_different_processes_all_reach_a_later_hook() {
    let group = |tool: &str, command: &str| json!({"matcher": tool, "hooks": [{"type": "command", "command": command}]});
    let mut groups: Vec<Value> = (0..6)
        .map(|n| group(&format!("Set{n}"), &format!("echo 'export V{n}={n}' >> \"$HOOK_ENV_FILE\"")))
        .collect();
    groups.push(group("Show", "printf '%s' \"$V0$V1$V2$V3$V4$V5\" > seen"));
    let project = Project::new(&json!({"hooks": {"PreToolUse": groups}}));
    finish((0..6).map(|n| project.dispatch("PreToolUse", &format!("Set{n}"))).collect());
    finish(vec![project.dispatch("PreToolUse", "Show")]);
    assert_eq!(project.read("seen"), "012345");
}

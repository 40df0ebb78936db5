//! Calling the binary, and what its JSON says.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::workspace::Workspace;

/// The binary in one workspace.
pub(super) struct Hook<'a> {
    pub(super) binary: PathBuf,
    pub(super) place: &'a Workspace,
    /// The workspace is a plugin.
    pub(super) plugin: bool,
    /// The skills whose hooks are in force, by their files.
    pub(super) skills: Vec<String>,
}

/// One event that was fired.
pub(super) struct Fired {
    /// The document on standard output; null where there is none.
    pub(super) document: Value,
    pub(super) stderr: String,
    pub(super) code: Option<i32>,
    pub(super) took: Duration,
    /// The workspace.
    pub(super) root: PathBuf,
}

impl Hook<'_> {
    /// `hook` in the workspace with a minimal environment: PATH, HOME, and what the trial sets.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.place.root).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &self.place.home);
        command.envs(self.place.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Whose files are read: Claude Code's own, the workspace as a plugin where it is one, and its skills.
    fn sources(&self, command: &mut Command) {
        command.args(["--from", "claude"]);
        if self.plugin {
            command.arg("--plugin-root").arg(&self.place.root);
        }
        for skill in &self.skills {
            command.arg("--skill").arg(self.place.root.join(skill));
        }
    }

    /// Fires a payload.
    pub(super) fn fire(&self, payload: &str) -> Result<Fired> {
        let file = self.place.home.join("payload.json");
        std::fs::write(&file, payload)?;
        let mut command = self.command();
        command.arg("run").arg("--payload").arg(&file).args(["--agent", "claude", "--json"]);
        self.sources(&mut command);
        let begun = Instant::now();
        let output = command.output().with_context(|| self.binary.display().to_string())?;
        let took = begun.elapsed();
        let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        let (stderr, code, root) = (text(&output.stderr), output.status.code(), self.place.root.clone());
        let fired = Fired { document, stderr, code, took, root };
        if fired.stderr.contains("panicked at") {
            bail!("the binary panicked: {}", fired.stderr);
        }
        Ok(fired)
    }

    /// The findings of `hook check`.
    pub(super) fn check(&self) -> Result<Vec<Value>> {
        let mut command = self.command();
        command.arg("check");
        self.sources(&mut command);
        command.arg("--json");
        let output: Output = command.output()?;
        let document: Value = serde_json::from_slice(&output.stdout).with_context(|| {
            format!("hook check gave no JSON: {} {}", text(&output.stdout), text(&output.stderr))
        })?;
        let list = match &document {
            Value::Array(list) => list,
            other => other["diagnostics"].as_array().context("hook check: no diagnostics")?,
        };
        Ok(list.clone())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a trial asks of a document of `hook run --json`.
impl Fired {
    /// Every hook that was chosen, in the order of the file.
    pub(super) fn runs(&self) -> Vec<&Value> {
        self.document["runs"].as_array().map(|runs| runs.iter().collect()).unwrap_or_default()
    }

    /// The hooks that were started, in the order of the file.
    pub(super) fn started(&self) -> Vec<&Value> {
        self.runs().into_iter().filter(|run| run["status"] != "skipped").collect()
    }

    /// The decision, by its neutral name.
    pub(super) fn decision(&self) -> &str {
        self.document["decision"].as_str().unwrap_or_default()
    }

    /// The reason.
    pub(super) fn reason(&self) -> &str {
        self.document["reason"].as_str().unwrap_or_default()
    }

    /// Everything a person sees, on either stream.
    pub(super) fn words(&self) -> String {
        format!("{}\n{}", self.document, self.stderr)
    }
}

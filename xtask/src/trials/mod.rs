//! Trials: small workspaces from public bug reports, run through the built binary.

mod fire;
mod judge;
mod lint;
pub mod workspace;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use crate::cases::sorted;
use crate::check::Mismatch;
use crate::report::{Ran, Report, Section};
use crate::root;

/// Members of a trial that say nothing to the runner.
const WORDS: &[&str] = &["id", "ref", "kind", "dialect", "what", "notes", "share"];
/// Members that it reads.
const KEYS: &[&str] =
    &["root", "files", "modes", "links", "env", "event", "payload_prefix", "payload_raw", "repeat", "expect"];

/// Runs every trial of a directory; `--cases` may name the directory of trials or the one above it.
///
/// # Errors
/// The trials cannot be read.
pub fn run(directory: &Path, binary: &Path) -> Result<Report> {
    let directory = folder(directory);
    let mut ran = Vec::new();
    for name in sorted(&directory)?.into_iter().filter(|name| name.ends_with(".json")) {
        let text = std::fs::read_to_string(directory.join(&name)).with_context(|| name.clone())?;
        let trial: Value = serde_json::from_str(&text).with_context(|| name.clone())?;
        let Value::Object(trial) = trial else { bail!("{name}: not an object") };
        let id = trial.get("id").and_then(Value::as_str).unwrap_or(&name).to_owned();
        let attempt = AssertUnwindSafe(|| run_trial(&trial, binary));
        let mismatches = match catch_unwind(attempt) {
            Ok(Ok(mismatches)) => mismatches,
            Ok(Err(error)) => vec![Mismatch::remark(format!("{error:#}"))],
            Err(_) => vec![Mismatch::remark("the runner panicked")],
        };
        ran.push(Ran { id, mismatches });
    }
    Ok(Report { sections: vec![Section { name: "trials".into(), ran }] })
}

/// The directory of trials itself, or the one in it.
fn folder(directory: &Path) -> PathBuf {
    match directory.join("trials") {
        inner if inner.is_dir() => inner,
        _ => directory.to_owned(),
    }
}

/// The ids of all trials; each is the name of its file.
///
/// # Errors
/// The directory cannot be read.
pub fn ids(directory: &Path) -> Result<Vec<String>> {
    let names = sorted(&folder(directory))?;
    Ok(names.iter().filter_map(|name| name.strip_suffix(".json")).map(String::from).collect())
}

fn run_trial(trial: &Map<String, Value>, binary: &Path) -> Result<Vec<Mismatch>> {
    if let Some(key) =
        trial.keys().find(|key| !WORDS.contains(&key.as_str()) && !KEYS.contains(&key.as_str()))
    {
        bail!("the runner does not know the key {key:?}");
    }
    let dialect = trial.get("dialect").and_then(Value::as_str).unwrap_or_default();
    if !["claude-settings", "claude-plugin", "skill-frontmatter"].contains(&dialect) {
        bail!("dialect {dialect:?} is not supported yet");
    }
    let place = workspace::Workspace::create(trial)?;
    let expect = trial.get("expect").and_then(Value::as_object).context("no expect")?;
    let files = trial.get("files").and_then(Value::as_object).into_iter().flatten();
    let hook = fire::Hook {
        binary: binary.to_owned(),
        place: &place,
        plugin: dialect == "claude-plugin",
        skills: files.filter(|(name, _)| name.ends_with("SKILL.md")).map(|(name, _)| name.clone()).collect(),
    };
    judge::judge(trial, expect, &hook)
}

/// The `hook` of this tree, built now.
///
/// # Errors
/// It cannot be built.
pub fn build() -> Result<PathBuf> {
    let mut cargo = root::cargo();
    cargo.args(["build", "--quiet", "--package", "hook-cli", "--bin", "hook"]);
    if !cargo.status().context("cargo")?.success() {
        bail!("hook-cli does not build");
    }
    Ok(root::target().join("debug/hook"))
}

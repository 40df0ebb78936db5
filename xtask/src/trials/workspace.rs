//! The directory a trial happens in.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value};

/// A directory with the files of one trial, and a fresh home beside it.
#[derive(Debug)]
pub struct Workspace {
    // Removed on drop.
    _directory: tempfile::TempDir,
    /// The workspace.
    pub root: PathBuf,
    /// The home.
    pub home: PathBuf,
    /// The variables of the runner.
    pub env: Vec<(String, String)>,
}

impl Workspace {
    /// Writes the files byte for byte.
    ///
    /// # Errors
    /// Something cannot be written, or the trial is not well formed.
    pub fn create(trial: &Map<String, Value>) -> Result<Workspace> {
        let directory = tempfile::tempdir()?;
        let base = directory.path().canonicalize()?;
        let name = trial.get("root").and_then(Value::as_str).unwrap_or("w");
        let (root, home) = (base.join(name), base.join("home"));
        std::fs::create_dir_all(&root)?;
        std::fs::create_dir_all(&home)?;
        let mut workspace = Workspace { _directory: directory, root, home, env: Vec::new() };
        for (name, content) in members(trial, "files") {
            let content = content.as_str().with_context(|| format!("files.{name} is no text"))?;
            let content = workspace.fill(content, name.ends_with(".json"));
            workspace.write(name, content.as_bytes())?;
        }
        for (name, mode) in members(trial, "modes") {
            let mode = mode.as_str().and_then(|text| u32::from_str_radix(text, 8).ok());
            set_mode(&workspace.root.join(name), mode.with_context(|| format!("modes.{name}"))?)?;
        }
        for (name, target) in members(trial, "links") {
            let target = workspace.fill(target.as_str().with_context(|| format!("links.{name}"))?, false);
            let link = workspace.root.join(name);
            if let Some(parent) = link.parent() {
                std::fs::create_dir_all(parent)?;
            }
            make_link(Path::new(&target), &link)?;
        }
        for (name, value) in members(trial, "env") {
            let value = workspace.fill(value.as_str().unwrap_or_default(), false);
            workspace.env.push((name.clone(), value));
        }
        Ok(workspace)
    }

    /// `@ROOT@` becomes the workspace, JSON-escaped inside JSON; `@FILL:n@` becomes n letters `a`.
    pub fn fill(&self, text: &str, json: bool) -> String {
        let root = self.root.to_string_lossy().into_owned();
        let root = if json { Value::String(root).to_string().trim_matches('"').to_owned() } else { root };
        let mut filled = text.replace("@ROOT@", &root);
        while let Some((before, rest)) = filled.split_once("@FILL:") {
            let Some((count, after)) = rest.split_once('@') else { break };
            let Ok(count) = count.parse::<usize>() else { break };
            filled = format!("{before}{}{after}", "a".repeat(count));
        }
        filled
    }

    /// The same inside a value.
    pub fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text, false)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(map) => {
                Value::Object(map.iter().map(|(key, value)| (key.clone(), self.fill_value(value))).collect())
            }
            other => other.clone(),
        }
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.root.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, content).with_context(|| path.display().to_string())
    }
}

fn members<'a>(trial: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    trial.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// Sets the permission bits, where the platform has them.
///
/// # Errors
/// The file does not exist.
#[cfg(unix)]
pub fn set_mode(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).with_context(|| path.display().to_string())
}

/// Sets the permission bits, where the platform has them.
///
/// # Errors
/// None here.
#[cfg(not(unix))]
pub fn set_mode(_path: &Path, _mode: u32) -> Result<()> {
    Ok(())
}

#[cfg(unix)]
fn make_link(target: &Path, link: &Path) -> Result<()> {
    std::os::unix::fs::symlink(target, link).with_context(|| link.display().to_string())
}

#[cfg(not(unix))]
fn make_link(_target: &Path, link: &Path) -> Result<()> {
    anyhow::bail!("{}: links need a Unix file system", link.display())
}

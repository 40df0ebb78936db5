//! Proves the layers of the workspace from `cargo metadata`: a crate uses crates of earlier rows only.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::root;

/// The rows of ARCHITECTURE.md, first row first. Crates of one row do not use each other.
const ROWS: &[&[&str]] = &[
    &["hook-core", "hook-shell"],
    &["hook-mapper", "hook-matcher", "hook-exec", "hook-http", "hook-process", "hook-rewake"],
    &[
        "hook-config",
        "hook-registry",
        "hook-exec-command",
        "hook-exec-http",
        "hook-exec-mcp",
        "hook-exec-prompt",
        "hook-state",
    ],
    &["hook-engine"],
    &["hook-cli", "xtask", "hook-tests"],
];

fn row(name: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&name))
}

/// Asks cargo and judges.
///
/// # Errors
/// A crate stands in no row, or uses one of its own row or a later one.
pub fn check() -> Result<()> {
    let output = root::cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let faults = faults(&metadata);
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

fn faults(metadata: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(own) = row(name) else {
            faults.push(format!("{name} stands in no row of xtask/src/layers.rs and ARCHITECTURE.md"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let used = dependency["name"].as_str().unwrap_or_default();
            // Tests may use anything, and what comes from a registry has no row.
            if dependency["kind"] == "dev" || dependency["path"].is_null() {
                continue;
            }
            match row(used) {
                None => faults.push(format!("{name} uses {used}, which stands in no row")),
                Some(theirs) if theirs >= own => {
                    faults.push(format!("{name} (row {}) must not use {used} (row {})", own + 1, theirs + 1));
                }
                Some(_) => {}
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn upward_sideward_and_unknown_uses_are_found_and_tests_are_free() {
        let uses = |name: &str, kind: Value| json!({"name": name, "kind": kind, "path": "/p"});
        let metadata = json!({"packages": [
            {"name": "hook-core", "dependencies": [uses("hook-engine", json!("dev")), {"name": "serde", "path": null}]},
            {"name": "hook-mapper", "dependencies": [uses("hook-core", json!(null)), uses("hook-matcher", json!(null))]},
            {"name": "hook-registry", "dependencies": [uses("hook-engine", json!("build"))]},
            {"name": "hook-new", "dependencies": []},
        ]});
        let faults = faults(&metadata);
        assert_eq!(
            faults,
            [
                "hook-mapper (row 2) must not use hook-matcher (row 2)",
                "hook-registry (row 3) must not use hook-engine (row 4)",
                "hook-new stands in no row of xtask/src/layers.rs and ARCHITECTURE.md",
            ]
        );
    }
}

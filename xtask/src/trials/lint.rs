//! `expect.lint`, `lint_none` and `lint_each`.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::check::Mismatch;

/// Compares findings with what has to appear and what must not.
pub(super) fn judge(key: &str, wanted: &Value, findings: &[Value]) -> Result<Vec<Mismatch>> {
    let mut mismatches = Vec::new();
    let seen = || json!(findings.iter().map(brief).collect::<Vec<_>>());
    match key {
        "lint" => {
            for wanted in wanted.as_array().context("lint is no list")? {
                if !findings.iter().any(|found| fits(wanted, found)) {
                    mismatches.push(Mismatch { at: "lint".into(), expected: wanted.clone(), actual: seen() });
                }
            }
        }
        "lint_none" => {
            for wanted in wanted.as_array().context("lint_none is no list")? {
                let text = wanted.as_str().context("lint_none holds no text")?;
                let (about, places) = text.split_once(" at ").unwrap_or((text, ""));
                let forbidden = |found: &&Value| {
                    let pointer = found["pointer"].as_str().unwrap_or_default();
                    let hit = places.is_empty() || places.split(" and ").any(|place| pointer.contains(place));
                    found["slug"] == about && hit
                };
                if let Some(found) = findings.iter().find(forbidden) {
                    mismatches.push(Mismatch {
                        at: "lint_none".into(),
                        expected: wanted.clone(),
                        actual: brief(found),
                    });
                }
            }
        }
        _ => {
            for (file, abouts) in wanted.as_object().context("lint_each is no object")? {
                for about in abouts.as_array().into_iter().flatten() {
                    let there = |found: &Value| found["slug"] == *about && in_file(found, file);
                    if !findings.iter().any(there) {
                        let at = format!("lint_each {file}");
                        mismatches.push(Mismatch { at, expected: about.clone(), actual: seen() });
                    }
                }
            }
        }
    }
    Ok(mismatches)
}

fn brief(found: &Value) -> Value {
    json!({"about": found["slug"], "at": found["pointer"], "level": found["severity"], "suggest": found["suggestion"]})
}

fn in_file(found: &Value, file: &str) -> bool {
    found["file"].as_str().is_some_and(|path| path.ends_with(file))
}

fn fits(wanted: &Value, found: &Value) -> bool {
    wanted.as_object().is_some_and(|members| {
        members.iter().all(|(key, value)| match key.as_str() {
            "about" => found["slug"] == *value,
            // A finding about the whole file may have no pointer.
            "at" => {
                let at = value.as_str().map(pointer).unwrap_or_default();
                found["pointer"] == *at || (at.is_empty() && found["pointer"].is_null())
            }
            "level" => found["severity"] == *value,
            "suggest" => found["suggestion"] == *value,
            "file" => value.as_str().is_some_and(|file| in_file(found, file)),
            _ => false,
        })
    })
}

/// A pointer as it stands, or from `hooks.Stop[0].command`.
fn pointer(at: &str) -> String {
    if at.is_empty() || at.starts_with('/') {
        return at.to_owned();
    }
    format!("/{}", at.replace("].", "/").replace(['.', '['], "/").replace(']', ""))
}

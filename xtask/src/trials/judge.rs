//! Firing the event of a trial and judging what came of it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::fire::{Fired, Hook};
use super::lint;
use crate::check::{Mismatch, fits};

/// Runs a trial and gives what was not as expected.
pub(super) fn judge(
    trial: &Map<String, Value>,
    expect: &Map<String, Value>,
    hook: &Hook<'_>,
) -> Result<Vec<Mismatch>> {
    let mut mismatches = Vec::new();
    for (key, wanted) in expect.iter().filter(|(key, _)| key.starts_with("lint")) {
        mismatches.extend(lint::judge(key, wanted, &hook.check()?)?);
    }
    let fires = ["run", "events", "files_after", "wait_then", "processes_after"];
    if expect.keys().any(|key| fires.contains(&key.as_str())) {
        fire_and_judge(trial, expect, hook, &mut mismatches)?;
    }
    for (key, wanted) in expect {
        match key.as_str() {
            "run" | "events" | "lint" | "lint_none" | "lint_each" => {}
            "files_after" => files_after(wanted, trial, hook, &mut mismatches)?,
            "wait_then" => {
                let seconds = wanted["seconds"].as_f64().context("wait_then.seconds")?;
                std::thread::sleep(Duration::from_secs_f64(seconds));
                files_after(&wanted["files_after"], trial, hook, &mut mismatches)?;
            }
            "processes_after" => {
                let marker = wanted["none_matching"].as_str().context("processes_after.none_matching")?;
                for line in processes_with(marker) {
                    mismatches.push(Mismatch { at: key.clone(), expected: json!([]), actual: json!(line) });
                }
            }
            other => bail!("expect.{other}: not supported yet"),
        }
    }
    Ok(mismatches)
}

fn fire_and_judge(
    trial: &Map<String, Value>,
    expect: &Map<String, Value>,
    hook: &Hook<'_>,
    mismatches: &mut Vec<Mismatch>,
) -> Result<()> {
    let event = hook.place.fill_value(trial.get("event").unwrap_or(&Value::Null));
    if let Some(events) = expect.get("events") {
        for (index, wanted) in events.as_array().context("events is no list")?.iter().enumerate() {
            let mut event = event.clone();
            let mut run = None;
            for (key, value) in wanted.as_object().context("events holds no object")? {
                match key.as_str() {
                    "run" => run = value.as_object(),
                    "event" | "payload" => event = hook.place.fill_value(value),
                    "usage_error" => bail!("expect.events.usage_error: not supported yet"),
                    member => event[member] = hook.place.fill_value(value),
                }
            }
            let fired = hook.fire(&event.to_string())?;
            judge_run(&format!("events[{index}]"), run.context("an event without run")?, &fired, mismatches)?;
        }
        return Ok(());
    }
    let payload = match trial.get("payload_raw").and_then(Value::as_str) {
        Some(raw) => hook.place.fill(raw, true),
        None => event.to_string(),
    };
    let prefix = trial.get("payload_prefix").and_then(Value::as_str).unwrap_or_default();
    let payload = format!("{prefix}{payload}");
    let repeat = trial.get("repeat").and_then(Value::as_u64).unwrap_or(1);
    let mut fired = hook.fire(&payload)?;
    for _ in 1..repeat {
        fired = hook.fire(&payload)?;
    }
    match expect.get("run").and_then(Value::as_object) {
        Some(wanted) => judge_run("run", wanted, &fired, mismatches),
        None => Ok(()),
    }
}

fn judge_run(
    at: &str,
    wanted: &Map<String, Value>,
    fired: &Fired,
    mismatches: &mut Vec<Mismatch>,
) -> Result<()> {
    if fired.document.is_null() {
        let actual = json!({"exit": fired.code, "stderr": fired.stderr});
        mismatches.push(Mismatch {
            at: format!("{at}: no JSON from hook run"),
            expected: json!(wanted),
            actual,
        });
        return Ok(());
    }
    for (key, value) in wanted {
        let part = value.as_str().unwrap_or_default();
        let (good, actual) = match key.as_str() {
            "hooks_run" => equal(value, json!(fired.started().len())),
            "outcomes" => equal(value, fired.started().iter().map(|run| run["status"].clone()).collect()),
            "decision" => equal(value, json!(fired.decision())),
            "reason_contains" => (fired.reason().contains(part), json!(fired.reason())),
            "context_contains" => {
                let contexts = fired.document["contexts"].to_string();
                (contexts.contains(part), json!(contexts))
            }
            "message_mentions" | "must_hint" => (mentions(value, &fired.words()), json!(fired.words())),
            "max_seconds" => {
                let took = fired.took.as_secs_f64();
                (value.as_f64().is_some_and(|limit| took <= limit), json!(took))
            }
            "exit_codes" => {
                let codes: Vec<Value> = fired.started().iter().map(|run| run["exit_code"].clone()).collect();
                let allowed = value.as_array().cloned().unwrap_or_default();
                (codes.iter().all(|code| allowed.contains(code)), json!(codes))
            }
            // `fire` fails the trial on a panic.
            "no_panic" => (true, Value::Null),
            "either" => {
                let names = value.as_array().context("either is no list")?;
                let mut any = false;
                for name in names {
                    any |= behaviour(name.as_str().unwrap_or_default(), fired)?;
                }
                (any, fired.document.clone())
            }
            other => bail!("run.{other}: the runner does not know this key"),
        };
        if !good {
            mismatches.push(Mismatch { at: format!("{at}.{key}"), expected: value.clone(), actual });
        }
    }
    Ok(())
}

fn equal(wanted: &Value, actual: Value) -> (bool, Value) {
    (fits(wanted, &actual), actual)
}

/// A text, or every text of a list.
fn mentions(wanted: &Value, words: &str) -> bool {
    let all: Vec<&str> = match wanted {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    };
    let words = words.to_lowercase();
    all.iter().all(|part| words.contains(&part.to_lowercase()))
}

/// The behaviours that `either` may name.
fn behaviour(name: &str, fired: &Fired) -> Result<bool> {
    Ok(match name {
        "hooks_run=1 with a warning" => {
            fired.started().len() == 1 && mentions(&json!("warning"), &fired.words())
        }
        "refused with line and column" => {
            fired.started().is_empty() && fired.words().contains("settings.json:")
        }
        "outcome error that names the unset placeholder" => {
            fired.started().iter().any(|run| run["status"] == "error")
                && fired.words().contains("CLAUDE_SKILL_DIR")
        }
        "placeholder resolved to the skill directory and ok.txt exists" => {
            fired.root.join("ok.txt").exists() && fired.started().iter().all(|run| run["status"] == "ok")
        }
        other => bail!("either: the runner does not know the behaviour {other:?}"),
    })
}

fn files_after(
    wanted: &Value,
    trial: &Map<String, Value>,
    hook: &Hook<'_>,
    mismatches: &mut Vec<Mismatch>,
) -> Result<()> {
    for (name, wanted) in wanted.as_object().into_iter().flatten() {
        let path = hook.place.root.join(name);
        let bytes = std::fs::read(&path).ok();
        for (key, value) in wanted.as_object().context("files_after holds no object")? {
            let (good, actual) = match key.as_str() {
                "exists" => equal(value, json!(path.exists())),
                "equals" => equal(value, json!(bytes.as_deref().map(String::from_utf8_lossy))),
                "unchanged" => {
                    let written = trial["files"][name.as_str()]
                        .as_str()
                        .context("files_after.unchanged: no such file")?;
                    let written = hook.place.fill(written, name.ends_with(".json"));
                    (bytes.as_deref() == Some(written.as_bytes()), json!("changed"))
                }
                "no_bom" => {
                    (bytes.as_deref().is_some_and(|b| !b.starts_with(b"\xEF\xBB\xBF")), json!("a BOM"))
                }
                "json_contains_event" => {
                    let event = hook.place.fill_value(&trial["event"]);
                    let got: Value =
                        serde_json::from_slice(bytes.as_deref().unwrap_or_default()).unwrap_or_default();
                    let all = event
                        .as_object()
                        .is_some_and(|m| m.iter().all(|(key, value)| got.get(key) == Some(value)));
                    (all, got)
                }
                other => bail!("files_after.{other}: the runner does not know this key"),
            };
            if !good {
                mismatches.push(Mismatch {
                    at: format!("files_after {name} {key}"),
                    expected: value.clone(),
                    actual,
                });
            }
        }
    }
    Ok(())
}

/// Command lines of running processes that hold the marker, as /proc shows them.
fn processes_with(marker: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(Path::new("/proc")) else { return Vec::new() };
    entries
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(marker))
        .collect()
}

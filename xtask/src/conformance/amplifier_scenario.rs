//! Scenarios of the dialect `amplifier`: real files, real scripts, one engine, several events.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use hook_engine::Engine;
use hook_engine::config::{LoadRequest, StdFiles, load};
use hook_engine::core::{HostContext, ReplyPolicy, SystemClock};
use hook_engine::mapper::Dialects;
use hook_engine::state::FileSessions;
use serde_json::{Map, Value, json};

use super::{amplifier, world};
use crate::cases::Case;
use crate::check::{Check, Mismatch};

/// Runs one scenario in directories of its own.
pub(super) fn scenario(case: &Case) -> Vec<Mismatch> {
    let place = match tempfile::tempdir() {
        Ok(place) => place,
        Err(error) => return vec![Mismatch::remark(format!("no temporary directory: {error}"))],
    };
    // Hooks see the real path of their directory; so do the cases.
    let base = place.path().canonicalize().unwrap_or_else(|_| place.path().to_owned());
    let project = base.join("project");
    let mut check = Check::new(case, project.to_string_lossy());
    match run(&mut check, &base, &project) {
        Ok(()) => check.finish(),
        Err(error) => check.give_up(&error),
    }
}

fn run(check: &mut Check<'_>, base: &Path, project: &Path) -> Result<()> {
    let home = base.join("home");
    std::fs::create_dir_all(project)?;
    std::fs::create_dir_all(&home)?;
    let (project_text, home_text) =
        (project.to_string_lossy().into_owned(), home.to_string_lossy().into_owned());
    let locate = |name: &str| world::path(name, &project_text, &home_text);
    for (name, content) in check.given("files").and_then(Value::as_object).into_iter().flatten() {
        write(Path::new(&locate(name)), content.as_str().unwrap_or_default())?;
    }

    let mut environment: BTreeMap<OsString, OsString> = BTreeMap::new();
    environment.insert("PATH".into(), std::env::var_os("PATH").unwrap_or_default());
    environment.insert("HOME".into(), home.clone().into());
    for (name, value) in check.given("parent_env").and_then(Value::as_object).into_iter().flatten() {
        environment.insert(name.into(), check.fill_text(value.as_str().unwrap_or_default()).into());
    }
    let host = HostContext {
        environment,
        home: Some(home.clone()),
        state: Some(base.join("state")),
        ..HostContext::new(project)
    };

    let dialects = Dialects::standard();
    let dialect = world::dialect("amplifier")?;
    let agent = dialect.profile().id;
    let switches = check.given("module_config").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut request = LoadRequest::new(&host, &StdFiles, &dialects);
    request.firing = Some(agent);
    request.module_config = Some(world::module_config(switches));
    let loaded = load(&request);
    let sessions = FileSessions::new(base.join("state"), Arc::new(SystemClock));
    let engine = Engine::builder(host)
        .dialects(dialects)
        .documents(loaded.documents)
        .sessions(Arc::new(sessions))
        .build();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let begun = Instant::now();
    let mut results = Vec::new();
    let steps = check.given_value("steps");
    for step in steps.as_array().into_iter().flatten() {
        let name = step["event"].as_str().context("a step without event")?;
        if let Some(key) =
            step.as_object().into_iter().flatten().map(|(key, _)| key).find(|k| *k != "event" && *k != "data")
        {
            check.fail(format!("step: the runner does not know the key {key:?}"));
        }
        let incoming = world::read(dialect.as_ref(), world::amplifier_payload(name, &step["data"]))?;
        let outcome = runtime.block_on(engine.dispatch(&incoming));
        let reply = engine.reply(agent, &incoming, &outcome, &ReplyPolicy::default());
        results.push(amplifier::result_of(&reply)?);
    }
    let elapsed = begun.elapsed();

    let expected = check.expected("results").and_then(Value::as_array).cloned();
    if expected.as_ref().is_some_and(|expected| expected.len() != results.len()) {
        check.mismatch("results", json!(expected.as_ref().map(Vec::len)), json!(results.len()));
    }
    let nothing = Map::new();
    for (index, (expected, actual)) in expected.iter().flatten().zip(&results).enumerate() {
        let members = expected.as_object().unwrap_or(&nothing);
        amplifier::compare_result(check, &format!("results[{index}]"), members, actual);
    }
    judge_files(check, &locate);
    if let Some(limit) = check.expected("max_total_ms") {
        let took = elapsed.as_millis();
        if limit.as_u64().is_none_or(|limit| took > u128::from(limit)) {
            check.mismatch("max_total_ms", limit.clone(), json!(u64::try_from(took)?));
        }
    }
    Ok(())
}

fn judge_files(check: &mut Check<'_>, locate: &dyn Fn(&str) -> String) {
    for (name, content) in check.expected("files").and_then(Value::as_object).into_iter().flatten() {
        let actual = std::fs::read_to_string(locate(name)).ok();
        check.compare(&format!("files {name}"), content, &json!(actual));
    }
    for (key, wanted) in [("present_files", true), ("absent_files", false)] {
        for name in check.expected(key).and_then(Value::as_array).into_iter().flatten() {
            let there = Path::new(&locate(name.as_str().unwrap_or_default())).exists();
            if there != wanted {
                check.mismatch(format!("{key} {name}"), json!(wanted), json!(there));
            }
        }
    }
}

/// Writes a file with its directories; scripts get their run bit.
fn write(path: &Path, content: &str) -> Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, content).with_context(|| path.display().to_string())?;
    let is_script = path.extension().is_some_and(|ending| ending == "sh" || ending == "py");
    if is_script {
        crate::trials::workspace::set_mode(path, 0o755)?;
    }
    Ok(())
}

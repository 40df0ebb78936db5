//! What loaded skills cost the events that none of their hooks fits.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use hook_engine::Engine;
use hook_engine::core::{EventHint, HostContext, Payload};
use serde_json::{Value, json};

use super::{Row, in_turns};

/// Skills of a session, and hooks of each.
const SKILLS: usize = 10;
const HOOKS: usize = 10;

/// Events per measurement in process: one alone is too short for a clock.
const EVENTS: usize = 200;

fn loaded(skill: usize) -> Value {
    let groups: Vec<Value> = (0..HOOKS)
        .map(|n| json!({"matcher": format!("Tool{skill}x{n}"), "hooks": [{"type": "command", "command": "false"}]}))
        .collect();
    let data = json!({"skill_name": format!("skill{skill}"), "hooks": {"PreToolUse": groups}});
    json!({"event": "skill:loaded", "session_id": "bench", "data": data})
}

fn tool(session: &str) -> Value {
    json!({"event": "tool:pre", "session_id": session, "data": {"tool_name": "bash", "tool_input": {"command": "ls"}}})
}

pub(super) fn in_process(rows: &mut Vec<Row>) -> Result<()> {
    let engine = Engine::builder(HostContext::new("/bench/project")).build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let Some(agent) = engine.dialects().find("amplifier").cloned() else { bail!("no such dialect") };
    let read = |payload: Value| agent.read(Payload::from_value(payload), &EventHint::default());
    for skill in 0..SKILLS {
        let outcome = runtime.block_on(engine.dispatch(&read(loaded(skill))?));
        if !outcome.notes.iter().any(|note| note.text.contains("was loaded with")) {
            bail!("skill {skill} was not loaded: {:?}", outcome.notes);
        }
    }
    let (with, without) = (read(tool("bench"))?, read(tool("other"))?);
    let fire = |incoming| {
        for _ in 0..EVENTS {
            let outcome = runtime.block_on(engine.dispatch(incoming));
            if !outcome.runs.is_empty() {
                bail!("a hook was chosen");
            }
        }
        Ok(())
    };
    let times = in_turns(50, &mut [&mut || fire(&without), &mut || fire(&with)])?;
    let [bare, skills] = times[..] else { bail!("two measurements") };
    rows.push(Row {
        work: "an event in a session with 10 skills of 10 hooks, none matching",
        measured: (skills - bare) / EVENTS as f64 * 1e6,
        budget: 5.0,
        unit: "us more",
    });
    Ok(())
}

pub(super) fn cold(binary: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let dispatch = |project: &Path, payload: &Value| -> Result<()> {
        let file = directory.path().join("payload.json");
        std::fs::write(&file, payload.to_string())?;
        let mut command = Command::new(binary);
        command.args(["dispatch", "--agent", "amplifier"]).current_dir(project);
        let output = command.env("HOME", directory.path()).stdin(std::fs::File::open(&file)?).output()?;
        if !output.status.success() {
            bail!("hook dispatch gave {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    };
    for skill in 0..SKILLS {
        dispatch(directory.path(), &loaded(skill))?;
    }
    let (event, other) = (tool("bench"), tool("other"));
    let in_files = directory.path().join("files");
    super::project(&in_files, None)?;
    let times = in_turns(
        100,
        &mut [
            &mut || dispatch(directory.path(), &other),
            &mut || dispatch(&in_files.join("project"), &other),
            &mut || dispatch(directory.path(), &event),
        ],
    )?;
    let [bare, files, skills] = times[..] else { bail!("three measurements") };
    rows.push(Row {
        work: "cold, 100 hooks of 10 skills, none matching, by as many in 20 files",
        measured: (skills - bare) / (files - bare),
        budget: 1.5,
        unit: "x",
    });
    Ok(())
}

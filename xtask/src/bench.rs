//! Budgets, measured as ratios within one run: whatever is compared is measured in turns, so that a busy machine slows both.

mod frontmatter;
mod http;
mod mcp;
mod serve;
mod skills;
mod waking;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hook_engine::Engine;
use hook_engine::config::{LoadRequest, Loaded, load};
use hook_engine::core::{
    Candidate, DialectId, Event, EventHint, HookCx, HostContext, Incoming, MemoryFiles, Payload, SessionView,
};
use hook_engine::mapper::Dialects;
use hook_engine::registry::{Generation, Registry};
use serde_json::{Value, json};

use crate::{dist, root};

mod conditions;

/// One budget.
struct Row {
    work: &'static str,
    measured: f64,
    budget: f64,
    unit: &'static str,
}

impl Row {
    fn good(&self) -> bool {
        self.measured <= self.budget
    }
}

/// Measures everything and prints it; true where all budgets hold. A debug build builds the release one and hands over.
///
/// # Errors
/// Something cannot be built or started.
pub fn run(json: bool) -> Result<bool> {
    if cfg!(debug_assertions) {
        let built = root::cargo().args(["build", "--quiet", "--release", "--package", "xtask"]).status()?;
        if !built.success() {
            bail!("xtask does not build for release");
        }
        let mut again = Command::new(root::target().join("release/xtask"));
        again.arg("bench");
        if json {
            again.arg("--json");
        }
        return Ok(again.status()?.success());
    }
    let binary = dist::build()?;
    let mut rows = Vec::new();
    cold(&binary, &mut rows)?;
    skills::cold(&binary, &mut rows)?;
    serve::measure(&binary, &mut rows)?;
    in_process(&mut rows)?;
    frontmatter::loading(&mut rows)?;
    skills::in_process(&mut rows)?;
    conditions::measure(&mut rows)?;
    waking::measure(&mut rows)?;
    process(&mut rows)?;
    http::measure(&mut rows)?;
    mcp::measure(&mut rows)?;
    let size = std::fs::metadata(&binary)?.len() as f64 / 1e6;
    rows.push(Row { work: "release binary", measured: size, budget: 15.0, unit: "MB" });
    print(&rows, json);
    Ok(rows.iter().all(Row::good))
}

fn print(rows: &[Row], json: bool) {
    let word = |row: &Row| if row.good() { "ok" } else { "OVER" };
    if json {
        let all: Vec<Value> = rows
            .iter()
            .map(|row| {
                let (work, measured, budget, unit) = (row.work, row.measured, row.budget, row.unit);
                json!({"work": work, "measured": measured, "budget": budget, "unit": unit, "ok": row.good()})
            })
            .collect();
        println!("{}", Value::Array(all));
        return;
    }
    println!("{:<66} {:>10} {:>10}", "work", "measured", "budget");
    for row in rows {
        let (work, measured, budget, unit) = (row.work, row.measured, row.budget, row.unit);
        println!("{work:<66} {measured:>10.2} {budget:>10.2} {unit:<8} {}", word(row));
    }
}

/// The tenth percentile: what a busy machine adds on top is no work of ours, and a longer work meets more of it.
fn typical(mut all: Vec<Duration>) -> f64 {
    all.sort_unstable();
    all.get(all.len() / 10).map_or(0.0, Duration::as_secs_f64)
}

/// Measures several things in turns and gives the typical time of each, in seconds.
fn in_turns(rounds: usize, work: &mut [&mut dyn FnMut() -> Result<()>]) -> Result<Vec<f64>> {
    let mut taken: Vec<Vec<Duration>> = vec![Vec::with_capacity(rounds); work.len()];
    for round in 0..rounds + 3 {
        for (one, taken) in work.iter_mut().zip(&mut taken) {
            let begun = Instant::now();
            one()?;
            // The first rounds fill caches.
            if round >= 3 {
                taken.push(begun.elapsed());
            }
        }
    }
    Ok(taken.into_iter().map(typical).collect())
}

fn spawn(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if !status.success() {
        bail!("{command:?} gave {status}");
    }
    Ok(())
}

/// A project with 100 hooks in 20 files for a tool that is not used, and perhaps one for the tool that is.
fn project(directory: &Path, matching: Option<&str>) -> Result<()> {
    for file in 0..20 {
        let folder = directory.join(format!("project/.amplifier/hooks/p{file:02}"));
        std::fs::create_dir_all(&folder)?;
        let mut groups: Vec<Value> = (0..5)
            .map(|n| json!({"matcher": format!("Tool{file}x{n}"), "hooks": [{"type": "command", "command": "false"}]}))
            .collect();
        if let (Some(command), 10) = (matching, file) {
            groups.push(json!({"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}));
        }
        std::fs::write(folder.join("hooks.json"), json!({"hooks": {"PreToolUse": groups}}).to_string())?;
    }
    Ok(())
}

fn cold(binary: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let payload = directory.path().join("payload.json");
    let event = json!({"event": "tool:pre", "data": {
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "bench",
    }});
    std::fs::write(&payload, event.to_string())?;
    let place = |name: &str| directory.path().join(name);
    let (none, one, proof) = (place("none"), place("one"), place("proof"));
    project(&none, None)?;
    project(&one, Some("true"))?;
    project(&proof, Some(": > ran"))?;
    let dispatch = |place: &Path| -> Result<()> {
        let mut command = Command::new(binary);
        command
            .args(["dispatch", "--agent", "amplifier"])
            .current_dir(place.join("project"))
            .env("HOME", place);
        let stdin = std::fs::File::open(&payload)?;
        let output = command.stdin(stdin).output()?;
        if !output.status.success() {
            bail!("hook dispatch gave {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    };
    let times = in_turns(
        100,
        &mut [
            &mut || spawn(&mut Command::new("true")),
            &mut || spawn(Command::new("sh").args(["-c", "true"])),
            &mut || spawn(Command::new(binary).arg("--version")),
            &mut || dispatch(&none),
            &mut || dispatch(&one),
        ],
    )?;
    let [floor, shell, version, nothing, matching] = times[..] else { bail!("five measurements") };
    let milliseconds = |seconds: f64| seconds * 1e3;
    rows.push(Row {
        work: "hook --version, by spawning true",
        measured: version / floor,
        budget: 2.0,
        unit: "x",
    });
    rows.push(Row {
        work: "hook dispatch, cold, 100 hooks in 20 files, none matching, by true",
        measured: nothing / floor,
        budget: 3.0,
        unit: "x",
    });
    rows.push(Row {
        work: "the same with one matching hook, by that + 1.3 sh -c true",
        measured: milliseconds(matching),
        budget: milliseconds(nothing + 1.3 * shell),
        unit: "ms",
    });
    Ok(())
}

/// Native groups: nine in ten name tools or lists of tools, the others are patterns, but for ten that look at the input of the tool
/// that is fired.
fn groups(count: usize) -> String {
    let all: Vec<Value> = (0..count)
        .map(|n| {
            let matcher = match n % 10 {
                0 if n % (count / 5) == 0 => format!("unseen* & input.command~^never\\s+{n}"),
                0 if n % (count / 10) == 0 => format!("input.command~never{n}$"),
                0 => format!("^mcp__server{n}__(get|list)_[a-z]+$"),
                1..=4 => format!("Tool{n}|Other{n}|Third{n}"),
                _ => format!("Tool{n}"),
            };
            json!({"matcher": matcher, "hooks": [{"type": "command", "command": format!("check {n}")}]})
        })
        .collect();
    json!({"hooks": {"PreToolUse": all}}).to_string()
}

/// Asks the predicates of all candidates; an error where one of them holds.
fn ask(candidates: &[Candidate], event: &Event, host: &HostContext) -> Result<()> {
    let session = SessionView::default();
    for candidate in candidates {
        let cx = HookCx { event, hook: &candidate.hook, session: &session, host };
        let predicate = candidate.predicate.as_ref().context("a hook without a predicate was chosen")?;
        let verdict = predicate.test(&cx);
        if verdict.holds {
            bail!("a predicate holds: {}", verdict.why);
        }
    }
    Ok(())
}

fn load_native(files: &MemoryFiles) -> Loaded {
    let host = HostContext::new("/bench/project");
    let dialects = Dialects::standard();
    load(&LoadRequest::new(&host, files, &dialects))
}

fn native(tool: &str, dialects: &Dialects) -> Result<Incoming> {
    let dialect = dialects.get(DialectId::NATIVE).context("no native dialect")?;
    let data = json!({"tool_name": tool, "tool_input": {"command": "ls"}});
    let payload = Payload::from_value(json!({"event": "PreToolUse", "data": data, "session_id": "bench"}));
    Ok(dialect.read(payload, &EventHint::default())?)
}

fn in_process(rows: &mut Vec<Row>) -> Result<()> {
    let dialects = Dialects::standard();
    let host = HostContext::new("/bench/project");
    let (mut first_and_then, mut asked) = (Vec::new(), Vec::new());
    for count in [1_000, 10_000] {
        let files = MemoryFiles::new().with("/bench/project/.hooks/hooks.json", groups(count));
        let loaded = load_native(&files);
        let (generation, _) = Generation::build(1, &loaded.documents, None, &|_| false);
        if generation.hooks().len() != count {
            bail!("{} of {count} hooks were loaded", generation.hooks().len());
        }
        let (mut first, mut then) = (Vec::new(), Vec::new());
        for n in 0..200 {
            let incoming = native(&format!("unseen{n}"), &dialects)?;
            let event = incoming.events.first().context("no event")?;
            let begun = Instant::now();
            let candidates = generation.select(event);
            first.push(begun.elapsed());
            if candidates.len() != 10 {
                bail!("{} hooks were chosen for {n}, not the ten predicates", candidates.len());
            }
            let begun = Instant::now();
            for _ in 0..100 {
                std::hint::black_box(generation.select(std::hint::black_box(event)));
            }
            then.push(begun.elapsed() / 100);
            let begun = Instant::now();
            for _ in 0..20 {
                ask(&candidates, event, &host)?;
            }
            asked.push(begun.elapsed() / 20);
        }
        first_and_then.push((typical(first) * 1e6, typical(then) * 1e6));
    }
    let [(first, then), (first_large, then_large)] = first_and_then[..] else { bail!("two sizes") };
    rows.push(Row {
        work: "asking 10 predicates on the input of one call",
        measured: typical(asked) * 1e6,
        budget: 20.0,
        unit: "us",
    });
    rows.push(Row {
        work: "select among 1,000 groups, first sight",
        measured: first,
        budget: 50.0,
        unit: "us",
    });
    rows.push(Row { work: "select among 1,000 groups, then", measured: then, budget: 2.0, unit: "us" });
    rows.push(Row {
        work: "select among 10,000 groups, first sight",
        measured: first_large,
        budget: 100.0,
        unit: "us",
    });
    rows.push(Row {
        work: "select among 10,000 groups, then",
        measured: then_large,
        budget: 4.0,
        unit: "us",
    });

    let files = MemoryFiles::new().with("/bench/project/.hooks/hooks.json", groups(1_000));
    let mut registry = None;
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let begun = Instant::now();
        let loaded = load_native(&files);
        let (generation, _) = Generation::build(1, &loaded.documents, None, &|_| false);
        // Not a ratio, so the best of many: what a busy machine adds is no work of ours.
        best = best.min(begun.elapsed());
        registry = Some(Registry::new(generation));
    }
    let measured = best.as_secs_f64() * 1e3;
    rows.push(Row { work: "load and compile 1,000 groups", measured, budget: 15.0, unit: "ms" });

    let registry = registry.context("no registry")?;
    let loaded = load_native(&files);
    let mut swaps = Vec::new();
    for number in 0..20 {
        let (generation, _) = Generation::build(number, &loaded.documents, None, &|_| false);
        // The old generation is held, as a running event would: what is measured is the swap and not the clean-up.
        let held = registry.current();
        let begun = Instant::now();
        let old = registry.swap(generation);
        swaps.push(begun.elapsed());
        drop((held, old));
    }
    rows.push(Row {
        work: "swap of a generation of 1,000 hooks",
        measured: typical(swaps) * 1e6,
        budget: 50.0,
        unit: "us",
    });
    Ok(())
}

/// One command hook that reads two kilobytes, against the same process started by hand.
fn process(rows: &mut Vec<Row>) -> Result<()> {
    const LINE: &str = "cat > /dev/null";
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": LINE}]}]}});
    let directory = tempfile::tempdir()?;
    let files = MemoryFiles::new().with("/bench/project/.hooks/hooks.json", hooks.to_string());
    let loaded = load_native(&files);
    let mut host = HostContext::new(directory.path());
    host.environment.insert("PATH".into(), std::env::var_os("PATH").unwrap_or_default());
    let engine = Engine::builder(host).documents(loaded.documents).build();
    let mut incoming = native("Bash", engine.dialects())?;
    let fill = "a".repeat(2_000);
    for event in &mut incoming.events {
        let data = json!({"tool_name": "Bash", "tool_input": {"command": fill}});
        event.raw = Arc::new(Payload::from_value(json!({"event": "PreToolUse", "data": data})));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let times = in_turns(
        200,
        &mut [&mut || by_hand(LINE, directory.path(), fill.as_bytes()), &mut || {
            let outcome = runtime.block_on(engine.dispatch(&incoming));
            match outcome.runs.first().map(|run| run.exit_code) {
                Some(Some(0)) => Ok(()),
                other => bail!("the hook gave {other:?}"),
            }
        }],
    )?;
    let [by_hand, engine] = times[..] else { bail!("two measurements") };
    rows.push(Row {
        work: "one command hook in process, 2 kB on stdin, by std::process",
        measured: engine / by_hand,
        budget: 1.1,
        unit: "x",
    });
    Ok(())
}

fn by_hand(line: &str, directory: &Path, input: &[u8]) -> Result<()> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input)?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("{line} gave {}", output.status);
    }
    Ok(())
}

//! An outcome for people.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use hook_engine::core::{Decision, Effect, Event, Incoming, Origin, Outcome, Reply, Run, Status};

use crate::output::harmless;

pub(crate) const BOLD: &str = "\u{1b}[1m";
pub(crate) const DIM: &str = "\u{1b}[2m";
pub(crate) const RED: &str = "\u{1b}[31m";
pub(crate) const GREEN: &str = "\u{1b}[32m";
pub(crate) const YELLOW: &str = "\u{1b}[33m";
pub(crate) const RESET: &str = "\u{1b}[0m";

/// Which hooks ran, in which order, how long, what each said; then what was decided, by which rule and where it stands.
///
/// `listening` counts the hooks of the event, whether their matchers fit or not.
pub(crate) fn outcome(incoming: &Incoming, outcome: &Outcome, listening: usize) -> String {
    let mut out = String::new();
    for event in &incoming.events {
        heading(&mut out, event);
    }
    if outcome.runs.is_empty() {
        let _ = match listening {
            0 => writeln!(out, "  no hook listens to this"),
            1 => writeln!(out, "  the one hook of this event does not run (`hook explain` says why)"),
            many => {
                writeln!(out, "  none of the {many} hooks of this event runs (`hook explain` says why)")
            }
        };
    }
    for (index, run) in outcome.runs.iter().enumerate() {
        self::run(&mut out, index + 1, run);
    }
    for note in &outcome.notes {
        let _ = writeln!(out, "  {YELLOW}note{RESET} {}", harmless(&note.text));
    }
    out.push('\n');
    decision(&mut out, outcome);
    out
}

/// The event and its tool call, on one line.
pub(crate) fn heading(out: &mut String, event: &Event) {
    let tool = event.tool.as_ref().map(|tool| {
        format!(" {} {}", harmless(&tool.native_name), short(&harmless(&tool.native_input.to_string())))
    });
    let _ = writeln!(out, "{BOLD}{}{RESET}{}", event.kind, tool.unwrap_or_default());
}

fn run(out: &mut String, number: usize, run: &Run) {
    let colour = match run.status() {
        Status::Ok => GREEN,
        Status::Blocked | Status::Error | Status::Timeout => RED,
        _ => DIM,
    };
    let number = if run.ran() { number.to_string() } else { "-".to_owned() };
    let _ = writeln!(
        out,
        "  {number:>2}  {colour}{:<8}{RESET} {:>8}  {}  {DIM}{}{RESET}",
        run.status().name(),
        if run.ran() { time(run.duration) } else { String::new() },
        harmless(&run.hook.label()),
        place(&run.hook.origin),
    );
    let mut line = |mark: &str, text: &str| {
        for (index, part) in harmless(text).lines().take(12).enumerate() {
            let mark = if index == 0 { mark } else { "" };
            let _ = writeln!(out, "      {DIM}{mark:<8}{RESET} {part}");
        }
    };
    let answer = &run.reading.answer;
    if !run.ran() {
        line("why", &run.reading.rule);
        return;
    }
    if answer.decision != Decision::None {
        line(answer.decision.name(), answer.reason.as_deref().unwrap_or("(no reason given)"));
    }
    for effect in &answer.effects {
        match effect {
            Effect::Context { text } => line("context", text),
            Effect::Feedback { text, .. } => line("feedback", text),
            Effect::Message { text, .. } => line("message", text),
            other => line("effect", &serde_json::to_string(other).unwrap_or_default()),
        }
    }
    if let Some(input) = &answer.updated_input {
        line("input", &input.to_string());
    }
    if let Some(output) = &answer.updated_output {
        line("output", &output.to_string());
    }
    if answer.stop {
        line("stop", answer.stop_reason.as_deref().unwrap_or("the agent is to stop"));
    }
    // A failure is told to people and to the model in the same words.
    let effects = answer.effects.iter().filter_map(|effect| match effect {
        Effect::Context { text } | Effect::Feedback { text, .. } | Effect::Message { text, .. } => Some(text),
        _ => None,
    });
    let said: Vec<&String> = effects.chain(&answer.reason).collect();
    let fresh = |text: &str| !text.is_empty() && !said.iter().any(|said| said.ends_with(text));
    if fresh(&run.stderr) {
        line("stderr", &run.stderr);
    }
    for note in run.reading.notes.iter().filter(|note| fresh(&note.text)) {
        line("hint", &note.text);
    }
    line("rule", &run.reading.rule);
}

fn decision(out: &mut String, outcome: &Outcome) {
    let answer = &outcome.answer;
    let (colour, word) = match answer.decision {
        Decision::None => (GREEN, "no opinion: the agent goes on"),
        Decision::Allow => (GREEN, "allow"),
        Decision::Ask => (YELLOW, "ask"),
        Decision::Defer => (YELLOW, "defer"),
        Decision::Deny => (RED, "deny"),
    };
    let _ = write!(out, "{BOLD}{colour}{word}{RESET}");
    match &answer.reason {
        Some(reason) if answer.decision != Decision::None => {
            let _ = writeln!(out, ": {}", harmless(reason));
        }
        _ => out.push('\n'),
    }
    if let Some(run) = outcome.decider() {
        let _ = writeln!(out, "  by {}  {}", harmless(&run.hook.label()), place(&run.hook.origin));
        let _ = writeln!(out, "  {DIM}{} ({}){RESET}", run.reading.rule, run.hook.id);
    }
    if answer.stop {
        let _ = writeln!(
            out,
            "{BOLD}{RED}stop{RESET}: {}",
            harmless(answer.stop_reason.as_deref().unwrap_or("the agent is to stop"))
        );
    }
}

/// What the agent would be told, and what it cannot be told.
pub(crate) fn reply(agent: &str, reply: &Reply) -> String {
    let mut out = format!("\n{BOLD}{agent}{RESET} gets exit code {}\n", reply.exit_code);
    for (name, text) in [("stdout", &reply.stdout), ("stderr", &reply.stderr)] {
        for line in harmless(text.trim()).lines() {
            let _ = writeln!(out, "  {DIM}{name}{RESET} {line}");
        }
    }
    for lost in &reply.degraded {
        let _ = writeln!(out, "  {YELLOW}lost{RESET}   {}", harmless(lost));
    }
    out
}

/// `file:line:col`, relative to the working directory where the file is below it.
pub(crate) fn place(origin: &Origin) -> String {
    let Some(location) = &origin.location else { return origin.to_string() };
    format!("{}:{}:{}", relative(&location.file), location.line, location.column)
}

pub(crate) fn relative(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.filter(|path| !path.as_os_str().is_empty()).unwrap_or(path).display().to_string()
}

fn time(duration: Duration) -> String {
    match duration.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} ms", (seconds * 1000.0).max(1.0)),
    }
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(100).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

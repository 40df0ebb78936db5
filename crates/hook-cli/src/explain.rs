//! Why a hook runs on an event, or the first reason why not.

use std::fmt::Write;
use std::sync::Arc;

use hook_engine::config::Loaded;
use hook_engine::core::{Event, Hook, Outcome, Run};
use hook_engine::{Engine, Explained, Hurdle};
use serde_json::{Value, json};

use crate::args::{ExplainArgs, SourceArgs};
use crate::error::CliError;
use crate::fire::{Fired, fire};
use crate::output::harmless;
use crate::report::{BOLD, DIM, GREEN, RED, RESET, YELLOW, heading, place};
use crate::{check, exit, json as json_form, output, session};

pub(crate) fn explain(args: &ExplainArgs) -> Result<u8, CliError> {
    let Fired { incoming, loaded, engine, .. } = fire(&args.event)?;
    let left = left_alone(&args.event.sources, &engine, &loaded)?;
    let explain = |event| {
        let mut all = engine.explain(event);
        all.extend(left.iter().cloned());
        (event, all)
    };
    let explained: Vec<(&Event, Vec<Explained>)> = incoming.events.iter().map(explain).collect();
    let outcome = match args.run {
        true => Some(
            session::dispatch(&engine, &incoming)?
                .ok_or_else(|| CliError::internal("ended by a signal; running hooks were ended too"))?,
        ),
        false => None,
    };
    let findings: Vec<_> = loaded.diagnostics.iter().chain(engine.diagnostics()).cloned().collect();
    if args.json {
        let events: Vec<Value> =
            explained.iter().map(|(event, all)| of_event(event, all, outcome.as_ref())).collect();
        let document = json!({
            "events": events,
            "diagnostics": findings.iter().map(json_form::finding).collect::<Vec<_>>(),
        });
        output::data(&format!("{document:#}\n"))?;
    } else {
        check::print_errors(&findings, &loaded.sources);
        let mut out = String::new();
        for (event, all) in &explained {
            text(&mut out, event, all, outcome.as_ref());
        }
        if explained.is_empty() {
            out.push_str("a message to the engine itself; no hook listens to it\n");
        }
        output::data(&out)?;
    }
    Ok(exit::OK)
}

/// The hooks of files that are left to their agents: somebody who waits for one of them looks for it here.
fn left_alone(sources: &SourceArgs, engine: &Engine, loaded: &Loaded) -> Result<Vec<Explained>, CliError> {
    let dialects = engine.dialects();
    let mut every = sources.clone();
    every.from = dialects.iter().map(|dialect| dialect.profile().id.0.to_owned()).collect();
    let every = session::load_files(engine.host(), dialects, &every, None)?;
    let is_read = |hook: &Hook| {
        loaded.hooks().any(|other| other.origin.file == hook.origin.file && other.dialect == hook.dialect)
    };
    let explained = |hook: &Arc<Hook>| {
        let title = dialects.get(hook.dialect).map_or(hook.dialect.0, |dialect| dialect.profile().title);
        let why = format!("its file is left to {title}; `--from {}` reads it", hook.dialect);
        Explained { hook: hook.clone(), hurdle: Some(Hurdle::Source), why: vec![why], terms: Vec::new() }
    };
    Ok(every.hooks().filter(|hook| !is_read(hook)).map(explained).collect())
}

/// The run of an explained hook, where it was run.
fn run_of<'o>(explained: &Explained, outcome: Option<&'o Outcome>) -> Option<&'o Run> {
    outcome?.runs.iter().find(|run| *run.hook == *explained.hook)
}

fn of_event(event: &Event, all: &[Explained], outcome: Option<&Outcome>) -> Value {
    let hooks: Vec<Value> = all
        .iter()
        .map(|explained| {
            let mut value = json_form::hook(&explained.hook);
            value["runs"] = explained.hurdle.is_none().into();
            value["hurdle"] = json!(explained.hurdle.map(Hurdle::name));
            value["why"] = json!(explained.why);
            value["terms"] = json!(explained.terms);
            if let Some(run) = run_of(explained, outcome) {
                value["run"] = json_form::run(run);
            }
            value
        })
        .collect();
    json!({
        "event": event.kind.name(),
        "native_event": event.native_event,
        "sees": event.match_values().collect::<Vec<_>>(),
        "hooks": hooks,
    })
}

fn text(out: &mut String, event: &Event, all: &[Explained], outcome: Option<&Outcome>) {
    heading(out, event);
    let of_event = |explained: &&Explained| explained.hurdle != Some(Hurdle::Event);
    let (here, elsewhere): (Vec<_>, Vec<_>) = all.iter().partition(of_event);
    if here.is_empty() {
        out.push_str("  no hook listens to this\n");
    }
    for explained in here {
        hook(out, explained, run_of(explained, outcome));
    }
    if !elsewhere.is_empty() {
        let _ = writeln!(out, "{DIM}  hooks of other events{RESET}");
    }
    for explained in elsewhere {
        let hook = &explained.hook;
        let _ = writeln!(
            out,
            "  {DIM}no    {} {}{RESET}  {}",
            place(&hook.origin),
            hook.event_name,
            harmless(&hook.label())
        );
    }
}

fn hook(out: &mut String, explained: &Explained, run: Option<&Run>) {
    let hook = &explained.hook;
    let (colour, word) = match (explained.hurdle, run) {
        (None, Some(run)) if run.ran() => (GREEN, "ran"),
        (None, Some(_)) => (YELLOW, "not"),
        (None, None) => (GREEN, "runs"),
        (Some(Hurdle::Off), _) => (DIM, "off"),
        (Some(_), _) => (RED, "no"),
    };
    let _ = writeln!(
        out,
        "  {colour}{word:<5}{RESET} {BOLD}{}{RESET}  {}  {DIM}{} {}, {}{RESET}",
        place(&hook.origin),
        harmless(&hook.label()),
        hook.dialect,
        hook.origin.layer,
        hook.id,
    );
    if let Some(run) = run {
        let _ = writeln!(out, "        {}: {}", run.status().name(), harmless(&run.reading.rule));
        if let Some(reason) = &run.reading.answer.reason {
            let _ = writeln!(out, "        {}: {}", run.reading.answer.decision.name(), harmless(reason));
        }
    }
    for why in &explained.why {
        let _ = writeln!(out, "        {}", harmless(why));
    }
    for term in &explained.terms {
        let _ = writeln!(out, "        {DIM}{}{RESET}", harmless(term));
    }
}

//! Listing hooks.

use std::fmt::Write;

use hook_engine::config::Loaded;
use hook_engine::core::{EventKind, Hook, RewakeSpec, RewakeTrigger, Scope};
use hook_engine::exec::budget::effective_timeout;
use hook_engine::mapper::Dialects;
use hook_engine::registry::Generation;
use serde_json::{Value, json};

use crate::args::ListArgs;
use crate::error::CliError;
use crate::{check, exit, json as json_form, output, report, session, world};

pub(crate) fn list(args: &ListArgs) -> Result<u8, CliError> {
    let dialects = Dialects::standard();
    let host = world::host(session::dialect(&dialects, "native")?.profile(), None);
    let loaded = session::load_files(&host, &dialects, &args.sources, None)?;
    let (generation, _) = Generation::build(1, &loaded.documents, Some(&[]), &|_| false);
    let unserved = |hook: &Hook| session::unserved(hook, &loaded.settings, &host);
    // Words go to standard error in either form, so the data stay whole.
    check::print_errors(&loaded.diagnostics, &loaded.sources);
    if args.json {
        let hooks: Value =
            generation.hooks().iter().map(|hook| entry(hook, &dialects, unserved(hook))).collect();
        output::data(&format!("{hooks:#}\n"))?;
    } else {
        output::data(&output::harmless(&table(&generation, &dialects, &loaded, unserved)))?;
    }
    Ok(exit::OK)
}

fn seconds(hook: &Hook, dialects: &Dialects) -> Option<f64> {
    dialects.get(hook.dialect).map(|dialect| effective_timeout(hook, dialect.profile()).as_secs_f64())
}

fn entry(hook: &Hook, dialects: &Dialects, unserved: Option<String>) -> Value {
    let mut value = json_form::hook(hook);
    value["enabled"] = hook.enabled.into();
    value["disabled_because"] = json!(hook.disabled_because);
    value["nobody_runs"] = json!(unserved);
    value["in_force"] = when(hook).unwrap_or_else(|| "always".to_owned()).into();
    value["rewake"] = json!(hook.rewake);
    value["timeout_s"] = json!(seconds(hook, dialects));
    value
}

/// When the hook wishes to be woken again.
fn again(spec: &RewakeSpec) -> String {
    let when = match &spec.trigger {
        RewakeTrigger::Delay(delay) => format!("{} s after it ran", delay.as_secs_f64()),
        RewakeTrigger::Cron { expression, zone } => format!("at {expression} ({zone})"),
        RewakeTrigger::Event { kind, key } => format!("on {kind} {key:?}"),
        _ => "some time".to_owned(),
    };
    let hold = if spec.hold { ", holding the call" } else { "" };
    format!("{when}, {} times at most{hold}", spec.max_attempts)
}

/// When the hook is in force; `None` where it always is.
fn when(hook: &Hook) -> Option<String> {
    match &hook.scope {
        Scope::Always => None,
        Scope::Skill(name) => Some(format!("while the skill {name} is loaded")),
        Scope::Agent(name) => Some(format!("while the agent {name} runs")),
        _ => Some("at certain times".to_owned()),
    }
}

fn table(
    generation: &Generation,
    dialects: &Dialects,
    loaded: &Loaded,
    unserved: impl Fn(&Hook) -> Option<String>,
) -> String {
    let mut out = String::new();
    let mut events: Vec<&EventKind> = Vec::new();
    for hook in generation.hooks() {
        if !events.contains(&&hook.event) {
            events.push(&hook.event);
        }
    }
    for event in &events {
        let _ = writeln!(out, "{event}");
        for hook in generation.hooks().iter().filter(|hook| hook.event == **event) {
            let matcher = hook.matcher.text.as_deref().filter(|text| !text.is_empty()).unwrap_or("*");
            let timeout = seconds(hook, dialects).map(|seconds| format!("{seconds} s")).unwrap_or_default();
            let _ = writeln!(
                out,
                "  {:<28} {:<16} {} {timeout}  {}",
                hook.id.as_str(),
                matcher,
                hook.handler.kind().name(),
                hook.label()
            );
            let when = when(hook).map(|when| format!(", {when}")).unwrap_or_default();
            let _ =
                writeln!(out, "  {:<28} {}, {}{when}", "", hook.origin.layer, report::place(&hook.origin));
            if let Some(spec) = &hook.rewake {
                let _ = writeln!(out, "  {:<28} woken again {}", "", again(spec));
            }
            if !hook.enabled {
                let why = hook.disabled_because.as_deref().unwrap_or("its file says so");
                let _ = writeln!(out, "  {:<28} off: {why}", "");
            } else if let Some(why) = unserved(hook) {
                let _ = writeln!(out, "  {:<28} nobody runs it: {why}", "");
            }
        }
    }
    if events.is_empty() {
        let _ = match loaded.has_errors() {
            true => writeln!(out, "no hooks that could be read; `hook check` shows why"),
            false => writeln!(out, "no hooks; `hook init` makes a first one"),
        };
    }
    out
}

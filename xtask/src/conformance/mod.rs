//! Runs conformance cases: one adapter per dialect and area turns a case into calls of the libraries.

mod aimon;
mod aimon_config;
mod aimon_reload;
mod aimon_rewake;
mod aimon_scenario;
mod aimon_template;
mod amplifier;
mod amplifier_prompt;
mod amplifier_scenario;
mod claude;
mod claude_aggregate;
mod claude_config;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anyhow::Result;

use crate::cases::{self, Case};
use crate::check::{Check, Mismatch};
use crate::report::{Ran, Report, Section};

/// Checks one case against the libraries.
type Adapter = fn(&mut Check<'_>) -> Result<()>;

/// The adapters by area. `amplifier/scenario` has a directory of its own for each case and stands apart.
const ADAPTERS: &[(&str, Adapter)] = &[
    ("aimon/template", aimon_template::template),
    ("aimon/config", aimon_config::config),
    ("aimon/cron", aimon::cron),
    ("aimon/duration", aimon::duration),
    ("aimon/event", aimon::event),
    ("aimon/exit", aimon::exit),
    ("aimon/frontmatter", aimon_config::frontmatter),
    ("aimon/matcher", aimon::matcher),
    ("aimon/reload", aimon_reload::reload),
    ("aimon/response", aimon::response),
    ("aimon/rewake", aimon_rewake::rewake),
    ("aimon/scenario", aimon_scenario::scenario),
    ("amplifier/config", amplifier::config),
    ("amplifier/envfile", amplifier::envfile),
    ("amplifier/event", amplifier::event),
    ("amplifier/matcher", amplifier::matcher),
    ("amplifier/payload", amplifier::payload),
    ("amplifier/prompt", amplifier_prompt::prompt),
    ("amplifier/response", amplifier::response),
    ("claude-code/aggregate", claude_aggregate::aggregate),
    ("claude-code/config", claude_config::config),
    ("claude-code/if_rule", claude::if_rule),
    ("claude-code/matcher", claude::matcher),
    ("claude-code/response", claude::response),
];

/// Runs the cases of a directory; with `only`, the areas that are named (`amplifier`, `matcher` or `amplifier/matcher`).
///
/// # Errors
/// The cases cannot be read.
pub fn run(directory: &Path, only: &[String]) -> Result<Report> {
    let mut report = Report::default();
    for area in cases::read(directory)? {
        let parts: Vec<&str> = area.name.split('/').collect();
        if !only.is_empty() && !only.iter().any(|word| *word == area.name || parts.contains(&word.as_str())) {
            continue;
        }
        let ran = area
            .cases
            .iter()
            .map(|case| Ran { id: case.id.clone(), mismatches: run_case(&area.name, case) })
            .collect();
        report.sections.push(Section { name: area.name, ran });
    }
    Ok(report)
}

fn run_case(area: &str, case: &Case) -> Vec<Mismatch> {
    // A panic in a library is a failure of the case that provoked it and of no other.
    let run = AssertUnwindSafe(|| {
        if area == "amplifier/scenario" {
            return amplifier_scenario::scenario(case);
        }
        let Some((_, adapter)) = ADAPTERS.iter().find(|(name, _)| *name == area) else {
            return vec![Mismatch::remark(format!("no adapter for {area}"))];
        };
        let mut check = Check::new(case, world::PROJECT);
        match adapter(&mut check) {
            Ok(()) => check.finish(),
            Err(error) => check.give_up(&error),
        }
    });
    catch_unwind(run).unwrap_or_else(|_| vec![Mismatch::remark("panicked")])
}

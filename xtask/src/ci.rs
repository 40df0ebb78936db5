//! Everything that CI checks beside the tests, one step after the other; a failed step does not hide the next.

use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::expected::Expected;
use crate::report::Report;
use crate::{codes, conformance, crash, layers, load, matchers, names, root, trials};

type Step = fn() -> Result<()>;

/// The steps in order.
const STEPS: &[(&str, Step)] = &[
    ("fmt", fmt),
    ("layers", layers::check),
    ("names", names::check),
    ("clippy", clippy),
    ("doc", doc),
    ("codes", codes::check),
    ("matchers", matchers::check),
    ("conformance", conformance_step),
    ("crash", crash::step),
    ("load", load::step),
    ("trials", trials_step),
];

/// Runs all steps, or those of `only`; true where all were good.
///
/// # Errors
/// There is no step of that name.
pub fn run(only: &[String]) -> Result<bool> {
    if let Some(unknown) = only.iter().find(|word| !STEPS.iter().any(|(name, _)| name == word)) {
        let names: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        bail!("no step {unknown:?}; there are: {}", names.join(", "));
    }
    let mut summary = Vec::new();
    for (name, step) in
        STEPS.iter().filter(|(name, _)| only.is_empty() || only.iter().any(|word| word == name))
    {
        println!("== {name}");
        let begun = Instant::now();
        let result = step();
        let seconds = begun.elapsed().as_secs_f64();
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        if let Err(error) = &result {
            println!("{error:#}");
        }
        println!("== {name}: {word} ({seconds:.1} s)\n");
        summary.push((name, word, seconds));
    }
    println!("step          result   seconds");
    for (name, word, seconds) in &summary {
        println!("{name:<13} {word:<8} {seconds:>7.1}");
    }
    Ok(summary.iter().all(|(_, word, _)| *word == "ok"))
}

fn cargo(arguments: &[&str], variable: Option<(&str, &str)>) -> Result<()> {
    let mut command = root::cargo();
    command.args(arguments);
    if let Some((name, value)) = variable {
        command.env(name, value);
    }
    if !command.status().context("cargo")?.success() {
        bail!("cargo {} failed", arguments.join(" "));
    }
    Ok(())
}

fn fmt() -> Result<()> {
    cargo(&["fmt", "--all", "--check"], None)
}

fn clippy() -> Result<()> {
    cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"], None)
}

fn doc() -> Result<()> {
    cargo(&["doc", "--quiet", "--workspace", "--no-deps"], Some(("RUSTDOCFLAGS", "-D warnings")))
}

fn conformance_step() -> Result<()> {
    judge(&conformance::run(&root::cases(), &[])?)
}

fn trials_step() -> Result<()> {
    let binary = trials::build()?;
    judge(&trials::run(&root::cases(), &binary)?)
}

/// Prints a report; an error where it is not as expected.
///
/// # Errors
/// A case fails that is no known gap, or a known gap passes.
pub fn judge(report: &Report) -> Result<()> {
    let expected = Expected::read(&root::expected_failures())?;
    let (text, good) = report.judge(&expected);
    print!("{text}");
    if !good {
        bail!("not as expected");
    }
    Ok(())
}

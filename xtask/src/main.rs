//! `cargo xtask`: checks, conformance, trials, benches and generated files.

#![expect(clippy::disallowed_macros, reason = "a tool of the build: it prints")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::{bench, ci, codes, conformance, crash, dist, load, matchers, root, trials};

/// Checks, conformance, trials and benches of hook-engine.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Everything that CI checks beside `cargo test`: formatting, lints, docs, layers, names, generated files, cases.
    Ci {
        /// Only these steps.
        #[arg(value_name = "STEP")]
        steps: Vec<String>,
    },
    /// Run conformance cases against the libraries.
    Conformance {
        /// The directory of cases, laid out as `<dialect>/<area>.json`; the tree's own by default.
        #[arg(long, value_name = "DIR")]
        cases: Option<PathBuf>,
        /// Only these: a dialect, an area, or `dialect/area`.
        #[arg(value_name = "AREA")]
        areas: Vec<String>,
    },
    /// Run workspaces from public bug reports through the built binary.
    Trials {
        /// The directory of trials; the tree's own by default.
        #[arg(long, value_name = "DIR")]
        cases: Option<PathBuf>,
        /// The `hook` to run; by default it is built first.
        #[arg(long, value_name = "PATH")]
        bin: Option<PathBuf>,
    },
    /// Measure against the budgets, in ratios within one run.
    Bench {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Kill processes that wake hooks at random moments, and see that nothing is lost.
    Crash {
        /// How often two of them are started and killed.
        #[arg(long, default_value_t = 1000)]
        rounds: u32,
        /// The store that they share; for postgres HOOK_TEST_POSTGRES_URL says where.
        #[arg(long, value_enum, default_value_t = crash::Kind::Sqlite)]
        store: crash::Kind,
        /// Be one of them, in this directory.
        #[arg(long, value_name = "DIR", hide = true)]
        work: Option<PathBuf>,
    },
    /// Fire events beside hook files that change all the time, and see that each sees one whole set of hooks.
    Load {
        /// For how long.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
    /// Build the command as it is released, at target/release/hook.
    Dist,
    /// Write docs/diagnostics.md from the catalogue of findings.
    Codes {
        /// Only compare, and fail where the page is old.
        #[arg(long)]
        check: bool,
    },
    /// Write docs/matchers.md from the documentation of the matcher crate.
    Matchers {
        /// Only compare, and fail where the page is old.
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().verb) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<bool> {
    match verb {
        Verb::Ci { steps } => return ci::run(&steps),
        Verb::Conformance { cases, areas } => {
            let cases = cases.unwrap_or_else(root::cases);
            ci::judge(&conformance::run(&cases, &areas)?)?;
        }
        Verb::Trials { cases, bin } => {
            let binary = match bin {
                Some(path) => path.canonicalize()?,
                None => trials::build()?,
            };
            ci::judge(&trials::run(&cases.unwrap_or_else(root::cases), &binary)?)?;
        }
        Verb::Bench { json } => return bench::run(json),
        Verb::Load { seconds } => load::run(Duration::from_secs(seconds), load::LONGEST)?,
        Verb::Crash { work: Some(folder), store, .. } => crash::work(&folder, store)?,
        Verb::Crash { rounds, store, work: None } => crash::run(rounds, store)?,
        Verb::Dist => println!("{}", dist::build()?.display()),
        Verb::Codes { check: true } => codes::check()?,
        Verb::Codes { check: false } => codes::write()?,
        Verb::Matchers { check: true } => matchers::check()?,
        Verb::Matchers { check: false } => matchers::write()?,
    }
    Ok(true)
}

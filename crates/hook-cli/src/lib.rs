//! The `hook` command: write hooks, try them, and wire them to agents.
//!
//! This crate alone reads the world (environment, directories, terminal) and prints. Everything else is in `hook-engine`.
//! Data goes to standard output, words to standard error; [`exit`] lists the exit codes.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the command is where the world is read and where text is printed"
)]

mod answer;
mod args;
mod background;
mod check;
mod dispatch;
mod error;
pub mod exit;
mod explain;
mod findings;
mod fire;
mod get;
mod init;
mod json;
mod list;
mod output;
mod report;
mod rewake;
mod rewrite;
mod run;
mod serve;
mod session;
mod signals;
mod switch;
mod waking;
mod world;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::{Cli, Verb};
use crate::error::CliError;

/// Runs the command with the arguments and in the environment of this process.
pub fn main() -> ExitCode {
    error::exit_on_panic();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; everything else is one of usage.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::OK });
        }
    };
    match work(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.is_broken_pipe() => ExitCode::from(exit::OK),
        Err(error) => {
            anstream::eprintln!("hook: {error}");
            if let Some(help) = &error.help {
                anstream::eprintln!("  help: {help}");
            }
            ExitCode::from(error.code)
        }
    }
}

fn work(cli: Cli) -> Result<u8, CliError> {
    match cli.verb {
        Verb::Init(args) => init::init(&args),
        Verb::Run(args) => run::run(&args),
        Verb::Dispatch(args) => dispatch::dispatch(&args),
        Verb::Explain(args) => explain::explain(&args),
        Verb::List(args) => list::list(&args),
        Verb::Enable(args) => switch::enable(&args),
        Verb::Disable(args) => switch::disable(&args),
        Verb::Check(args) => check::check(&args),
        Verb::Rewake(args) => rewake::rewake(&args),
        Verb::Serve(args) => serve::serve(&args),
        Verb::Get(args) => get::get(&args),
        Verb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "hook", &mut script);
            output::data(&String::from_utf8_lossy(&script))?;
            Ok(exit::OK)
        }
    }
}

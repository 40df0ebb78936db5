//! From a command handler to a process: shell form, exec form, and what to do where the platform refuses.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use hook_core::{
    Call, CommandHandler, Executor, FailureKind, Handler, HandlerFailure, HandlerKind, HandlerOutput, HookCx,
    Note, Shell,
};

use hook_exec::budget::MAX_TIMEOUT;
use hook_exec::limits::BUSY_RETRY;
use hook_process::find_program;
use tokio::time::{Instant, sleep};

use crate::runner::{self, BUSY_PAUSE, Program, StartError};
use crate::{hints, place};

/// The shell of the shell form. The path is absolute so that no `PATH` is searched and the start keeps the platform's fast path.
pub(crate) const SH: &str = "/bin/sh";

/// Bash, for dialects whose lines are written for it. It has no one place on all systems.
const BASH: &str = "bash";

/// Runs command handlers as processes. One serves all hooks.
#[derive(Debug, Clone, Default)]
pub struct CommandExecutor {
    spool: Option<PathBuf>,
}

impl CommandExecutor {
    /// An executor.
    pub fn new() -> CommandExecutor {
        CommandExecutor::default()
    }

    /// Also writes what hooks say, on both of their streams and up to 64 KiB of each, to the end of this file as it comes: for hooks
    /// that nobody waits for, so that somebody else finds it where this process is ended. The file is made with mode 0600.
    #[must_use]
    pub fn spool(mut self, file: impl Into<PathBuf>) -> CommandExecutor {
        self.spool = Some(file.into());
        self
    }
}

#[async_trait]
impl Executor for CommandExecutor {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, mut call: Call) -> HandlerOutput {
        let Handler::Command(handler) = &cx.hook.handler else {
            return failed("the hook is no command", Vec::new());
        };
        let moved = place::settle(&mut call, cx.host);
        let mut output = run(handler, call, self.spool.as_deref()).await;
        match &mut output {
            HandlerOutput::Process(process) => process.notes.extend(moved),
            HandlerOutput::Failure(failure) => failure.notes.extend(moved),
            _ => {}
        }
        output
    }
}

async fn run(handler: &CommandHandler, call: Call, spool: Option<&Path>) -> HandlerOutput {
    // The bound keeps the sum from overflowing.
    let deadline = Instant::now() + call.timeout.min(MAX_TIMEOUT);
    let (program, line) = match &handler.args {
        Some(args) => (exec_form(handler, args, &call), None),
        None => (shell_form(handler, &call), Some(handler.command.as_str())),
    };
    let give_up = deadline.min(Instant::now() + BUSY_RETRY);
    let result = loop {
        let result = runner::run(&program, &call, deadline, spool).await;
        // The runner itself tries again where the system says that a script is still written. Here the shell said it.
        let busy = match (&result, line) {
            (Ok(HandlerOutput::Process(process)), Some(line)) => hints::nothing_ran_yet(line, process),
            _ => false,
        };
        if !busy || Instant::now() >= give_up {
            break result;
        }
        sleep(BUSY_PAUSE).await;
    };
    match result {
        Ok(mut output) => {
            if let HandlerOutput::Process(process) = &mut output {
                process.notes.extend(match line {
                    Some(line) => hints::for_shell_exit(line, process, &call),
                    None => hints::for_program_exit(&program, process, &call),
                });
            }
            output
        }
        Err(StartError::NoFormat) => run_through_shell(&program, &call, deadline, spool).await,
        Err(StartError::Other(error)) => {
            let name = program.file.display();
            let notes = hints::for_start_error(&program, &error, &call);
            failed(&format!("cannot start {name}: {error}"), notes.into_iter().collect())
        }
    }
}

/// `sh -c LINE`, with a prefix `sh -c "PREFIX 'LINE'"`. In PowerShell a placeholder is a variable of its own; the
/// environment's are called `${env:NAME}`.
fn shell_form(handler: &CommandHandler, call: &Call) -> Program {
    let line = &handler.command;
    match handler.shell {
        Shell::PowerShell => {
            let names = call.placeholders.iter().map(|(name, _)| (name.clone(), format!("${{env:{name}}}")));
            let line = substitute(line, &names.collect::<Vec<_>>());
            let options = ["-NoProfile", "-NonInteractive", "-Command"].map(OsString::from);
            let args = options.into_iter().chain([line.into()]).collect();
            Program { file: PathBuf::from("pwsh"), args }
        }
        _ => {
            let line = match &call.shell_prefix {
                Some(prefix) => format!("{prefix} '{}'", line.replace('\'', r"'\''")),
                None => line.clone(),
            };
            let shell = if handler.shell == Shell::Bash { BASH } else { SH };
            Program { file: PathBuf::from(shell), args: vec!["-c".into(), line.into()] }
        }
    }
}

/// The program and its arguments, placeholders filled in. Values are never looked at again: a `$` in a path is a `$`.
fn exec_form(handler: &CommandHandler, args: &[String], call: &Call) -> Program {
    let file = substitute(&handler.command, &call.placeholders);
    Program {
        file: PathBuf::from(file),
        args: args.iter().map(|arg| substitute(arg, &call.placeholders).into()).collect(),
    }
}

/// Replaces every `${NAME}` of a known placeholder, once, from left to right.
fn substitute(text: &str, placeholders: &[(String, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = placeholders.iter().find_map(|(name, value)| {
            let after = rest[2..].strip_prefix(name.as_str())?.strip_prefix('}')?;
            Some((value, after))
        });
        match known {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push_str("${");
                rest = &rest[2..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// A script without `#!` is given to `sh`, as shells do themselves; a binary of another system is not.
async fn run_through_shell(
    program: &Program,
    call: &Call,
    deadline: Instant,
    spool: Option<&Path>,
) -> HandlerOutput {
    let file = resolve(&program.file, call);
    let name = file.display();
    if hints::is_binary(&file) {
        return failed(&format!("cannot start {name}: it is no program of this system"), Vec::new());
    }
    let mut args = vec![OsString::from(&file)];
    args.extend(program.args.iter().cloned());
    let through = Program { file: PathBuf::from(SH), args };
    match runner::run(&through, call, deadline, spool).await {
        Ok(mut output) => {
            if let HandlerOutput::Process(process) = &mut output {
                process.notes.push(Note::warning(format!(
                    "{name} does not say what runs it; it was given to sh (add a first line like #!/bin/sh)"
                )));
                process.notes.extend(hints::for_program_exit(program, process, call));
            }
            output
        }
        Err(StartError::NoFormat) => {
            failed(&format!("cannot start {SH}: it is no program of this system"), Vec::new())
        }
        Err(StartError::Other(error)) => failed(&format!("cannot start {SH}: {error}"), Vec::new()),
    }
}

/// The file a name means: as it stands with a slash, relative to the working directory; else the first hit on the `PATH`
/// of the hook's own environment. A name that is not found stays as it is.
pub(crate) fn resolve(file: &Path, call: &Call) -> PathBuf {
    let path = call.environment.iter().find(|(name, _)| name == OsStr::new("PATH"));
    find_program(file, &call.directory, path.map(|(_, value)| value.as_os_str()))
}

fn failed(message: &str, notes: Vec<Note>) -> HandlerOutput {
    HandlerOutput::Failure(HandlerFailure { kind: FailureKind::Spawn, message: message.to_owned(), notes })
}

#[cfg(test)]
mod tests {
    use super::substitute;

    #[test]
    fn placeholders_are_filled_in_once_and_unknown_ones_stay() {
        let values = [("ROOT".to_owned(), "/a b/${ROOT}/$HOME".to_owned()), ("X".to_owned(), String::new())];
        let table = [
            ("${ROOT}/run.sh", "/a b/${ROOT}/$HOME/run.sh"),
            ("${X}${ROOT}", "/a b/${ROOT}/$HOME"),
            ("$ROOT ${OTHER} ${ROOT", "$ROOT ${OTHER} ${ROOT"),
            ("${", "${"),
            ("é${X}é", "éé"),
        ];
        for (text, expected) in table {
            assert_eq!(substitute(text, &values), expected, "{text}");
        }
    }
}

//! Background hooks of an event: run by a process of their own, so that the agent need not wait.

use std::io::Write;
use std::process::{Command, Stdio};

use hook_engine::core::{Outcome, Status};

use crate::output;

/// Starts this command once more, with the same arguments and payload, for the hooks that the outcome put off. It goes on when
/// this process is gone, and keeps what the hooks tell the model for a later event of the session.
pub(crate) fn start(outcome: &Outcome, payload: &str) {
    let put_off = outcome.runs.iter().filter(|run| run.status() == Status::Background);
    let ids: Vec<&str> = put_off.map(|run| run.hook.id.as_str()).collect();
    if ids.is_empty() {
        return;
    }
    let started = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1));
        for id in &ids {
            command.arg("--background").arg(id);
        }
        // The agent waits until its pipes are closed; nobody reads what this one would say.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        child.stdin.take().map_or(Ok(()), |mut input| input.write_all(payload.as_bytes()))
    });
    if let Err(error) = started {
        output::words(&format!("hook: background hooks could not be started: {error}\n"));
    }
}

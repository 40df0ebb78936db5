//! One process from start to reaped.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use hook_core::{Call, Exit, FailureKind, HandlerFailure, HandlerOutput, Note, ProcessOutput};
use hook_exec::limits::{BUSY_RETRY, MAX_STREAM, PIPE_GRACE, TERM_GRACE};
use hook_process::{Leader, REAP_GRACE};
use rustix::io::Errno;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, Command};
use tokio::task::unconstrained;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use crate::capture::{Capture, Spool};
use crate::command::resolve;

/// Between two attempts to start a script that somebody still writes.
pub(crate) const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// What to start.
pub(crate) struct Program {
    /// A path, or a name on the hook's `PATH`.
    pub(crate) file: PathBuf,
    pub(crate) args: Vec<OsString>,
}

/// Why a process could not be started.
pub(crate) enum StartError {
    /// The file is executable and of no known format: a script without `#!`.
    NoFormat,
    /// Anything else.
    Other(io::Error),
}

enum End {
    Exited(io::Result<ExitStatus>),
    Deadline,
}

/// Runs the program until it ends or the deadline passes.
pub(crate) async fn run(
    program: &Program,
    call: &Call,
    deadline: Instant,
    spool: Option<&Path>,
) -> Result<HandlerOutput, StartError> {
    // The budget that tokio shares out among the futures of a task is for fairness. Here it would let a hook that writes
    // endlessly keep the deadlines of the hooks beside it from being seen; the reading gives way by itself instead.
    unconstrained(supervise(program, call, deadline, spool)).await
}

async fn supervise(
    program: &Program,
    call: &Call,
    deadline: Instant,
    spool: Option<&Path>,
) -> Result<HandlerOutput, StartError> {
    let mut leader = start(program, call, deadline).await?;
    let (stdin, stdout, stderr) = leader.pipes();
    let capture = || Capture::new(MAX_STREAM).spool(spool.and_then(Spool::open));
    let (mut out, mut err) = (capture(), capture());
    let (mut fed, mut drained, mut held) = (false, false, false);
    let end = {
        let feed = feed(stdin, &call.input);
        let reads = async { tokio::join!(out.fill(stdout), err.fill(stderr)) };
        tokio::pin!(feed, reads);
        // Waiting and sleeping can be given up and begun anew without loss; feed and reads are the same futures in each
        // round, so that no byte is written twice or read and forgotten.
        let end = loop {
            tokio::select! {
                biased;
                status = leader.wait() => break End::Exited(status),
                () = sleep_until(deadline) => break End::Deadline,
                () = &mut feed, if !fed => fed = true,
                _ = &mut reads, if !drained => drained = true,
            }
        };
        match &end {
            // Others may still hold the pipes. What the leader wrote is in them and is read at once.
            End::Exited(_) if !drained => {
                let rest = async {
                    loop {
                        tokio::select! {
                            biased;
                            _ = &mut reads => break,
                            () = &mut feed, if !fed => fed = true,
                        }
                    }
                };
                held = timeout(PIPE_GRACE, rest).await.is_err();
            }
            End::Exited(_) => {}
            End::Deadline => {
                // The leader is not reaped in here: as long as it is a zombie, the group's number stays ours.
                let strays = leader.ask_to_end();
                let grace = Instant::now() + TERM_GRACE;
                if drained || timeout_at(grace, &mut reads).await.is_ok() {
                    sleep_until(grace).await;
                }
                leader.make_end(strays);
                // One that cannot be reaped yet is left to the drop of the leader.
                let _ = timeout(REAP_GRACE, leader.wait()).await;
            }
        }
        end
    };
    Ok(match end {
        End::Deadline => timed_out(call, fed, err),
        End::Exited(Ok(status)) => exited(status, out, err, held),
        End::Exited(Err(error)) => HandlerOutput::Failure(HandlerFailure {
            kind: FailureKind::Spawn,
            message: format!("cannot learn how the hook ended: {error}"),
            notes: vec![Note::warning("does the host ignore SIGCHLD, or wait for all of its children?")],
        }),
    })
}

async fn start(program: &Program, call: &Call, deadline: Instant) -> Result<Leader, StartError> {
    let mut command = Command::new(resolve(&program.file, call));
    command
        .args(&program.args)
        .env_clear()
        .envs(call.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&call.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let give_up = deadline.min(Instant::now() + BUSY_RETRY);
    loop {
        match command.spawn() {
            Ok(child) => return Ok(Leader::new(child)),
            // Somebody, perhaps a fork of ours, still has the script open for writing. That passes.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < give_up => {
                sleep(BUSY_PAUSE).await;
            }
            Err(error) if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
                return Err(StartError::NoFormat);
            }
            Err(error) => return Err(StartError::Other(error)),
        }
    }
}

/// Writes the input and closes it. A hook that does not read is fine: the write fails with a broken pipe, and that is all,
/// since Rust programs ignore the signal that comes with it.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    }
}

fn timed_out(call: &Call, fed: bool, err: Capture) -> HandlerOutput {
    let mut notes = Vec::new();
    if !fed {
        notes.push(Note::info("it had not read all of its input"));
    }
    let said = err.finish().text;
    if let Some(line) = said.lines().map(str::trim).rfind(|line| !line.is_empty()) {
        notes.push(Note::info(format!("its last words: {line}")));
    }
    // As people write timeouts: 1, 2.5.
    let message = format!("Hook timed out after {}s", call.timeout.as_secs_f64());
    HandlerOutput::Failure(HandlerFailure { kind: FailureKind::Timeout, message, notes })
}

fn exited(status: ExitStatus, out: Capture, err: Capture, held: bool) -> HandlerOutput {
    let exit = match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(-1),
    };
    let mut output = ProcessOutput { exit, stdout: out.finish(), stderr: err.finish(), notes: Vec::new() };
    if held {
        output.notes.push(Note::warning(
            "a process it left behind still holds its output; the answer was taken as it was then \
             (redirect the output of background processes)",
        ));
    }
    for (name, stream) in [("output", &output.stdout), ("error", &output.stderr)] {
        if stream.dropped > 0 {
            let text = format!(
                "standard {name} was longer than {MAX_STREAM} bytes; {} bytes were dropped",
                stream.dropped
            );
            output.notes.push(Note::warning(text));
        }
    }
    HandlerOutput::Process(output)
}

//! One process from start to reaped.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use hook_core::{Call, Exit, FailureKind, HandlerFailure, HandlerOutput, Note, ProcessOutput};
use hook_exec::limits::{BUSY_RETRY, MAX_STREAM, PIPE_GRACE, TERM_GRACE};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use crate::capture::Capture;
use crate::command::resolve;

/// How long a killed leader has to become reapable. It takes microseconds, but in uninterruptible sleep.
const REAP_GRACE: Duration = Duration::from_millis(150);

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

/// Ends the whole group when the run is given up. Disarmed once the leader is reaped: from then on the number may be
/// somebody else's.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
            // The group may be gone already; there is nobody to tell.
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

enum End {
    Exited(io::Result<ExitStatus>),
    Deadline,
}

/// Runs the program under the call's deadline.
pub(crate) async fn run(program: &Program, call: &Call) -> Result<HandlerOutput, StartError> {
    let deadline = Instant::now() + call.timeout;
    let mut child = start(program, call, deadline).await?;
    let mut group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));

    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut out, mut err) = (Capture::new(MAX_STREAM), Capture::new(MAX_STREAM));
    let mut held = false;
    let end = {
        let feed = feed(stdin, &call.input);
        let reads = async { tokio::join!(out.fill(stdout), err.fill(stderr)) };
        tokio::pin!(feed, reads);
        let (mut fed, mut drained) = (false, false);
        let end = loop {
            tokio::select! {
                biased;
                status = child.wait() => break End::Exited(status),
                () = sleep_until(deadline) => break End::Deadline,
                () = &mut feed, if !fed => fed = true,
                _ = &mut reads, if !drained => drained = true,
            }
        };
        match &end {
            End::Exited(_) => {
                group.0 = None;
                if !drained {
                    held = timeout(PIPE_GRACE, &mut reads).await.is_err();
                }
            }
            End::Deadline => {
                // The leader is not reaped in here: as long as it is a zombie, the group's number stays ours.
                group.signal(Signal::TERM);
                let grace = Instant::now() + TERM_GRACE;
                if drained || timeout_at(grace, &mut reads).await.is_ok() {
                    sleep_until(grace).await;
                }
                group.signal(Signal::KILL);
                if timeout(REAP_GRACE, child.wait()).await.is_ok() {
                    group.0 = None;
                }
            }
        }
        end
    };

    let status = match end {
        End::Deadline => {
            let message = format!("Hook timed out after {}s", seconds(call.timeout));
            let said = err.finish().text;
            let notes = last_line(&said)
                .map(|line| Note::info(format!("its last words: {line}")))
                .into_iter()
                .collect();
            return Ok(HandlerOutput::Failure(HandlerFailure { kind: FailureKind::Timeout, message, notes }));
        }
        End::Exited(Err(error)) => return Err(StartError::Other(error)),
        End::Exited(Ok(status)) => status,
    };
    let mut output =
        ProcessOutput { exit: exit(status), stdout: out.finish(), stderr: err.finish(), notes: Vec::new() };
    if held {
        output.notes.push(Note::warning(
            "a process it left behind still holds its output; the answer was taken as it was when the hook exited \
             (redirect the output of background processes)",
        ));
    }
    for (name, stream) in [("output", &output.stdout), ("error", &output.stderr)] {
        if stream.dropped > 0 {
            let text = format!(
                "standard {name} was longer than {} bytes; {} bytes were dropped",
                MAX_STREAM, stream.dropped
            );
            output.notes.push(Note::warning(text));
        }
    }
    Ok(HandlerOutput::Process(output))
}

async fn start(program: &Program, call: &Call, deadline: Instant) -> Result<Child, StartError> {
    const ENOEXEC: i32 = 8;
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
            Ok(child) => return Ok(child),
            // Somebody, perhaps a fork of ours, still has the script open for writing. That passes.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < give_up => {
                sleep(Duration::from_millis(5)).await;
            }
            Err(error) if error.raw_os_error() == Some(ENOEXEC) => return Err(StartError::NoFormat),
            Err(error) => return Err(StartError::Other(error)),
        }
    }
}

/// Writes the input and closes it. A hook that does not read is fine.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    }
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(-1),
    }
}

/// `1`, `2.5`: as people write timeouts.
fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

//! Looking after the process that serves: it is started again when it dies by a fault, and ends with the one that looks after it.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::client;
use super::place::Place;
use super::wire::Ask;
use crate::args::ServeArgs;
use crate::error::CliError;
use crate::signals::Signals;
use crate::world::World;
use crate::{exit, output};

/// Faults within a minute after which nobody tries again.
const MOST_FAULTS: usize = 5;

/// Between a fault and the next try.
const PAUSE: Duration = Duration::from_millis(200);

/// A log that is larger is begun anew.
const LOG: u64 = 4 * 1024 * 1024;

/// Starts the process that serves, and again where it dies, until it is told to end.
pub(super) fn watch(args: &ServeArgs) -> Result<u8, CliError> {
    if args.detached {
        let _ = rustix::process::setsid();
    }
    let program = std::env::current_exe().map_err(|error| CliError::io("this program", error))?;
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::internal(format!("cannot make a runtime: {error}")))?;
    runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let (mut faults, mut stopping) = (VecDeque::new(), false);
        loop {
            let mut command = tokio::process::Command::new(&program);
            command.args(&arguments).arg("--worker").stdin(Stdio::piped());
            let started = command.spawn().map_err(|error| CliError::io(program.display(), error));
            let mut worker = started?;
            // It ends when this closes, as it does where this process is killed.
            let hold = worker.stdin.take();
            let failed = |error| CliError::io("the process that serves", error);
            // The signals first: where the worker dies in the same moment it is not started again.
            tokio::select! {
                biased;
                () = signals.come() => stopping = true,
                status = worker.wait() => drop(status.map_err(failed)?),
            }
            drop(hold);
            let status = worker.wait().await.map_err(failed)?;
            if stopping {
                let code = status.code().and_then(|code| u8::try_from(code).ok());
                return Ok(code.unwrap_or(exit::OK));
            }
            match status.code() {
                Some(code) if code != i32::from(exit::INTERNAL) => {
                    return Ok(u8::try_from(code).unwrap_or(exit::INTERNAL));
                }
                _ => {}
            }
            let now = Instant::now();
            faults.push_back(now);
            while faults.front().is_some_and(|first| now.duration_since(*first) > Duration::from_secs(60)) {
                faults.pop_front();
            }
            if faults.len() >= MOST_FAULTS {
                return Err(CliError::internal(format!(
                    "the process that serves died {MOST_FAULTS} times within a minute, last by {status}"
                )));
            }
            output::words(&format!(
                "hook serve: the process that serves died by {status}; it is started again\n"
            ));
            tokio::select! {
                biased;
                () = signals.come() => return Ok(exit::OK),
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    })
}

/// Starts a server that goes on when this process is gone, and waits until it is ready.
pub(super) fn detach(world: &World) -> Result<u8, CliError> {
    let place = Place::of(world).ok_or_else(super::nowhere)?;
    place.make()?;
    if client::question(world, Ask::Status).is_ok_and(|known| known.is_some()) {
        return Err(CliError::refused("a server runs already")
            .help("`hook serve --status` shows it, `hook serve --stop` ends it"));
    }
    let path = place.log();
    let failed = |error| CliError::io(path.display(), error);
    let mut log = OpenOptions::new();
    log.create(true).append(true).read(true).mode(0o600);
    let mut file = log.open(&path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > LOG {
        file.set_len(0).map_err(failed)?;
    }
    let from = file.seek(SeekFrom::End(0)).map_err(failed)?;
    let program = std::env::current_exe().map_err(|error| CliError::io("this program", error))?;
    let mut command = Command::new(&program);
    command.args(std::env::args_os().skip(1).filter(|word| word != "--detach")).arg("--detached");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file.try_clone().map_err(failed)?);
    let mut server = command.spawn().map_err(|error| CliError::io(program.display(), error))?;
    let said = server.stdout.take().map(BufReader::new);
    for line in said.into_iter().flat_map(BufRead::lines) {
        match line {
            Ok(line) if line == "ready" => {
                output::data(&format!("process {}, log in {}\n", server.id(), path.display()))?;
                return Ok(exit::OK);
            }
            Ok(line) => output::data(&format!("{line}\n"))?,
            Err(_) => break,
        }
    }
    let status = server.wait().map_err(|error| CliError::io("the server", error))?;
    let mut told = String::new();
    let _ = file.seek(SeekFrom::Start(from)).and_then(|_| file.read_to_string(&mut told));
    output::words(&told);
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::INTERNAL))
}

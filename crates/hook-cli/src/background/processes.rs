//! Supervisors as processes: whether they are there, and how they end.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::entry::Entry;

/// A supervisor that is told to end has so long to end its hooks.
const END: Duration = Duration::from_secs(3);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(5);

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// When a process was started, in the system's ticks since it was; `None` where the system does not tell.
pub(super) fn began(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may hold anything; the 22nd field is the 20th behind it.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    // One that has ended and that nobody has asked for is not there any more.
    if fields.next()? == "Z" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// True while the supervisor is there.
pub(super) fn is_alive(entry: &Entry) -> bool {
    match entry.began {
        Some(then) => began(entry.pid) == Some(then),
        // Without that knowledge a process of this number is taken for it.
        None => pid(entry.pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok()),
    }
}

/// Ends a supervisor with its hooks, and what an earlier end of it has left.
pub(super) fn end(entry: &Entry) {
    if is_alive(entry) {
        signal(entry.pid, Signal::TERM);
        let until = Instant::now() + END;
        // It is nobody's child here, so there is nothing to wait for but its absence.
        while is_alive(entry) && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        if is_alive(entry) {
            signal(entry.pid, Signal::KILL);
        }
    }
    // What is killed may start something in its last moment.
    for _ in 0..5 {
        let left = marked(&entry.mark);
        if left.is_empty() {
            return;
        }
        left.iter().for_each(|process| signal(*process, Signal::KILL));
    }
}

fn signal(process: u32, signal: Signal) {
    if let Some(pid) = pid(process) {
        let _ = kill_process(pid, signal);
    }
}

/// Every process that bears the mark; none where the system does not tell.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{}={mark}", super::MARK);
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let bears = |process: &u32| {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    numbers.filter(|process| *process != own).filter(bears).collect()
}

//! The started process and the group it leads.
//!
//! A group's number is the number of its leader. The kernel gives that number to nobody else as long as the leader is not
//! reaped, even when it is dead. After that it stays taken only while the group has members, which nobody can know: so the
//! group is signalled before the leader is reaped, and never again.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use crate::strays::Strays;

/// How often and how far apart a dropped run looks for its killed leader. Usually the second look finds it.
const LOOKS: u32 = 25;
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);

/// The same for a leader that needs longer, looked for beside the host's work.
const LATE_LOOKS: u32 = 2000;
const BETWEEN_LATE_LOOKS: Duration = Duration::from_millis(5);

/// How long a killed leader has to become reapable. It takes microseconds, but in uninterruptible sleep.
pub const REAP_GRACE: Duration = Duration::from_millis(150);

/// A process that leads a group of its own, started in a tokio runtime. Dropping it kills the group and reaps the leader.
pub struct Leader {
    /// `None` only while it is dropped.
    child: Option<Child>,
    /// `None` once the leader is reaped.
    group: Option<Pid>,
}

impl Leader {
    /// Takes over a child that was started as the leader of its group.
    pub fn new(child: Child) -> Leader {
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Leader { child: Some(child), group }
    }

    /// Its number, as long as it is not reaped.
    pub fn id(&self) -> Option<u32> {
        self.group.map(|group| group.as_raw_pid().cast_unsigned())
    }

    /// Its pipes, those that it has and that were not taken before: standard input, output and error.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        match &mut self.child {
            Some(child) => (child.stdin.take(), child.stdout.take(), child.stderr.take()),
            None => (None, None, None),
        }
    }

    /// Waits for the leader's exit and reaps it. Nothing is lost when the waiting is given up.
    ///
    /// # Errors
    /// Somebody else reaped it.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let Some(child) = &mut self.child else { return Err(io::ErrorKind::NotFound.into()) };
        let status = child.wait().await;
        // Also after an error: whoever reaped it, it is gone. There is no point between the two lines at which the future
        // could be dropped.
        self.group = None;
        status
    }

    /// A look at the leader for those who do not own it.
    pub fn sight(&self) -> Sight {
        Sight(self.group)
    }

    /// True where the leader has exited; it is not reaped.
    pub fn has_exited(&self) -> bool {
        self.sight().has_exited()
    }

    /// Waits for the leader's exit without reaping it: its group can still be signalled afterwards. Nothing is lost when the
    /// waiting is given up.
    ///
    /// # Errors
    /// The runtime cannot listen for signals.
    pub async fn exited(&self) -> io::Result<()> {
        // Before the first look, or an exit between look and listening would be missed.
        let mut children = signal(SignalKind::child())?;
        while !self.has_exited() {
            children.recv().await;
        }
        Ok(())
    }

    /// Ends the whole group: asks it to end (`SIGTERM`), makes it end (`SIGKILL`) once the leader has exited or `grace` is over,
    /// and reaps the leader. Takes `grace` and 150 ms at most. Gives how the leader ended, where it could be learned.
    pub async fn end(&mut self, grace: Duration) -> Option<ExitStatus> {
        let strays = self.ask_to_end();
        if !self.has_exited() {
            let _ = timeout(grace, self.exited()).await;
        }
        self.make_end(strays);
        // One that cannot be reaped yet is left to the drop.
        timeout(REAP_GRACE, self.wait()).await.ok()?.ok()
    }

    /// Asks the group, and descendants that the group's signals do not reach, to end (`SIGTERM`). Gives those descendants, for
    /// [`Leader::make_end`]. Does nothing once the leader is reaped.
    pub fn ask_to_end(&self) -> Option<Strays> {
        let strays = Strays::of(self.group?);
        self.signal(Signal::TERM);
        strays.signal(Signal::TERM);
        Some(strays)
    }

    /// Makes the group, `strays` and what those have started in the meantime end (`SIGKILL`). All are stopped first: one that is
    /// killed while it starts another loses it to the system, and nobody finds that one again. Does nothing once the leader is
    /// reaped.
    pub fn make_end(&self, strays: Option<Strays>) {
        let Some(group) = self.group else { return };
        self.signal(Signal::STOP);
        let mut strays = strays.unwrap_or_else(|| Strays::of(group));
        strays.freeze();
        self.signal(Signal::KILL);
        strays.signal(Signal::KILL);
    }

    /// Signals the whole group; does nothing once the leader is reaped.
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The members may be gone already; there is nobody to tell.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Sees whether a leader still runs. It tells the truth as long as the leader is not reaped.
#[derive(Debug, Clone, Copy)]
pub struct Sight(Option<Pid>);

impl Sight {
    /// True where the leader has exited.
    pub fn has_exited(self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error says that it is no child of ours any more.
        self.0.is_none_or(|leader| !matches!(waitid(WaitId::Pid(leader), look), Ok(None)))
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if self.group.is_none() {
            return;
        }
        self.make_end(None);
        let Some(mut child) = self.child.take() else { return };
        if look(&mut child, LOOKS, BETWEEN_LOOKS) {
            return;
        }
        // On a busy machine the killed process may wait for its turn to die. The host must not wait for that, and its runtime may
        // not live to see it. Without a thread, and after the last look, it is left to the runtime.
        let late = move || look(&mut child, LATE_LOOKS, BETWEEN_LATE_LOOKS);
        let _ = std::thread::Builder::new().name("hook-reaper".to_owned()).spawn(late);
    }
}

/// True once the child is reaped.
fn look(child: &mut Child, times: u32, pause: Duration) -> bool {
    for _ in 0..times {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        std::thread::sleep(pause);
    }
    false
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::time::Instant;

    use rustix::process::test_kill_process_group;
    use tokio::io::AsyncReadExt;
    use tokio::process::Command;

    use super::*;

    fn start(script: &str) -> Leader {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        Leader::new(command.spawn().unwrap())
    }

    fn group(leader: &Leader) -> Pid {
        Pid::from_raw(leader.id().unwrap().cast_signed()).unwrap()
    }

    #[tokio::test]
    async fn a_dead_leader_is_seen_and_its_group_still_ends() {
        let mut leader = start("sleep 60 & exit 0");
        let group = group(&leader);
        timeout(Duration::from_secs(5), leader.exited()).await.unwrap().unwrap();
        assert!(leader.has_exited() && test_kill_process_group(group).is_ok());
        let (_, stdout, _) = leader.pipes();
        leader.end(Duration::ZERO).await;
        // The end of the pipe says that the sleeper is gone, too.
        let read = timeout(Duration::from_secs(5), stdout.unwrap().read_to_end(&mut Vec::new())).await;
        assert_eq!(read.unwrap().unwrap(), 0);
        assert_eq!(leader.id(), None);
    }

    #[tokio::test]
    async fn one_that_ignores_the_request_is_made_to_end() {
        let mut leader = start("trap '' TERM; echo ready; sleep 60 & wait; sleep 60");
        let (_, stdout, _) = leader.pipes();
        let mut ready = [0; 6];
        let mut stdout = stdout.unwrap();
        stdout.read_exact(&mut ready).await.unwrap();
        let began = Instant::now();
        leader.end(Duration::from_millis(50)).await;
        assert!(began.elapsed() >= Duration::from_millis(50));
        let read = timeout(Duration::from_secs(5), stdout.read_to_end(&mut Vec::new())).await;
        assert_eq!(read.unwrap().unwrap(), 0);
    }

    #[tokio::test]
    async fn what_a_stray_started_after_the_request_to_end_lived_on() {
        let trap = "trap 'timeout 60 sleep 60' TERM; echo ready; while :; do sleep 1; done";
        let mut leader = start(&format!("trap '' TERM; timeout 60 sh -c \"{trap}\""));
        let (_, stdout, _) = leader.pipes();
        let mut stdout = stdout.unwrap();
        stdout.read_exact(&mut [0; 6]).await.unwrap();
        leader.end(Duration::from_millis(300)).await;
        let read = timeout(Duration::from_secs(5), stdout.read_to_end(&mut Vec::new())).await;
        assert_eq!(read.expect("nobody holds the pipe").unwrap(), 0);
    }
}

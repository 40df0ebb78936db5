//! The started process and the group it leads.
//!
//! A group's number is the number of its leader. The kernel gives that number to nobody else as long as the leader is not
//! reaped, even when it is dead. After that it stays taken only while the group has members, which nobody can know: so the
//! group is signalled before the leader is reaped, and never again.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use crate::strays::Strays;

/// How often and how far apart a dropped run looks for its killed leader. Usually the second look finds it.
const LOOKS: u32 = 25;
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);

/// The same for a leader that needs longer, looked for beside the host's work.
const LATE_LOOKS: u32 = 2000;
const BETWEEN_LATE_LOOKS: Duration = Duration::from_millis(5);

/// A process that leads a group of its own. Dropping it kills the group and reaps the leader.
pub(crate) struct Leader {
    /// `None` only while it is dropped.
    child: Option<Child>,
    /// `None` once the leader is reaped.
    group: Option<Pid>,
}

impl Leader {
    /// Takes over a child that was started as the leader of its group.
    pub(crate) fn new(child: Child) -> Leader {
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Leader { child: Some(child), group }
    }

    pub(crate) fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        match &mut self.child {
            Some(child) => (child.stdin.take(), child.stdout.take(), child.stderr.take()),
            None => (None, None, None),
        }
    }

    /// Waits for the leader's exit and reaps it. Nothing is lost when the waiting is given up.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let Some(child) = &mut self.child else { return Err(io::ErrorKind::NotFound.into()) };
        let status = child.wait().await;
        // Also after an error: whoever reaped it, it is gone. There is no point between the two lines at which the future
        // could be dropped.
        self.group = None;
        status
    }

    /// Descendants that the group's signals do not reach.
    pub(crate) fn strays(&self) -> Option<Strays> {
        self.group.map(Strays::of)
    }

    /// Signals the whole group; does nothing once the leader is reaped.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The members may be gone already; there is nobody to tell.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if self.group.is_none() {
            return;
        }
        // They are found through their parents, so before those are gone.
        let strays = self.strays();
        self.signal(Signal::KILL);
        if let Some(strays) = strays {
            strays.signal(Signal::KILL);
        }
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

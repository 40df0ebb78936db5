//! Descendants of a hook that are in a group of their own without being daemons: what `timeout` or a shell's job control
//! starts. A signal to the hook's group does not reach them.
//!
//! They are found through the kernel's lists of children and held by descriptors, so that a signal cannot reach somebody who
//! got the same number later. A descendant with a session of its own left on purpose and is not looked for. Where the system has
//! no such lists, nobody is found.

use rustix::process::{Pid, Signal};

/// Descendants of a leader that a signal to its group does not reach: those that were found so far.
pub struct Strays {
    #[cfg(target_os = "linux")]
    leader: Pid,
    #[cfg(target_os = "linux")]
    found: Vec<linux::Held>,
}

impl Strays {
    /// Looks for them. The leader must not be reaped as long as these are in use.
    #[cfg(target_os = "linux")]
    pub fn of(leader: Pid) -> Strays {
        let mut strays = Strays { leader, found: Vec::new() };
        strays.look();
        strays
    }

    /// Nobody is found on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_leader: Pid) -> Strays {
        Strays {}
    }

    /// Signals each of them.
    pub fn signal(&self, signal: Signal) {
        #[cfg(target_os = "linux")]
        self.found.iter().for_each(|stray| stray.signal(signal));
        #[cfg(not(target_os = "linux"))]
        let _ = signal;
    }

    /// Stops each of them, and looks again until nobody new is found: one that is stopped starts nobody any more. The leader's
    /// group must be stopped already. Who is stopped can still be killed.
    pub fn freeze(&mut self) {
        #[cfg(target_os = "linux")]
        for _ in 0..linux::LOOKS {
            self.signal(Signal::STOP);
            if !self.look() {
                break;
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::fd::OwnedFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::Strays;

    /// Processes looked at, at most: a hook that multiplies must not keep its runner busy.
    const MOST: usize = 512;

    /// How often they are looked for before they are killed.
    pub(super) const LOOKS: usize = 16;

    /// A process that is meant by a descriptor and not by its number.
    pub(super) struct Held {
        pid: i32,
        descriptor: OwnedFd,
    }

    impl Held {
        pub(super) fn signal(&self, signal: Signal) {
            // It may be gone already; there is nobody to tell.
            let _ = pidfd_send_signal(&self.descriptor, signal);
        }

        /// False once it has exited. Until then its number is its own.
        fn is_alive(&self) -> bool {
            let mut look = [PollFd::new(&self.descriptor, PollFlags::IN)];
            matches!(poll(&mut look, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
        }
    }

    /// Where a process stands.
    struct Place {
        parent: i32,
        group: i32,
        session: i32,
    }

    impl Strays {
        /// Looks for more of them, from the leader and from those that were found before: these lose their parents on the way.
        /// True where somebody new was found.
        pub(super) fn look(&mut self) -> bool {
            let leader = self.leader.as_raw_pid();
            let Some(home) = place(leader) else { return false };
            let before = self.found.len();
            // Members of the leader's group: a signal to it reaches them, their children perhaps not.
            let mut members: Vec<Held> = Vec::new();
            let mut waiting: Vec<i32> = self.found.iter().map(|stray| stray.pid).collect();
            waiting.push(leader);
            let mut looked_at = 0;
            while let Some(parent) = waiting.pop() {
                looked_at += 1;
                if looked_at > MOST {
                    break;
                }
                for child in children(parent) {
                    if self.found.iter().any(|stray| stray.pid == child && stray.is_alive()) {
                        continue;
                    }
                    let Some((place, child)) = hold(child, parent) else { continue };
                    // A parent that is alive still has its number, so what was read by that number was said of it.
                    let parent = self.found.iter().chain(&members).rfind(|held| held.pid == parent);
                    if place.session != home.session || parent.is_some_and(|parent| !parent.is_alive()) {
                        continue;
                    }
                    waiting.push(child.pid);
                    if place.group == leader { &mut members } else { &mut self.found }.push(child);
                }
            }
            self.found.len() > before
        }
    }

    /// The child by a descriptor. The parent is looked up after it was opened: if the number had changed hands in between, the
    /// descriptor belongs to the new owner, and that one has another parent.
    fn hold(child: i32, parent: i32) -> Option<(Place, Held)> {
        let descriptor = pidfd_open(Pid::from_raw(child)?, PidfdFlags::empty()).ok()?;
        let place = place(child).filter(|place| place.parent == parent)?;
        Some((place, Held { pid: child, descriptor }))
    }

    #[expect(clippy::disallowed_methods, reason = "the kernel's view of a process is no hook file")]
    fn children(parent: i32) -> Vec<i32> {
        let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
        let lists =
            threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        lists.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<i32>>()).collect()
    }

    #[expect(clippy::disallowed_methods, reason = "the kernel's view of a process is no hook file")]
    fn place(pid: i32) -> Option<Place> {
        // A name need not be UTF-8, and may hold blanks and parentheses: `PID (NAME) STATE PARENT GROUP SESSION …`.
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let (_, rest) = stat.rsplit_once(") ")?;
        let mut numbers = rest.split(' ').skip(1).map(str::parse);
        let mut number = || numbers.next()?.ok();
        Some(Place { parent: number()?, group: number()?, session: number()? })
    }
}

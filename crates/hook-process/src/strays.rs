//! Descendants of a hook that are in a group of their own without being daemons: what `timeout` or a shell's job control
//! starts. A signal to the hook's group does not reach them.
//!
//! They are found through the kernel's lists of children and held by descriptors, so that a signal cannot reach somebody who
//! got the same number later. A descendant with a session of its own left on purpose and is not looked for. Where the system has
//! no such lists, nobody is found.

/// Descendants of a leader that a signal to its group does not reach: what was found when the looking was done.
pub struct Strays(#[cfg(target_os = "linux")] Vec<std::os::fd::OwnedFd>);

#[cfg(not(target_os = "linux"))]
impl Strays {
    /// Nobody is found on this system.
    pub fn of(_leader: rustix::process::Pid) -> Strays {
        Strays()
    }

    /// Signals each of them.
    pub fn signal(&self, _signal: rustix::process::Signal) {}
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::Strays;

    /// Processes looked at, at most: a hook that multiplies must not keep its runner busy.
    const MOST: usize = 512;

    /// Where a process stands.
    struct Place {
        parent: i32,
        group: i32,
        session: i32,
    }

    impl Strays {
        /// Looks for them. The leader must not be reaped yet.
        pub fn of(leader: Pid) -> Strays {
            let leader = leader.as_raw_pid();
            let mut found = Vec::new();
            let Some(home) = place(leader) else { return Strays(found) };
            let mut known = vec![leader];
            let mut next = 0;
            while next < known.len() && known.len() < MOST {
                let parent = known[next];
                next += 1;
                for child in children(parent) {
                    let Some((place, descriptor)) = hold(child, parent) else { continue };
                    if place.session != home.session {
                        continue;
                    }
                    known.push(child);
                    if place.group != leader {
                        found.push(descriptor);
                    }
                }
            }
            Strays(found)
        }

        /// Signals each of them.
        pub fn signal(&self, signal: Signal) {
            for stray in &self.0 {
                // It may be gone already; there is nobody to tell.
                let _ = pidfd_send_signal(stray, signal);
            }
        }
    }

    /// A descriptor of the child. The parent is looked up after it was opened: if the number had changed hands in between, the
    /// descriptor belongs to the new owner, and that one has another parent.
    fn hold(child: i32, parent: i32) -> Option<(Place, OwnedFd)> {
        let descriptor = pidfd_open(Pid::from_raw(child)?, PidfdFlags::empty()).ok()?;
        let place = place(child).filter(|place| place.parent == parent)?;
        Some((place, descriptor))
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

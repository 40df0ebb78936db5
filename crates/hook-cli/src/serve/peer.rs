//! Where the process that asks lives. A server that runs outside must not run hooks for one that was locked in: its hooks would be
//! outside, too.

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::sync::LazyLock;

    /// What locks a process in, as far as the system tells.
    #[derive(PartialEq, Eq)]
    struct Walls {
        root: Option<std::path::PathBuf>,
        spaces: Vec<std::path::PathBuf>,
        status: Vec<String>,
    }

    fn walls(process: &str) -> Option<Walls> {
        let at = |name: &str| format!("/proc/{process}/{name}");
        let spaces = ["mnt", "net", "pid", "user"].map(|name| fs::read_link(at(&format!("ns/{name}"))));
        let status = fs::read_to_string(at("status")).ok()?;
        let telling = ["NoNewPrivs:", "Seccomp:", "CapBnd:"];
        let told = status.lines().filter(|line| telling.iter().any(|name| line.starts_with(name)));
        Some(Walls {
            root: Some(fs::read_link(at("root")).ok()?),
            spaces: spaces.into_iter().collect::<Result<_, _>>().ok()?,
            status: told.map(str::to_owned).collect(),
        })
    }

    static OURS: LazyLock<Option<Walls>> = LazyLock::new(|| walls("self"));

    pub(crate) fn lives_here(process: Option<i32>) -> bool {
        let theirs = process.and_then(|process| walls(&process.to_string()));
        theirs.is_some_and(|theirs| OURS.as_ref().is_some_and(|ours| *ours == theirs))
    }
}

/// True where nothing locks the process in that does not lock this one in as well. One that cannot be looked at is not served.
#[cfg(target_os = "linux")]
pub(super) use linux::lives_here;

/// Elsewhere the system does not tell; sandboxes there close the way to sockets that they were not given.
#[cfg(not(target_os = "linux"))]
pub(super) fn lives_here(_: Option<i32>) -> bool {
    true
}

//! One hook at a time, with a look at what it leaves behind.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use hook_core::{
    Call, CommandHandler, DialectId, Event, EventKind, Executor, Exit, FailureKind, Handler, HandlerFailure,
    HandlerOutput, Hook, HookCx, HostContext, Payload, ProcessOutput, SessionView, Shell,
};
use hook_exec_command::CommandExecutor;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// An answer may come this long after the deadline.
pub(crate) const SLACK: Duration = Duration::from_millis(500);

/// What a run gave, and how long it took.
pub(crate) struct Run {
    pub(crate) output: HandlerOutput,
    pub(crate) elapsed: Duration,
}

impl Run {
    pub(crate) fn process(&self) -> &ProcessOutput {
        match &self.output {
            HandlerOutput::Process(process) => process,
            other => panic!("no process: {other:?}"),
        }
    }

    pub(crate) fn failure(&self, kind: FailureKind) -> &HandlerFailure {
        match &self.output {
            HandlerOutput::Failure(failure) if failure.kind == kind => failure,
            other => panic!("no failure of kind {}: {other:?}", kind.name()),
        }
    }

    pub(crate) fn code(&self) -> i32 {
        match self.process().exit {
            Exit::Code(code) => code,
            Exit::Signal(signal) => panic!("ended by signal {signal}"),
        }
    }

    pub(crate) fn stdout(&self) -> &str {
        &self.process().stdout.text
    }

    /// All notes as one text.
    pub(crate) fn notes(&self) -> String {
        let notes = match &self.output {
            HandlerOutput::Process(process) => &process.notes,
            HandlerOutput::Failure(failure) => &failure.notes,
            other => panic!("{other:?}"),
        };
        notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn assert_within(&self, deadline: Duration) {
        assert!(self.elapsed < deadline + SLACK, "answered after {:?}", self.elapsed);
    }
}

pub(crate) fn line(command: &str) -> Handler {
    Handler::Command(CommandHandler { command: command.to_owned(), args: None, shell: Shell::Sh })
}

pub(crate) fn exec(command: &str, args: &[&str]) -> Handler {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Handler::Command(CommandHandler { command: command.to_owned(), args: Some(args), shell: Shell::Sh })
}

/// A directory, a runtime, and the counts from before.
pub(crate) struct Bench {
    dir: TempDir,
    runtime: Runtime,
    /// A number of seconds that no other process sleeps: it marks what the test started.
    pub(crate) mark: String,
    descriptors: usize,
    _turn: MutexGuard<'static, ()>,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        static TURN: Mutex<()> = Mutex::new(());
        static WARM: Once = Once::new();
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // The first child of a process opens descriptors that stay: the runtime's signal pipe.
        WARM.call_once(|| {
            let call = call(Path::new("/"));
            runtime().block_on(run(&line("true"), call));
        });
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Bench {
            descriptors: descriptors(),
            dir: tempfile::tempdir().unwrap(),
            runtime: runtime(),
            mark: format!("4{number:03}.{:07}", std::process::id()),
            _turn: turn,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn call(&self) -> Call {
        call(self.path())
    }

    /// Writes a file with these permission bits and gives its path.
    pub(crate) fn file(&self, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = self.path().join(name);
        write(&path, content, mode);
        path
    }

    pub(crate) fn run(&self, handler: &Handler) -> Run {
        self.run_with(handler, |_| {})
    }

    pub(crate) fn run_for(&self, handler: &Handler, timeout: Duration) -> Run {
        self.run_with(handler, |call| call.timeout = timeout)
    }

    pub(crate) fn run_with(&self, handler: &Handler, change: impl FnOnce(&mut Call)) -> Run {
        let mut call = self.call();
        change(&mut call);
        self.runtime.block_on(run(handler, call))
    }

    /// The same in a project with a home.
    pub(crate) fn run_at(
        &self,
        handler: &Handler,
        project: &Path,
        home: Option<&Path>,
        change: impl FnOnce(&mut Call),
    ) -> Run {
        let mut call = self.call();
        change(&mut call);
        let mut host = HostContext::new(project);
        host.home = home.map(Path::to_owned);
        self.runtime.block_on(run_of(handler, call, &host))
    }

    /// Processes with the mark on their command line.
    pub(crate) fn marked(&self) -> Vec<i32> {
        let own = std::process::id().cast_signed();
        let is_marked = |pid: &i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&self.mark)
        };
        processes().into_iter().filter(|pid| *pid != own).filter(is_marked).collect()
    }

    /// Waits until something marked runs.
    pub(crate) async fn until_marked(&self) {
        while self.marked().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Nothing marked runs any more. A killed orphan may take a moment.
    pub(crate) fn assert_gone(&self) {
        let until = Instant::now() + Duration::from_secs(1);
        while !self.marked().is_empty() {
            assert!(Instant::now() < until, "still running: {:?}", self.marked());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Every child is reaped, or will be in a moment, without a runtime that is driven.
    pub(crate) fn assert_reaped(&self) {
        let until = Instant::now() + Duration::from_secs(1);
        while !children().is_empty() {
            assert!(Instant::now() < until, "children that were not reaped: {:?}", children());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends what was left running on purpose, each by its number.
    pub(crate) fn end_marked(&self) {
        for pid in self.marked() {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        self.assert_gone();
    }

    /// No zombie, no leaked descriptor, nothing marked.
    pub(crate) fn finish(self) {
        self.assert_gone();
        self.assert_reaped();
        drop(self.runtime);
        // A thread that has reaped a child may still be about to close what it had of it.
        let until = Instant::now() + Duration::from_secs(1);
        while descriptors() != self.descriptors && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(descriptors(), self.descriptors, "descriptors before and after");
    }
}

pub(crate) fn write(path: &Path, content: &[u8], mode: u32) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A call with a small environment and time enough.
pub(crate) fn call(directory: &Path) -> Call {
    Call {
        input: b"{}".to_vec(),
        asking: hook_core::Asking::default(),
        http: hook_core::HttpRules::NATIVE,
        arguments: hook_core::ArgumentRule::Native,
        template: hook_core::TemplateValues::default(),
        environment: vec![("PATH".into(), OsString::from("/usr/local/bin:/usr/bin:/bin"))],
        placeholders: Vec::new(),
        shell_prefix: None,
        directory: directory.to_owned(),
        timeout: Duration::from_secs(30),
    }
}

/// Runs a handler the way the engine does.
pub(crate) async fn run(handler: &Handler, call: Call) -> Run {
    run_of(handler, call, &HostContext::new("/")).await
}

async fn run_of(handler: &Handler, call: Call, host: &HostContext) -> Run {
    let hook = Hook::new("hook", DialectId::NATIVE, EventKind::Stop, handler.clone());
    let raw = Arc::new(Payload::from_value(serde_json::json!({})));
    let event = Event::new(EventKind::Stop, DialectId::NATIVE, "Stop", raw);
    let session = SessionView::default();
    let cx = HookCx { event: &event, hook: &hook, session: &session, host };
    let start = Instant::now();
    let output = CommandExecutor::new().run(&cx, call).await;
    Run { output, elapsed: start.elapsed() }
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Processes whose parent is this one, zombies too.
fn children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let is_child = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // PID (NAME) STATE PARENT …, where the name may hold anything.
        stat.rsplit_once(") ")
            .and_then(|(_, rest)| rest.split(' ').nth(1))
            .is_some_and(|parent| parent == own)
    };
    processes().into_iter().filter(is_child).collect()
}

fn processes() -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

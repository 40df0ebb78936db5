//! Background hooks of an event: run by a process of their own, so that the agent need not wait.
//!
//! That process, the supervisor, has the hooks' deadlines and ends them with itself when it is told to. Every one is written down
//! while it runs, so that the number of hooks that run for a session is bounded, that nothing of it goes on after the session's
//! end, and that the next event finds out where a supervisor was killed: what it left running is ended, and the model hears of it.

mod entry;
mod processes;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hook_engine::core::{EventKind, HostContext, Incoming, Letter, Outcome, SessionStore, Status};

use crate::output;
use entry::{Entry, Runs};

/// The variable by which a supervisor, and everything that it starts, is known.
const MARK: &str = "HOOK_BACKGROUND";

/// Hooks that run for one session at a time; what is beyond is not started.
const MOST: usize = 16;

/// Of what a hook had written so many bytes are told.
const MAX_TAIL: usize = 2000;

/// What the runs of a payload belong to.
pub(crate) struct Place<'a> {
    pub(crate) host: &'a HostContext,
    pub(crate) sessions: &'a dyn SessionStore,
    pub(crate) incoming: &'a Incoming,
}

impl Place<'_> {
    /// The session; `None` where the agent names none.
    fn session(&self) -> Option<&str> {
        let ids = self.incoming.events.iter().filter_map(|event| event.session.id.as_deref());
        ids.into_iter().find(|id| !id.is_empty())
    }

    fn runs(&self) -> Option<Runs> {
        let state = self.host.state.as_deref()?;
        Some(Runs::of(state, self.session().unwrap_or_default()))
    }

    /// Tells the model of a session, with its next event, what came of a hook.
    fn leave(&self, hook: &str, text: String) {
        let Some(session) = self.session() else { return };
        let letter = Letter { hook: hook.to_owned(), text };
        let left = self.sessions.update(session, &mut |state| state.mailbox.push(letter.clone()));
        if let Err(error) = left {
            output::words(&format!("hook: {error}\n"));
        }
    }

    /// Looks after background runs once the reply is out: ends those of a session that is over, and those whose supervisor is gone.
    pub(crate) fn tend(&self) {
        let Some(runs) = self.runs() else { return };
        let is = |kind: &EventKind| self.incoming.events.iter().any(|event| event.kind == *kind);
        if is(&EventKind::SessionEnd) {
            for entry in runs.list() {
                processes::end(&entry);
            }
            return runs.remove_all();
        }
        for entry in runs.list().iter().filter(|entry| !processes::is_alive(entry)) {
            // It may have ended by itself since; then it has taken its entry along.
            let Some(said) = runs.take(entry) else { continue };
            processes::end(entry);
            let said = match tail(said.trim()) {
                "" => String::new(),
                said => format!(" By then it had written:\n{said}"),
            };
            for hook in &entry.hooks {
                let text = format!(
                    "The background hook {hook} did not come to its end: the process that looked after it was ended.{said}"
                );
                self.leave(hook, text);
            }
        }
        if is(&EventKind::SessionStart)
            && let Some(state) = self.host.state.as_deref()
        {
            sweep(state);
        }
    }

    /// Starts this command once more, with the same arguments and payload, for the hooks that the outcome put off. It goes on when
    /// this process is gone, and keeps what the hooks tell the model for a later event of the session.
    pub(crate) fn start(&self, outcome: &Outcome, payload: &str) {
        let put_off = outcome.runs.iter().filter(|run| run.status() == Status::Background);
        let mut ids: Vec<&str> = put_off.map(|run| run.hook.id.as_str()).collect();
        if ids.is_empty() {
            return;
        }
        let runs = self.runs();
        let running: usize = runs.iter().flat_map(Runs::list).map(|entry| entry.hooks.len()).sum();
        for beyond in ids.drain(MOST.saturating_sub(running).min(ids.len())..) {
            let text =
                format!("The background hook {beyond} was not started: {MOST} run for this session already.");
            output::words(&format!("hook: {text}\n"));
            self.leave(beyond, text);
        }
        if ids.is_empty() {
            return;
        }
        if let Err(error) = supervised(&ids, payload, runs.as_ref()) {
            output::words(&format!("hook: background hooks could not be started: {error}\n"));
        }
    }

    /// Where this supervisor writes down what its hooks say; `None` in other processes.
    pub(crate) fn spool(&self) -> Option<PathBuf> {
        Some(self.runs()?.spool(self.mark()?))
    }

    fn mark(&self) -> Option<&str> {
        self.host.environment.get(std::ffi::OsStr::new(MARK)).and_then(|mark| mark.to_str())
    }

    /// The supervisor's last word: its hooks are done.
    pub(crate) fn done(&self) {
        if let (Some(runs), Some(mark)) = (self.runs(), self.mark()) {
            runs.remove(mark);
        }
    }
}

/// The last part of a text, as much as a model should be told.
fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(MAX_TAIL);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    &text[from..]
}

fn supervised(ids: &[&str], payload: &str, runs: Option<&Runs>) -> std::io::Result<()> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    let mark: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).env(MARK, &mark);
    for id in ids {
        command.arg("--background").arg(id);
    }
    // The agent waits until its pipes are closed; nobody reads what this one would say.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if let Some(runs) = runs {
        let pid = child.id();
        let hooks = ids.iter().map(|id| (*id).to_owned()).collect();
        // It is written down before it can begin: it waits for the payload.
        runs.write(&Entry { mark, pid, began: processes::began(pid), hooks })?;
    }
    child.stdin.take().map_or(Ok(()), |mut input| input.write_all(payload.as_bytes()))
}

/// Ends what supervisors of any session have left behind.
fn sweep(state: &std::path::Path) {
    for runs in Runs::all(state) {
        for entry in runs.list().iter().filter(|entry| !processes::is_alive(entry)) {
            if runs.take(entry).is_some() {
                processes::end(entry);
            }
        }
    }
}

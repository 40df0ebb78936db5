//! What the tests of all dialects need: a hook, a world, one event.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use hook_core::{
    Candidate, CommandHandler, Dialect, Event, EventHint, EventKind, Exit, FailureKind, Handler,
    HandlerFailure, HandlerOutput, Hook, HookCx, HostContext, Incoming, ManualClock, Outcome, Payload,
    ProcessOutput, PromptHandler, ReadError, Reading, SessionView, Shell, Stream,
};
use serde_json::{Map, Value};

/// 2026-12-01T02:00:05Z.
pub(crate) const NOW: &str = "2026-12-01T02:00:05Z";

/// One hook of a dialect in a world of its own.
pub(crate) struct Bench<'a> {
    pub(crate) dialect: &'a dyn Dialect,
    pub(crate) host: HostContext,
    pub(crate) session: SessionView,
    pub(crate) hook: Hook,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(dialect: &'a dyn Dialect) -> Bench<'a> {
        let mut host = HostContext::new("/work/project");
        host.home = Some(PathBuf::from("/home/me"));
        host.clock = Arc::new(ManualClock::new(UNIX_EPOCH + Duration::from_secs(1_796_090_405)));
        let command = CommandHandler { command: "./guard.sh".into(), args: None, shell: Shell::Sh };
        let hook = Hook::new("test", dialect.profile().id, EventKind::PreToolUse, Handler::Command(command));
        Bench { dialect, host, session: SessionView::default(), hook }
    }

    pub(crate) fn root(mut self, root: &str) -> Self {
        self.hook.origin.root = Some(Arc::from(Path::new(root)));
        self
    }

    fn with<T>(&self, event: &Event, ask: impl FnOnce(&HookCx<'_>) -> T) -> T {
        ask(&HookCx { event, hook: &self.hook, session: &self.session, host: &self.host })
    }

    pub(crate) fn stdin(&self, event: &Event) -> Value {
        serde_json::from_str(&self.with(event, |cx| self.dialect.write_event(cx))).unwrap()
    }

    /// The value of a variable; panics where a name comes twice.
    pub(crate) fn variable(&self, event: &Event, name: &str) -> Option<String> {
        let all = self.with(event, |cx| self.dialect.variables(cx));
        let mut values = all.into_iter().filter(|(known, _)| known == name).map(|(_, value)| value);
        let value = values.next().map(|value| value.into_string().unwrap());
        assert_eq!(values.next(), None, "{name} comes twice");
        value
    }

    pub(crate) fn answer(&self, event: &Event, output: &HandlerOutput) -> Reading {
        self.with(event, |cx| self.dialect.read_answer(cx, output))
    }

    pub(crate) fn exit(&self, event: &Event, code: i32, stdout: &str, stderr: &str) -> Reading {
        let exit = if code < 0 { Exit::Signal(-code) } else { Exit::Code(code) };
        self.answer(event, &HandlerOutput::Process(ProcessOutput::new(exit, stdout, stderr)))
    }

    pub(crate) fn fail(&self, event: &Event, kind: FailureKind) -> Reading {
        let failure =
            HandlerFailure { kind, message: format!("broken by {}", kind.name()), notes: Vec::new() };
        self.answer(event, &HandlerOutput::Failure(failure))
    }

    /// The same bench with a hook that asks a model.
    pub(crate) fn asking(
        mut self,
        model: impl FnOnce(PromptHandler) -> Handler,
        continue_on_block: bool,
    ) -> Self {
        let asked = PromptHandler { prompt: "Fine?".into(), model: None, continue_on_block };
        self.hook.handler = model(asked);
        self
    }

    pub(crate) fn prompt(&self, event: &Event, template: &str) -> String {
        self.with(event, |cx| self.dialect.prompt_arguments(cx, template))
    }

    pub(crate) fn reply(&self, event: &Event, reply: &str) -> Reading {
        self.answer(event, &HandlerOutput::Model { reply: reply.to_owned() })
    }

    pub(crate) fn http(&self, event: &Event, status: u16, body: &str) -> Reading {
        self.answer(event, &HandlerOutput::Http { status, body: Stream::new(body), notes: Vec::new() })
    }

    pub(crate) fn mcp(
        &self,
        event: &Event,
        text: &str,
        structured: Option<Value>,
        is_error: bool,
    ) -> Reading {
        let text = Stream::new(text);
        self.answer(event, &HandlerOutput::Mcp { text, structured, is_error, notes: Vec::new() })
    }

    /// Groups of candidates: `(group, parallel)` per hook.
    pub(crate) fn candidates(&self, groups: &[(usize, bool)]) -> Vec<Candidate> {
        let hook = Arc::new(self.hook.clone());
        groups
            .iter()
            .map(|&(group, parallel)| Candidate {
                hook: hook.clone(),
                group,
                parallel,
                predicate: None,
                condition: None,
            })
            .collect()
    }
}

pub(crate) fn read(dialect: &dyn Dialect, payload: Value, hint: Option<&str>) -> Result<Incoming, ReadError> {
    dialect.read(
        Payload::from_value(payload),
        &EventHint { event: hint.map(String::from), ..EventHint::default() },
    )
}

/// A host for plans.
pub(crate) fn host() -> HostContext {
    HostContext::new("/work/project")
}

/// A bare event as the agent of `dialect` would fire it.
pub(crate) fn event(dialect: &dyn Dialect, kind: EventKind) -> Event {
    let payload = Arc::new(Payload::from_value(Value::Object(Map::new())));
    Event::new(kind.clone(), dialect.profile().id, kind.name(), payload)
}

/// An outcome without runs.
pub(crate) fn outcome(answer: hook_core::Answer) -> Outcome {
    Outcome { answer, ..Outcome::default() }
}

/// Asserts that `actual` holds every member of `expected`; a null there means absent or null.
#[track_caller]
pub(crate) fn holds(what: &str, actual: &Value, expected: &Value) {
    for (name, value) in expected.as_object().unwrap() {
        let found = actual.get(name).unwrap_or(&Value::Null);
        assert_eq!(found, value, "{what}: member {name} of {actual}");
    }
}

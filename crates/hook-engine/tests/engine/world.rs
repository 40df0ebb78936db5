//! An engine whose hooks answer by a script.

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hook_engine::Engine;
use hook_engine::config::{DocumentSpec, parse};
use hook_engine::core::{
    Call, Document, EventHint, Executor, Exit, FailureKind, Handler, HandlerFailure, HandlerKind,
    HandlerOutput, HookCx, HostContext, Incoming, Layer, Outcome, Payload, ProcessOutput, Scope, Status,
};
use hook_engine::mapper::Dialects;
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct Script {
    calls: Mutex<Vec<(String, Value)>>,
}

#[async_trait]
impl Executor for Script {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        let Handler::Command(handler) = &cx.hook.handler else { panic!("not a command") };
        let stdin = serde_json::from_slice(&call.input).expect("stdin is JSON");
        self.calls.lock().unwrap().push((handler.command.clone(), stdin));
        let words: Vec<&str> = handler.command.splitn(2, ' ').collect();
        let output = |code, stdout: &str, stderr: &str| {
            HandlerOutput::Process(ProcessOutput::new(Exit::Code(code), stdout, stderr))
        };
        match words.as_slice() {
            ["pass", ..] => output(0, "", ""),
            ["block", why] => output(2, "", why),
            ["say", json] => output(0, json, ""),
            ["never"] => std::future::pending().await,
            ["slow", json] => {
                tokio::task::yield_now().await;
                output(0, json, "")
            }
            ["fail", code] => output(code.parse().unwrap(), "", "went wrong"),
            ["late"] => HandlerOutput::Failure(HandlerFailure {
                kind: FailureKind::Timeout,
                message: "Hook timed out after 1s".into(),
                notes: Vec::new(),
            }),
            other => panic!("no such script: {other:?}"),
        }
    }
}

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) script: Arc<Script>,
}

impl World {
    pub(crate) fn new(dialect: &str, layer: Layer, hooks: Value) -> World {
        World::with(vec![document(dialect, layer, hooks)], |builder| builder)
    }

    pub(crate) fn with(
        documents: Vec<Document>,
        more: impl FnOnce(hook_engine::EngineBuilder) -> hook_engine::EngineBuilder,
    ) -> World {
        let script = Arc::new(Script::default());
        let builder = Engine::builder(HostContext::new("/p")).documents(documents).executor(script.clone());
        World { engine: more(builder).build(), script }
    }

    pub(crate) fn read(&self, agent: &str, payload: Value) -> Incoming {
        let dialect = self.engine.dialects().find(agent).unwrap();
        dialect.read(Payload::from_value(payload), &EventHint::default()).unwrap()
    }

    pub(crate) async fn fire(&self, agent: &str, payload: Value) -> Outcome {
        self.engine.dispatch(&self.read(agent, payload)).await
    }

    pub(crate) async fn bash(&self, command: &str) -> Outcome {
        self.fire("native", json!({"event": "PreToolUse", "session_id": "s", "data": {"tool_name": "Bash", "tool_input": {"command": command}}}))
            .await
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.script.calls.lock().unwrap().iter().map(|(command, _)| command.clone()).collect()
    }

    pub(crate) fn stdin(&self, index: usize) -> Value {
        self.script.calls.lock().unwrap()[index].1.clone()
    }
}

pub(crate) fn document(dialect: &str, layer: Layer, hooks: Value) -> Document {
    let dialects = Dialects::standard();
    let id = dialects.find(dialect).unwrap().profile().id;
    let spec = DocumentSpec {
        path: Path::new("/p/hooks.json").into(),
        dialect: id,
        layer,
        root: Some("/p".into()),
        source: None,
        scope: Scope::Always,
    };
    let parsed = parse(json!({ "hooks": hooks }).to_string().as_bytes(), &spec, &dialects);
    parsed.document.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

pub(crate) fn commands(lines: &[&str]) -> Value {
    lines.iter().map(|line| json!({"type": "command", "command": line})).collect()
}

pub(crate) fn statuses(outcome: &Outcome) -> Vec<Status> {
    outcome.runs.iter().map(|run| run.status()).collect()
}

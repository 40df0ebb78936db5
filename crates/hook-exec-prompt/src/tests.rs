//! A model that does what its test wants.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hook_core::{
    Asking, CommandHandler, DialectId, Event, EventKind, Hook, HostContext, HttpRules, Payload,
    PromptHandler, SessionView, Shell, TemplateValues,
};

use async_trait::async_trait;
use hook_core::{
    AgentRequest, AgentRunner, Call, Executor, FailureKind, Handler, HandlerFailure, HandlerOutput, HookCx,
    LanguageModel, ModelError, ModelRequest,
};
use hook_exec::limits::MAX_STREAM;

use super::*;

#[derive(Clone)]
enum Does {
    Says(&'static str),
    Floods,
    Fails(ModelError),
    Hangs,
    Panics,
    PanicsLater,
}

struct Scripted {
    does: Does,
    asked: Mutex<Vec<ModelRequest>>,
    sent: Mutex<Vec<AgentRequest>>,
}

impl Scripted {
    fn new(does: Does) -> Arc<Scripted> {
        Arc::new(Scripted { does, asked: Mutex::default(), sent: Mutex::default() })
    }

    async fn act(&self) -> Result<String, ModelError> {
        match &self.does {
            Does::Says(text) => Ok((*text).to_owned()),
            Does::Floods => Ok("x".repeat(MAX_STREAM + 1)),
            Does::Fails(error) => Err(error.clone()),
            Does::Hangs => std::future::pending().await,
            Does::Panics => panic!("on purpose"),
            Does::PanicsLater => {
                tokio::task::yield_now().await;
                panic!("on purpose")
            }
        }
    }
}

#[async_trait]
impl LanguageModel for Scripted {
    async fn ask(&self, request: &ModelRequest) -> Result<String, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        self.act().await
    }
}

#[async_trait]
impl AgentRunner for Scripted {
    async fn run(&self, request: &AgentRequest) -> Result<String, ModelError> {
        self.sent.lock().unwrap().push(request.clone());
        self.act().await
    }
}

async fn run(handler: Handler, does: Does) -> (HandlerOutput, Vec<ModelRequest>) {
    let model = Scripted::new(does);
    let output = execute(&PromptExecutor::new(model.clone()), handler).await;
    let asked = std::mem::take(&mut *model.asked.lock().unwrap());
    (output, asked)
}

async fn execute(executor: &dyn Executor, handler: Handler) -> HandlerOutput {
    let hook = Hook::new("h", DialectId::NATIVE, EventKind::Stop, handler);
    let raw = Arc::new(Payload::from_value(serde_json::json!({})));
    let event = Event::new(EventKind::Stop, DialectId::NATIVE, "Stop", raw);
    let (session, host) = (SessionView::default(), HostContext::new("/"));
    let cx = HookCx { event: &event, hook: &hook, session: &session, host: &host };
    let call = Call {
        input: "Fine? é".into(),
        asking: Asking { max_tokens: 7, instructions: Some("in JSON") },
        http: HttpRules::NATIVE,
        arguments: hook_core::ArgumentRule::Native,
        template: TemplateValues::default(),
        environment: Vec::new(),
        placeholders: Vec::new(),
        shell_prefix: None,
        directory: PathBuf::from("/work"),
        timeout: Duration::from_millis(1500),
    };
    executor.run(&cx, call).await
}

fn prompt(model: Option<&str>) -> Handler {
    let model = model.map(String::from);
    Handler::Prompt(PromptHandler { prompt: "as written".into(), model, continue_on_block: false })
}

#[tokio::test]
async fn the_model_gets_what_the_dialect_made_and_its_answer_comes_back_as_it_is() {
    let (output, asked) = run(prompt(Some("small")), Does::Says(" {\"ok\": true}\n")).await;
    assert_eq!(output, HandlerOutput::Model { reply: " {\"ok\": true}\n".into() });
    let expected = ModelRequest {
        prompt: "Fine? é".into(),
        instructions: Some("in JSON".into()),
        model: Some("small".into()),
        max_tokens: 7,
        timeout: Duration::from_millis(1500),
    };
    assert_eq!(asked, [expected]);
}

#[tokio::test(start_paused = true)]
async fn every_trouble_is_a_failure_of_its_kind() {
    for (does, kind, message) in [
        (Does::Fails(ModelError::NotConfigured), FailureKind::Spawn, "No provider available"),
        (Does::Fails(ModelError::Lookup("gone".into())), FailureKind::Spawn, "Provider access failed: gone"),
        (
            Does::Fails(ModelError::Execution("quota".into())),
            FailureKind::Unreachable,
            "Execution error: quota",
        ),
        (Does::Fails(ModelError::Empty), FailureKind::Parse, "Empty provider response"),
        (Does::Says(" \n"), FailureKind::Parse, "Empty provider response"),
        (Does::Floods, FailureKind::Oversize, "the model's answer is 1048577 bytes long, which nobody reads"),
        (Does::Hangs, FailureKind::Timeout, "the model did not answer within 1.5s"),
        (Does::Panics, FailureKind::Unreachable, "Execution error: the model panicked"),
        (Does::PanicsLater, FailureKind::Unreachable, "Execution error: the model panicked"),
    ] {
        let (output, _) = run(prompt(None), does).await;
        let failure = HandlerFailure { kind, message: message.into(), notes: Vec::new() };
        assert_eq!(output, HandlerOutput::Failure(failure), "{message}");
    }
}

#[tokio::test]
async fn a_handler_of_another_kind_asks_nothing() {
    let command = CommandHandler { command: "true".into(), args: None, shell: Shell::Sh };
    let (output, asked) = run(Handler::Command(command), Does::Says("{}")).await;
    assert!(matches!(output, HandlerOutput::Failure(_)) && asked.is_empty());
}

fn agent() -> Handler {
    let model = Some("small".into());
    Handler::Agent(PromptHandler { prompt: "as written".into(), model, continue_on_block: false })
}

#[tokio::test]
async fn an_agent_gets_its_task_its_place_and_its_bounds() {
    let runner = Scripted::new(Does::Says("{\"ok\": true}"));
    let output = execute(&AgentExecutor::new(runner.clone()), agent()).await;
    assert_eq!(output, HandlerOutput::Model { reply: "{\"ok\": true}".into() });
    let expected = AgentRequest {
        prompt: "Fine? é".into(),
        instructions: Some("in JSON".into()),
        model: Some("small".into()),
        directory: "/work".into(),
        max_turns: 50,
        timeout: Duration::from_millis(1500),
    };
    assert_eq!(*runner.sent.lock().unwrap(), [expected]);
}

#[tokio::test(start_paused = true)]
async fn troubles_of_an_agent_are_told_of_the_agent() {
    for (does, kind, message) in [
        (
            Does::Fails(ModelError::Execution("lost".into())),
            FailureKind::Unreachable,
            "Execution error: lost",
        ),
        (Does::Hangs, FailureKind::Timeout, "the agent did not answer within 1.5s"),
        (
            Does::Fails(ModelError::Timeout(Duration::from_secs(1))),
            FailureKind::Timeout,
            "the agent did not answer within 1s",
        ),
        (Does::Panics, FailureKind::Unreachable, "Execution error: the agent panicked"),
        (Does::Floods, FailureKind::Oversize, "the agent's answer is 1048577 bytes long, which nobody reads"),
    ] {
        let output = execute(&AgentExecutor::new(Scripted::new(does)), agent()).await;
        let failure = HandlerFailure { kind, message: message.into(), notes: Vec::new() };
        assert_eq!(output, HandlerOutput::Failure(failure), "{message}");
    }
    let runner = Scripted::new(Does::Says("{}"));
    let output = execute(&AgentExecutor::new(runner.clone()), prompt(None)).await;
    assert!(matches!(output, HandlerOutput::Failure(_)) && runner.sent.lock().unwrap().is_empty());
}

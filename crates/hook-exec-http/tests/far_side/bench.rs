//! One hook, one event, one call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hook_core::{
    Asking, Call, DialectId, Event, EventKind, Executor, FailureKind, Handler, HandlerFailure, HandlerOutput,
    Hook, HookCx, HostContext, HttpHandler, HttpPolicy, HttpRules, Note, Payload, SessionView,
    TemplateValues,
};
use hook_exec_http::HttpExecutor;
use hook_http::Client;
use serde_json::{Value, json};

pub(crate) const EVENT: &str = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","n":1e400}"#;

pub(crate) struct Bench {
    pub(crate) executor: HttpExecutor,
    pub(crate) rules: HttpRules,
    pub(crate) policy: Option<HttpPolicy>,
    pub(crate) timeout: Duration,
    pub(crate) environment: Vec<(&'static str, &'static str)>,
    pub(crate) tool_input: Value,
    pub(crate) host: HostContext,
}

impl Default for Bench {
    fn default() -> Bench {
        Bench {
            executor: HttpExecutor::new(Client::new()),
            rules: HttpRules::NATIVE,
            policy: None,
            timeout: Duration::from_secs(20),
            environment: vec![("TOKEN", "s3cret"), ("OTHER", "hidden")],
            tool_input: json!({"command": "ls", "n": 3}),
            host: HostContext::new("/"),
        }
    }
}

impl Bench {
    pub(crate) async fn run(&self, handler: HttpHandler) -> HandlerOutput {
        let mut hook = Hook::new("h", DialectId::NATIVE, EventKind::PreToolUse, Handler::Http(handler));
        hook.grants.http = self.policy.clone().map(Arc::new);
        self.run_hook(&hook).await
    }

    pub(crate) async fn run_hook(&self, hook: &Hook) -> HandlerOutput {
        let raw = Arc::new(Payload::from_value(json!({})));
        let event = Event::new(EventKind::PreToolUse, DialectId::NATIVE, "PreToolUse", raw);
        let session = SessionView::default();
        let cx = HookCx { event: &event, hook, session: &session, host: &self.host };
        let context =
            [("tool_name", "Bash"), ("iteration", "3")].map(|(name, value)| (name.to_owned(), value.into()));
        let call = Call {
            input: EVENT.into(),
            asking: Asking::default(),
            http: self.rules,
            arguments: hook_core::ArgumentRule::Native,
            template: TemplateValues {
                tool_input: self.tool_input.clone(),
                context: context.into_iter().collect(),
            },
            environment: self.environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            placeholders: Vec::new(),
            shell_prefix: None,
            directory: PathBuf::from("/"),
            timeout: self.timeout,
        };
        self.executor.run(&cx, call).await
    }

    /// The status, the body and the remarks of an answer.
    pub(crate) async fn answer(&self, handler: HttpHandler) -> (u16, String, Vec<String>) {
        match self.run(handler).await {
            HandlerOutput::Http { status, body, notes } => (status, body.text, texts(&notes)),
            other => panic!("{other:?}"),
        }
    }

    /// The kind, the message and the remarks of a failure.
    pub(crate) async fn failure(&self, handler: HttpHandler) -> (FailureKind, String, Vec<String>) {
        match self.run(handler).await {
            HandlerOutput::Failure(HandlerFailure { kind, message, notes }) => (kind, message, texts(&notes)),
            other => panic!("{other:?}"),
        }
    }
}

fn texts(notes: &[Note]) -> Vec<String> {
    notes.iter().map(|note| note.text.clone()).collect()
}

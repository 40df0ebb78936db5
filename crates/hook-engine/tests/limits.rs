//! Executors of a host that do not keep the time of a hook.

use std::sync::Arc;
use std::time::Duration;

use hook_config::{DocumentSpec, parse};
use hook_core::{
    Call, Decision, DialectId, EventHint, Executor, HandlerKind, HandlerOutput, HookCx, HostContext, Layer,
    Payload, Status,
};
use hook_engine::Engine;
use hook_mapper::Dialects;

/// Never comes back.
struct Hangs;

#[async_trait::async_trait]
impl Executor for Hangs {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, _cx: &HookCx<'_>, _call: Call) -> HandlerOutput {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn an_executor_that_hangs_is_given_up_where_the_dialect_has_an_outer_limit() {
    for (timeout, seconds) in [("5", 30), ("30", 35), ("120", 125), ("3600", 605)] {
        let file = format!(
            r#"{{"hooks": {{"preTool": [{{"hooks": [{{"type": "command", "command": "x", "timeout": {timeout}}}]}}]}}}}"#
        );
        let spec = DocumentSpec::new("/p/.aimon/hooks.json", DialectId("aimon"), Layer::Project);
        let dialects = Dialects::standard();
        let parsed = parse(file.as_bytes(), &spec, &dialects);
        let engine = Engine::builder(HostContext::new("/p"))
            .documents(parsed.document)
            .executor(Arc::new(Hangs))
            .build();
        let payload = r#"{"event": "preTool", "data": {"tool_name": "Bash", "tool_input": {}}}"#;
        let agent = dialects.find("aimon").expect("a standard dialect");
        let payload = Payload::parse(payload).expect("it is JSON");
        let incoming = agent.read(payload, &EventHint::default()).expect("it is one of the agent's");

        let began = tokio::time::Instant::now();
        let outcome = engine.dispatch(&incoming).await;
        assert_eq!(began.elapsed().as_secs(), seconds, "{timeout}");
        assert!(began.elapsed() < Duration::from_secs(seconds + 1), "{timeout}");
        assert_eq!((outcome.answer.decision, outcome.runs[0].status()), (Decision::None, Status::Timeout));
    }
}

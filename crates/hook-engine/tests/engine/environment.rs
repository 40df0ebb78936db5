//! Variables that hooks write for those after them.

use std::sync::Arc;

use async_trait::async_trait;
use hook_engine::Engine;
use hook_engine::core::{
    Call, EventHint, Executor, Exit, Handler, HandlerKind, HandlerOutput, HookCx, HostContext, Layer,
    Payload, ProcessOutput,
};
use serde_json::json;

use crate::world::{commands, document};

/// Writes one line to the env file of its session.
struct Exporter(&'static str);

#[async_trait]
impl Executor for Exporter {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        std::fs::write(cx.session.env_file.as_ref().unwrap(), self.0).unwrap();
        let value = call
            .environment
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.to_string_lossy());
        HandlerOutput::Process(ProcessOutput::new(Exit::Code(0), "", value.unwrap_or_default()))
    }
}

#[tokio::test]
async fn a_line_that_extends_path_does_not_grow_it_with_every_hook() {
    let hooks =
        document("amplifier", Layer::Project, json!({"PreToolUse": [{"hooks": commands(&["a", "b", "c"])}]}));
    let mut host = HostContext::new("/p");
    host.environment.insert("PATH".into(), "/bin".into());
    let executor = Arc::new(Exporter("export PATH=\"$PATH:/x\"\n"));
    let engine = Engine::builder(host).documents([hooks]).executor(executor).build();
    let dialect = engine.dialects().find("amplifier").unwrap();
    let payload = json!({"event": "tool:pre", "session_id": "s", "data": {"tool_name": "bash"}});
    let incoming = dialect.read(Payload::from_value(payload), &EventHint::default()).unwrap();
    let paths: Vec<String> =
        engine.dispatch(&incoming).await.runs.iter().map(|run| run.stderr.clone()).collect();
    assert_eq!(paths, ["/bin", "/bin:/x", "/bin:/x"]);
}

/// Runs `export` lines into the env file, and says what `VALUE` is.
struct Places;

#[async_trait]
impl Executor for Places {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        use std::io::Write;
        let Handler::Command(handler) = &cx.hook.handler else { panic!("not a command") };
        if handler.command.starts_with("export") {
            let file = cx.session.env_file.as_ref().unwrap();
            let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
            writeln!(file, "{}", handler.command).unwrap();
        }
        let value = call.environment.iter().find(|(name, _)| name == "VALUE");
        let value = value.map(|(_, value)| value.to_string_lossy().into_owned()).unwrap_or_default();
        HandlerOutput::Process(ProcessOutput::new(Exit::Code(0), "", value))
    }
}

#[tokio::test]
async fn variables_of_a_place_go_when_the_directory_changes_again() {
    let hooks = json!({
        "SessionStart": [{"hooks": commands(&["export VALUE=a"])}],
        "CwdChanged": [{"hooks": commands(&["export VALUE=$VALUE-here"])}],
        "FileChanged": [{"hooks": commands(&["export VALUE=$VALUE-file"])}],
        "Stop": [{"hooks": commands(&["show"])}],
    });
    for dialect in ["claude", "native"] {
        let hooks = document(dialect, Layer::Project, hooks.clone());
        let engine =
            Engine::builder(HostContext::new("/p")).documents([hooks]).executor(Arc::new(Places)).build();
        let native = engine.dialects().find("native").unwrap();
        let mut shown = Vec::new();
        for event in [
            "SessionStart",
            "Stop",
            "FileChanged",
            "Stop",
            "CwdChanged",
            "Stop",
            "FileChanged",
            "Stop",
            "CwdChanged",
            "Stop",
        ] {
            let data = match event {
                "FileChanged" => json!({"file_path": "/p/.env", "event": "change"}),
                "SessionStart" => json!({"source": "startup"}),
                _ => json!({}),
            };
            let payload = Payload::from_value(json!({"event": event, "session_id": "s", "data": data}));
            let incoming = native.read(payload, &EventHint::default()).unwrap();
            let outcome = engine.dispatch(&incoming).await;
            if event == "Stop" {
                shown.push(outcome.runs[0].stderr.clone());
            }
        }
        assert_eq!(shown, ["a", "a-file", "a-here", "a-here-file", "a-here"], "{dialect}");
    }
}

//! Mcp hooks through the engine: arguments, answers, and clients that the host brings.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use hook_engine::Engine;
use hook_engine::config::{DocumentSpec, parse};
use hook_engine::core::{
    Decision, DialectId, EventHint, FailureKind, HostContext, Layer, McpClients, McpError, McpResult,
    McpServers, Outcome, Payload, Status,
};
use hook_engine::mapper::Dialects;
use serde_json::{Map, Value, json};

use crate::bench::{Place, SERVER, gone};

/// An engine builder with one mcp hook for calls of Bash, written for this agent.
pub(crate) fn builder(agent: &str, hook: &Value) -> hook_engine::EngineBuilder {
    let dialects = Dialects::standard();
    let id: DialectId = dialects.find(agent).unwrap().profile().id;
    let file = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}).to_string();
    let parsed = parse(file.as_bytes(), &DocumentSpec::new("/p/hooks.json", id, Layer::User), &dialects);
    assert_eq!(parsed.diagnostics, []);
    let mut host = HostContext::new("/");
    host.environment.insert("TOKEN".into(), "s3cret".into());
    Engine::builder(host).documents(parsed.document)
}

pub(crate) async fn fire(engine: &Engine, tool: &str) -> Outcome {
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": tool,
        "tool_input": {"command": "rm -r /x", "n": 3, "deep": {"er": [1]}}});
    let agent = engine.dialects().find("claude").unwrap().clone();
    let incoming = agent.read(Payload::from_value(payload), &EventHint::default()).unwrap();
    engine.dispatch(&incoming).await
}

/// Clients that note what they are asked and give one answer.
struct Noted {
    asked: Mutex<Vec<(String, String, Value, Duration)>>,
    answer: fn() -> Result<McpResult, McpError>,
}

impl Noted {
    fn new(answer: fn() -> Result<McpResult, McpError>) -> Arc<Noted> {
        Arc::new(Noted { asked: Mutex::default(), answer })
    }
}

#[async_trait]
impl McpClients for Noted {
    async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        timeout: Duration,
    ) -> Result<McpResult, McpError> {
        let asked = (server.to_owned(), tool.to_owned(), Value::Object(arguments), timeout);
        self.asked.lock().unwrap().push(asked);
        (self.answer)()
    }
}

#[tokio::test]
async fn arguments_are_filled_in_by_the_rule_of_the_hook_s_dialect() {
    let input = json!({
        "command": "${tool_input.command}", "n": "${tool_input.n}", "deep": ["${tool_input.deep}", "x${tool_input.n}y"],
        "none": "a${tool_input.missing.at.all}b", "session": "${session_id}", "kept": [7, true, null],
        "token": "${env.TOKEN}", "other": "$TOKEN ${ x }",
    });
    let claude = json!({
        "command": "rm -r /x", "n": "3", "deep": ["{\"er\":[1]}", "x3y"], "none": "ab", "session": "s",
        "kept": [7, true, null], "token": "", "other": "$TOKEN ${ x }",
    });
    let native = json!({
        "command": "rm -r /x", "n": 3, "deep": [{"er": [1]}, "x3y"], "none": "ab", "session": "s",
        "kept": [7, true, null], "token": "s3cret", "other": "$TOKEN ${ x }",
    });
    for (agent, kind, allowed, expected, seconds) in [
        ("claude", "mcp_tool", json!({}), claude, 600),
        ("native", "mcp", json!({"allowedEnvVars": ["TOKEN"]}), native, 60),
    ] {
        let mut hook = json!({"type": kind, "server": "s", "tool": "t", "input": input});
        hook.as_object_mut().unwrap().extend(allowed.as_object().unwrap().clone());
        let clients = Noted::new(|| Ok(McpResult::default()));
        let engine = builder(agent, &hook).mcp_clients(clients.clone()).build();
        let outcome = fire(&engine, "Bash").await;
        assert_eq!(outcome.runs[0].reading.status, Status::Ok, "{agent}");
        let notes = &outcome.runs[0].reading.notes;
        assert!(
            notes.iter().any(|note| note.text.contains("${tool_input.missing.at.all} is empty")),
            "{notes:?}"
        );
        let asked = clients.asked.lock().unwrap();
        let (server, tool, arguments, timeout) = &asked[0];
        assert_eq!((server.as_str(), tool.as_str(), arguments), ("s", "t", &expected), "{agent}");
        assert_eq!(timeout.as_secs(), seconds, "{agent}");
    }
}

#[tokio::test]
async fn a_server_guards_and_ends_with_its_engine() {
    let place = Place::new();
    let hook = json!({"type": "mcp_tool", "server": "guard", "tool": "judge", "input": {"command": "${tool_input.command}"}});
    let mut server = place.program(SERVER, place.words(&[]));
    server.name = "guard".into();
    let engine = builder("claude", &hook)
        .mcp_servers(move |_| {
            let mut servers = McpServers::new();
            servers.add(server);
            servers
        })
        .build();
    for _ in 0..2 {
        let outcome = fire(&engine, "Bash").await;
        assert_eq!(outcome.answer.decision, Decision::Deny);
        assert_eq!(outcome.answer.reason.as_deref(), Some("nothing is removed here"));
    }
    assert_eq!(place.processes().len(), 1);
    engine.close().await;
    gone(&place.processes());
}

#[tokio::test]
async fn servers_are_read_by_the_first_hook_that_calls_one() {
    let hook = json!({"type": "mcp", "server": "s", "tool": "t"});
    let (read, told) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let counted = read.clone();
    let engine = builder("native", &hook)
        .mcp_servers(move |host| {
            *counted.lock().unwrap() += host.environment.len();
            McpServers::new()
        })
        .build();
    *told.lock().unwrap() += fire(&engine, "Read").await.runs.len();
    assert_eq!((*read.lock().unwrap(), *told.lock().unwrap()), (0, 0));
    for _ in 0..2 {
        let outcome = fire(&engine, "Bash").await;
        assert_eq!(outcome.runs[0].reading.failure, Some(FailureKind::Spawn));
        assert_eq!(outcome.runs[0].stderr, "there is no MCP server \"s\"");
    }
    assert_eq!(*read.lock().unwrap(), 1);
}

#[tokio::test]
async fn without_servers_a_hook_does_not_run_and_with_on_failure_block_it_blocks() {
    let mild = json!({"type": "mcp", "server": "s", "tool": "t"});
    let strict = json!({"type": "mcp", "server": "s", "tool": "t", "onFailure": "block"});
    for (hook, decision) in [(mild, Decision::None), (strict, Decision::Deny)] {
        let outcome = fire(&builder("native", &hook).build(), "Bash").await;
        assert_eq!(outcome.answer.decision, decision);
        let told = format!("{:?}", outcome.notes) + outcome.answer.reason.as_deref().unwrap_or_default();
        assert!(told.contains("the host names no MCP servers and brings no clients"), "{told}");
    }
}

#[tokio::test]
async fn clients_of_a_host_that_fail_panic_or_hang_cost_their_own_hook_only() {
    struct Hangs;

    #[async_trait]
    impl McpClients for Hangs {
        async fn call(
            &self,
            _: &str,
            _: &str,
            _: Map<String, Value>,
            _: Duration,
        ) -> Result<McpResult, McpError> {
            std::future::pending().await
        }
    }

    let hook = json!({"type": "mcp", "server": "s", "tool": "t", "timeoutMs": 100, "onFailure": "block"});
    let large = || Ok(McpResult { text: "x".repeat(3_000_000), ..McpResult::default() });
    let refuses = || Err(McpError::new(FailureKind::Exit, "the server says no"));
    let clients: [(Arc<dyn McpClients>, Option<FailureKind>, &str); 4] = [
        (Arc::new(Hangs), Some(FailureKind::Timeout), "the MCP server \"s\" did not answer within 0.1s"),
        (
            Noted::new(|| panic!("broken client")),
            Some(FailureKind::Unreachable),
            "the client of the MCP server \"s\" panicked",
        ),
        (Noted::new(refuses), Some(FailureKind::Exit), "the server says no"),
        (Noted::new(large), None, ""),
    ];
    for (clients, failure, reason) in clients {
        let outcome = fire(&builder("native", &hook).mcp_clients(clients).build(), "Bash").await;
        assert_eq!(outcome.runs[0].reading.failure, failure);
        assert_eq!(outcome.answer.reason.as_deref().unwrap_or_default(), reason);
    }
}

//! The far side fails in every way, in time and with words, and leaves nothing behind.

use std::time::{Duration, Instant};

use hook_engine::core::FailureKind::{Exit, Spawn, Timeout};
use hook_engine::core::{McpClients, McpError};
use hook_engine::exec_mcp::Connections;
use serde_json::{Map, json};

use crate::bench::{Place, call, connections, gone};

async fn asked(clients: &Connections, timeout: Duration) -> McpError {
    let began = Instant::now();
    let error = clients.call("test", "pid", Map::new(), timeout).await.unwrap_err();
    assert!(began.elapsed() < timeout + Duration::from_secs(3), "{:?}", began.elapsed());
    error
}

const SHORT: Duration = Duration::from_millis(400);
const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let place = Place::new();
    std::fs::write(place.path("plain"), "#!/bin/sh\n").unwrap();
    for (command, why) in [
        ("no-such-program-anywhere", "No such file or directory"),
        ("./missing", "No such file or directory"),
        ("./plain", "Permission denied"),
    ] {
        let error = asked(&connections(place.program(command, Vec::new())), LONG).await;
        assert_eq!(error.kind, Spawn, "{command}");
        let start = format!("the MCP server \"test\" cannot be started: {command}: {why}");
        assert!(error.message.starts_with(&start), "{}", error.message);
    }
}

#[tokio::test]
async fn servers_that_do_not_get_as_far_as_a_greeting() {
    for (lines, kind, message, note) in [
        ("echo no key >&2; exit 3", Spawn, "exited with code 3 before it answered", "its last words: no key"),
        ("kill -KILL $$", Spawn, "was ended by signal 9 before it answered", ""),
        ("exec >&-; sleep 60", Spawn, "closed its output before it answered", ""),
        ("sleep 60 & exit 4", Spawn, "exited with code 4 before it answered", ""),
        ("sleep 60", Timeout, "was not ready within 0.4s", ""),
        (
            "echo trouble >&2; cat > /dev/null",
            Timeout,
            "was not ready within 0.4s",
            "its last words: trouble",
        ),
        (
            "echo Server started; cat > /dev/null",
            Timeout,
            "was not ready within 0.4s",
            "its standard output is for messages only, and it wrote: Server started",
        ),
        (
            "yes garbage",
            Timeout,
            "was not ready within 0.4s",
            "its standard output is for messages only, and it wrote: garbage",
        ),
        ("yes trouble >&2", Timeout, "was not ready within 0.4s", "its last words: trouble | trouble"),
        ("head -c 40000000 /dev/zero; sleep 60", Timeout, "was not ready within 0.4s", "messages only"),
        ("trap '' TERM; sleep 60 & sleep 60; sleep 60", Timeout, "was not ready within 0.4s", ""),
        (
            "read line; echo '{\"jsonrpc\": \"2.0\", \"id\": 0, \"result\": 7}'; sleep 60",
            Spawn,
            "expect initialized result",
            "",
        ),
        (
            "read line; echo '{\"jsonrpc\": \"2.0\", \"id\": 0, \"error\": {\"code\": -1, \"message\": \"not you\"}}'; sleep 60",
            Spawn,
            "not you",
            "",
        ),
    ] {
        let place = Place::new();
        let clients = place.script(lines);
        let timeout = if kind == Timeout { SHORT } else { LONG };
        let error = asked(&clients, timeout).await;
        assert_eq!(error.kind, kind, "{lines}: {error:?}");
        assert!(error.message.contains(message), "{lines}: {error:?}");
        match note {
            "" => assert_eq!(error.notes.len(), usize::from(lines.contains("zero")), "{lines}: {error:?}"),
            note => assert!(error.notes.iter().any(|own| own.contains(note)), "{lines}: {error:?}"),
        }
        assert_eq!(place.processes().len(), 1, "{lines}");
        clients.close().await;
        gone(&place.processes());
    }
}

#[tokio::test]
async fn one_that_waits_for_a_start_waits_no_longer_than_it_may() {
    let place = Place::new();
    let clients = place.connections(&["--slow", "1500"]);
    let (patient, hasty) = tokio::join!(call(&clients, "pid", json!({})), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        asked(&clients, SHORT).await
    });
    patient.unwrap();
    assert_eq!(hasty.kind, Timeout);
    assert_eq!(place.processes().len(), 1);
}

#[tokio::test]
async fn what_a_server_refuses_is_told_in_its_words() {
    let place = Place::new();
    let clients = place.connections(&[]);
    let error = call(&clients, "no-such-tool", json!({})).await.unwrap_err();
    assert_eq!(error.kind, Exit);
    assert_eq!(
        error.message,
        "the MCP server \"test\" refuses the call of \"no-such-tool\": no tool \"no-such-tool\""
    );
}

#[tokio::test]
async fn a_name_that_means_no_server_is_told_apart_from_a_broken_one() {
    let place = Place::new();
    let clients = place.connections(&[]);
    let ask = async |name: &str| clients.call(name, "pid", Map::new(), LONG).await.unwrap_err();
    let unknown = ask("tset").await;
    assert_eq!((unknown.kind, unknown.message.as_str()), (Spawn, "there is no MCP server \"tset\""));
    assert_eq!(unknown.notes, ["the configured servers are test"]);
    let broken = ask("broken").await;
    assert_eq!(
        broken.message,
        "the MCP server \"broken\" cannot be used: it has no \"command\", at /p/.mcp.json:1:2"
    );
    assert!(place.processes().is_empty());
}

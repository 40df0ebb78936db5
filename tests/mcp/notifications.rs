//! What servers tell of their own accord wakes hooks that wait for it; and a start that takes longer than its call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hook_engine::Engine;
use hook_engine::core::{
    FailureKind, HostContext, McpClients, McpEvent, McpListener, McpServers, RewakeMissed, RewakeSpec,
    RewakeTrigger,
};
use hook_engine::exec_mcp::Connections;
use hook_engine::rewake::envelope::Snapshot;
use hook_engine::rewake::scheduler::Wish;
use hook_engine::rewake::store::{Filter, MemoryStore};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::bench::{LONG, Place, SERVER};
use crate::http::Listening;

fn hearing() -> (McpListener, UnboundedReceiver<McpEvent>) {
    let (tell, told) = unbounded_channel();
    (Arc::new(move |event| drop(tell.send(event))), told)
}

fn notify(method: &str, params: Value) -> Map<String, Value> {
    json!({"method": method, "params": params}).as_object().unwrap().clone()
}

async fn all_kinds(connections: &Connections, mut told: UnboundedReceiver<McpEvent>) {
    let table = [
        ("notifications/resources/updated", json!({"uri": "file:///a"}), "mcp.resource_updated", "file:///a"),
        ("notifications/resources/list_changed", json!({}), "mcp.resource_list_changed", "*"),
        ("notifications/tools/list_changed", json!({}), "mcp.tool_list_changed", "*"),
        ("notifications/prompts/list_changed", json!({}), "mcp.prompt_list_changed", "*"),
        ("notifications/build/done", json!({"id": "7", "status": "green", "n": 1}), "mcp.build.done", "7"),
    ];
    for (method, params, kind, key) in table {
        // One that has no key comes before it, and is none.
        connections
            .call("test", "notify", notify("notifications/other", json!({"n": 1})), LONG)
            .await
            .unwrap();
        connections.call("test", "notify", notify(method, params), LONG).await.unwrap();
        let event = tokio::time::timeout(LONG, told.recv()).await.unwrap().unwrap();
        assert_eq!((event.server.as_str(), event.kind.as_str(), event.key.as_str()), ("test", kind, key));
        if kind == "mcp.build.done" {
            let texts = [("id", "7"), ("status", "green")];
            assert!(event.payload.iter().map(|(a, b)| (a.as_str(), b.as_str())).eq(texts), "{event:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_was_started_is_heard() {
    let place = Place::new();
    let (listener, told) = hearing();
    let connections = place.connections(&[]).listener(listener);
    all_kinds(&connections, told).await;
    connections.close().await;
}

#[tokio::test]
async fn a_server_over_http_is_heard() {
    let server = Listening::start(0);
    let (listener, told) = hearing();
    let connections = server.clients().listener(listener);
    all_kinds(&connections, told).await;
    connections.close().await;
}

fn wish(kind: &str, key: &str) -> Wish {
    let spec = RewakeSpec {
        trigger: RewakeTrigger::Event { kind: kind.into(), key: key.into() },
        timeout: Duration::from_secs(3600),
        max_attempts: 1,
        payload: BTreeMap::new(),
        reason: "the build".into(),
        missed: RewakeMissed::default(),
        hold: false,
    };
    let snapshot =
        Snapshot { dialect: "native".into(), session: None, payload: "{}".into(), event: 0, host: "".into() };
    Wish { context: "c".into(), hook: "h".into(), spec: Arc::new(spec), snapshot: Arc::new(snapshot) }
}

/// An engine whose hook has the server tell something.
fn engine(place: &Place, method: &str, params: &Value) -> Engine {
    let hook = json!({"type": "mcp", "server": "test", "tool": "notify", "timeout": 30,
        "input": {"method": method, "params": params}});
    let server = place.program(SERVER, place.words(&[]));
    crate::engine::builder("native", &hook)
        .mcp_servers(move |_: &HostContext| {
            let mut servers = McpServers::new();
            servers.add(server);
            servers
        })
        .rewake(Arc::new(MemoryStore::new()))
        .build()
}

#[tokio::test]
async fn what_a_server_tells_resolves_an_event() {
    let place = Place::new();
    let engine = engine(&place, "notifications/build/done", &json!({"id": "7"}));
    let scheduler = engine.scheduler().unwrap();
    scheduler.schedule(vec![wish("mcp.build.done", "7"), wish("mcp.build.done", "8")]).await.unwrap();
    crate::engine::fire(&engine, "Bash").await;
    let due = async {
        loop {
            let pending = scheduler.store().list(&Filter::default()).await.unwrap();
            if pending.iter().any(|one| one.due.is_some()) {
                return pending;
            }
            scheduler.store().hint().await;
        }
    };
    let pending = tokio::time::timeout(LONG, due).await.unwrap();
    let due: Vec<_> = pending.iter().filter(|one| one.due.is_some()).collect();
    assert_eq!((due.len(), due[0].brought.get("id").map(String::as_str)), (1, Some("7")));
    engine.close().await;
}

#[tokio::test]
async fn a_start_that_takes_longer_than_its_call_goes_on() {
    let place = Place::new();
    let connections = place.connections(&["--slow", "1500"]);
    let call = |time: Duration| connections.call("test", "pid", Map::new(), time);
    for _ in 0..3 {
        let failed = call(Duration::from_millis(100)).await.unwrap_err();
        assert_eq!(failed.kind, FailureKind::Timeout, "{failed:?}");
        assert!(failed.message.contains("was not ready within 0.1s"), "{failed:?}");
    }
    call(LONG).await.unwrap();
    assert_eq!(place.processes().len(), 1, "it was started more than once");
    connections.close().await;
}

#[tokio::test]
async fn a_start_that_goes_on_ends_with_the_connections() {
    let place = Place::new();
    let connections = place.connections(&["--slow", "60000"]);
    connections.call("test", "pid", Map::new(), Duration::from_millis(300)).await.unwrap_err();
    connections.close().await;
    crate::bench::gone(&place.processes());
}

//! What tools give, and that one server serves all calls.

use hook_engine::core::McpResult;
use serde_json::json;

use crate::bench::{Place, call, gone, text};

#[tokio::test]
async fn first_calls_at_the_same_time_start_one_server_and_later_ones_none() {
    let place = Place::new();
    let clients = place.connections(&["--slow", "100"]);
    let ask = || text(&clients, "pid", json!({}));
    let (a, b, c, d) = tokio::join!(ask(), ask(), ask(), ask());
    let processes = place.processes();
    assert_eq!(processes.len(), 1);
    let number = processes[0].to_string();
    assert_eq!([&a, &b, &c, &d, &ask().await], [&number; 5]);
    hook_engine::core::McpClients::close(&clients).await;
    gone(&processes);
}

#[tokio::test]
async fn every_kind_of_result_comes_back() {
    let place = Place::new();
    let clients = place.connections(&[]);
    let given = json!({"a": {"b": [1, null, "é\n"]}});
    assert_eq!(text(&clients, "echo", given.clone()).await, given.to_string());
    let parts = call(&clients, "parts", json!({})).await.unwrap();
    assert_eq!(
        parts,
        McpResult { text: "one\ntwo".into(), structured: None, is_error: false, other_parts: 1 }
    );
    let structured = call(&clients, "structured", json!({})).await.unwrap();
    assert_eq!(structured.structured, Some(json!({"decision": "deny", "reason": "structured"})));
    assert_eq!((structured.text.as_str(), structured.is_error), ("", false));
    let failed = call(&clients, "fail", json!({})).await.unwrap();
    assert_eq!((failed.text.as_str(), failed.is_error), ("no disk", true));
    let large = text(&clients, "large", json!({"bytes": 10_000_000})).await;
    assert_eq!(large.len(), 10_000_000);
}

#[tokio::test]
async fn a_started_server_gets_its_variables_and_the_directory() {
    let place = Place::new();
    let clients = place.connections(&[]);
    let variable = async |name: &str| text(&clients, "variable", json!({"name": name})).await;
    assert_eq!(variable("OWN").await, "own value");
    assert_eq!(variable("PATH").await, std::env::var("PATH").unwrap());
    // Nothing comes from the host's own process past the environment it was given.
    assert_eq!(variable("CARGO_MANIFEST_DIR").await, "");
    let directory = place.path("").canonicalize().unwrap();
    assert_eq!(text(&clients, "directory", json!({})).await, directory.to_str().unwrap());
}

#[tokio::test]
async fn a_server_that_never_stops_talking_on_its_standard_error_is_served_all_the_same() {
    let place = Place::new();
    let clients = place.connections(&["--flood"]);
    for n in 0..20 {
        assert_eq!(text(&clients, "echo", json!({"n": n})).await, format!("{{\"n\":{n}}}"));
    }
    let late = call(&clients, "no-such-tool", json!({})).await.unwrap_err();
    assert!(late.notes.is_empty(), "a refusal needs no last words: {late:?}");
}

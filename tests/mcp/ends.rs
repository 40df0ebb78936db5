//! Nothing is left behind, and what is gone is started anew.

use std::time::{Duration, Instant};

use hook_engine::core::{FailureKind, McpClients};
use serde_json::json;

use crate::bench::{LONG, Place, arguments, call, gone, text};

#[tokio::test]
async fn closed_connections_end_their_servers_and_the_next_call_starts_one() {
    let place = Place::new();
    let clients = place.connections(&["--child"]);
    text(&clients, "pid", json!({})).await;
    let first = place.processes();
    assert_eq!(first.len(), 2);
    let began = Instant::now();
    clients.close().await;
    assert!(began.elapsed() < Duration::from_secs(2));
    gone(&first);
    text(&clients, "pid", json!({})).await;
    assert_eq!(place.processes().len(), 4);
}

#[tokio::test]
async fn dropped_connections_end_their_servers_beside() {
    let place = Place::new();
    let clients = place.connections(&["--child"]);
    text(&clients, "pid", json!({})).await;
    drop(clients);
    // The keeper needs its turn.
    tokio::time::sleep(Duration::from_secs(1)).await;
    gone(&place.processes());
}

#[test]
fn a_runtime_that_ends_takes_its_servers_along_and_another_one_starts_them_anew() {
    let place = Place::new();
    let clients = place.connections(&["--child"]);
    for round in 1..=2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(text(&clients, "pid", json!({})));
        drop(runtime);
        assert_eq!(place.processes().len(), 2 * round);
        gone(&place.processes());
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_while_the_server_starts_ends_the_server() {
    let place = Place::new();
    let clients = place.connections(&["--slow", "60000"]);
    let asked = tokio::time::timeout(Duration::from_millis(500), call(&clients, "pid", json!({}))).await;
    assert!(asked.is_err());
    assert_eq!(place.processes().len(), 1);
    // The task that starts it is ended by the runtime, which this thread is.
    tokio::task::spawn_blocking(move || gone(&place.processes())).await.unwrap();
}

#[tokio::test]
async fn a_server_that_died_since_the_last_call_is_started_anew() {
    let place = Place::new();
    let clients = place.connections(&[]);
    let first = text(&clients, "pid", json!({})).await;
    let killed = std::process::Command::new("kill").args(["-KILL", &first]).status().unwrap();
    assert!(killed.success());
    // Nobody reaps it as long as this thread waits, and still it is found out before the call is sent.
    let began = Instant::now();
    let is_dead = || {
        let stat = std::fs::read_to_string(format!("/proc/{first}/stat")).unwrap();
        // The first thread of a process may be dead before the others.
        stat.contains(") Z ") && std::fs::read_dir(format!("/proc/{first}/task")).unwrap().count() == 1
    };
    while !is_dead() {
        assert!(began.elapsed() < LONG, "it does not die");
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = text(&clients, "pid", json!({})).await;
    assert_ne!(first, second);
    assert_eq!(place.processes().len(), 2);
    gone(&place.processes()[..1]);
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_once_and_comes_back() {
    let place = Place::new();
    let clients = place.connections(&[]);
    let died = call(&clients, "die", json!({})).await.unwrap_err();
    assert_eq!(died.kind, FailureKind::Unreachable);
    assert_eq!(died.message, "the MCP server \"test\" went away while it was asked");
    // It was not asked twice: the tool may have done its work.
    assert_eq!(place.processes().len(), 1);
    text(&clients, "pid", json!({})).await;
    assert_eq!(place.processes().len(), 2);
}

#[tokio::test]
async fn a_child_that_holds_the_pipes_hides_no_death_and_goes_with_its_server() {
    let place = Place::new();
    let clients = place.connections(&["--child"]);
    text(&clients, "pid", json!({})).await;
    let processes = place.processes();
    let began = Instant::now();
    let died = call(&clients, "die", json!({})).await.unwrap_err();
    assert_eq!(died.kind, FailureKind::Unreachable);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    tokio::time::sleep(Duration::from_millis(500)).await;
    gone(&processes);
}

#[tokio::test]
async fn a_call_beyond_its_time_costs_the_server_nothing() {
    let place = Place::new();
    let clients = place.connections(&[]);
    let first = text(&clients, "pid", json!({})).await;
    let began = Instant::now();
    let late = clients.call("test", "sleep", arguments(json!({"ms": 60_000})), Duration::from_millis(200));
    let late = late.await.unwrap_err();
    assert_eq!(late.kind, FailureKind::Timeout);
    assert_eq!(late.message, "the tool \"sleep\" of the MCP server \"test\" did not answer within 0.2s");
    assert!(began.elapsed() < LONG / 2);
    assert_eq!(text(&clients, "pid", json!({})).await, first);
}

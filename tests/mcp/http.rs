//! Servers over streamable HTTP, on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hook_engine::core::{FailureKind, McpClients, McpTransport};
use hook_engine::exec_mcp::Connections;
use serde_json::{Map, json};

use crate::bench::{Place, SERVER, call, connections, text};

pub(crate) struct Listening {
    child: Child,
    port: u16,
}

impl Listening {
    pub(crate) fn start(port: u16) -> Listening {
        let mut command = Command::new(SERVER);
        command.args(["--listen", "--port", &port.to_string()]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Listening { child, port: line.trim().parse().unwrap() }
    }

    pub(crate) fn clients(&self) -> Connections {
        clients(&format!("http://127.0.0.1:{}/mcp", self.port))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn clients(url: &str) -> Connections {
    let headers = vec![("Authorization".to_owned(), "Bearer s3cret".to_owned())];
    connections(Place::new().server(McpTransport::Http { url: url.to_owned(), headers }))
}

#[tokio::test]
async fn calls_share_one_session() {
    let server = Listening::start(0);
    let clients = server.clients();
    let given = json!({"a": "é"});
    let ask = || text(&clients, "echo", given.clone());
    let (a, b) = tokio::join!(ask(), ask());
    assert_eq!([&a, &b], [&given.to_string(); 2]);
    let failed = call(&clients, "fail", json!({})).await.unwrap();
    assert!(failed.is_error);
    let large = text(&clients, "large", json!({"bytes": 10_000_000})).await;
    assert_eq!(large.len(), 10_000_000);
    let refused = call(&clients, "no-such-tool", json!({})).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Exit);
    let began = Instant::now();
    clients.close().await;
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(ask().await, given.to_string());
}

#[tokio::test]
async fn a_server_that_was_started_anew_is_greeted_anew() {
    let server = Listening::start(0);
    let clients = server.clients();
    let first = text(&clients, "pid", json!({})).await;
    let port = server.port;
    drop(server);
    let lost = call(&clients, "pid", json!({})).await.unwrap_err();
    assert_eq!(lost.kind, FailureKind::Unreachable, "{lost:?}");
    let _again = Listening::start(port);
    let second = text(&clients, "pid", json!({})).await;
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_and_the_next_one_finds_it_again() {
    let server = Listening::start(0);
    let clients = server.clients();
    let (lost, ()) = tokio::join!(clients.call("test", "die", Map::new(), Duration::from_secs(20)), async {
        tokio::time::sleep(Duration::from_millis(1)).await
    });
    assert_eq!(lost.unwrap_err().kind, FailureKind::Unreachable);
    let port = server.port;
    drop(server);
    let _again = Listening::start(port);
    text(&clients, "pid", json!({})).await;
}

/// A port whose connections all get these bytes, or nothing where there are none.
fn answering(answer: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
            if answer.is_empty() {
                kept.push(stream);
            }
        }
    });
    port
}

#[tokio::test]
async fn places_where_no_server_answers() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (short, long) = (Duration::from_millis(400), Duration::from_secs(20));
    for (port, timeout, kind, word) in [
        (closed, long, FailureKind::Unreachable, "refused"),
        (answering(b""), short, FailureKind::Timeout, "was not ready within 0.4s"),
        (answering(b"HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n"), long, FailureKind::Unreachable, "500"),
        (
            answering(b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
            long,
            FailureKind::Unreachable,
            "",
        ),
        (answering(b"garbage\r\n\r\n"), long, FailureKind::Unreachable, ""),
        (
            answering(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi"),
            long,
            FailureKind::Unreachable,
            "",
        ),
        (
            answering(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\nhi"),
            long,
            FailureKind::Unreachable,
            "",
        ),
    ] {
        let clients = clients(&format!("http://127.0.0.1:{port}/mcp?key=s3cret"));
        let began = Instant::now();
        let error = clients.call("test", "pid", Map::new(), timeout).await.unwrap_err();
        assert_eq!(error.kind, kind, "{error:?}");
        assert!(error.message.contains(word), "{error:?}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        assert!(began.elapsed() < timeout + Duration::from_secs(2));
    }
}

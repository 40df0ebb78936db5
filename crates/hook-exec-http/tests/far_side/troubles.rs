//! Servers that do not answer.

use std::time::{Duration, Instant};

use hook_core::{
    CommandHandler, DialectId, EventKind, FailureKind, Handler, HandlerOutput, Hook, HttpHandler, Shell,
};
use tokio::net::TcpListener;

use crate::bench::Bench;
use crate::server::{Does, Server, says};

#[tokio::test]
async fn every_trouble_is_a_failure_of_its_kind() {
    use FailureKind::{Oversize, Parse, Unreachable};
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    let long = format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", "X-N: 1\r\n".repeat(100_000));
    for (what, does, kind, message) in [
        ("nothing", says(""), Unreachable, "hung up in the middle"),
        ("half a head", says("HTTP/1.1 200 OK\r\nContent-"), Unreachable, "hung up in the middle"),
        (
            "half a body",
            says(format!("{head}{{\"decision\": \"deny\"")),
            Unreachable,
            "hung up in the middle",
        ),
        (
            "half a chunk",
            says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nab"),
            Unreachable,
            "hung up in the middle",
        ),
        ("no HTTP", says("SSH-2.0-OpenSSH_9.2\r\n\r\n"), Parse, "cannot be read"),
        ("a long header", says(long), Oversize, "longer than is read"),
        ("many headers", says(many), Oversize, "longer than is read"),
    ] {
        let server = Server::that(does).await;
        let (found, said, _) = Bench::default().failure(HttpHandler::new(server.url("/p"))).await;
        assert_eq!(found, kind, "{what}: {said}");
        assert!(said.contains(message) && said.contains(&server.url("/p")), "{what}: {said}");
    }
}

#[tokio::test]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://user:secret@{}/", listener.local_addr().unwrap());
    drop(listener);
    let mut bench = Bench::default();
    let (kind, message, notes) = bench.failure(HttpHandler::new(url.as_str())).await;
    assert_eq!(kind, FailureKind::Unreachable);
    assert!(message.contains("cannot be reached") && message.contains("refused"), "{message}");
    assert!(!message.contains("secret") && notes.is_empty(), "{message} {notes:?}");

    // A proxy that somebody set is not asked, and that is said.
    bench.host.environment.insert("HTTPS_PROXY".into(), "http://127.0.0.1:1".into());
    let (_, _, notes) = bench.failure(HttpHandler::new(url.as_str())).await;
    assert_eq!(notes, ["HTTPS_PROXY is set, but hooks are sent without a proxy"]);
}

#[tokio::test]
async fn a_name_that_is_none_is_said() {
    let (kind, message, _) = Bench::default().failure(HttpHandler::new("http://no-such-host.invalid/")).await;
    assert_eq!(kind, FailureKind::Unreachable);
    assert!(message.contains("no-such-host.invalid"), "{message}");
}

/// The time covers everything: a server that takes the connection and says nothing, one that stops after its head, one that
/// sends byte after byte.
#[tokio::test]
async fn the_time_is_up_whatever_the_server_does() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n".to_vec();
    for does in [Does::Hangs(Vec::new()), Does::Hangs(head), Does::Drips] {
        let server = Server::that(does).await;
        let bench = Bench { timeout: Duration::from_millis(150), ..Bench::default() };
        let begun = Instant::now();
        let (kind, message, _) = bench.failure(HttpHandler::new(server.url("/"))).await;
        assert_eq!(kind, FailureKind::Timeout, "{message}");
        assert!(message.ends_with("did not answer within 0.15 s"), "{message}");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn what_is_no_request_is_not_sent() {
    for url in ["", "127.0.0.1", "ftp://127.0.0.1/", "http://"] {
        let (kind, message, _) = Bench::default().failure(HttpHandler::new(url)).await;
        assert_eq!(kind, FailureKind::Spawn, "{url}: {message}");
    }
    let mut handler = HttpHandler::new("http://127.0.0.1:1/");
    handler.headers = vec![("Host".into(), "evil.test".into())];
    let (kind, message, _) = Bench::default().failure(handler).await;
    assert_eq!(
        (kind, message.as_str()),
        (FailureKind::Spawn, "the header Host belongs to the connection and cannot be set")
    );

    let command = Handler::Command(CommandHandler { command: "true".into(), args: None, shell: Shell::Sh });
    let hook = Hook::new("h", DialectId::NATIVE, EventKind::PreToolUse, command);
    assert!(matches!(Bench::default().run_hook(&hook).await, HandlerOutput::Failure(_)));
}

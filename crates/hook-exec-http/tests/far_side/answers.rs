//! What comes back where a server answers.

use hook_core::{HandlerOutput, HttpHandler, HttpRules};

use crate::bench::Bench;
use crate::server::{Does, Server, answer, json, says};

async fn heard(does: Does) -> (u16, String, Vec<String>) {
    let server = Server::that(does).await;
    Bench::default().answer(HttpHandler::new(server.url("/"))).await
}

#[tokio::test]
async fn any_status_is_an_answer() {
    for (status, line) in
        [(200, "200 OK"), (403, "403 No"), (404, "404 x"), (500, "500 Oops"), (302, "302 Found")]
    {
        let (found, body, _) = heard(answer(line, "", "{\"decision\": \"deny\"}")).await;
        assert_eq!((found, body.as_str()), (status, "{\"decision\": \"deny\"}"));
    }
    assert_eq!(heard(says("HTTP/1.1 204 No Content\r\n\r\n")).await, (204, String::new(), Vec::new()));
}

#[tokio::test]
async fn old_and_chunked_answers_are_read() {
    let old = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\": 1}";
    assert_eq!(heard(says(old)).await, (200, "{\"a\": 1}".into(), Vec::new()));
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n4\r\n: 1}\r\n0\r\n\r\n";
    assert_eq!(heard(says(chunked)).await, (200, "{\"a\": 1}".into(), Vec::new()));
}

#[tokio::test]
async fn what_is_odd_is_said_and_read_all_the_same() {
    let html = answer("200 OK", "Content-Type: text/html; charset=utf-8\r\n", "{}");
    let (status, body, notes) = heard(html).await;
    assert_eq!((status, body.as_str()), (200, "{}"));
    assert_eq!(
        notes,
        ["the server calls its answer text/html; charset=utf-8; it is read as JSON all the same"]
    );

    let packed = answer("200 OK", "Content-Encoding: gzip\r\n", "{}");
    assert_eq!(heard(packed).await.2, ["the answer is packed (gzip), though nobody asked for that"]);

    let mut latin = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n".to_vec();
    latin.extend(*b"a\xe9b");
    let (_, body, notes) = heard(Does::Says(latin)).await;
    assert_eq!((body.as_str(), notes.len()), ("a\u{fffd}b", 1));
}

/// Of a hundred megabytes the first one is kept, and the server is not listened to any longer.
#[tokio::test]
async fn a_flood_is_cut_at_the_bound() {
    let server = Server::that(Does::Floods(100_000_000)).await;
    let bench = Bench { rules: HttpRules { max_body: 1000, ..HttpRules::NATIVE }, ..Bench::default() };
    for (bench, kept) in [(&bench, 1000), (&Bench::default(), 1 << 20)] {
        let HandlerOutput::Http { status, body, .. } = bench.run(HttpHandler::new(server.url("/"))).await
        else {
            panic!("no answer")
        };
        assert_eq!((status, body.text.len()), (200, kept));
        assert_eq!(body.dropped, 100_000_000 - kept as u64);
    }
}

#[tokio::test]
async fn a_body_of_just_the_bound_is_whole() {
    let server = Server::that(json(&" ".repeat(1000))).await;
    for (max_body, dropped) in [(1000, 0), (999, 1), (0, 1000)] {
        let bench = Bench { rules: HttpRules { max_body, ..HttpRules::NATIVE }, ..Bench::default() };
        let HandlerOutput::Http { body, .. } = bench.run(HttpHandler::new(server.url("/"))).await else {
            panic!("no answer")
        };
        assert_eq!((body.text.len(), body.dropped), (max_body, dropped));
    }
}

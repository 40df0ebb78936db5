//! Servers that send elsewhere.

use hook_core::{FailureKind, HttpHandler, HttpMethod, HttpPolicy, HttpRules, PrivateAddresses};

use crate::bench::{Bench, EVENT};
use crate::server::{Server, json, redirect};

fn following() -> Bench {
    Bench { rules: HttpRules { redirects: 5, ..HttpRules::NATIVE }, ..Bench::default() }
}

#[tokio::test]
async fn a_redirect_is_the_answer_unless_somebody_allows_it() {
    let target = Server::that(json("{\"from\": \"target\"}")).await;
    let server = Server::that(redirect(307, &target.url("/t"))).await;
    let (status, _, notes) = Bench::default().answer(HttpHandler::new(server.url("/"))).await;
    assert_eq!(status, 307);
    assert_eq!(
        notes,
        [format!(
            "the server redirects to {}, which is not followed; write that address into \"url\", or set \"followRedirects\": true",
            target.url("/t")
        )]
    );
    let mut own = HttpHandler::new(server.url("/"));
    own.follow_redirects = Some(true);
    assert_eq!(Bench::default().answer(own.clone()).await.1, "{\"from\": \"target\"}");
    // A dialect without redirects has none, whatever is written.
    let never = Bench { rules: HttpRules { most_redirects: 0, ..HttpRules::NATIVE }, ..Bench::default() };
    let (status, _, notes) = never.answer(own.clone()).await;
    assert!(status == 307 && notes[0].ends_with("write that address into \"url\""), "{notes:?}");
    own.follow_redirects = Some(false);
    assert_eq!(following().answer(own).await.0, 307);
    assert_eq!(following().answer(HttpHandler::new(server.url("/"))).await.0, 200);
}

#[tokio::test]
async fn another_server_gets_the_event_and_no_headers() {
    let target = Server::that(json("{}")).await;
    let server = Server::that(redirect(308, &target.url("/t"))).await;
    let mut handler = HttpHandler::new(server.url("/"));
    handler.headers = vec![("X-Auth".into(), "secret".into())];
    let (status, _, notes) = following().answer(handler).await;
    let got = &target.got()[0];
    assert_eq!((status, got.line.as_str(), got.body.as_str()), (200, "POST /t HTTP/1.1", EVENT));
    assert_eq!((got.header("x-auth"), got.header("content-type")), (None, Some("application/json")));
    assert_eq!(server.got()[0].header("x-auth"), Some("secret"));
    let to = target.url("/t");
    assert_eq!(
        notes,
        [format!("a redirect led to another server ({to}), which did not get the headers of the hook")]
    );
}

#[tokio::test]
async fn the_same_server_gets_the_headers_again() {
    let server =
        Server::with(|got| if got.line.contains("/t") { json("{}") } else { redirect(303, "/t") }).await;
    let mut handler = HttpHandler::new(server.url("/a/b"));
    handler.headers = vec![("X-Auth".into(), "secret".into())];
    let (_, _, notes) = following().answer(handler).await;
    let got = &server.got()[1];
    assert_eq!((got.line.as_str(), got.body.as_str()), ("GET /t HTTP/1.1", ""));
    assert_eq!((got.header("x-auth"), got.header("content-type")), (Some("secret"), None));
    assert!(notes.is_empty(), "{notes:?}");
}

#[tokio::test]
async fn redirects_without_end_end() {
    let server = Server::that(redirect(302, "/again")).await;
    let (kind, message, _) = following().failure(HttpHandler::new(server.url("/"))).await;
    assert_eq!(kind, FailureKind::Parse);
    assert!(message.ends_with("redirected more than 5 times"), "{message}");
    assert_eq!(server.got().len(), 6);
}

#[tokio::test]
async fn a_redirect_that_leads_nowhere_is_the_answer() {
    for to in ["", "ftp://127.0.0.1/", "http://[", "mailto:a@b"] {
        let server = Server::that(redirect(302, to)).await;
        let mut handler = HttpHandler::new(server.url("/"));
        handler.method = HttpMethod::Get;
        let bench = Bench { rules: HttpRules { redirects: 1, ..HttpRules::NATIVE }, ..Bench::default() };
        let requests = if to.is_empty() { 2 } else { 1 };
        match bench.run(handler).await {
            // An empty reference is the same address once more.
            hook_core::HandlerOutput::Failure(failure) => assert!(to.is_empty(), "{failure:?}"),
            hook_core::HandlerOutput::Http { status, .. } => assert_eq!(status, 302, "{to}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(server.got().len(), requests, "{to}");
    }
}

#[tokio::test]
async fn a_target_that_no_list_allows_is_not_asked() {
    let target = Server::that(json("{}")).await;
    let server = Server::that(redirect(302, &target.url("/t"))).await;
    let only = |urls: Vec<Vec<String>>| Bench {
        policy: Some(HttpPolicy { urls, ..HttpPolicy::default() }),
        ..following()
    };
    let own = server.url("/*");
    let (kind, message, _) = only(vec![vec![own.clone()]]).failure(HttpHandler::new(server.url("/"))).await;
    assert_eq!(kind, FailureKind::Spawn);
    assert_eq!(message, format!("the settings allow no hook to be sent to {}", target.url("/t")));
    assert!(target.got().is_empty());
    // The hook's own address is judged as well, and every list counts.
    for urls in [vec![vec![]], vec![vec!["*".into()], vec![target.url("/*")]]] {
        let (kind, _, _) = only(urls).failure(HttpHandler::new(server.url("/"))).await;
        assert_eq!(kind, FailureKind::Spawn);
    }
    let both = vec![vec!["*".into()], vec![own, target.url("/*")]];
    assert_eq!(only(both).answer(HttpHandler::new(server.url("/"))).await.0, 200);
}

#[tokio::test]
async fn private_addresses_are_asked_as_the_settings_say() {
    let server = Server::that(json("{}")).await;
    let port = server.address.port();
    let with =
        |private| Bench { policy: Some(HttpPolicy { private, ..HttpPolicy::default() }), ..following() };
    for private in [PrivateAddresses::Allow, PrivateAddresses::Written, PrivateAddresses::Loopback] {
        for host in ["127.0.0.1", "localhost", "policy.localhost", "0x7f.1"] {
            let url = format!("http://{host}:{port}/");
            assert_eq!(
                with(private).answer(HttpHandler::new(url.as_str())).await.0,
                200,
                "{private:?} {url}"
            );
        }
    }
    let before = server.got().len();
    for (private, host) in [
        (PrivateAddresses::Deny, "127.0.0.1"),
        (PrivateAddresses::Deny, "localhost"),
        (PrivateAddresses::Deny, "2130706433"),
        (PrivateAddresses::Deny, "[::1]"),
        (PrivateAddresses::Deny, "[::ffff:127.0.0.1]"),
        (PrivateAddresses::Loopback, "169.254.169.254"),
        (PrivateAddresses::Loopback, "10.0.0.1"),
    ] {
        let url = format!("http://{host}:{port}/");
        let (kind, message, _) = with(private).failure(HttpHandler::new(url.as_str())).await;
        assert_eq!(kind, FailureKind::Spawn, "{url}: {message}");
        assert!(message.ends_with("a private address, which may not be asked here"), "{url}: {message}");
    }
    // A redirect from this machine to this machine stays in it; to the network around it, it does not where only loopback counts.
    let elsewhere = Server::that(redirect(302, "http://169.254.169.254/latest/")).await;
    let (kind, _, _) = with(PrivateAddresses::Loopback).failure(HttpHandler::new(elsewhere.url("/"))).await;
    assert_eq!(kind, FailureKind::Spawn);
    assert_eq!(server.got().len(), before);
}

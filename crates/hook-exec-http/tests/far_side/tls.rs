//! Servers that have to prove who they are.

use std::sync::Arc;

use hook_core::{FailureKind, HttpHandler, HttpRules};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::bench::Bench;
use crate::server::{Server, json, redirect};

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused_before_anything_is_said() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let (acceptor, listener) =
        (TlsAcceptor::from(Arc::new(config)), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let port = listener.local_addr().unwrap().port();
    let inner = Server::that(json("{\"decision\": \"allow\"}")).await;
    let behind = inner.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                behind.serve(stream, &|_: &_| json("{}")).await;
            }
        }
    });
    let (kind, message, _) =
        Bench::default().failure(HttpHandler::new(format!("https://localhost:{port}/"))).await;
    assert_eq!(kind, FailureKind::Unreachable);
    assert!(message.contains("cannot be reached") && message.contains("certificate"), "{message}");
    assert!(inner.got().is_empty());
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_no_secure_one() {
    let server = Server::that(json("{}")).await;
    let url = server.url("/").replace("http:", "https:");
    let (kind, message, _) = Bench::default().failure(HttpHandler::new(url.as_str())).await;
    assert_eq!(kind, FailureKind::Unreachable, "{message}");
}

#[tokio::test]
async fn a_redirect_to_a_secure_server_is_followed_to_it() {
    let plain = Server::that(json("{}")).await;
    let secure = plain.url("/").replace("http:", "https:");
    let server = Server::that(redirect(302, &secure)).await;
    let bench = Bench { rules: HttpRules { redirects: 1, ..HttpRules::NATIVE }, ..Bench::default() };
    let (kind, message, _) = bench.failure(HttpHandler::new(server.url("/"))).await;
    assert_eq!(kind, FailureKind::Unreachable);
    assert!(message.contains(&secure), "{message}");
}

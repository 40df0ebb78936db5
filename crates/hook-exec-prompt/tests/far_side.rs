//! Servers that fail a model in every way they can: each is a failure that says what happened, in time and without the key.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

use std::time::Duration;

use hook_core::{HostContext, LanguageModel, ModelError, ModelProvider, ModelRequest, ModelSettings};
use hook_exec_prompt::HttpModel;
use hook_http::Client;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEY: &str = "sk-s3cret";

/// A server that reads a question, writes these bytes as they are, and hangs up or, if it `lingers`, does nothing more.
async fn server(bytes: Vec<u8>, lingers: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut got = Vec::new();
        // The question ends its document, and its first bytes may be a handshake that nobody here understands.
        while !got.ends_with(b"}") && got.first() != Some(&0x16) {
            assert_ne!(stream.read_buf(&mut got).await.unwrap(), 0);
        }
        // Whoever has read enough hangs up before the end.
        let _ = stream.write_all(&bytes).await;
        if lingers {
            std::future::pending::<()>().await;
        }
        let _ = stream.shutdown().await;
    });
    address.to_string()
}

async fn ask(base_url: String, timeout: Duration) -> Result<String, ModelError> {
    let mut host = HostContext::new("/");
    host.environment.insert("KEY".into(), KEY.into());
    let settings = ModelSettings {
        provider: ModelProvider::Anthropic,
        model: "m".into(),
        base_url,
        key_variable: Some("KEY".into()),
        max_tokens: None,
    };
    let request =
        ModelRequest { prompt: "Fine?".into(), instructions: None, model: None, max_tokens: 7, timeout };
    HttpModel::new(Client::new(), settings, &host).ask(&request).await
}

const PATIENCE: Duration = Duration::from_secs(30);

fn answer(head: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[tokio::test]
async fn every_bad_answer_is_a_failure_with_its_reason() {
    let limit =
        r#"{"type": "error", "error": {"type": "rate_limit_error", "message": "slow down, sk-s3cret"}}"#;
    let invalid = [&b"HTTP/1.1 200 x\r\nContent-Length: 3\r\n\r\n"[..], &[b'"', 0xff, b'"']].concat();
    for (bytes, told) in [
        (answer("401 x", r#"{"error": {"message": "key sk-s3cret"}}"#), "status 401: key [key]"),
        (answer("429 x\r\nRetry-After: 60", limit), "status 429: slow down, [key]"),
        (answer("500 x", "oops"), "status 500"),
        (answer("200 x", r#"{"content": ["#), "is no JSON"),
        (answer("200 x", ""), "is no JSON"),
        (invalid, "is no JSON"),
        (answer("200 x\r\nContent-Type: text/html", "<html>sk-s3cret"), "is no JSON"),
        (answer("200 x\r\nContent-Type: text/event-stream", "data: {}\n\n"), "is no JSON"),
        (answer("302 x\r\nLocation: /elsewhere", ""), "status 302"),
        (b"HTTP/1.1 200 x\r\nContent-Length: 99\r\n\r\n{\"content\"".to_vec(), "hung up in the middle"),
        (
            b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"c\r\n".to_vec(),
            "hung up in the middle",
        ),
        (answer("200 x", &"x".repeat(100 << 20)), "longer than is read"),
        (b"sk-s3cret is no HTTP\r\n\r\n".to_vec(), "cannot be read"),
        (Vec::new(), "hung up in the middle"),
    ] {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        let error = ask(format!("http://{}", server(bytes, false).await), PATIENCE).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ModelError::Execution(_)) && text.contains(told), "{shown}: {text}");
        assert!(!format!("{error:?}").contains(KEY), "{shown}: {error:?}");
    }
}

#[tokio::test]
async fn nobody_there_and_somebody_who_speaks_no_tls() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let plain = server(b"HTTP/1.1 400 x\r\n\r\n".to_vec(), false).await;
    for (url, told) in
        [(format!("http://{address}"), "cannot be reached"), (format!("https://{plain}"), "cannot be")]
    {
        let error = ask(url.clone(), PATIENCE).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ModelError::Execution(_)) && text.contains(told), "{url}: {text}");
        assert!(text.contains(&url), "{url}: {text}");
    }
}

#[tokio::test]
async fn somebody_who_stops_in_the_middle_costs_the_time_of_the_question() {
    let time = Duration::from_millis(100);
    let half = b"HTTP/1.1 200 x\r\nContent-Length: 99\r\n\r\n{\"content\"".to_vec();
    for bytes in [Vec::new(), b"HTTP/1.1 200 x\r\nContent-Le".to_vec(), half] {
        let said = ask(format!("http://{}", server(bytes, true).await), time).await;
        assert_eq!(said, Err(ModelError::Timeout(time)));
    }
}

/// Local servers are careless with the type of what they send.
#[tokio::test]
async fn a_good_answer_counts_whatever_its_type_says() {
    let good = r#"{"content": [{"type": "text", "text": "yes"}]}"#;
    let bytes = answer("200 x\r\nContent-Type: text/plain", good);
    let said = ask(format!("http://{}", server(bytes, false).await), PATIENCE).await;
    assert_eq!(said.as_deref(), Ok("yes"));
}

//! Models behind a server on loopback that speaks the real documents.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

use std::time::Duration;

use hook_core::{HostContext, LanguageModel, ModelError, ModelProvider, ModelRequest, ModelSettings};
use hook_exec_prompt::HttpModel;
use hook_http::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const KEY: &str = "sk-s3cret";

/// A server that gives one request this answer, and what it got: head and document. `None` never answers.
async fn server(answer: Option<(u16, String)>) -> (String, JoinHandle<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let got = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        let (head, body) = loop {
            assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            if let Ok(body) = serde_json::from_str(body) {
                break (head.to_ascii_lowercase(), body);
            }
        };
        let Some((status, answer)) = answer else { std::future::pending().await };
        let length = answer.len();
        let answer =
            format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nLocation: /x\r\n\r\n{answer}");
        stream.write_all(answer.as_bytes()).await.unwrap();
        (head, body)
    });
    (url, got)
}

fn model(provider: ModelProvider, base_url: String) -> HttpModel {
    let mut host = HostContext::new("/");
    host.environment.insert("KEY".into(), format!("{KEY}\n").into());
    let settings = ModelSettings {
        provider,
        model: "usual".into(),
        base_url,
        key_variable: Some("KEY".into()),
        max_tokens: None,
    };
    HttpModel::new(Client::new(), settings, &host)
}

fn question() -> ModelRequest {
    ModelRequest {
        prompt: "Fine? é".into(),
        instructions: Some("in JSON".into()),
        model: None,
        max_tokens: 7,
        timeout: Duration::from_secs(5),
    }
}

async fn ask(provider: ModelProvider, status: u16, answer: &str) -> Result<String, ModelError> {
    let (url, _got) = server(Some((status, answer.to_owned()))).await;
    model(provider, url).ask(&question()).await
}

use ModelProvider::{Anthropic, OpenAiCompatible};

#[tokio::test]
async fn messages_are_sent_with_their_version_and_the_first_text_comes_back() {
    let reply = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "{\"ok\": true}"},
        {"type": "text", "text": "more"}]});
    let (url, got) = server(Some((200, reply.to_string()))).await;
    let said = model(Anthropic, format!("{url}/")).ask(&question()).await;
    assert_eq!(said.as_deref(), Ok("{\"ok\": true}"));
    let (head, body) = got.await.unwrap();
    assert!(head.starts_with("post /v1/messages http/1.1\r\n"), "{head}");
    assert!(head.contains("x-api-key: sk-s3cret\r\n") && !head.contains("authorization"), "{head}");
    assert!(
        head.contains("anthropic-version: 2023-06-01") && head.contains("content-type: application/json")
    );
    let expected = json!({"model": "usual", "max_tokens": 7, "system": "in JSON",
        "messages": [{"role": "user", "content": "Fine? é"}]});
    assert_eq!(body, expected);
}

#[tokio::test]
async fn chat_completions_carry_the_instructions_as_their_first_message() {
    let reply =
        json!({"choices": [{"message": {"role": "assistant", "content": "yes", "reasoning_content": "hm"}}]});
    let (url, got) = server(Some((200, reply.to_string()))).await;
    let asked = ModelRequest { model: Some("small".into()), ..question() };
    let said = model(OpenAiCompatible, format!("{url}/v1")).ask(&asked).await;
    assert_eq!(said.as_deref(), Ok("yes"));
    let (head, body) = got.await.unwrap();
    assert!(head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: bearer sk-s3cret") && !head.contains("x-api-key"), "{head}");
    let expected = json!({"model": "small", "max_tokens": 7, "messages": [
        {"role": "system", "content": "in JSON"}, {"role": "user", "content": "Fine? é"}]});
    assert_eq!(body, expected);
}

#[tokio::test]
async fn an_answer_without_a_text_is_empty() {
    for (provider, reply) in [
        (Anthropic, json!({"content": []})),
        (Anthropic, json!({"content": [{"type": "thinking", "thinking": "hm"}]})),
        (Anthropic, json!({"content": [{"type": "text", "text": " \n"}]})),
        (Anthropic, json!([1])),
        (OpenAiCompatible, json!({"choices": []})),
        (OpenAiCompatible, json!({"choices": [{"message": {"content": null}, "finish_reason": "stop"}]})),
        (OpenAiCompatible, json!({"content": [{"type": "text", "text": "of the other protocol"}]})),
    ] {
        assert_eq!(ask(provider, 200, &reply.to_string()).await, Err(ModelError::Empty), "{reply}");
    }
    let blocks = json!({"choices": [{"message": {"content": [{"type": "text", "text": "a"}]}}]});
    assert_eq!(ask(OpenAiCompatible, 200, &blocks.to_string()).await.as_deref(), Ok("a"));
}

#[tokio::test]
async fn a_refusal_is_told_in_the_words_of_the_service_and_never_with_the_key() {
    let long = "y".repeat(400);
    for (status, answer, told) in [
        (
            401,
            json!({"error": {"message": format!("bad key:\n {KEY}")}}).to_string(),
            "status 401: bad key: [key]",
        ),
        (404, json!({"error": "no such model"}).to_string(), "status 404: no such model"),
        (500, json!({"error": {"message": long}}).to_string(), "yyy…"),
        (502, format!("<html>{KEY}"), "status 502"),
        (302, String::new(), "status 302"),
        (200, format!("<html>{KEY}"), "is no JSON"),
        (200, "x".repeat(1024 * 1024 + 1), "longer than is read"),
    ] {
        let error = ask(Anthropic, status, &answer).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ModelError::Execution(_)) && text.contains(told), "{text}");
        assert!(!text.contains(KEY) && text.len() < 450, "{text}");
    }
}

/// Cut first, the excerpt would keep the first half of the key.
#[tokio::test]
async fn a_key_across_the_cut_of_a_long_complaint_is_hidden_as_a_whole() {
    let complaint = json!({"error": {"message": format!("{}{KEY}", "y".repeat(296))}});
    let text = ask(Anthropic, 401, &complaint.to_string()).await.unwrap_err().to_string();
    assert!(!text.contains("sk-"), "{text}");
}

#[tokio::test]
async fn a_key_that_comes_back_in_an_answer_is_hidden() {
    let reply = json!({"content": [{"type": "text", "text": format!("you are {KEY}")}]});
    assert_eq!(ask(Anthropic, 200, &reply.to_string()).await.as_deref(), Ok("you are [key]"));
    assert!(!format!("{:?}", model(Anthropic, "http://x.test".into())).contains(KEY));
}

#[tokio::test]
async fn a_slow_server_costs_the_time_of_the_question() {
    let (url, _got) = server(None).await;
    let time = Duration::from_millis(100);
    let said = model(Anthropic, url).ask(&ModelRequest { timeout: time, ..question() }).await;
    assert_eq!(said, Err(ModelError::Timeout(time)));
}

#[tokio::test]
async fn without_the_key_nobody_is_asked_and_a_server_without_keys_gets_none() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let settings = ModelSettings {
        provider: OpenAiCompatible,
        model: "m".into(),
        base_url: url,
        key_variable: Some("KEY".into()),
        max_tokens: None,
    };
    for value in [None, Some(" ")] {
        let mut host = HostContext::new("/");
        host.environment.extend(value.map(|value| ("KEY".into(), value.into())));
        let said = HttpModel::new(Client::new(), settings.clone(), &host).ask(&question()).await;
        assert!(
            matches!(&said, Err(ModelError::Lookup(why)) if why.contains("the variable KEY")),
            "{said:?}"
        );
    }
    let waited = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(waited.is_err(), "somebody was asked without a key");

    let (base_url, got) = server(Some((200, json!({"choices": []}).to_string()))).await;
    let settings = ModelSettings { base_url, key_variable: None, max_tokens: Some(99), ..settings };
    let _ = HttpModel::new(Client::new(), settings, &HostContext::new("/")).ask(&question()).await;
    let (head, body) = got.await.unwrap();
    assert!(!head.contains("authorization"), "{head}");
    assert_eq!(body["max_tokens"], 99);
}

#[tokio::test]
async fn a_service_that_knows_only_the_newer_bound_on_answers_refused_every_question() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let seen = tokio::spawn(async move {
        let mut seen = Vec::new();
        while seen.len() < 3 {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = Vec::new();
            let body: Value = loop {
                assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
                let text = String::from_utf8_lossy(&bytes);
                let Some((_, body)) = text.split_once("\r\n\r\n") else { continue };
                if let Ok(body) = serde_json::from_str(body) {
                    break body;
                }
            };
            let (status, answer) = match body["max_tokens"].is_null() {
                true => (200, json!({"choices": [{"message": {"content": "yes"}}]})),
                false => (
                    400,
                    json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                    "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter"}}),
                ),
            };
            let answer = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                answer.len()
            );
            stream.write_all(format!("{head}{answer}").as_bytes()).await.unwrap();
            seen.push((body["max_tokens"].clone(), body["max_completion_tokens"].clone()));
        }
        seen
    });
    let model = model(OpenAiCompatible, url);
    for _ in 0..2 {
        assert_eq!(model.ask(&question()).await.as_deref(), Ok("yes"));
    }
    let newer = (Value::Null, json!(7));
    assert_eq!(seen.await.unwrap(), [(json!(7), Value::Null), newer.clone(), newer]);
}

#[tokio::test]
async fn a_refusal_for_another_reason_is_not_asked_again() {
    let reply = json!({"error": {"message": "max_tokens is too large: 99999", "param": "max_tokens", "code": "invalid_value"}});
    // The server answers once; a second question would hang.
    let error = ask(OpenAiCompatible, 400, &reply.to_string()).await.unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
}

#[tokio::test]
async fn an_answer_without_a_text_did_not_say_why() {
    for (provider, reply, told) in [
        (
            Anthropic,
            json!({"content": [{"type": "thinking", "thinking": "hm"}], "stop_reason": "max_tokens"}),
            "maxTokens",
        ),
        (
            OpenAiCompatible,
            json!({"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}),
            "maxTokens",
        ),
        (Anthropic, json!({"content": [], "stop_reason": "refusal"}), "the model refused to answer"),
        (
            OpenAiCompatible,
            json!({"choices": [{"message": {"content": null, "refusal": format!("not {KEY}")}, "finish_reason": "stop"}]}),
            "the model refused to answer: not [key]",
        ),
        (
            OpenAiCompatible,
            json!({"error": {"message": format!("no model {KEY}")}}),
            "with an error: no model [key]",
        ),
    ] {
        let error = ask(provider, 200, &reply.to_string()).await.unwrap_err().to_string();
        assert!(error.contains(told) && !error.contains(KEY), "{error}");
    }
    let cut =
        json!({"content": [{"type": "text", "text": "{\"ok\": false} since"}], "stop_reason": "max_tokens"});
    assert_eq!(ask(Anthropic, 200, &cut.to_string()).await.as_deref(), Ok("{\"ok\": false} since"));
}

#[tokio::test]
async fn the_word_that_a_server_without_keys_is_given_was_cut_out_of_verdicts() {
    let reply = json!({"choices": [{"message": {"content": "{\"ok\": false, \"reason\": \"exit\"}"}}]});
    let (base_url, _got) = server(Some((200, reply.to_string()))).await;
    let mut host = HostContext::new("/");
    host.environment.insert("KEY".into(), "x".into());
    let settings = ModelSettings {
        provider: OpenAiCompatible,
        model: "m".into(),
        base_url,
        key_variable: Some("KEY".into()),
        max_tokens: None,
    };
    let said = HttpModel::new(Client::new(), settings, &host).ask(&question()).await;
    assert_eq!(said.as_deref(), Ok("{\"ok\": false, \"reason\": \"exit\"}"));
}

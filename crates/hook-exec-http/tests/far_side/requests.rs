//! What is sent.

use hook_core::{BodyTemplate, FailureKind, HttpHandler, HttpMethod, HttpPolicy, HttpRules, VariableSyntax};
use serde_json::{Value, json};

use crate::bench::{Bench, EVENT};
use crate::server::{Got, Server, json};

async fn sent(bench: &Bench, change: impl FnOnce(&mut HttpHandler)) -> (Got, Vec<String>) {
    let server = Server::that(json("{}")).await;
    let mut handler = HttpHandler::new(server.url("/hooks?x=1"));
    change(&mut handler);
    let (status, body, notes) = bench.answer(handler).await;
    assert_eq!((status, body.as_str()), (200, "{}"));
    let [got] = &server.got()[..] else { panic!("{} requests", server.got().len()) };
    (got.clone(), notes)
}

#[tokio::test]
async fn a_hook_without_a_body_posts_the_event_as_it_is() {
    let (got, notes) = sent(&Bench::default(), |_| {}).await;
    assert_eq!(got.line, "POST /hooks?x=1 HTTP/1.1");
    assert_eq!(got.body, EVENT);
    assert_eq!(got.header("content-type"), Some("application/json"));
    assert!(got.header("user-agent").unwrap().starts_with("hook-engine/"));
    for name in ["accept-encoding", "cookie", "referer", "transfer-encoding"] {
        assert_eq!(got.header(name), None, "{name}");
    }
    assert!(notes.is_empty(), "{notes:?}");
}

#[tokio::test]
async fn where_the_dialect_posts_nothing_there_is_no_body() {
    let quiet = Bench { rules: HttpRules { event_body: false, ..HttpRules::NATIVE }, ..Bench::default() };
    let (got, _) = sent(&quiet, |_| {}).await;
    assert_eq!((got.body.as_str(), got.header("content-type")), ("", None));
    let (got, _) =
        sent(&quiet, |handler| handler.body = Some(BodyTemplate::Text("t=${context.tool_name}".into())))
            .await;
    assert_eq!((got.body.as_str(), got.header("content-type")), ("t=Bash", None));
}

#[tokio::test]
async fn methods_and_their_bodies() {
    for method in HttpMethod::ALL.iter().copied() {
        let (got, _) = sent(&Bench::default(), |handler| {
            handler.method = method;
            handler.body = Some(BodyTemplate::Text("body".into()));
        })
        .await;
        assert_eq!(got.line, format!("{method} /hooks?x=1 HTTP/1.1"));
        let bodiless = matches!(method, HttpMethod::Get | HttpMethod::Delete);
        assert_eq!(got.body, if bodiless { "" } else { "body" }, "{method}");
    }
}

#[tokio::test]
async fn a_document_is_filled_in_and_stays_one() {
    let bench = Bench { tool_input: json!({"command": "echo \"hi\"\n", "n": 3}), ..Bench::default() };
    let template = json!({"cmd": "${tool_input.command}", "n": "${tool_input.n}", "by": "${context.tool_name}!", "t": "${env.TOKEN}"});
    let (got, notes) = sent(&bench, |handler| handler.body = Some(BodyTemplate::Json(template))).await;
    let body: Value = serde_json::from_str(&got.body).unwrap();
    assert_eq!(body, json!({"cmd": "echo \"hi\"\n", "n": 3, "by": "Bash!", "t": null}));
    assert_eq!(got.header("content-type"), Some("application/json"));
    assert_eq!(notes.len(), 1, "{notes:?}");
}

#[tokio::test]
async fn headers_hold_allowed_variables_only() {
    let with =
        |syntax| Bench { rules: HttpRules { headers: syntax, ..HttpRules::NATIVE }, ..Bench::default() };
    for (syntax, template, expected, noted) in [
        (VariableSyntax::Shell, "Bearer $TOKEN ${TOKEN}", "Bearer s3cret s3cret", 0),
        (VariableSyntax::Shell, "a${OTHER}b$UNSET.", "ab.", 2),
        (VariableSyntax::Shell, "${tool_input.command}", "${tool_input.command}", 0),
        (VariableSyntax::Dotted, "Bearer ${env.TOKEN}", "Bearer s3cret", 0),
        (VariableSyntax::Dotted, "a${env.OTHER}b $TOKEN", "ab $TOKEN", 1),
        (VariableSyntax::Both, "${env.TOKEN} $TOKEN ${context.iteration}", "s3cret s3cret 3", 0),
        (VariableSyntax::Both, "costs $5, $OTHER", "costs $5, $OTHER", 1),
    ] {
        let (got, notes) = sent(&with(syntax), |handler| {
            handler.headers = vec![("X-Auth".into(), template.into())];
            handler.allowed_env_vars = vec!["TOKEN".into(), "UNSET".into()];
        })
        .await;
        assert_eq!(got.header("x-auth"), Some(expected), "{template}");
        assert_eq!(notes.len(), noted, "{template}: {notes:?}");
        assert!(notes.iter().all(|note| !note.contains("hidden") && !note.contains("s3cret")), "{notes:?}");
    }
}

#[tokio::test]
async fn the_settings_bound_what_the_author_allows() {
    let policy = HttpPolicy {
        variables: vec![vec!["TOKEN".into(), "OTHER".into()], vec!["OTHER".into()]],
        ..HttpPolicy::default()
    };
    let bench = Bench { policy: Some(policy), ..Bench::default() };
    let (got, _) = sent(&bench, |handler| {
        handler.headers = vec![("X-Auth".into(), "[${env.TOKEN}|${env.OTHER}]".into())];
        handler.allowed_env_vars = vec!["TOKEN".into(), "OTHER".into()];
    })
    .await;
    assert_eq!(got.header("x-auth"), Some("[|hidden]"));
}

/// A command with a line break in it must be judged, and must not write headers of its own.
#[tokio::test]
async fn a_value_with_a_line_break_neither_splits_the_request_nor_keeps_it_back() {
    let bench = Bench { tool_input: json!({"command": "ls\r\nX-Evil: 1"}), ..Bench::default() };
    let (got, notes) = sent(&bench, |handler| {
        handler.headers = vec![("X-Command".into(), "${tool_input.command}".into())];
    })
    .await;
    assert_eq!(got.header("x-command"), Some("ls  X-Evil: 1"));
    assert_eq!(got.header("x-evil"), None);
    assert_eq!(
        notes,
        ["line breaks and control characters in the value of the header X-Command became blanks"]
    );
}

#[tokio::test]
async fn an_own_content_type_counts() {
    let (got, _) = sent(&Bench::default(), |handler| {
        handler.headers = vec![("content-type".into(), "application/vnd.x+json".into())];
    })
    .await;
    assert_eq!(got.header("content-type"), Some("application/vnd.x+json"));
}

#[tokio::test]
async fn a_template_without_end_is_not_sent() {
    let server = Server::that(json("{}")).await;
    let bench = Bench { tool_input: json!({"command": "x".repeat(1 << 20)}), ..Bench::default() };
    let mut handler = HttpHandler::new(server.url("/"));
    handler.body = Some(BodyTemplate::Text("${tool_input.command}".repeat(100)));
    let (kind, message, _) = bench.failure(handler).await;
    assert_eq!(kind, FailureKind::Oversize, "{message}");
    assert!(server.got().is_empty());
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::that(json("{}")).await;
    let bench = Bench::default();
    for _ in 0..5 {
        bench.answer(HttpHandler::new(server.url("/"))).await;
    }
    assert_eq!((server.got().len(), server.connections()), (5, 1));
}

//! Policy servers, asked by the built command.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::place::{Place, feed};

/// A server on loopback that gives every request this status and body; and what it got: head and body of each request.
pub(crate) fn server(status: u16, body: &str) -> (String, Receiver<(String, String)>) {
    serve(status, body, None)
}

fn serve(
    status: u16,
    body: &str,
    tls: Option<Arc<rustls::ServerConfig>>,
) -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, got) = channel();
    let answer = format!(
        "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let scheme = if tls.is_some() { "https" } else { "http" };
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            // A client that does not trust us hangs up, and the next one may.
            let _ = match &tls {
                None => exchange(stream, &answer).map(|got| sender.send(got)),
                Some(config) => {
                    let connection = rustls::ServerConnection::new(config.clone()).unwrap();
                    exchange(rustls::StreamOwned::new(connection, stream), &answer)
                        .map(|got| sender.send(got))
                }
            };
        }
    });
    (format!("{scheme}://localhost:{port}"), got)
}

fn exchange(stream: impl Read + Write, answer: &str) -> std::io::Result<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    reader.get_mut().write_all(answer.as_bytes())?;
    reader.get_mut().flush()?;
    Ok((head, String::from_utf8(body).unwrap()))
}

fn place(handler: Value) -> Place {
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}});
    Place::new().with(".hooks/hooks.json", &format!("{hooks:#}"))
}

const RUN: &[&str] = &["run", "PreToolUse", "--tool", "Bash", "--input", r#"{"command": "rm -rf /"}"#];

#[test]
fn a_policy_server_denies_a_call_and_the_command_says_where_and_why() {
    let (url, got) = server(200, r#"{"decision": "deny", "reason": "not on a Friday"}"#);
    let place = place(
        json!({"type": "http", "url": format!("{url}/hooks/pre"), "headers": {"X-Token": "${env.TOKEN}"},
        "allowedEnvVars": ["TOKEN"], "bodyJson": {"cmd": "${tool_input.command}", "tool": "${context.tool_name}"}}),
    );
    let mut command = place.command();
    command.args(RUN).env("TOKEN", "s3cret");
    let said = feed(command, b"");
    let label = format!("POST {url}/hooks/pre");
    said.exits(3).shows(&["deny: not on a Friday", &label, ".hooks/hooks.json:7:11", "decision deny"]);
    assert!(!format!("{said:?}").contains("s3cret"), "{said:#?}");
    let (head, body) = got.recv().unwrap();
    assert!(head.starts_with("POST /hooks/pre HTTP/1.1\r\n") && head.contains("s3cret"), "{head}");
    assert_eq!(body, r#"{"cmd":"rm -rf /","tool":"Bash"}"#);
}

#[test]
fn an_agent_gets_the_denial_in_its_own_words() {
    let (url, got) = server(
        200,
        r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "no"}}"#,
    );
    let place = place(json!({"type": "http", "url": url}));
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": place.project(),
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let said = place.hook_fed(&["dispatch", "--agent", "claude"], payload.to_string().as_bytes());
    let reply = said.exits(0).json();
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{reply}");
    assert_eq!(reply["hookSpecificOutput"]["permissionDecisionReason"], "no", "{reply}");
    // Without a body of its own the hook sends the event.
    let body: Value = serde_json::from_str(&got.recv().unwrap().1).unwrap();
    assert_eq!((&body["event"], &body["tool_input"]["command"]), (&json!("PreToolUse"), &json!("ls")));
}

#[test]
fn a_server_that_fails_is_reported_and_holds_back_where_its_author_said_so() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    for (url, told) in [
        (gone, "cannot be reached"),
        (server(500, "oops").0, "status 500"),
        (server(200, "<html>").0, "no JSON object"),
        (server(302, "").0, "status 302"),
    ] {
        let said = place(json!({"type": "http", "url": url})).hook(RUN);
        said.exits(0).shows(&[told, "onFailure continue", ".hooks/hooks.json:7:11"]);
        let said = place(json!({"type": "http", "url": url, "onFailure": "block"})).hook(RUN);
        said.exits(3).shows(&[told, "deny", "onFailure block"]);
    }
}

#[test]
fn lists_and_explanations_show_method_and_url_and_never_a_header() {
    let place = place(json!({"type": "http", "url": "https://user:pass@policy.test/x", "method": "PUT",
        "headers": {"Authorization": "Bearer s3cret"}}));
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["explain", "PreToolUse", "--tool", "Bash"],
        &["explain", "PreToolUse", "--tool", "Bash", "--json"],
    ] {
        let said = place.hook(arguments);
        said.exits(0).shows(&["PUT https://policy.test/x", "http"]);
        let all = format!("{said:?}");
        assert!(!all.contains("s3cret") && !all.contains("pass@"), "{all}");
    }
    place.hook(&["check"]).exits(0).shows(&["credentials-in-url"]);
}

#[test]
fn settings_keep_hooks_from_addresses_that_nobody_allowed() {
    let (url, got) = server(200, "{}");
    for (settings, told) in [
        (json!({"allowedUrls": ["https://policy.test/*"]}), "the settings allow no hook to be sent to"),
        (json!({"privateAddresses": "deny"}), "a private address, which may not be asked here"),
    ] {
        let user = json!({"settings": {"http": settings}}).to_string();
        let place = place(json!({"type": "http", "url": url, "onFailure": "block"}));
        let place = place.with_home(".config/hook/hooks.json", &user);
        place.hook(RUN).exits(3).shows(&[told]);
    }
    assert!(got.try_recv().is_err());
}

/// A server whose certificate the system's store vouches for is asked; another one gets no request at all.
#[test]
fn a_server_has_to_prove_who_it_is() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let (url, got) = serve(200, r#"{"decision": "deny", "reason": "proven"}"#, Some(Arc::new(config)));
    let place = place(json!({"type": "http", "url": url})).with("store.pem", &made.cert.pem());
    place.hook(RUN).exits(0).shows(&["cannot be reached", "certificate"]);
    assert!(got.try_recv().is_err());
    let mut command = place.command();
    command.args(RUN).env("SSL_CERT_FILE", place.project().join("store.pem"));
    feed(command, b"").exits(3).shows(&["deny: proven"]);
    assert!(got.try_recv().is_ok());
}

/// Proxies that other programs take from the environment see nothing of hooks.
#[test]
fn no_proxy_is_asked() {
    let (proxy, seen) = server(200, r#"{"decision": "allow"}"#);
    let (url, _got) = server(200, r#"{"decision": "deny", "reason": "direct"}"#);
    let place = place(json!({"type": "http", "url": url}));
    let mut command = place.command();
    command.args(RUN);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, &proxy);
    }
    feed(command, b"").exits(3).shows(&["deny: direct"]);
    assert!(seen.try_recv().is_err());
}

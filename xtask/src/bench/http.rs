//! Http hooks on a connection that is open already.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use hook_engine::core::{
    Asking, Call, DialectId, Event, EventKind, Executor, Handler, HandlerOutput, Hook, HookCx, HostContext,
    HttpHandler, HttpRules, Payload, SessionView, TemplateValues,
};
use hook_engine::exec_http::HttpExecutor;
use hook_engine::http::Client;
use serde_json::{Value, json};

use super::{Row, in_turns};

const ANSWER: &str = r#"{"decision": "allow"}"#;

/// The executor with a header to fill in and two kilobytes of an event, against the bare client with the same request.
pub(super) fn measure(rows: &mut Vec<Row>) -> Result<()> {
    let url = server()?;
    let event = Event::new(
        EventKind::PreToolUse,
        DialectId::NATIVE,
        "PreToolUse",
        Arc::new(Payload::from_value(Value::Null)),
    );
    let mut handler = HttpHandler::new(url.as_str());
    handler.headers = vec![("Authorization".to_owned(), "Bearer ${env.TOKEN}".to_owned())];
    handler.allowed_env_vars = vec!["TOKEN".to_owned()];
    let hook = Hook::new("bench", DialectId::NATIVE, EventKind::PreToolUse, Handler::Http(handler));
    let (session, host) = (SessionView::default(), HostContext::new("/bench/project"));
    let cx = HookCx { event: &event, hook: &hook, session: &session, host: &host };
    let input = json!({"event": "PreToolUse", "tool_input": {"command": "a".repeat(2_000)}}).to_string();
    let call = Call {
        input: input.clone().into_bytes(),
        asking: Asking::default(),
        http: HttpRules::NATIVE,
        arguments: hook_engine::core::ArgumentRule::Native,
        template: TemplateValues::default(),
        environment: vec![("TOKEN".into(), "secret".into())],
        placeholders: Vec::new(),
        shell_prefix: None,
        directory: PathBuf::from("/"),
        timeout: Duration::from_secs(10),
    };
    let (executor, bare) = (HttpExecutor::new(Client::new()), bare()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let times = in_turns(
        2_000,
        &mut [
            &mut || {
                let body = runtime.block_on(async {
                    let request = bare.post(&url).header("Authorization", "Bearer secret");
                    let request = request.header("Content-Type", "application/json").body(input.clone());
                    request.send().await?.text().await
                })?;
                if body == ANSWER { Ok(()) } else { bail!("the server gave {body:?}") }
            },
            &mut || match runtime.block_on(executor.run(&cx, call.clone())) {
                HandlerOutput::Http { status: 200, body, .. } if body.text == ANSWER => Ok(()),
                other => bail!("the hook gave {other:?}"),
            },
        ],
    )?;
    let [bare, executor] = times[..] else { bail!("two measurements") };
    rows.push(Row {
        work: "one http hook, warm, 2 kB, by the bare client",
        measured: executor / bare,
        budget: 1.2,
        unit: "x",
    });
    Ok(())
}

fn bare() -> Result<reqwest::Client> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(reqwest::Client::builder().no_proxy().http1_only().tls_backend_preconfigured(tls).build()?)
}

/// A server on loopback with a thread for every connection, which answers every request alike.
fn server() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    Ok(url)
}

fn answer(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{ANSWER}", ANSWER.len());
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line == "\r\n" {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
        reader.get_mut().write_all(answer.as_bytes())?;
    }
}

//! What a call of an MCP tool costs over the bare client of the library, both with a server that runs already.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hook_engine::core::{
    Call, DialectId, Event, EventKind, Executor, Handler, HandlerOutput, Hook, HookCx, HostContext, Layer,
    McpHandler, McpServer, McpServers, McpTransport, Payload, SessionView, TemplateValues,
};
use hook_engine::exec_mcp::{Connections, McpExecutor};
use hook_engine::mapper::Dialects;
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map, Value, json};

use super::{Row, in_turns};
use crate::root;

/// Calls per measurement: one alone is too short for a clock.
const CALLS: usize = 20;

/// The tool's argument: as long as a command that writes a file.
const LENGTH: usize = 2_000;

pub(super) fn measure(rows: &mut Vec<Row>) -> Result<()> {
    let server = build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (child, bare) = runtime.block_on(start(&server))?;
    let ours = Ours::new(&server)?;
    let command = "x".repeat(LENGTH);
    let arguments = Map::from_iter([("command".to_owned(), Value::from(command.as_str()))]);
    let times = in_turns(
        200,
        &mut [
            &mut || {
                runtime.block_on(async {
                    for _ in 0..CALLS {
                        let call = CallToolRequestParams::new("echo").with_arguments(arguments.clone());
                        let result = bare.call_tool(call).await?;
                        if result.content.len() != 1 {
                            bail!("the bare client got {result:?}");
                        }
                    }
                    Ok(())
                })
            },
            &mut || runtime.block_on(ours.call(&command)),
        ],
    )?;
    let [by_hand, executor] = times[..] else { bail!("two measurements") };
    rows.push(Row {
        work: "a warm call of an MCP tool, 2 kB, by the library's client",
        measured: executor / by_hand,
        budget: 1.2,
        unit: "x",
    });
    runtime.block_on(ours.executor.close());
    drop((bare, child));
    Ok(())
}

fn build() -> Result<PathBuf> {
    let mut cargo = root::cargo();
    cargo.args(["build", "--quiet", "--release", "--package", "hook-tests", "--bin", "mcp-server"]);
    if !cargo.status().context("cargo")?.success() {
        bail!("the test server does not build");
    }
    Ok(root::target().join("release/mcp-server"))
}

async fn start(server: &PathBuf) -> Result<(tokio::process::Child, RunningService<RoleClient, ()>)> {
    let mut command = tokio::process::Command::new(server);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { bail!("no pipes") };
    let client = ().serve(AsyncRwTransport::new_client(stdout, stdin)).await?;
    Ok((child, client))
}

/// The executor with a hook that calls the same tool.
struct Ours {
    executor: McpExecutor,
    hook: Hook,
    host: HostContext,
    dialects: Dialects,
}

impl Ours {
    fn new(server: &std::path::Path) -> Result<Ours> {
        let mut servers = McpServers::new();
        servers.add(McpServer {
            name: "bench".into(),
            transport: McpTransport::Stdio {
                command: server.to_str().context("the path is no text")?.to_owned(),
                args: Vec::new(),
                environment: Vec::new(),
            },
            layer: Layer::User,
            location: None,
            directory: "/".into(),
        });
        let connections = Connections::new(Default::default(), servers);
        let handler = Handler::Mcp(McpHandler {
            server: "bench".into(),
            tool: "echo".into(),
            input: Map::from_iter([("command".to_owned(), "${tool_input.command}".into())]),
            allowed_env_vars: Vec::new(),
        });
        Ok(Ours {
            executor: McpExecutor::new(Arc::new(connections)),
            hook: Hook::new("bench", DialectId::NATIVE, EventKind::PreToolUse, handler),
            host: HostContext::new("/"),
            dialects: Dialects::standard(),
        })
    }

    async fn call(&self, command: &str) -> Result<()> {
        let profile = self.dialects.get(DialectId::NATIVE).context("no native dialect")?.profile();
        let payload = Arc::new(Payload::from_value(Value::Null));
        let event = Event::new(EventKind::PreToolUse, DialectId::NATIVE, "PreToolUse", payload);
        let session = SessionView::default();
        let cx = HookCx { event: &event, hook: &self.hook, session: &session, host: &self.host };
        for _ in 0..CALLS {
            let call = Call {
                input: Vec::new(),
                asking: profile.asking,
                http: profile.http,
                arguments: profile.arguments,
                template: TemplateValues { tool_input: json!({"command": command}), context: Map::new() },
                environment: Vec::<(OsString, OsString)>::new(),
                placeholders: Vec::new(),
                shell_prefix: None,
                directory: "/".into(),
                timeout: Duration::from_secs(10),
            };
            match self.executor.run(&cx, call).await {
                HandlerOutput::Mcp { text, .. } if text.text.len() > LENGTH => {}
                other => bail!("the executor got {other:?}"),
            }
        }
        Ok(())
    }
}

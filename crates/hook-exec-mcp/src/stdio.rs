//! Servers that are started.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use hook_core::{FailureKind, McpError, McpServer};
use hook_exec::limits::{PIPE_GRACE, TERM_GRACE};
use hook_process::{Leader, find_program};
use rmcp::ServiceExt;
use rmcp::service::ClientInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::process::Command;
use tokio::time::timeout;

use crate::connection::{Connection, WORDS_GRACE, not_greeted};
use crate::notifications::Heard;
use crate::words::{Overheard, Words};

/// How long a server that closed its output may take to exit.
const EXIT_GRACE: Duration = Duration::from_millis(50);

/// A program and what it gets.
pub(crate) struct Program<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    /// Variables of its own.
    pub(crate) own: &'a [(String, String)],
    /// Variables of the host.
    pub(crate) inherited: &'a BTreeMap<OsString, OsString>,
}

/// Starts a server and greets it. When this future is dropped the server is killed.
pub(crate) async fn connect(
    server: &McpServer,
    program: &Program<'_>,
    heard: Heard,
    words: Arc<Words>,
) -> Result<Connection, McpError> {
    let name = &server.name;
    let mut leader = start(program, &server.directory).map_err(|error| {
        let message = format!("the MCP server {name:?} cannot be started: {}: {error}", program.command);
        McpError::new(FailureKind::Spawn, message)
    })?;
    let (Some(stdin), Some(stdout), Some(stderr)) = leader.pipes() else {
        return Err(McpError::new(FailureKind::Spawn, format!("the MCP server {name:?} has no pipes")));
    };
    let listener = words.clone();
    tokio::spawn(async move { listener.read(stderr).await });

    let transport = AsyncRwTransport::new_client(Overheard::new(stdout, words.clone()), stdin);
    let greeted = {
        let mut greeting = std::pin::pin!(heard.serve(transport));
        tokio::select! {
            greeted = &mut greeting => greeted,
            // What it said last is still in the pipe; somebody it left behind may hold that open.
            _ = leader.exited() => match timeout(PIPE_GRACE, greeting).await {
                Ok(greeted) => greeted,
                Err(_) => Err(ClientInitializeError::ConnectionClosed("the server is gone".into())),
            },
        }
    };
    match greeted {
        Ok(running) => Ok(Connection::new(name, running, Some(leader), words)),
        Err(error) => {
            // Its pipes close a moment before it can be seen to be dead.
            let died = timeout(EXIT_GRACE, leader.exited()).await.is_ok();
            let status = leader.end(TERM_GRACE).await.filter(|_| died);
            let message = match (status, &error) {
                (Some(status), _) => format!("the MCP server {name:?} {} before it answered", ended(status)),
                (None, ClientInitializeError::ConnectionClosed(_)) => {
                    format!("the MCP server {name:?} closed its output before it answered")
                }
                (None, error) => format!("the MCP server {name:?} does not start: {}", not_greeted(error)),
            };
            let notes = words.notes(WORDS_GRACE).await;
            words.stop();
            Err(McpError { kind: FailureKind::Spawn, message, notes })
        }
    }
}

fn start(program: &Program<'_>, directory: &Path) -> std::io::Result<Leader> {
    let path = program.own.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| OsStr::new(value));
    let path = path.or_else(|| program.inherited.get(OsStr::new("PATH")).map(OsString::as_os_str));
    let mut command = Command::new(find_program(Path::new(program.command), directory, path));
    command
        .args(program.args)
        .env_clear()
        .envs(program.inherited)
        .envs(program.own.iter().map(|(name, value)| (name, value)))
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    Ok(Leader::new(command.spawn()?))
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

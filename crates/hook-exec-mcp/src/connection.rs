//! One connection to a server, and what keeps it.

use std::convert::Infallible;
use std::error::Error;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hook_core::{FailureKind, McpError, McpResult};
use hook_exec::limits::{PIPE_GRACE, TERM_GRACE};
use hook_process::{Leader, Sight};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, Implementation,
};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::notifications::Heard;
use crate::words::Words;

/// How long the library has to close a connection.
const CLOSE_GRACE: Duration = Duration::from_millis(300);

/// How long a server has to end by itself once its input is closed ("Model Context Protocol, Lifecycle, Shutdown").
const END_GRACE: Duration = Duration::from_millis(250);

/// How long the last words of a server that failed may take to arrive.
pub(crate) const WORDS_GRACE: Duration = Duration::from_millis(50);

/// Beyond this nobody waits for the end of a connection.
const LONGEST_END: Duration = Duration::from_millis(950);

/// A connection. Dropping it ends it: the keeper, a task beside, sees to that; without a runtime the server is killed at once.
pub(crate) struct Connection {
    name: String,
    peer: Peer<RoleClient>,
    process: Option<Sight>,
    words: Arc<Words>,
    keeper: Mutex<Option<Keeper>>,
}

struct Keeper {
    /// Nothing is ever sent: its end is the message.
    end: oneshot::Sender<Infallible>,
    task: JoinHandle<()>,
}

/// How the engine introduces itself. It offers servers nothing: they cannot ask it for anything.
pub(crate) fn introduction() -> ClientConfig {
    let own = Implementation::new("hook-engine", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(ClientCapabilities::default(), own)
}

/// Why a call on a connection failed.
pub(crate) struct Failed {
    pub(crate) error: McpError,
    /// The server has not seen the call, so that it may be made again.
    pub(crate) unseen: bool,
}

impl Connection {
    /// Takes over what a handshake gave; `leader` is the process behind it, where it is one of ours.
    pub(crate) fn new(
        name: &str,
        running: RunningService<RoleClient, Heard>,
        leader: Option<Leader>,
        words: Arc<Words>,
    ) -> Connection {
        let peer = running.peer().clone();
        let process = leader.as_ref().map(Leader::sight);
        let (end, ended) = oneshot::channel();
        let task = tokio::spawn(keep(running, leader, ended, words.clone()));
        let keeper = Mutex::new(Some(Keeper { end, task }));
        Connection { name: name.to_owned(), peer, process, words, keeper }
    }

    /// False where a call cannot succeed any more.
    pub(crate) fn is_alive(&self) -> bool {
        !self.peer.is_transport_closed() && !self.process.is_some_and(Sight::has_exited)
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<McpResult, Failed> {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match self.peer.call_tool(call).await {
            Ok(result) => Ok(result_of(result)),
            Err(error) => Err(self.failed(error, tool).await),
        }
    }

    async fn failed(&self, error: ServiceError, tool: &str) -> Failed {
        let name = &self.name;
        let (kind, message) = match &error {
            ServiceError::McpError(refusal) => {
                let text =
                    format!("the MCP server {name:?} refuses the call of {tool:?}: {}", refusal.message);
                return Failed { error: McpError::new(FailureKind::Exit, text), unseen: false };
            }
            ServiceError::UnexpectedResponse => {
                let text =
                    format!("the MCP server {name:?} answered with something that is no result of a tool");
                (FailureKind::Parse, text)
            }
            ServiceError::TransportClosed => {
                (FailureKind::Unreachable, format!("the MCP server {name:?} went away while it was asked"))
            }
            ServiceError::TransportSend(sending) => (
                FailureKind::Unreachable,
                format!("the MCP server {name:?} cannot be reached: {}", causes(sending.error.as_ref())),
            ),
            other => (FailureKind::Unreachable, format!("the MCP server {name:?} does not answer: {other}")),
        };
        let notes = self.words.notes(WORDS_GRACE).await;
        let unseen =
            matches!(&error, ServiceError::TransportSend(sending) if never_sent(sending.error.as_ref()));
        Failed { error: McpError { kind, message, notes }, unseen }
    }

    /// What the server wrote beside its messages.
    pub(crate) async fn notes(&self) -> Vec<String> {
        self.words.notes(Duration::ZERO).await
    }

    /// Ends the connection, and waits for it in bounded time.
    pub(crate) async fn close(&self) {
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Keeper { end, task }) = keeper {
            drop(end);
            let _ = timeout(LONGEST_END, task).await;
        }
    }
}

/// Keeps a connection until nobody needs it or the server is gone; then ends it, and its process with everything it started.
async fn keep(
    running: RunningService<RoleClient, Heard>,
    leader: Option<Leader>,
    ended: oneshot::Receiver<Infallible>,
    words: Arc<Words>,
) {
    let token = running.cancellation_token();
    let mut waiting = pin!(running.waiting());
    let died = async {
        match &leader {
            Some(leader) if leader.exited().await.is_ok() => {}
            _ => std::future::pending().await,
        }
    };
    let closed = tokio::select! {
        _ = &mut waiting => true,
        // What it said last is still in the pipe; somebody it left behind may hold that open.
        () = died => timeout(PIPE_GRACE, &mut waiting).await.is_ok(),
        _ = ended => false,
    };
    if !closed {
        token.cancel();
        let _ = timeout(CLOSE_GRACE, waiting).await;
    }
    if let Some(mut leader) = leader {
        let _ = timeout(END_GRACE, leader.exited()).await;
        leader.end(TERM_GRACE).await;
        words.notes(WORDS_GRACE).await;
    }
    words.stop();
}

fn result_of(result: CallToolResult) -> McpResult {
    let mut text = String::new();
    let mut parts = 0;
    for part in &result.content {
        if let ContentBlock::Text(part) = part {
            if parts > 0 {
                text.push('\n');
            }
            text.push_str(&part.text);
            parts += 1;
        }
    }
    McpResult {
        text,
        structured: result.structured_content,
        is_error: result.is_error.unwrap_or_default(),
        other_parts: result.content.len() - parts,
    }
}

/// The causes of an error, the error first. The library's own does not name its cause as one.
fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(cause)) => Some(cause),
            _ => error.source(),
        };
        Some(error)
    })
}

/// True where nothing of a message has left: the pipe was closed already, or there was no connection.
fn never_sent(error: &(dyn Error + 'static)) -> bool {
    chain(error).any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
            || cause.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_connect)
    })
}

/// An error with its causes, each once.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in chain(error).map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Why a server could not be greeted.
pub(crate) fn not_greeted(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => causes(error.error.as_ref()),
        ClientInitializeError::JsonRpcError(refusal) => {
            format!("it refuses the greeting: {}", refusal.message)
        }
        other => causes(other),
    }
}

//! From an mcp handler to the call of a tool.

use std::ffi::OsStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use hook_core::{
    ArgumentRule, Call, Executor, FailureKind, Handler, HandlerFailure, HandlerKind, HandlerOutput, HookCx,
    HostContext, McpClients, McpError, McpHandler, McpListener, McpResult, McpServers, Note, Stream,
};
use hook_exec::caught;
use hook_exec::limits::MAX_STREAM;
use hook_exec::template::{MAX_RENDERED, Renderer, Syntax, Values};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::connections::Connections;

/// How much longer than their budget clients may take: theirs is the better message.
const SLACK: Duration = Duration::from_millis(100);

type Reader = Box<dyn FnOnce(&HostContext) -> McpServers + Send>;

/// Runs mcp handlers through one set of clients.
pub struct McpExecutor {
    clients: OnceLock<Arc<dyn McpClients>>,
    /// Tells the servers; taken by the first run.
    read: Mutex<Option<Reader>>,
    listener: Option<McpListener>,
}

impl McpExecutor {
    /// An executor that calls tools through these clients.
    pub fn new(clients: Arc<dyn McpClients>) -> McpExecutor {
        McpExecutor { clients: OnceLock::from(clients), read: Mutex::new(None), listener: None }
    }

    /// An executor that calls tools of the servers that `read` tells, through [`Connections`]. It is asked once, by the first
    /// run: most events of most hosts call no tool.
    pub fn of_servers(read: impl FnOnce(&HostContext) -> McpServers + Send + 'static) -> McpExecutor {
        McpExecutor { clients: OnceLock::new(), read: Mutex::new(Some(Box::new(read))), listener: None }
    }

    /// Tells this listener what servers say of their own accord. Clients that the host brings are listened to by the host.
    #[must_use]
    pub fn listener(mut self, listener: McpListener) -> McpExecutor {
        self.listener = Some(listener);
        self
    }

    fn clients(&self, host: &HostContext) -> &dyn McpClients {
        let made = self.clients.get_or_init(|| {
            let read = self.read.lock().unwrap_or_else(PoisonError::into_inner).take();
            let servers = read.map(|read| read(host)).unwrap_or_default();
            let environment = host.inherited().map(|(name, value)| (name.clone(), value.clone()));
            let connections = Connections::new(environment.collect(), servers);
            match self.listener.clone() {
                Some(listener) => Arc::new(connections.listener(listener)),
                None => Arc::new(connections),
            }
        });
        made.as_ref()
    }
}

#[async_trait]
impl Executor for McpExecutor {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Mcp
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        let Handler::Mcp(handler) = &cx.hook.handler else {
            return failed(McpError::new(FailureKind::Spawn, "the hook calls no tool"), Vec::new());
        };
        let (server, tool) = (&handler.server, &handler.tool);
        let (arguments, notes) = match arguments(handler, &call) {
            Ok(filled) => filled,
            Err(failure) => return HandlerOutput::Failure(failure),
        };
        let work = caught(self.clients(cx.host).call(server, tool, arguments, call.timeout));
        match timeout(call.timeout + SLACK, work).await {
            Ok(Some(Ok(result))) => given(result, notes),
            Ok(Some(Err(error))) => failed(error, notes),
            Ok(None) => {
                let text = format!("the client of the MCP server {server:?} panicked");
                failed(McpError::new(FailureKind::Unreachable, text), notes)
            }
            Err(_) => {
                let seconds = call.timeout.as_secs_f64();
                let text = format!("the MCP server {server:?} did not answer within {seconds}s");
                failed(McpError::new(FailureKind::Timeout, text), notes)
            }
        }
    }

    async fn close(&self) {
        if let Some(clients) = self.clients.get() {
            clients.close().await;
        }
    }
}

/// The arguments, filled in by the rule of the hook's dialect, and what there is to say of it.
fn arguments(handler: &McpHandler, call: &Call) -> Result<(Map<String, Value>, Vec<Note>), HandlerFailure> {
    let variable = |name: &str| {
        let found = call.environment.iter().find(|(known, _)| known == OsStr::new(name));
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    };
    let allowed = |name: &str| handler.allowed_env_vars.iter().any(|allowed| allowed == name);
    let mut renderer = Renderer::new(Values {
        tool_input: &call.template.tool_input,
        context: &call.template.context,
        variable: &variable,
        allowed: &allowed,
    });
    let mut filled = Map::with_capacity(handler.input.len());
    for (name, template) in &handler.input {
        let value = match call.arguments {
            ArgumentRule::Paths => renderer.texts(template, Syntax::Path),
            ArgumentRule::Dotted => renderer.texts(template, Syntax::Dotted),
            _ => renderer.document(template, Syntax::DottedOrPath),
        };
        filled.insert(name.clone(), value);
    }
    match renderer.overflowed() {
        false => Ok((filled, renderer.into_notes())),
        true => {
            let text = format!(
                "with their values the arguments are longer than {MAX_RENDERED} bytes; they are not sent"
            );
            Err(HandlerFailure { kind: FailureKind::Oversize, message: text, notes: renderer.into_notes() })
        }
    }
}

fn given(result: McpResult, mut notes: Vec<Note>) -> HandlerOutput {
    if result.other_parts > 0 {
        let text = format!("{} parts of the result are no text; nobody reads them", result.other_parts);
        notes.push(Note::info(text));
    }
    let structured = result.structured.filter(|value| {
        let fits = value.to_string().len() <= MAX_STREAM;
        if !fits {
            notes.push(Note::warning(format!(
                "the structured content is longer than {MAX_STREAM} bytes; it is left out"
            )));
        }
        fits
    });
    HandlerOutput::Mcp { text: kept(result.text), structured, is_error: result.is_error, notes }
}

/// A text, cut where nobody keeps more.
fn kept(mut text: String) -> Stream {
    let whole = text.len();
    let end = text.floor_char_boundary(MAX_STREAM);
    text.truncate(end);
    Stream { dropped: (whole - end) as u64, text, lossy: false }
}

fn failed(error: McpError, mut notes: Vec<Note>) -> HandlerOutput {
    notes.extend(error.notes.into_iter().map(Note::info));
    HandlerOutput::Failure(HandlerFailure { kind: error.kind, message: error.message, notes })
}

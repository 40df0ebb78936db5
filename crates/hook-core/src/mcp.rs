//! Between the engine and MCP servers, for hooks that call one of their tools.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::diagnostic::Location;
use crate::exec::FailureKind;
use crate::hook::Layer;

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpTransport {
    /// A process of our own, spoken to over its standard input and output ("Model Context Protocol, Transports, stdio").
    Stdio {
        /// The program: a path, or a name on the `PATH`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables beside those of the host.
        environment: Vec<(String, String)>,
    },
    /// A server at a URL ("Model Context Protocol, Transports, Streamable HTTP").
    Http {
        /// The URL.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// How the arguments of a dialect's mcp hooks name values of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentRule {
    /// `${a.b}`: a path into the event; a text stays a text ("Claude Code hooks reference, MCP tool hook fields: `input`").
    Paths,
    /// `${tool_input.a.b}`, `${context.x}`, `${env.X}`; a text stays a text ("AIMON hooks guide, Template variables").
    Dotted,
    /// All of these, and a text that is one of them and nothing else becomes the value itself: a number, an object.
    Native,
}

/// A server that somebody wrote down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The name that hooks call it by.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// The layer it was written in.
    pub layer: Layer,
    /// Where it was written.
    pub location: Option<Location>,
    /// The directory a process is started in, and that a relative program path means.
    pub directory: PathBuf,
}

/// The servers of a host by name. One that was written down and cannot be used is there, too, with the reason, so that a hook
/// that names it can tell why it fails.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpServers {
    by_name: BTreeMap<String, Result<McpServer, String>>,
}

impl McpServers {
    /// No servers.
    pub fn new() -> McpServers {
        McpServers::default()
    }

    /// Adds a server where its name is not taken; false where it is.
    pub fn add(&mut self, server: McpServer) -> bool {
        self.put(server.name.clone(), Ok(server))
    }

    /// Adds a name whose server cannot be used, with the reason; false where the name is taken.
    pub fn add_broken(&mut self, name: impl Into<String>, why: impl Into<String>) -> bool {
        self.put(name.into(), Err(why.into()))
    }

    fn put(&mut self, name: String, server: Result<McpServer, String>) -> bool {
        let free = !self.by_name.contains_key(&name);
        if free {
            self.by_name.insert(name, server);
        }
        free
    }

    /// The server of this name; why it cannot be used, with `Err`; `None` where nobody wrote one down.
    pub fn get(&self, name: &str) -> Option<Result<&McpServer, &str>> {
        self.by_name.get(name).map(|server| server.as_ref().map_err(String::as_str))
    }

    /// The servers that can be used, by name.
    pub fn iter(&self) -> impl Iterator<Item = &McpServer> {
        self.by_name.values().filter_map(|server| server.as_ref().ok())
    }
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpResult {
    /// The text of its content, part by part, joined by line breaks.
    pub text: String,
    /// Its structured content, where it gave any.
    pub structured: Option<Value>,
    /// The tool says that it failed.
    pub is_error: bool,
    /// Parts of its content that are no text (images, links, …); nobody reads them here.
    pub other_parts: usize,
}

/// Why a call gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct McpError {
    /// What kind: `Spawn` where there is no such server or it does not start, `Timeout`, `Exit` where the server refuses the
    /// call (no such tool, arguments it does not take), `Unreachable` where the connection is lost.
    pub kind: FailureKind,
    /// What happened, for people, without a full stop.
    pub message: String,
    /// Remarks, one line each: what the server wrote last, what to do.
    pub notes: Vec<String>,
}

impl McpError {
    /// An error without remarks.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> McpError {
        McpError { kind, message: message.into(), notes: Vec::new() }
    }
}

/// Something that a server told of its own accord, as an event from outside ("Hook Configuration Guide, Async Rewake, MCP
/// notifications").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpEvent {
    /// The server.
    pub server: String,
    /// The type, `mcp.resource_updated` for instance.
    pub kind: String,
    /// What it is about.
    pub key: String,
    /// What else it told, texts alone.
    pub payload: BTreeMap<String, String>,
}

/// Hears events of servers. It is called on a task that reads what a server says, and returns at once.
pub type McpListener = Arc<dyn Fn(McpEvent) + Send + Sync>;

/// Calls tools of MCP servers. A host that is connected to servers already brings its own.
///
/// `call` is a future on the dispatching task: it should wait without blocking its thread, and stop working when it is dropped.
#[async_trait]
pub trait McpClients: Send + Sync {
    /// Calls a tool and gives its result. `timeout` bounds the call, with a connection that has to be made first; the executor
    /// keeps this time itself, too.
    ///
    /// # Errors
    /// There is no such server, or it gave no result.
    async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        timeout: Duration,
    ) -> Result<McpResult, McpError>;

    /// Ends what was started for calls, in bounded time (at most a second). Later calls start it anew.
    async fn close(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_name_counts_and_a_broken_one_keeps_its_name() {
        let server = |name: &str, layer| McpServer {
            name: name.into(),
            transport: McpTransport::Http { url: "http://127.0.0.1/".into(), headers: Vec::new() },
            layer,
            location: None,
            directory: "/".into(),
        };
        let mut servers = McpServers::new();
        assert!(servers.add(server("a", Layer::User)) && !servers.add(server("a", Layer::Project)));
        assert!(servers.add_broken("b", "no command") && !servers.add(server("b", Layer::Project)));
        assert_eq!(servers.get("a").unwrap().unwrap().layer, Layer::User);
        assert_eq!(servers.get("b"), Some(Err("no command")));
        assert_eq!((servers.get("c"), servers.iter().count()), (None, 1));
    }
}

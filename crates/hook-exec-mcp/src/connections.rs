//! The standard clients: servers that people wrote down, each connected to once.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use hook_core::{
    FailureKind, McpClients, McpError, McpListener, McpResult, McpServer, McpServers, McpTransport,
};
use hook_http::Client;
use serde_json::{Map, Value};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::connection::{Connection, WORDS_GRACE};
use crate::notifications::Heard;
use crate::words::Words;
use crate::{http, stdio};

/// Connections to the servers of one host. They are made by the calls that need them and end with this value, or when it is
/// asked to close them.
///
/// It has to be used within a tokio runtime that drives input and output and time; a connection ends with its runtime, and the
/// next call makes a new one.
pub struct Connections {
    servers: McpServers,
    means: Means,
    slots: Mutex<HashMap<String, Arc<Slot>>>,
}

/// What connections are made with.
#[derive(Clone)]
struct Means {
    environment: Arc<BTreeMap<OsString, OsString>>,
    client: Client,
    listener: Option<McpListener>,
}

/// The place of one server's connection. The lock is held by the call that waits for it, so that it is made once.
type Slot = tokio::sync::Mutex<Place>;

#[derive(Default)]
struct Place {
    connection: Option<Arc<Connection>>,
    starting: Option<Starting>,
}

/// A connection that is being made, beside the calls that wait for it. It ends when this is dropped.
struct Starting {
    task: JoinHandle<Result<Connection, McpError>>,
    words: Arc<Words>,
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How long a server may take to start at most, however many calls have given up on it.
const LONGEST_START: Duration = Duration::from_secs(30);

impl Connections {
    /// Connections to these servers. `environment` is what those that are started inherit.
    pub fn new(environment: BTreeMap<OsString, OsString>, servers: McpServers) -> Connections {
        let means = Means { environment: Arc::new(environment), client: Client::new(), listener: None };
        Connections { servers, means, slots: Mutex::default() }
    }

    /// Tells this listener what servers say of their own accord.
    #[must_use]
    pub fn listener(mut self, listener: McpListener) -> Connections {
        self.means.listener = Some(listener);
        self
    }

    fn server(&self, name: &str) -> Result<&McpServer, McpError> {
        let servers = &self.servers;
        match servers.get(name) {
            Some(Ok(server)) => Ok(server),
            Some(Err(why)) => {
                let message = format!("the MCP server {name:?} cannot be used: {why}");
                Err(McpError::new(FailureKind::Spawn, message))
            }
            None => {
                let known: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
                let note = match known.is_empty() {
                    true => "no MCP server is configured".to_owned(),
                    false => format!("the configured servers are {}", known.join(", ")),
                };
                let message = format!("there is no MCP server {name:?}");
                Err(McpError { kind: FailureKind::Spawn, message, notes: vec![note] })
            }
        }
    }

    fn slot(&self, name: &str) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        match slots.get(name) {
            Some(slot) => slot.clone(),
            None => slots.entry(name.to_owned()).or_default().clone(),
        }
    }

    /// The connection of a server and whether it was there before. `spent` is one that turned out to be of no use.
    async fn connection(
        &self,
        server: &McpServer,
        spent: Option<&Arc<Connection>>,
        budget: Budget,
    ) -> Result<(Arc<Connection>, bool), McpError> {
        let slot = self.slot(&server.name);
        let mut place =
            timeout_at(budget.deadline, slot.lock()).await.map_err(|_| budget.starting(server))?;
        if let Some(known) = &place.connection
            && known.is_alive()
            && !spent.is_some_and(|spent| Arc::ptr_eq(spent, known))
        {
            return Ok((known.clone(), true));
        }
        place.connection = None;
        let mut starting = place.starting.take().unwrap_or_else(|| self.means.start(server));
        match timeout_at(budget.deadline, &mut starting.task).await {
            Ok(Ok(made)) => {
                let made = Arc::new(made?);
                place.connection = Some(made.clone());
                Ok((made, false))
            }
            Ok(Err(error)) => {
                let message = format!("the MCP server {:?} cannot be started: {error}", server.name);
                Err(McpError::new(FailureKind::Spawn, message))
            }
            Err(_) => {
                let notes = starting.words.notes(WORDS_GRACE).await;
                // It may be ready for the next call.
                place.starting = Some(starting);
                Err(McpError { notes, ..budget.starting(server) })
            }
        }
    }

    /// Makes room for a new connection: the next call does not get one that has just failed. Calls on their way keep it.
    fn forget(&self, spent: &Arc<Connection>, server: &McpServer) {
        let slot = self.slot(&server.name);
        // Somebody who holds the place makes a new one already.
        if let Ok(mut place) = slot.try_lock() {
            place.connection.take_if(|known| Arc::ptr_eq(known, spent));
        }
    }
}

impl Means {
    /// Begins to connect.
    fn start(&self, server: &McpServer) -> Starting {
        let words = Words::new();
        let (means, server, heard) = (self.clone(), server.clone(), words.clone());
        let task = tokio::spawn(async move {
            let made = timeout(LONGEST_START, means.connect(&server, heard.clone())).await;
            made.unwrap_or_else(|_| {
                heard.stop();
                let (name, seconds) = (&server.name, LONGEST_START.as_secs());
                let message = format!("the MCP server {name:?} was not ready within {seconds}s");
                Err(McpError::new(FailureKind::Timeout, message))
            })
        });
        Starting { task, words }
    }

    async fn connect(&self, server: &McpServer, words: Arc<Words>) -> Result<Connection, McpError> {
        let heard = Heard::new(&server.name, self.listener.clone());
        match &server.transport {
            McpTransport::Stdio { command, args, environment } => {
                let program =
                    stdio::Program { command, args, own: environment, inherited: &self.environment };
                stdio::connect(server, &program, heard, words).await
            }
            McpTransport::Http { url, headers } => {
                http::connect(&self.client, server, url, headers, heard, words).await
            }
            _ => {
                let message =
                    format!("the MCP server {:?} is reached in a way nobody knows here", server.name);
                Err(McpError::new(FailureKind::Spawn, message))
            }
        }
    }
}

/// The time of one call.
#[derive(Clone, Copy)]
struct Budget {
    whole: Duration,
    deadline: Instant,
}

impl Budget {
    fn starting(self, server: &McpServer) -> McpError {
        let (name, seconds) = (&server.name, self.whole.as_secs_f64());
        let message = format!("the MCP server {name:?} was not ready within {seconds}s");
        McpError::new(FailureKind::Timeout, message)
    }

    fn asking(self, server: &McpServer, tool: &str, notes: Vec<String>) -> McpError {
        let (name, seconds) = (&server.name, self.whole.as_secs_f64());
        let message =
            format!("the tool {tool:?} of the MCP server {name:?} did not answer within {seconds}s");
        McpError { kind: FailureKind::Timeout, message, notes }
    }
}

#[async_trait]
impl McpClients for Connections {
    async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        timeout: Duration,
    ) -> Result<McpResult, McpError> {
        let budget = Budget { whole: timeout, deadline: Instant::now() + timeout };
        let server = self.server(server)?;
        let mut spent = None;
        loop {
            let (connection, reused) = self.connection(server, spent.as_ref(), budget).await?;
            match timeout_at(budget.deadline, connection.call(tool, arguments.clone())).await {
                Ok(Ok(result)) => return Ok(result),
                Ok(Err(failed)) if failed.unseen && reused => spent = Some(connection),
                Ok(Err(failed)) => {
                    if failed.error.kind == FailureKind::Unreachable {
                        self.forget(&connection, server);
                    }
                    return Err(failed.error);
                }
                Err(_) => return Err(budget.asking(server, tool, connection.notes().await)),
            }
        }
    }

    async fn close(&self) {
        let slots: Vec<Arc<Slot>> = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.drain().map(|(_, slot)| slot).collect()
        };
        let closing = slots.iter().map(|slot| async {
            // One that somebody waits for just now ends with the call that waits.
            let Ok(mut place) = slot.try_lock() else { return };
            if let Some(mut starting) = place.starting.take() {
                starting.task.abort();
                // Its process is killed when the task is.
                let _ = (&mut starting.task).await;
            }
            if let Some(connection) = place.connection.take() {
                connection.close().await;
            }
        });
        join_all(closing).await;
    }
}

//! Servers to call, and a look at their processes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hook_engine::core::{Layer, McpClients, McpError, McpResult, McpServer, McpServers, McpTransport};
use hook_engine::exec_mcp::Connections;
use serde_json::{Map, Value};

/// Long enough for a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// A directory with a log in which servers write the numbers of their processes.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The arguments of a server that writes the log.
    pub(crate) fn words(&self, words: &[&str]) -> Vec<String> {
        let log = ["--log".to_owned(), self.path("log").to_str().unwrap().to_owned()];
        log.into_iter().chain(words.iter().map(|word| (*word).to_owned())).collect()
    }

    /// The processes in the log.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines().map(|line| line.parse().unwrap()).collect()
    }

    pub(crate) fn program(&self, command: &str, args: Vec<String>) -> McpServer {
        let environment = vec![("OWN".to_owned(), "own value".to_owned())];
        self.server(McpTransport::Stdio { command: command.to_owned(), args, environment })
    }

    pub(crate) fn server(&self, transport: McpTransport) -> McpServer {
        let (name, directory) = ("test".to_owned(), self.directory.path().canonicalize().unwrap());
        McpServer { name, transport, layer: Layer::Project, location: None, directory }
    }

    /// Connections to the test server, started with these words.
    pub(crate) fn connections(&self, words: &[&str]) -> Connections {
        connections(self.program(SERVER, self.words(words)))
    }

    /// Connections to what a shell makes of these lines; `$LOG` is the log.
    pub(crate) fn script(&self, lines: &str) -> Connections {
        let log = self.path("log");
        let lines = format!("echo $$ >> '{}'\n{lines}", log.display());
        connections(self.program("sh", vec!["-c".into(), lines]))
    }
}

/// The server's program.
pub(crate) const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server");

pub(crate) fn connections(server: McpServer) -> Connections {
    let mut servers = McpServers::new();
    assert!(servers.add(server));
    servers.add_broken("broken", "it has no \"command\", at /p/.mcp.json:1:2");
    Connections::new(environment(), servers)
}

pub(crate) fn environment() -> BTreeMap<OsString, OsString> {
    BTreeMap::from([("PATH".into(), std::env::var_os("PATH").unwrap())])
}

pub(crate) fn arguments(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("{value}") };
    members
}

/// Calls a tool of the one server.
pub(crate) async fn call(clients: &Connections, tool: &str, value: Value) -> Result<McpResult, McpError> {
    clients.call("test", tool, arguments(value), LONG).await
}

pub(crate) async fn text(clients: &Connections, tool: &str, value: Value) -> String {
    call(clients, tool, value).await.unwrap().text
}

/// Asserts that these processes are gone, reaped and all, or go within a few seconds.
#[track_caller]
pub(crate) fn gone(processes: &[u32]) {
    let began = Instant::now();
    for process in processes {
        let entry = PathBuf::from(format!("/proc/{process}"));
        while entry.exists() {
            assert!(began.elapsed() < Duration::from_secs(10), "process {process} is still there");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

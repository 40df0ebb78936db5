//! A server for the tests and the bench of mcp hooks, over standard input and output or, with `--listen`, over streamable HTTP
//! on a port of loopback that it prints.
//!
//! | word | what it does |
//! |---|---|
//! | `--log FILE` | writes the numbers of its processes there, one a line |
//! | `--slow MS` | waits before it answers the first time |
//! | `--flood` | never stops writing to its standard error |
//! | `--child` | starts a process that holds its pipes and outlives it |
//! | `--port N` | listens on this port |

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program for tests, which looks at its world and says its port"
)]

use std::io::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomNotification,
    ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig,
    ServerNotification,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

#[derive(Clone)]
struct Server;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = Value::Object(request.arguments.unwrap_or_default());
        let number = |name: &str| given[name].as_u64().unwrap_or_default();
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let result = match request.name.as_ref() {
            "echo" => text(given.to_string()),
            // A guard: denies commands that remove something.
            "judge" => match given["command"].as_str().unwrap_or_default().contains("rm ") {
                true => text(json!({"decision": "block", "reason": "nothing is removed here"}).to_string()),
                false => text("{}".to_owned()),
            },
            // A policy: nothing outside of `/work` is written.
            "evaluate_write" => match given["path"].as_str().unwrap_or_default().starts_with("/work/") {
                true => text(json!({"decision": "allow"}).to_string()),
                false => {
                    let reason =
                        format!("{} may not write there", given["invoker"].as_str().unwrap_or_default());
                    text(json!({"decision": "deny", "reason": reason}).to_string())
                }
            },
            // Somebody decides, in a file; until then nobody has.
            "request_human_approval" => {
                let file = std::env::var("DECISION_FILE").unwrap_or_default();
                match std::fs::read_to_string(file).unwrap_or_default().trim() {
                    "approved" => text(json!({"decision": "allow"}).to_string()),
                    "" => text(json!({"decision": "deny", "reason": "awaiting approval"}).to_string()),
                    no => text(json!({"decision": "deny", "reason": format!("refused: {no}")}).to_string()),
                }
            }
            // Tells something of its own accord: `method`, `params`.
            "notify" => {
                let method = given["method"].as_str().unwrap_or_default();
                let told = notification(method, &given["params"]);
                context
                    .peer
                    .send_notification(told)
                    .await
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                text("{}".to_owned())
            }
            "pid" => text(std::process::id().to_string()),
            "variable" => text(std::env::var(given["name"].as_str().unwrap_or_default()).unwrap_or_default()),
            "directory" => {
                text(std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default())
            }
            "parts" => CallToolResult::success(vec![
                ContentBlock::text("one"),
                ContentBlock::image("aGk=", "image/png"),
                ContentBlock::text("two"),
            ]),
            "structured" => {
                let mut result =
                    CallToolResult::structured(json!({"decision": "deny", "reason": "structured"}));
                result.content.clear();
                result
            }
            "fail" => CallToolResult::error(vec![ContentBlock::text("no disk")]),
            "large" => text("x".repeat(usize::try_from(number("bytes")).unwrap_or_default())),
            "sleep" => {
                tokio::time::sleep(Duration::from_millis(number("ms"))).await;
                text("slept".to_owned())
            }
            "die" => std::process::exit(7),
            name => return Err(ErrorData::invalid_params(format!("no tool {name:?}"), None)),
        };
        Ok(CallToolResponse::Complete(result))
    }
}

/// A notification of this method.
fn notification(method: &str, params: &Value) -> ServerNotification {
    match method {
        "notifications/resources/updated" => {
            let uri = params["uri"].as_str().unwrap_or_default();
            let params = ResourceUpdatedNotificationParam::new(uri);
            ServerNotification::ResourceUpdatedNotification(ResourceUpdatedNotification::new(params))
        }
        "notifications/resources/list_changed" => {
            ServerNotification::ResourceListChangedNotification(Default::default())
        }
        "notifications/tools/list_changed" => {
            ServerNotification::ToolListChangedNotification(Default::default())
        }
        "notifications/prompts/list_changed" => {
            ServerNotification::PromptListChangedNotification(Default::default())
        }
        _ => ServerNotification::CustomNotification(CustomNotification::new(method, Some(params.clone()))),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|own| own == word);
    let after = |word: &str| words.iter().skip_while(|own| *own != word).nth(1).cloned();
    let log = |number: u32| -> std::io::Result<()> {
        let Some(file) = after("--log") else { return Ok(()) };
        let mut log = std::fs::OpenOptions::new().append(true).create(true).open(file)?;
        log.write_all(format!("{number}\n").as_bytes())
    };
    log(std::process::id())?;
    if has("--child") {
        log(Command::new("sleep").arg("1000").spawn()?.id())?;
    }
    if has("--flood") {
        std::thread::spawn(|| {
            let mut stderr = std::io::stderr();
            while stderr.write_all(b"still here, and still talking\n").is_ok() {}
        });
    }
    if let Some(slow) = after("--slow") {
        std::thread::sleep(Duration::from_millis(slow.parse()?));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if has("--listen") {
        return runtime.block_on(listen(after("--port").map_or(Ok(0), |port| port.parse())?));
    }
    runtime.block_on(async {
        Server.serve(rmcp::transport::stdio()).await?.waiting().await?;
        // The reader of the standard input is a thread that cannot be joined.
        std::process::exit(0)
    })
}

async fn listen(port: u16) -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("{}", listener.local_addr()?.port());
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Server), sessions, StreamableHttpServerConfig::default());
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let server = auto::Builder::new(hyper_util::rt::TokioExecutor::new());
            // A client that goes away is no event here.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

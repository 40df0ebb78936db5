//! One hook engine for every coding agent: the facade.
//!
//! [`Engine`] takes events of any agent, runs the hooks that somebody wrote for them in any dialect, and gives the reply in
//! the agent's own words. Everything behind it is a trait object that a host may replace: executors, the session store, the
//! trust gate, observers, dialects. The parts are re-exported as modules, so that one dependency is enough.
//!
//! # Embedding
//!
//! ```
//! use hook_engine::core::{Answer, EventHint, EventKind, HostContext, Payload, ReplyPolicy};
//! use hook_engine::Engine;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::builder(HostContext::new("/work/project")).build();
//! engine.register(EventKind::PreToolUse, Some("Bash"), "no-force-push", |event| {
//!     let command = event.tool.as_ref().and_then(|tool| tool.input["command"].as_str());
//!     match command {
//!         Some(command) if command.contains("push --force") => Answer::deny("force pushes are not allowed here"),
//!         _ => Answer::default(),
//!     }
//! });
//!
//! let agent = engine.dialects().find("claude").ok_or("no such agent")?.clone();
//! let payload = Payload::parse(
//!     r#"{"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/work/project",
//!         "tool_name": "Bash", "tool_input": {"command": "git push --force"}}"#,
//! )?;
//! let incoming = agent.read(payload, &EventHint::default())?;
//! let outcome = engine.dispatch(&incoming).await;
//! let reply = engine.reply(agent.profile().id, &incoming, &outcome, &ReplyPolicy::default());
//! assert!(reply.stdout.contains("force pushes are not allowed here"));
//! # Ok(())
//! # }
//! ```

mod background;
mod builder;
mod chain;
mod code;
mod engine;
mod environment;
mod explain;
mod hearing;
mod hold;
mod passing;
pub mod redact;
mod reload;
mod rewakes;
mod skills;
mod spill;
mod tool_call;
mod turn;
mod waking;

pub use background::BackgroundMode;
pub use builder::EngineBuilder;
pub use chain::nobody_runs;
pub use code::Registration;
pub use engine::Engine;
pub use explain::{Explained, Hurdle};
pub use reload::{Reload, Watching};
pub use tool_call::{ToolCallOutcome, ToolEnd, ToolRequest};

pub use hook_config as config;
pub use hook_core as core;
pub use hook_exec as exec;
pub use hook_exec_command as exec_command;
pub use hook_exec_http as exec_http;
pub use hook_exec_mcp as exec_mcp;
pub use hook_exec_prompt as exec_prompt;
pub use hook_http as http;
pub use hook_mapper as mapper;
pub use hook_matcher as matcher;
pub use hook_registry as registry;
pub use hook_rewake as rewake;
pub use hook_state as state;

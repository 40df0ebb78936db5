//! MCP hooks: a call of a tool of a server.
//!
//! [`McpExecutor`] fills in the arguments of the hook, calls the tool through an [`McpClients`](hook_core::McpClients) and gives
//! back what it said; reading an answer out of it is the work of the hook's dialect. [`Connections`] is the standard
//! `McpClients`: it starts the servers that people wrote down, or connects to them, and promises:
//!
//! - **One connection per server.** It is made by the first call that needs it and used by all that follow; calls that come
//!   while it is being made wait for it. A server that died since the last call is started anew, once; a call that was on its
//!   way when it died fails and is not made twice, since the tool may have done its work.
//! - **An answer in time.** Start, handshake and call share the call's budget, and so does the waiting for somebody else's start.
//! - **Nothing left behind.** A started server leads a process group of its own. It ends with its engine: its input is closed,
//!   and what does not end by that is asked to (`SIGTERM`) and made to (`SIGKILL`), the whole group of it. So it goes for what a
//!   server leaves running when it dies.
//! - **Bounded memory.** Lines and bodies of more than 16 MiB are dropped, and of a text 1 MiB is kept.
//! - **Words for failures.** The standard error of a server never reaches ours; its last lines, and what it wrote to its standard
//!   output that is no message, stand in the notes of a failure.
//!
//! - **A start goes on.** A server that needs longer to start than the call may take is left to it, for half a minute at most, and the
//!   next call finds it ready.
//! - **Events.** What servers tell of their own accord goes to a listener.
//!
//! This is the one crate that knows the MCP library.

mod connection;
mod connections;
mod executor;
mod http;
mod notifications;
mod stdio;
mod words;

pub use connections::Connections;
pub use executor::McpExecutor;

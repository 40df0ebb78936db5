//! What must outlive one process.
//!
//! Every event of a cold agent is a process of its own; what a session remembers between two of them stands in files:
//! [`FileSessions`] keeps one small JSON document per session under a lock, and the session's env file beside it.
//! [`MemorySessions`] is the same for an engine that lives as long as its sessions. [`env_file`] reads what hooks leave for
//! later hooks.

mod directory;
pub mod env_file;
mod files;
mod memory;
mod name;

pub use directory::make_directory;
pub use files::{FileSessions, MAX_AGE};
pub use memory::MemorySessions;

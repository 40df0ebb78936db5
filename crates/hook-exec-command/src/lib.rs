//! Command hooks: processes that never hang, leak or lose an answer.
//!
//! [`CommandExecutor`] starts one process per run and promises:
//!
//! - **An answer in time.** Start, input, output and exit share one deadline; the answer is there within 500 ms of it, whatever
//!   children and pipes do.
//! - **Nothing left behind.** The process leads a group of its own. At the deadline the group is asked to end (`SIGTERM`), then
//!   made to (`SIGKILL`), before its leader is reaped, so that the number cannot belong to somebody else by then. On Linux this
//!   includes descendants that made a group of their own, as `timeout` does. A dropped future kills the group and reaps its
//!   leader too.
//! - **Bounded memory.** At most 1 MiB of each stream is kept; the rest is read, counted and dropped.
//! - **No surprise by input.** It is written while output is read; a process that does not read it is fine.
//! - **Words for failures.** A missing script, a missing run bit, CRLF line ends or a missing interpreter end as the platform ends
//!   them, with a note that names the cause.
//!
//! # Known limits
//!
//! A child that starts a session of its own (`setsid`) is out of reach; when it holds the pipes, the answer is given 250 ms after
//! the leader's exit and a note says so. What a hook leaves in the background when it exits by itself goes on. Process groups are a Unix notion: the crate builds on Unix.

mod capture;
mod command;
mod hints;
mod place;
mod runner;
mod words;

pub use command::CommandExecutor;

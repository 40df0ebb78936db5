//! Bounds that every executor keeps.

use std::time::Duration;

/// Bytes kept of one output stream; the rest is read, counted and dropped.
pub const MAX_STREAM: usize = 1024 * 1024;

/// How long pipes may stay open after the process that was started has exited.
pub const PIPE_GRACE: Duration = Duration::from_millis(250);

/// How long a process group has between the request to end and the end.
pub const TERM_GRACE: Duration = Duration::from_millis(120);

/// How long a start is tried again while the script's file is still being written by somebody ("text file busy").
pub const BUSY_RETRY: Duration = Duration::from_millis(200);

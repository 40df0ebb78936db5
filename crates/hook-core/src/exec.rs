//! Between the engine and what runs a hook.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

use crate::answer::{Answer, Note};
use crate::hook::HandlerKind;
use crate::http::{HttpRules, TemplateValues};
use crate::mcp::ArgumentRule;
use crate::model::Asking;
use crate::session::HookCx;

/// Why a hook failed. These are the keys of an `onFailure` table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FailureKind {
    /// It could not be started.
    Spawn,
    /// Its time was up.
    Timeout,
    /// A signal ended it.
    Signal,
    /// It exited with a code, or its server answered with a status, that means failure in its dialect.
    Exit,
    /// Its answer could not be read.
    Parse,
    /// It said more than is kept.
    Oversize,
    /// A server or a model could not be reached, or refused.
    Unreachable,
}

impl FailureKind {
    /// Every kind.
    pub const ALL: &'static [FailureKind] = &[
        FailureKind::Spawn,
        FailureKind::Timeout,
        FailureKind::Signal,
        FailureKind::Exit,
        FailureKind::Parse,
        FailureKind::Oversize,
        FailureKind::Unreachable,
    ];

    /// The key in an `onFailure` table.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Spawn => "spawn",
            FailureKind::Timeout => "timeout",
            FailureKind::Signal => "signal",
            FailureKind::Exit => "exit",
            FailureKind::Parse => "parse",
            FailureKind::Oversize => "oversize",
            FailureKind::Unreachable => "unreachable",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<FailureKind> {
        FailureKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// One output stream of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stream {
    /// What was kept, decoded once at the end; bytes that are no UTF-8 became replacement characters.
    pub text: String,
    /// Bytes that were read and not kept.
    pub dropped: u64,
    /// Some bytes were no UTF-8.
    pub lossy: bool,
}

impl Stream {
    /// A stream that holds this text.
    pub fn new(text: impl Into<String>) -> Stream {
        Stream { text: text.into(), dropped: 0, lossy: false }
    }
}

/// What a process left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutput {
    /// How it ended.
    pub exit: Exit,
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
    /// Remarks of the runner (pipes still held by a child, a script without `#!`, …).
    pub notes: Vec<Note>,
}

impl ProcessOutput {
    /// An output without remarks.
    pub fn new(exit: Exit, stdout: impl Into<String>, stderr: impl Into<String>) -> ProcessOutput {
        ProcessOutput { exit, stdout: Stream::new(stdout), stderr: Stream::new(stderr), notes: Vec::new() }
    }
}

/// A run without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerFailure {
    /// What kind.
    pub kind: FailureKind,
    /// What happened, for people, without a full stop.
    pub message: String,
    /// Remarks: the cause, what to do.
    pub notes: Vec<Note>,
}

/// What a handler gave back.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HandlerOutput {
    /// A process exited.
    Process(ProcessOutput),
    /// A server answered.
    Http {
        /// The status code.
        status: u16,
        /// The body.
        body: Stream,
        /// Remarks of the runner (a variable that was not allowed, a redirect, …).
        notes: Vec<Note>,
    },
    /// A model answered, or an agent came back with a verdict.
    Model {
        /// The text as it came; never blank.
        reply: String,
    },
    /// A tool of an MCP server gave a result ("Model Context Protocol, Tools, Tool Result").
    Mcp {
        /// The text of its content, part by part, joined by line breaks.
        text: Stream,
        /// Its structured content, where it gave any.
        structured: Option<Value>,
        /// The tool says that it failed.
        is_error: bool,
        /// Remarks of the runner.
        notes: Vec<Note>,
    },
    /// A closure of the host answered; no dialect has to read it.
    Answer(Answer),
    /// There is no output.
    Failure(HandlerFailure),
}

/// Everything an executor needs for one run, made by the engine from the hook's dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The document for standard input, or the body; for a prompt the text for the model, placeholders filled in.
    pub input: Vec<u8>,
    /// How the hook's dialect asks a model.
    pub asking: Asking,
    /// How the hook's dialect sends requests.
    pub http: HttpRules,
    /// How the hook's dialect names values in the arguments of a tool.
    pub arguments: ArgumentRule,
    /// What templates may name; filled in for handlers that have some.
    pub template: TemplateValues,
    /// The whole environment of a process: nothing else is inherited. Names are unique.
    pub environment: Vec<(OsString, OsString)>,
    /// Placeholders (`${CLAUDE_PLUGIN_ROOT}`) and their values; the exec form substitutes them, the shell form has them in
    /// its environment.
    pub placeholders: Vec<(String, String)>,
    /// A command, in words of the shell, that gets a shell line as its one argument instead of the line being run.
    pub shell_prefix: Option<String>,
    /// The working directory.
    pub directory: PathBuf,
    /// The budget of the run: start, input, output and exit. Never zero.
    pub timeout: Duration,
}

/// Runs handlers of one kind.
///
/// An executor answers within 500 ms of `call.timeout`, never panics on what a hook does, and leaves nothing running when
/// its future is dropped. It may assume a tokio runtime.
#[async_trait]
pub trait Executor: Send + Sync {
    /// The kind it runs.
    fn kind(&self) -> HandlerKind;

    /// Runs the hook once.
    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput;

    /// Ends what it keeps between runs (a started server, say), in bounded time. Later runs start it anew.
    async fn close(&self) {}
}

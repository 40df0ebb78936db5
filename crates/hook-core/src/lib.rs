//! The vocabulary of hook-engine.
//!
//! Everything that two crates must both name lives here: what happened ([`Event`]), what somebody wrote down for it
//! ([`Document`], [`Binding`], [`Hook`]), what one hook said ([`Answer`]), what all of them decided ([`Outcome`]), in which
//! order they run ([`Plan`]) and how their answers are joined ([`fold`](mod@fold)). Beside the data stand the traits that the
//! facade wires as objects: [`Dialect`], [`Executor`], [`LanguageModel`], [`AgentRunner`], [`McpClients`], [`SessionStore`], [`Files`], [`Clock`], [`Gate`], [`Observer`].
//!
//! The crate holds data and rules on data. It reads no file, starts no process and has no runtime.
//!
//! # Reading order
//!
//! 1. [`event`]: the neutral form of something that happened in an agent.
//! 2. [`hook`]: a handler with its event, matcher and origin.
//! 3. [`answer`] and [`mod@fold`]: what hooks say and how it is joined, with the algebra as a table.
//! 4. [`dialect`]: the one trait an agent has to implement.

pub mod agent;
pub mod answer;
pub mod ask;
pub mod condition;
pub mod diagnostic;
pub mod dialect;
pub mod event;
pub mod exec;
pub mod files;
pub mod fold;
pub mod grants;
pub mod hook;
pub mod host;
pub mod http;
pub mod mcp;
pub mod model;
pub mod outcome;
pub mod plan;
pub mod rewake;
pub mod seams;
pub mod session;

pub use agent::{AGENT_TURNS, AgentRequest, AgentRunner};
pub use answer::{Answer, Audience, Decision, Effect, Level, Note, Reading, Status, StdoutForm};
pub use ask::{AskAnswer, AskHandler};
pub use condition::{Condition, ConditionSpec, Verdict};
pub use diagnostic::{Code, Diagnostic, Label, Location, Severity, Source, Span};
pub use dialect::{
    Capabilities, Dialect, EngineFailure, EventHint, EventRow, FailureStage, Flavour, Net, OnceRule, Profile,
    ReadError, Reply, ReplyPolicy, StopCap, Subject, TextCap, ToolRow,
};
pub use event::{Control, ControlMessage, Event, EventKind, Incoming, Payload, SessionInfo, ToolCall};
pub use exec::{Call, Executor, Exit, FailureKind, HandlerFailure, HandlerOutput, ProcessOutput, Stream};
pub use files::{EntryKind, FileEntry, Files, MemoryFiles};
pub use grants::{Grants, HttpPolicy, PrivateAddresses};
pub use hook::{
    Binding, CommandHandler, DialectId, Document, FailMode, Handler, HandlerKind, Hook, HookId, Layer,
    Limits, MatcherSpec, McpHandler, OnFailure, Origin, PromptHandler, Scope, Shell,
};
pub use host::{Clock, HostContext, ManualClock, SystemClock};
pub use http::{
    BodyTemplate, HttpHandler, HttpMethod, HttpRules, TemplateValues, VariableSyntax, is_reserved_header,
};
pub use mcp::{
    ArgumentRule, McpClients, McpError, McpEvent, McpListener, McpResult, McpServer, McpServers, McpTransport,
};
pub use model::{Asking, LanguageModel, ModelError, ModelProvider, ModelRequest, ModelSettings};
pub use outcome::{Outcome, Run};
pub use plan::{Budget, Candidate, FoldRule, Group, InputRule, Order, Plan, Skip, Stage, StopRule};
pub use rewake::{RewakeMissed, RewakeSpec, RewakeTrigger, Wake};
pub use seams::{Gate, Observer, TrustAll};
pub use session::{
    Held, HeldVerdict, HookCx, Letter, LoadedSkill, SessionState, SessionStore, SessionView, Skills,
    StoreError,
};

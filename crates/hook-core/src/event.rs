//! What happened in an agent, in neutral form.
//!
//! The neutral vocabulary is Claude Code's ("Claude Code hooks reference, Hook lifecycle"), because it is the largest one
//! in the field; AIMON's turn and reload events stand beside it. What no neutral event equals keeps its own name in
//! [`EventKind::Other`], prefixed with the agent, so that a hook can still name it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::hook::DialectId;
use crate::rewake::Wake;

macro_rules! event_kinds {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A neutral event.
        ///
        /// Names are those of the Claude Code hooks reference; `TurnStart` and `ConfigReload` come from the AIMON guide.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum EventKind {
            $($(#[$doc])* $name,)*
            /// An event without a neutral equal, as `agent:NativeName`.
            Other(Arc<str>),
        }

        impl EventKind {
            /// Every named kind, in the order of the reference. `Other` is not among them.
            pub const ALL: &'static [EventKind] = &[$(EventKind::$name,)*];

            /// The neutral name, `PreToolUse` for instance.
            pub fn name(&self) -> &str {
                match self {
                    $(EventKind::$name => stringify!($name),)*
                    EventKind::Other(name) => name,
                }
            }

            /// The kind with exactly this name; a name that is not known is [`EventKind::Other`].
            pub fn from_name(name: &str) -> EventKind {
                match name {
                    $(stringify!($name) => EventKind::$name,)*
                    other => EventKind::Other(Arc::from(other)),
                }
            }
        }
    };
}

event_kinds! {
    /// A session began, was resumed, cleared, compacted or forked.
    SessionStart,
    /// One-time preparation of a project.
    Setup,
    /// An instruction file entered the context.
    InstructionsLoaded,
    /// The user sent a prompt.
    UserPromptSubmit,
    /// A typed command is about to expand.
    UserPromptExpansion,
    /// A piece of an assistant message is about to be shown.
    MessageDisplay,
    /// A tool is about to run.
    PreToolUse,
    /// A permission prompt is about to be shown.
    PermissionRequest,
    /// A call was refused without asking.
    PermissionDenied,
    /// A tool ran.
    PostToolUse,
    /// A tool failed.
    PostToolUseFailure,
    /// All calls of a batch are done.
    PostToolBatch,
    /// The agent wants the user's attention.
    Notification,
    /// A subagent starts.
    SubagentStart,
    /// A subagent is about to stop.
    SubagentStop,
    /// A task was created.
    TaskCreated,
    /// A task is about to be completed.
    TaskCompleted,
    /// The agent is about to end its turn.
    Stop,
    /// The turn ended on an error of the model's service.
    StopFailure,
    /// A teammate is about to idle.
    TeammateIdle,
    /// A configuration file changed.
    ConfigChange,
    /// The working directory changed.
    CwdChanged,
    /// A directory was added to the session.
    DirectoryAdded,
    /// A watched file changed.
    FileChanged,
    /// A worktree is about to be created.
    WorktreeCreate,
    /// A worktree is about to be removed.
    WorktreeRemove,
    /// The context is about to be compacted.
    PreCompact,
    /// The context was compacted.
    PostCompact,
    /// The model is about to be switched.
    PreModelSwitch,
    /// The model was switched.
    PostModelSwitch,
    /// The session ends.
    SessionEnd,
    /// An MCP server asks the user something.
    Elicitation,
    /// The user answered an MCP server.
    ElicitationResult,
    /// A turn begins (AIMON).
    TurnStart,
    /// The hook files were read anew (AIMON).
    ConfigReload,
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A payload as an agent sent it.
///
/// `text` is kept byte for byte: a hook of the agent's own dialect gets exactly what the agent wrote, unknown fields and
/// large numbers included.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload {
    /// The JSON text, without a byte order mark and without surrounding blanks.
    pub text: String,
    /// The same, parsed.
    pub value: Value,
}

impl Payload {
    /// A payload made from a value: its text is the value's compact form.
    pub fn from_value(value: Value) -> Payload {
        Payload { text: value.to_string(), value }
    }

    /// Parses a payload; leading byte order marks (one or two, as some agents on Windows send them) are dropped.
    ///
    /// # Errors
    /// The JSON error, with line and column.
    pub fn parse(text: &str) -> Result<Payload, serde_json::Error> {
        let text = text.trim_start_matches('\u{feff}').trim();
        let value = serde_json::from_str(text)?;
        Ok(Payload { text: text.to_owned(), value })
    }

    /// The member of a payload that is an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key)
    }
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The agent's own name of the tool (`bash`).
    pub native_name: String,
    /// The neutral name, Claude Code's (`Bash`); the native one where no neutral name is known.
    pub name: String,
    /// The input as the agent wrote it.
    pub native_input: Value,
    /// The input with neutral key names.
    pub input: Value,
    /// The agent's id of the call.
    pub use_id: Option<String>,
    /// The result, on events after the call.
    pub response: Option<Value>,
}

/// What is known of the session an event belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionInfo {
    /// The agent's session id.
    pub id: Option<String>,
    /// The session's current directory.
    pub cwd: Option<PathBuf>,
    /// Path of the transcript.
    pub transcript: Option<String>,
    /// Id of the subagent the event comes from.
    pub agent_id: Option<String>,
    /// Name of that subagent.
    pub agent_type: Option<String>,
    /// The permission mode (`default`, `plan`, …).
    pub permission_mode: Option<String>,
    /// The prompt in progress.
    pub prompt_id: Option<String>,
    /// How hard the model thinks (`low`, `medium`, `high`, …).
    pub effort: Option<String>,
    /// A directory for scratch files.
    pub scratchpad: Option<PathBuf>,
}

/// Something that happened in an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The dialect of the agent that fired.
    pub dialect: DialectId,
    /// The agent's own name of the event (`tool:pre`).
    pub native_event: String,
    /// A sub-kind of the event where it has one: the source of a session start, the trigger of a compaction.
    pub variant: Option<String>,
    /// The tool call, on tool events.
    pub tool: Option<ToolCall>,
    /// Every name a matcher on tools may mean: native, neutral, aliases; without repeats. Empty on other events.
    pub match_names: Vec<String>,
    /// What matchers see on events without a tool; `None` where the event has no subject.
    pub subject: Option<String>,
    /// Files the event is about, as far as the payload names them.
    pub paths: Vec<PathBuf>,
    /// The session.
    pub session: SessionInfo,
    /// Every member of the payload under its neutral name, but those of `tool` and `session`; `prompt_id`, `effort` and
    /// `scratchpad_dir` stand here as well, since dialects pass on what they do not read.
    pub fields: Map<String, Value>,
    /// The payload as it came.
    pub raw: Arc<Payload>,
    /// True once a hook rewrote the tool input: `raw` no longer says what will happen.
    pub rewritten: bool,
    /// Events that carry the same key run once per turn, whichever comes first (Amplifier sends two at the end of a turn).
    pub once_per_turn: Option<&'static str>,
    /// Why it is fired once more, at one hook alone; `None` the first time.
    pub wake: Option<Arc<Wake>>,
}

impl Event {
    /// A bare event; everything but the four arguments is empty.
    pub fn new(
        kind: EventKind,
        dialect: DialectId,
        native_event: impl Into<String>,
        raw: Arc<Payload>,
    ) -> Event {
        Event {
            kind,
            dialect,
            native_event: native_event.into(),
            variant: None,
            tool: None,
            match_names: Vec::new(),
            subject: None,
            paths: Vec::new(),
            session: SessionInfo::default(),
            fields: Map::new(),
            raw,
            rewritten: false,
            once_per_turn: None,
            wake: None,
        }
    }

    /// The names or the subject a matcher is tested against, best first. An event without a subject gives nothing.
    pub fn match_values(&self) -> impl Iterator<Item = &str> {
        let names = self.match_names.iter().map(String::as_str);
        let subject = self.subject.as_deref().filter(|_| self.match_names.is_empty());
        names.chain(subject)
    }

    /// The same event with another tool input, as the next hook of a chain sees it. Without a tool: unchanged.
    pub fn with_input(&self, input: Value) -> Event {
        let mut next = self.clone();
        if let Some(tool) = next.tool.as_mut() {
            tool.native_input = input.clone();
            tool.input = input;
            next.rewritten = true;
        }
        next
    }
}

/// What one native payload becomes. One reply answers the fold of all events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Incoming {
    /// The events, in the order in which their hooks run. Empty for a payload that concerns no hook.
    pub events: Vec<Event>,
    /// A message to the engine itself.
    pub control: Option<Control>,
}

/// A message of an agent to the engine instead of to a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// The dialect of the agent that sent it.
    pub dialect: DialectId,
    /// The session it concerns.
    pub session: SessionInfo,
    /// What it says.
    pub message: ControlMessage,
}

/// What a [`Control`] says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ControlMessage {
    /// A skill was loaded: its hooks belong to the session from now on (Amplifier `skill:loaded`; a call of Claude Code's tool
    /// `Skill`).
    SkillLoaded {
        /// The skill's name.
        name: String,
        /// Its directory.
        directory: Option<PathBuf>,
        /// The `hooks` member, unread; null where the agent names the skill only, and its hooks stand in its file.
        hooks: Value,
    },
    /// A skill was unloaded (Amplifier `skill:unloaded`).
    SkillUnloaded {
        /// The skill's name.
        name: String,
    },
}

//! What somebody wrote down: documents, bindings, hooks, and where they stand.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::condition::ConditionSpec;
use crate::diagnostic::Location;
use crate::dialect::Flavour;
use crate::event::EventKind;
use crate::exec::FailureKind;
use crate::grants::Grants;
use crate::http::HttpHandler;
use crate::rewake::RewakeSpec;

/// The id of a dialect: `native`, `amplifier`, `claude`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct DialectId(pub &'static str);

impl DialectId {
    /// The engine's own dialect, a superset of the others.
    pub const NATIVE: DialectId = DialectId("native");
}

impl fmt::Display for DialectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Where a hook was written, by authority. The order of the variants is the order of dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Layer {
    /// By the machine's administrator.
    Managed,
    /// In code, through the facade.
    Code,
    /// In the user's home.
    User,
    /// In the project.
    Project,
    /// In the project, for one person.
    Local,
    /// In an installed pack or plugin.
    Pack,
    /// In the frontmatter of a skill.
    Skill,
    /// In the frontmatter of a subagent.
    Agent,
}

impl Layer {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Managed => "managed",
            Layer::Code => "code",
            Layer::User => "user",
            Layer::Project => "project",
            Layer::Local => "local",
            Layer::Pack => "pack",
            Layer::Skill => "skill",
            Layer::Agent => "agent",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The place a hook was written at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// The file; none for hooks registered in code.
    pub file: Option<Arc<Path>>,
    /// The directory that relative things of this source mean: of the hooks file, or the plugin's or skill's root.
    pub root: Option<Arc<Path>>,
    /// The name of the plugin, pack or skill, where it has one.
    pub source: Option<Arc<str>>,
    /// Number of the group within its event, from 0.
    pub entry: usize,
    /// Number of the handler within its group, from 0.
    pub handler: usize,
    /// Where the handler begins.
    pub location: Option<Location>,
    /// JSON pointer to the handler (`/hooks/PreToolUse/0/hooks/1`).
    pub pointer: String,
}

impl Origin {
    /// An origin in code: no file.
    pub fn code(entry: usize) -> Origin {
        Origin {
            layer: Layer::Code,
            file: None,
            root: None,
            source: None,
            entry,
            handler: 0,
            location: None,
            pointer: String::new(),
        }
    }
}

/// `file:line:col`, or `code`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.location, &self.file) {
            (Some(location), _) => location.fmt(f),
            (None, Some(file)) => file.display().fmt(f),
            (None, None) => f.write_str("code"),
        }
    }
}

/// The id of a hook: what its author gave, else derived from its content.
///
/// A derived id does not change when other hooks are inserted, moved or removed; a hook that is edited is another hook.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HookId(pub Arc<str>);

impl HookId {
    /// An id from its text.
    pub fn new(text: impl AsRef<str>) -> HookId {
        HookId(Arc::from(text.as_ref()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HookId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A matcher as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatcherSpec {
    /// The text; `None` where no matcher was written.
    pub text: Option<String>,
    /// The flavour it is read in.
    pub flavour: Flavour,
    /// Where the text stands.
    pub location: Option<Location>,
}

/// The shell a command line is given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Shell {
    /// `sh -c` (Claude Code's `"shell": "bash"` is this one too, as its client does).
    #[default]
    Sh,
    /// `bash -c`, where the agent's own rule is Bash.
    Bash,
    /// `pwsh -NoProfile -Command`.
    PowerShell,
}

impl Shell {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Shell::Sh => "sh",
            Shell::Bash => "bash",
            Shell::PowerShell => "powershell",
        }
    }
}

/// A command handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandHandler {
    /// A shell line, or with `args` an executable.
    pub command: String,
    /// Arguments; their presence, even empty, selects the exec form ("Claude Code hooks reference, Exec form and shell form").
    pub args: Option<Vec<String>>,
    /// The shell of the shell form.
    pub shell: Shell,
}

/// A handler that asks a model, or sends a subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptHandler {
    /// The text, as written: `$ARGUMENTS` stands for the event.
    pub prompt: String,
    /// The model the author wants; `None` leaves the choice to the host.
    pub model: Option<String>,
    /// A verdict that blocks does not end the turn; the model goes on with its reason ("Claude Code hooks reference,
    /// Prompt-based hooks: `continueOnBlock`").
    pub continue_on_block: bool,
}

/// A handler that calls a tool of an MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpHandler {
    /// The server, as the table of servers names it; one of a plugin is `plugin:<plugin>:<server>`.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// The arguments, as written: `${…}` in their texts stands for parts of the event, by the rule of the hook's dialect.
    pub input: Map<String, Value>,
    /// Variables of the environment that the arguments may name.
    pub allowed_env_vars: Vec<String>,
}

/// What a hook does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Handler {
    /// Starts a process.
    Command(CommandHandler),
    /// Sends a request to a URL.
    Http(HttpHandler),
    /// Calls a tool of an MCP server.
    Mcp(McpHandler),
    /// Asks a model for a verdict.
    Prompt(PromptHandler),
    /// Lets a subagent decide.
    Agent(PromptHandler),
    /// Refuses, always ("AIMON hook configuration guide, deny").
    Deny {
        /// Why; never blank.
        reason: String,
    },
    /// A closure of the host, registered through the facade under this name.
    Code {
        /// The name the host gave.
        name: String,
    },
    /// A type that no dialect knows; it is kept so that it can be listed and reported.
    Unknown {
        /// The `type` as written.
        kind: String,
    },
}

/// The kind of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum HandlerKind {
    /// `command`
    Command,
    /// `http`
    Http,
    /// `mcp`, Claude Code's `mcp_tool`
    Mcp,
    /// `prompt`
    Prompt,
    /// `agent`
    Agent,
    /// `deny`
    Deny,
    /// registered in code
    Code,
    /// not known
    Unknown,
}

impl HandlerKind {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            HandlerKind::Command => "command",
            HandlerKind::Http => "http",
            HandlerKind::Mcp => "mcp",
            HandlerKind::Prompt => "prompt",
            HandlerKind::Agent => "agent",
            HandlerKind::Deny => "deny",
            HandlerKind::Code => "code",
            HandlerKind::Unknown => "unknown",
        }
    }
}

impl Handler {
    /// The kind of the handler.
    pub fn kind(&self) -> HandlerKind {
        match self {
            Handler::Command(_) => HandlerKind::Command,
            Handler::Http(_) => HandlerKind::Http,
            Handler::Mcp(_) => HandlerKind::Mcp,
            Handler::Prompt(_) => HandlerKind::Prompt,
            Handler::Agent(_) => HandlerKind::Agent,
            Handler::Deny { .. } => HandlerKind::Deny,
            Handler::Code { .. } => HandlerKind::Code,
            Handler::Unknown { .. } => HandlerKind::Unknown,
        }
    }

    /// One line for people: the command line, method and URL, the start of the prompt.
    pub fn summary(&self) -> String {
        match self {
            Handler::Command(CommandHandler { command, args: None, .. }) => command.clone(),
            Handler::Command(CommandHandler { command, args: Some(args), .. }) => {
                std::iter::once(command).chain(args).map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            Handler::Http(http) => format!("{} {}", http.method, http.shown_url()),
            Handler::Mcp(call) => format!("{}/{}", call.server, call.tool),
            Handler::Prompt(asked) | Handler::Agent(asked) => asked.prompt.clone(),
            Handler::Deny { reason } => reason.clone(),
            Handler::Code { name } => name.clone(),
            Handler::Unknown { kind } => format!("type {kind:?}"),
        }
    }
}

/// Bounds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The hook's own timeout; `None` takes the dialect's default. Never zero.
    pub timeout: Option<Duration>,
    /// A configured upper bound that replaces the dialect's own; `None` keeps that one. Never zero.
    pub ceiling: Option<Duration>,
}

/// What a failure of a hook means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The guarded action goes on; the failure is reported.
    #[default]
    Continue,
    /// The failure acts like a block.
    Block,
}

impl OnFailure {
    /// The word in hook files.
    pub fn name(self) -> &'static str {
        match self {
            OnFailure::Continue => "continue",
            OnFailure::Block => "block",
        }
    }
}

/// `onFailure` of one hook: one word for everything, or a table per kind of failure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FailMode {
    /// For kinds that the table does not name; `None` takes the dialect's default.
    pub default: Option<OnFailure>,
    /// Per kind; the last entry for a kind counts.
    pub by_kind: Vec<(FailureKind, OnFailure)>,
}

impl FailMode {
    /// What a failure of this kind means, or `dialect_default` where the author said nothing.
    pub fn for_kind(&self, kind: FailureKind, dialect_default: OnFailure) -> OnFailure {
        let own = self.by_kind.iter().rev().find(|(k, _)| *k == kind).map(|(_, mode)| *mode);
        own.or(self.default).unwrap_or(dialect_default)
    }

    /// True where the author wrote `onFailure` at all.
    pub fn is_stated(&self) -> bool {
        self.default.is_some() || !self.by_kind.is_empty()
    }
}

/// When a hook is in force.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Scope {
    /// As long as its file is read.
    #[default]
    Always,
    /// While the session has loaded the skill or command of this name ("Shell hooks module for Amplifier, Lifecycle scoping";
    /// "Claude Code hooks reference, Hooks in skills and agents").
    Skill(Arc<str>),
    /// While a subagent of this name runs, or the session itself runs as that agent.
    Agent(Arc<str>),
}

/// One handler with its event, matcher and origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// The id.
    pub id: HookId,
    /// The dialect it was written in: decides how it is matched, fed and read.
    pub dialect: DialectId,
    /// The neutral event it listens to.
    pub event: EventKind,
    /// The event's name as written.
    pub event_name: String,
    /// The matcher.
    pub matcher: MatcherSpec,
    /// What it does.
    pub handler: Handler,
    /// Its bounds.
    pub limits: Limits,
    /// Runs once per session.
    pub once: bool,
    /// Runs in the background; its answer decides nothing.
    pub background: bool,
    /// False: loaded and listed, never run.
    pub enabled: bool,
    /// Why it never runs, for people; `None` where it runs.
    pub disabled_because: Option<String>,
    /// The `if` rule, as written.
    pub condition: Option<ConditionSpec>,
    /// When it is in force.
    pub scope: Scope,
    /// What its failure means.
    pub on_failure: FailMode,
    /// Read by the strict rules of its dialect: a guard that cannot decide refuses.
    pub strict: bool,
    /// When it is woken again.
    pub rewake: Option<RewakeSpec>,
    /// False: what it denies is told as a warning and not held back (an agent's module may be set so).
    pub may_block: bool,
    /// Order within its layer: low first, stable.
    pub priority: i64,
    /// Text shown while it runs.
    pub status_message: Option<String>,
    /// What the settings of its agent give it.
    pub grants: Grants,
    /// Where it stands.
    pub origin: Origin,
    /// Members that no rule reads.
    pub extra: Map<String, Value>,
}

impl Hook {
    /// True for a hook that runs in the background and wakes the model when it exits with 2 ("Claude Code hooks reference, Run hooks
    /// in the background": `asyncRewake`).
    pub fn wakes_model(&self) -> bool {
        self.background && self.extra.get("asyncRewake").is_some_and(|member| *member == true)
    }

    /// A hook in code that listens to every such event; for hosts that make hooks themselves, and to spread the rest from.
    pub fn new(id: impl AsRef<str>, dialect: DialectId, event: EventKind, handler: Handler) -> Hook {
        Hook {
            id: HookId::new(id),
            dialect,
            event_name: event.name().to_owned(),
            event,
            matcher: MatcherSpec { text: None, flavour: Flavour::Native, location: None },
            handler,
            limits: Limits::default(),
            once: false,
            background: false,
            enabled: true,
            disabled_because: None,
            condition: None,
            scope: Scope::Always,
            on_failure: FailMode::default(),
            strict: false,
            rewake: None,
            may_block: true,
            priority: 0,
            status_message: None,
            grants: Grants::default(),
            origin: Origin::code(0),
            extra: Map::new(),
        }
    }

    /// A short name for people: the first line of what it does, cut after 60 characters.
    pub fn label(&self) -> String {
        let text = self.handler.summary();
        let line = text.lines().next().unwrap_or_default();
        let mut label: String = line.chars().take(60).collect();
        if label.len() < text.len() {
            label.push('…');
        }
        label
    }
}

/// One matcher group of a file, bound to one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// The neutral event.
    pub event: EventKind,
    /// Its name as written.
    pub event_name: String,
    /// The matcher of the group.
    pub matcher: MatcherSpec,
    /// The hooks of the group run at the same time.
    pub parallel: bool,
    /// Number of the group within its event, from 0.
    pub entry: usize,
    /// The hooks, in order.
    pub hooks: Vec<Arc<Hook>>,
}

/// One hook file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The dialect it is written in.
    pub dialect: DialectId,
    /// Its layer.
    pub layer: Layer,
    /// The file; none for hooks handed over in memory.
    pub file: Option<Arc<Path>>,
    /// The directory that relative things mean.
    pub root: Option<PathBuf>,
    /// Name of the plugin, pack or skill.
    pub source: Option<Arc<str>>,
    /// `description`, for listings.
    pub description: Option<String>,
    /// The groups, in file order.
    pub bindings: Vec<Binding>,
    /// Dialect switches of the file (`disableAllHooks`, …) as written, for the dialect's own rules.
    pub switches: Map<String, Value>,
}

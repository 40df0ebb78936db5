//! The trait an agent has to implement, and the tables in which most of a dialect is said.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::answer::Reading;
use crate::event::{Event, EventKind, Incoming, Payload};
use crate::exec::HandlerOutput;
use crate::hook::{DialectId, HandlerKind, OnFailure};
use crate::host::HostContext;
use crate::http::{HttpRules, TemplateValues};
use crate::mcp::ArgumentRule;
use crate::model::Asking;
use crate::outcome::Outcome;
use crate::plan::{Candidate, Plan};
use crate::session::HookCx;

/// The language matchers are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flavour {
    /// Exact lists (`,` or `|`), globs (`*`), predicates on the input of a tool, anything else a regular expression that is
    /// searched.
    Native,
    /// Python regular expression over the whole name, letter case ignored; literal where it does not compile
    /// ("Shell hooks module for Amplifier, Hook matching").
    Amplifier,
    /// Exact list or unanchored JavaScript regular expression ("Claude Code hooks reference, Matcher patterns").
    Claude,
    /// The same with the smaller exact set of FileChanged and StopFailure.
    ClaudeNarrow,
    /// The predicates of "AIMON hook configuration guide, Matcher syntax", with names that are exact, globs, or Java regular
    /// expressions over the whole name; a text that cannot be read is taken for the name of a tool.
    Aimon,
    /// The same as strict mode has it: what cannot be read is unreadable, names without parentheses hold no other characters than
    /// letters, digits, `_`, `.`, `-` and `*`, and sub-commands are also looked for where quotes do not pair.
    AimonStrict,
}

/// What the matchers of an event see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The names of the tool.
    Tool,
    /// One field of the payload.
    Field(&'static str),
    /// Nothing: a matcher is ignored.
    None,
}

/// One event as hook files of a dialect name it.
#[derive(Debug, Clone, Copy)]
pub struct EventRow {
    /// Its name in hook files.
    pub name: &'static str,
    /// The neutral kinds it listens to.
    pub hears: &'static [EventKind],
    /// Names under which the agent fires it; the same as `name` for most agents.
    pub fired_as: &'static [&'static str],
    /// What its matchers see.
    pub subject: Subject,
    /// The flavour of its matchers where it differs from the profile's.
    pub flavour: Option<Flavour>,
    /// Kinds of handler it takes.
    pub handlers: &'static [HandlerKind],
}

/// One tool: the agent's name and the neutral one.
#[derive(Debug, Clone, Copy)]
pub struct ToolRow {
    /// The agent's name.
    pub native: &'static str,
    /// The neutral name.
    pub neutral: &'static str,
}

/// When a hook with `once` has had its one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnceRule {
    /// When it was started, whatever came of it ("Shell hooks module for Amplifier, Lifecycle scoping").
    Started,
    /// When it succeeded and did not block ("Claude Code hooks reference, Common fields: `once`").
    Succeeded,
}

/// A bound on stop hooks: an agent that may never stop burns money ("Claude Code hooks reference, Stop").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopCap {
    /// That many times in a row; 0 is without end.
    pub times: u32,
    /// A variable of the environment that says another number.
    pub variable: Option<&'static str>,
}

/// A bound on the texts of hooks ("Claude Code hooks reference, JSON output": a longer text goes into a file).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextCap {
    /// A text of so many characters passes as it is.
    pub characters: usize,
    /// Of a longer one so many are shown.
    pub preview: usize,
}

/// An outer limit on a run, for a handler that does not keep its own ("Hook Configuration Guide, timeout and the hook policy").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Net {
    /// The limit where a handler's own timeout is shorter.
    pub policy: Duration,
    /// What a handler whose timeout is as long or longer has beyond it.
    pub grace: Duration,
}

/// What a dialect says in tables.
pub struct Profile {
    /// The id.
    pub id: DialectId,
    /// The agent's name for people.
    pub title: &'static str,
    /// Other spellings of the id.
    pub aliases: &'static [&'static str],
    /// Flavour of matchers.
    pub flavour: Flavour,
    /// The agent runs its own hook files itself, so that the engine leaves them alone when this agent fires.
    pub runs_own_files: bool,
    /// Hooks run in the project's root; else in the session's current directory.
    pub runs_in_project: bool,
    /// The events of its hook files.
    pub events: &'static [EventRow],
    /// Tools whose names differ from the neutral ones, and aliases.
    pub tools: &'static [ToolRow],
    /// What a failing hook means where its author said nothing.
    pub on_failure: OnFailure,
    /// When a hook that runs once has had its run.
    pub once: OnceRule,
    /// How often in a row stop hooks may keep the agent going without a tool call in between.
    pub stop_cap: StopCap,
    /// What becomes of a long text that a hook says; `None` leaves every text as it is.
    pub text_cap: Option<TextCap>,
    /// Variables that a hook's env file cannot set.
    pub protected_variables: &'static [&'static str],
    /// Variables that only processes started by this agent have. A person's command does not run where one is set.
    pub markers: &'static [&'static str],
    /// Placeholders (`CLAUDE_PLUGIN_ROOT`) that commands of this dialect may use.
    pub placeholders: &'static [&'static str],
    /// Variables that hooks get here though the agent itself sets them for none: a command that needs one works here only.
    pub own_variables: &'static [&'static str],
    /// The timeout of a hook that has none of its own.
    pub default_timeout: fn(&EventKind, HandlerKind) -> Duration,
    /// No hook runs longer.
    pub max_timeout: Option<Duration>,
    /// What catches a handler that does not end in time; `None` trusts the executors.
    pub net: Option<Net>,
    /// How its prompt hooks ask a model.
    pub asking: Asking,
    /// How its http hooks are sent.
    pub http: HttpRules,
    /// The variable that answers the questions of its hooks (`allow`, anything else refuses) where no human can be asked.
    pub ask_default: Option<&'static str>,
    /// How the arguments of its mcp hooks name values.
    pub arguments: ArgumentRule,
}

impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profile").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Profile {
    /// The row of an event as hook files name it.
    pub fn event(&self, name: &str) -> Option<&'static EventRow> {
        self.events.iter().find(|row| row.name == name)
    }

    /// True where `word` names this dialect.
    pub fn answers_to(&self, word: &str) -> bool {
        self.id.0 == word || self.aliases.contains(&word)
    }
}

/// What the caller knows about a payload before it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventHint {
    /// The event's native name, where the wiring names it.
    pub event: Option<String>,
    /// Tools whose end is the end of a subagent, where the host or a setting names them; else the agent's own rule.
    pub subagent_tools: Option<Vec<String>>,
}

/// Why a payload could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The payload is no JSON object.
    #[error("the payload is {found}, not a JSON object")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// The payload does not say which event it is, and the caller gave no hint.
    #[error("the payload has no {field:?} member, and no event was named")]
    NoEvent {
        /// The member that would name it.
        field: &'static str,
    },
    /// A member has a type the agent never sends.
    #[error("member {field:?} of the payload is {found}, not {wanted}")]
    WrongType {
        /// The member.
        field: String,
        /// What it is.
        found: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
}

/// What an agent can do with an outcome on one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// It can hold back the guarded action. An event with this is a *guard event*.
    pub block: bool,
    /// It can ask a human.
    pub ask: bool,
    /// It can allow without asking.
    pub allow: bool,
    /// It can run the tool with another input.
    pub rewrite_input: bool,
    /// It can show the model another result.
    pub rewrite_output: bool,
    /// It takes text for the model's context.
    pub context: bool,
    /// It shows messages to the user.
    pub message: bool,
    /// It can be stopped.
    pub stop: bool,
}

/// How a reply treats what an agent cannot carry. From user and managed settings and the flags of the wired entry only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyPolicy {
    /// An `ask` the agent cannot ask becomes a deny on guard events (else it is dropped and reported).
    pub deny_unsupported_ask: bool,
    /// A rewrite the agent cannot apply becomes a deny that names the corrected input (else it is dropped and reported).
    pub deny_unsupported_rewrite: bool,
    /// A person sits in front of the agent.
    pub interactive: bool,
    /// A failure of the engine on a guard event denies even where no hook is configured for it.
    pub fail_closed: bool,
}

impl Default for ReplyPolicy {
    fn default() -> ReplyPolicy {
        ReplyPolicy {
            deny_unsupported_ask: true,
            deny_unsupported_rewrite: true,
            interactive: false,
            fail_closed: false,
        }
    }
}

/// Where the engine failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureStage {
    /// The payload could not be read.
    Payload,
    /// The hook files could not be read.
    Configuration,
    /// Something else broke.
    Internal,
}

/// A failure of the engine itself, on its way to the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EngineFailure {
    /// Where.
    pub stage: FailureStage,
    /// What happened and how to mend it.
    pub message: String,
    /// A guard may stand behind it: deny on guard events.
    pub deny: bool,
}

/// An outcome in the agent's own form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The exit code.
    pub exit_code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// What the agent could not carry, for the record and for people.
    pub degraded: Vec<String>,
}

/// How one agent speaks of hooks.
///
/// The dialect a hook is written in decides how it is matched, fed and read; the dialect of the agent that fires decides
/// what the outcome can do.
pub trait Dialect: Send + Sync {
    /// Names, tools, flavour, defaults.
    fn profile(&self) -> &'static Profile;

    /// The row of an event as hook files of this dialect may spell it; by default exactly as the table does.
    fn event_row(&self, name: &str) -> Option<&'static EventRow> {
        self.profile().event(name)
    }

    /// Agent → neutral.
    ///
    /// # Errors
    /// The payload is not one of this agent's.
    fn read(&self, payload: Payload, hint: &EventHint) -> Result<Incoming, ReadError>;

    /// Neutral → agent. `event` is the first event of the payload; `None` where the payload could not be read.
    fn write_reply(
        &self,
        event: Option<&Event>,
        result: Result<&Outcome, &EngineFailure>,
        policy: &ReplyPolicy,
    ) -> Reply;

    /// What the agent can do with an outcome on this event.
    fn capabilities(&self, event: &Event) -> Capabilities;

    /// How the hooks of this dialect run together. Settings of the agent that bound all of them come from the host's environment.
    fn plan(&self, event: &Event, candidates: &[Candidate], host: &HostContext) -> Plan;

    /// Neutral → the hook's standard input, as JSON text.
    fn write_event(&self, cx: &HookCx<'_>) -> String;

    /// The text for the model of a prompt hook: the author's `template` with the event in place of `$ARGUMENTS`. Text that
    /// was put in is never looked at again.
    fn prompt_arguments(&self, cx: &HookCx<'_>, template: &str) -> String;

    /// The variables of this dialect for a hook.
    fn variables(&self, cx: &HookCx<'_>) -> Vec<(String, OsString)>;

    /// What templates of this dialect's hooks may name; by default the members of the document on standard input.
    fn template_values(&self, cx: &HookCx<'_>) -> TemplateValues {
        let mut context: Map<String, Value> = serde_json::from_str(&self.write_event(cx)).unwrap_or_default();
        TemplateValues { tool_input: context.remove("tool_input").unwrap_or_default(), context }
    }

    /// Placeholders beside the variables that the profile names, with their values; the exec form fills them in.
    fn placeholders(&self, _cx: &HookCx<'_>) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Directories that are made before the hook runs, where they are missing.
    fn directories(&self, _cx: &HookCx<'_>) -> Vec<PathBuf> {
        Vec::new()
    }

    /// A command, in words of the shell, that shell lines of this hook are handed to instead of being run.
    fn shell_prefix(&self, _cx: &HookCx<'_>) -> Option<String> {
        None
    }

    /// The hook's output → neutral.
    fn read_answer(&self, cx: &HookCx<'_>, output: &HandlerOutput) -> Reading;
}

/// What a JSON value is, for messages.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

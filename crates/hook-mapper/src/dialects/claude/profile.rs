//! What Claude Code's dialect says in tables ("Claude Code hooks reference, Hook events", "Common fields").

use std::time::Duration;

use hook_core::{
    ArgumentRule, Asking, Audience, Capabilities, DialectId, Event, EventKind, EventRow, Flavour,
    HandlerKind, HttpRules, OnFailure, OnceRule, Profile, StopCap, Subject, TextCap, ToolRow, VariableSyntax,
};

use crate::dialects::asked;

use HandlerKind::{Agent, Command, Http, Mcp, Prompt};

const ALL: &[HandlerKind] = &[Command, Http, Mcp, Prompt, Agent];
const NO_AGENT: &[HandlerKind] = &[Command, Http, Mcp, Prompt];
const NO_MODEL: &[HandlerKind] = &[Command, Http, Mcp];
const LOCAL: &[HandlerKind] = &[Command, Mcp];

/// What a block does on an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// It holds the guarded thing back; the reason goes to this reader.
    Holds(Audience),
    /// The thing already happened; the text goes to this reader.
    Tells(Audience),
    /// Exit codes mean nothing.
    Nothing,
}

/// What an event takes beside decisions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Takes {
    /// Text for the model's context.
    pub(super) context: bool,
    /// `systemMessage`.
    pub(super) message: bool,
    /// `continue: false`.
    pub(super) stop: bool,
}

macro_rules! events {
    ($($name:ident $subject:expr, $handlers:ident, $block:expr, $takes:literal;)*) => {
        const EVENTS: &[EventRow] = &[$(EventRow {
            name: stringify!($name),
            hears: &[EventKind::$name],
            fired_as: &[stringify!($name)],
            subject: $subject,
            flavour: narrow(stringify!($name)),
            handlers: $handlers,
        },)*];

        fn block(kind: &EventKind) -> Block {
            match kind {
                $(EventKind::$name => $block,)*
                _ => Block::Nothing,
            }
        }

        fn letters(kind: &EventKind) -> &'static str {
            match kind {
                $(EventKind::$name => $takes,)*
                _ => "",
            }
        }
    };
}

const MODEL: Block = Block::Holds(Audience::Model);
const USER: Block = Block::Holds(Audience::User);
const NOBODY: Block = Block::Holds(Audience::Nobody);
const TELLS_MODEL: Block = Block::Tells(Audience::Model);
const TELLS_USER: Block = Block::Tells(Audience::User);
const NOTHING: Block = Block::Nothing;

// Name; what matchers see; types of handler; what a block does; what else is taken: c context, m message, s stop.
events! {
    SessionStart Subject::Field("source"), LOCAL, TELLS_USER, "cms";
    Setup Subject::Field("trigger"), LOCAL, NOTHING, "";
    InstructionsLoaded Subject::Field("load_reason"), NO_MODEL, NOTHING, "";
    UserPromptSubmit Subject::None, ALL, USER, "cms";
    UserPromptExpansion Subject::Field("command_name"), ALL, USER, "cms";
    MessageDisplay Subject::None, NO_MODEL, NOTHING, "";
    PreToolUse Subject::Tool, ALL, MODEL, "cms";
    PermissionRequest Subject::Tool, NO_AGENT, NOTHING, "ms";
    PermissionDenied Subject::Tool, ALL, NOTHING, "ms";
    PostToolUse Subject::Tool, ALL, TELLS_MODEL, "cms";
    PostToolUseFailure Subject::Tool, ALL, TELLS_MODEL, "cms";
    PostToolBatch Subject::None, ALL, USER, "cms";
    Notification Subject::Field("notification_type"), NO_MODEL, NOTHING, "";
    SubagentStart Subject::Field("agent_type"), NO_MODEL, TELLS_USER, "cms";
    SubagentStop Subject::Field("agent_type"), ALL, MODEL, "cms";
    TaskCreated Subject::None, ALL, MODEL, "m";
    TaskCompleted Subject::None, ALL, MODEL, "ms";
    Stop Subject::None, ALL, MODEL, "cms";
    StopFailure Subject::Field("error"), NO_MODEL, NOTHING, "";
    TeammateIdle Subject::None, ALL, MODEL, "ms";
    ConfigChange Subject::Field("source"), NO_MODEL, NOBODY, "";
    CwdChanged Subject::None, NO_MODEL, TELLS_USER, "m";
    DirectoryAdded Subject::Field("source"), NO_MODEL, Block::Tells(Audience::Nobody), "";
    FileChanged Subject::Field("file_path"), NO_MODEL, TELLS_USER, "m";
    WorktreeCreate Subject::None, NO_MODEL, USER, "";
    WorktreeRemove Subject::None, NO_MODEL, USER, "";
    PreCompact Subject::Field("trigger"), NO_MODEL, USER, "";
    PostCompact Subject::Field("trigger"), NO_MODEL, TELLS_USER, "";
    PreModelSwitch Subject::Field("to_model"), NO_MODEL, USER, "m";
    PostModelSwitch Subject::Field("to_model"), NO_MODEL, TELLS_USER, "cm";
    SessionEnd Subject::Field("reason"), NO_MODEL, TELLS_USER, "";
    Elicitation Subject::Field("mcp_server_name"), NO_MODEL, NOBODY, "m";
    ElicitationResult Subject::Field("mcp_server_name"), NO_MODEL, NOBODY, "m";
}

/// "FileChanged and StopFailure": a smaller set of characters makes an exact name.
const fn narrow(name: &str) -> Option<Flavour> {
    match name.as_bytes() {
        b"FileChanged" | b"StopFailure" => Some(Flavour::ClaudeNarrow),
        _ => None,
    }
}

/// The member that holds the sub-kind of an event.
pub(super) fn variant_field(kind: &EventKind) -> Option<&'static str> {
    let field = match kind {
        EventKind::FileChanged => "event",
        EventKind::UserPromptExpansion => "expansion_type",
        EventKind::PreModelSwitch | EventKind::PostModelSwitch => "source",
        EventKind::Elicitation => "mode",
        EventKind::ElicitationResult => "action",
        _ => match EVENTS.iter().find(|row| row.hears.contains(kind))?.subject {
            Subject::Field(field) => field,
            Subject::Tool | Subject::None => return None,
        },
    };
    Some(field)
}

pub(super) fn takes(kind: &EventKind) -> Takes {
    let letters = letters(kind);
    Takes { context: letters.contains('c'), message: letters.contains('m'), stop: letters.contains('s') }
}

/// `systemMessage` goes to the model there instead of to the user ("DirectoryAdded").
pub(super) fn message_is_context(event: &Event) -> bool {
    event.kind == EventKind::DirectoryAdded && event.variant.as_deref() == Some("slash_command")
}

/// A title counts where the session keeps it: not after a clear or a compaction ("SessionStart decision control").
pub(super) fn takes_title(event: &Event) -> bool {
    match event.kind {
        EventKind::UserPromptSubmit => true,
        EventKind::SessionStart => !matches!(event.variant.as_deref(), Some("clear" | "compact")),
        _ => false,
    }
}

/// The event is about a tool of an MCP server.
pub(super) fn is_mcp(event: &Event) -> bool {
    event.tool.as_ref().is_some_and(|tool| tool.name.starts_with("mcp__"))
}

/// Characters that the permission classifier reads of the notes of all hooks on one call.
pub(super) const CLASSIFIER_CONTEXT: usize = 2_000;

/// The first `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Plain standard output becomes context there ("Exit code 0").
pub(super) fn text_is_context(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStart
            | EventKind::UserPromptSubmit
            | EventKind::UserPromptExpansion
            | EventKind::PostModelSwitch
    )
}

/// What a block does on this event; changes of policy cannot be held back ("ConfigChange decision control").
pub(super) fn block_on(event: &Event) -> Block {
    let policy = event.kind == EventKind::ConfigChange && event.variant.as_deref() == Some("policy_settings");
    if policy { Block::Tells(Audience::Nobody) } else { block(&event.kind) }
}

/// A block there keeps somebody at work: what fails all the time must not block, or the work would never end.
pub(super) fn block_prolongs(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Stop | EventKind::SubagentStop | EventKind::TaskCompleted | EventKind::TeammateIdle
    )
}

/// No output is honoured there, control sequences included.
pub(super) fn is_deaf(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Setup
            | EventKind::InstructionsLoaded
            | EventKind::SessionEnd
            | EventKind::WorktreeCreate
            | EventKind::WorktreeRemove
    )
}

pub(super) fn capabilities(event: &Event) -> Capabilities {
    let kind = &event.kind;
    let takes = takes(kind);
    let permission = *kind == EventKind::PermissionRequest;
    Capabilities {
        block: permission || matches!(block_on(event), Block::Holds(_)),
        ask: matches!(kind, EventKind::PreToolUse | EventKind::PreModelSwitch),
        allow: permission || matches!(kind, EventKind::PreToolUse | EventKind::PreModelSwitch),
        rewrite_input: permission || *kind == EventKind::PreToolUse,
        rewrite_output: *kind == EventKind::PostToolUse,
        context: takes.context || message_is_context(event),
        message: takes.message,
        stop: takes.stop,
    }
}

// `Task` was renamed `Agent`, and matchers of either name mean the tool; a multi-edit is an edit.
const TOOLS: &[ToolRow] = &[
    ToolRow { native: "Agent", neutral: "Task" },
    ToolRow { native: "Task", neutral: "Agent" },
    ToolRow { native: "MultiEdit", neutral: "Edit" },
];

/// Other names of a tool.
pub(super) fn aliases(tool: &str) -> impl Iterator<Item = &'static str> {
    TOOLS.iter().filter(move |row| row.native == tool).map(|row| row.neutral)
}

/// "Default timeouts".
fn default_timeout(event: &EventKind, handler: HandlerKind) -> Duration {
    let seconds = match (event, handler) {
        (EventKind::SessionEnd, _) => return Duration::from_millis(1500),
        (EventKind::MessageDisplay, _) => 10,
        (_, HandlerKind::Agent) => 60,
        (_, HandlerKind::Prompt) => 30,
        (EventKind::UserPromptSubmit | EventKind::PreModelSwitch | EventKind::PostModelSwitch, _) => 30,
        _ => 600,
    };
    Duration::from_secs(seconds)
}

pub(super) static PROFILE: Profile = Profile {
    id: DialectId("claude"),
    title: "Claude Code",
    aliases: &["claude-code"],
    flavour: Flavour::Claude,
    runs_own_files: true,
    runs_in_project: false,
    events: EVENTS,
    tools: TOOLS,
    on_failure: OnFailure::Continue,
    once: OnceRule::Succeeded,
    stop_cap: StopCap { times: 8, variable: Some("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP") },
    text_cap: Some(TextCap { characters: 10_000, preview: 2_000 }),
    protected_variables: &[
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_EFFORT",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PLUGIN_DATA",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_PROJECT_DIR",
        "HOOK",
    ],
    markers: &["CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID"],
    placeholders: &["CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"],
    own_variables: &["CLAUDE_SKILL_DIR"],
    default_timeout,
    max_timeout: None,
    net: None,
    asking: Asking { max_tokens: 1024, instructions: Some(asked::INSTRUCTIONS) },
    // A redirect is an answer with a status that is not 2xx, and thus a failure.
    http: HttpRules { most_redirects: 0, headers: VariableSyntax::Shell, ..HttpRules::NATIVE },
    ask_default: None,
    arguments: ArgumentRule::Paths,
};

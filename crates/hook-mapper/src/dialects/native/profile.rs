//! What the engine's own dialect says in tables.

use std::time::Duration;

use hook_core::{
    ArgumentRule, Asking, DialectId, EventKind, EventRow, Flavour, HandlerKind, HttpRules, OnFailure,
    OnceRule, Profile, StopCap, Subject, ToolRow,
};

use crate::dialects::asked;

const HANDLERS: &[HandlerKind] =
    &[HandlerKind::Command, HandlerKind::Http, HandlerKind::Mcp, HandlerKind::Prompt, HandlerKind::Agent];

/// Those of events on which a deny holds something back.
const GUARDS: &[HandlerKind] = &[
    HandlerKind::Command,
    HandlerKind::Http,
    HandlerKind::Mcp,
    HandlerKind::Prompt,
    HandlerKind::Agent,
    HandlerKind::Deny,
];

macro_rules! events {
    ($($name:ident $subject:expr, $blocks:literal;)*) => {
        const EVENTS: &[EventRow] = &[$(EventRow {
            name: stringify!($name),
            hears: &[EventKind::$name],
            fired_as: &[stringify!($name)],
            subject: $subject,
            flavour: None,
            handlers: if $blocks { GUARDS } else { HANDLERS },
        },)*];

        /// True where a deny holds something back (on stop events: keeps the agent going). What is not known may well.
        pub(crate) fn blocks(kind: &EventKind) -> bool {
            match kind {
                $(EventKind::$name => $blocks,)*
                _ => true,
            }
        }
    };
}

// Name, what matchers see, and whether a deny holds something back; after the table of the Claude Code hooks reference.
events! {
    SessionStart Subject::Field("source"), false;
    Setup Subject::Field("trigger"), false;
    InstructionsLoaded Subject::Field("load_reason"), false;
    UserPromptSubmit Subject::None, true;
    UserPromptExpansion Subject::Field("command_name"), true;
    MessageDisplay Subject::None, false;
    PreToolUse Subject::Tool, true;
    PermissionRequest Subject::Tool, true;
    PermissionDenied Subject::Tool, false;
    PostToolUse Subject::Tool, false;
    PostToolUseFailure Subject::Tool, false;
    PostToolBatch Subject::None, true;
    Notification Subject::Field("notification_type"), false;
    SubagentStart Subject::Field("agent_type"), false;
    SubagentStop Subject::Field("agent_type"), true;
    TaskCreated Subject::None, true;
    TaskCompleted Subject::None, true;
    Stop Subject::None, true;
    StopFailure Subject::Field("error"), false;
    TeammateIdle Subject::None, true;
    ConfigChange Subject::Field("source"), true;
    CwdChanged Subject::None, false;
    DirectoryAdded Subject::Field("source"), false;
    FileChanged Subject::Field("file_path"), false;
    WorktreeCreate Subject::None, true;
    WorktreeRemove Subject::None, false;
    PreCompact Subject::Field("trigger"), true;
    PostCompact Subject::Field("trigger"), false;
    PreModelSwitch Subject::Field("to_model"), true;
    PostModelSwitch Subject::Field("to_model"), false;
    SessionEnd Subject::Field("reason"), false;
    Elicitation Subject::Field("mcp_server_name"), true;
    ElicitationResult Subject::Field("mcp_server_name"), true;
    TurnStart Subject::None, false;
    ConfigReload Subject::None, false;
}

// Names one tool goes by; a matcher that means one of them means the other.
const TOOLS: &[ToolRow] =
    &[ToolRow { native: "MultiEdit", neutral: "Edit" }, ToolRow { native: "Agent", neutral: "Task" }];

/// The profile.
pub(super) static PROFILE: Profile = Profile {
    id: DialectId::NATIVE,
    title: "hook-engine",
    aliases: &["hook"],
    flavour: Flavour::Native,
    runs_own_files: false,
    runs_in_project: true,
    events: EVENTS,
    tools: TOOLS,
    on_failure: OnFailure::Continue,
    once: OnceRule::Succeeded,
    stop_cap: StopCap { times: 8, variable: Some("HOOK_STOP_CAP") },
    text_cap: None,
    protected_variables: &[
        "HOOK",
        "HOOK_AGENT",
        "HOOK_ENV_FILE",
        "HOOK_EVENT",
        "HOOK_PROJECT_DIR",
        "HOOK_ROOT",
        "HOOK_SESSION_ID",
        "HOOK_TOOL_NAME",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_ENV_FILE",
    ],
    markers: &["AI_AGENT", "HOOK_EVENT"],
    placeholders: &["HOOK_ROOT", "HOOK_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT"],
    own_variables: &["CLAUDE_SKILL_DIR"],
    default_timeout: |_, _| Duration::from_secs(60),
    max_timeout: Some(Duration::from_secs(600)),
    net: None,
    asking: Asking { max_tokens: 1024, instructions: Some(asked::INSTRUCTIONS) },
    http: HttpRules::NATIVE,
    ask_default: None,
    arguments: ArgumentRule::Native,
};

/// The row of an event in any letter case, with or without `_` and `-` between the words.
pub(crate) fn event_row(name: &str) -> Option<&'static EventRow> {
    let same = |row: &&EventRow| letters(row.name).eq(letters(name));
    PROFILE.event(name).or_else(|| EVENTS.iter().find(same))
}

fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase())
}

/// Every other name of a tool.
pub(super) fn other_name(tool: &str) -> Option<&'static str> {
    TOOLS.iter().find_map(|row| {
        let neutral = (row.native == tool).then_some(row.neutral);
        // `MultiEdit` is an edit, but not every edit is a `MultiEdit`; an agent and a task are the same tool.
        neutral.or_else(|| (row.neutral == tool && row.native == "Agent").then_some(row.native))
    })
}

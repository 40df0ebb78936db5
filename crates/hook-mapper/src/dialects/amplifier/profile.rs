//! What Amplifier's shell hooks say in tables ("Shell hooks module for Amplifier").

use std::time::Duration;

use hook_core::{
    ArgumentRule, Asking, DialectId, EventKind, EventRow, Flavour, HandlerKind, HttpRules, OnFailure,
    OnceRule, Profile, StopCap, Subject, ToolRow,
};

/// The id.
pub(super) const ID: DialectId = DialectId("amplifier");

const HANDLERS: &[HandlerKind] = &[HandlerKind::Command, HandlerKind::Prompt];

const fn row(
    name: &'static str,
    hears: &'static [EventKind],
    fired_as: &'static [&'static str],
    subject: Subject,
) -> EventRow {
    EventRow { name, hears, fired_as, subject, flavour: None, handlers: HANDLERS }
}

// In the order of the module's event mapping.
const EVENTS: &[EventRow] = &[
    row("PreToolUse", &[EventKind::PreToolUse], &["tool:pre"], Subject::Tool),
    row("PostToolUse", &[EventKind::PostToolUse], &["tool:post"], Subject::Tool),
    row("SubagentStop", &[EventKind::SubagentStop], &["tool:post"], Subject::Tool),
    row("UserPromptSubmit", &[EventKind::UserPromptSubmit], &["prompt:submit"], Subject::None),
    row(
        "SessionStart",
        &[EventKind::SessionStart],
        &["session:start", "session:resume", "context:post_compact", "context:compaction"],
        Subject::Field("trigger"),
    ),
    row("SessionEnd", &[EventKind::SessionEnd], &["session:end"], Subject::None),
    row("Stop", &[EventKind::Stop], &["prompt:complete", "orchestrator:complete"], Subject::None),
    row("PreCompact", &[EventKind::PreCompact], &["context:pre_compact"], Subject::Field("trigger")),
    row("PermissionRequest", &[EventKind::PermissionRequest], &["approval:required"], Subject::Tool),
    row("Notification", &[EventKind::Notification], &["user:notification"], Subject::Field("type")),
];

// The stock modules' names; Claude Code's are what plugins write in their matchers.
const TOOLS: &[ToolRow] = &[
    ToolRow { native: "bash", neutral: "Bash" },
    ToolRow { native: "write_file", neutral: "Write" },
    ToolRow { native: "edit_file", neutral: "Edit" },
    ToolRow { native: "read_file", neutral: "Read" },
    ToolRow { native: "task", neutral: "Task" },
    ToolRow { native: "delegate", neutral: "Task" },
];

/// The profile.
pub(super) static PROFILE: Profile = Profile {
    id: ID,
    title: "Amplifier",
    aliases: &["hook-shell", "amplifier-shell"],
    flavour: Flavour::Amplifier,
    runs_own_files: false,
    runs_in_project: true,
    events: EVENTS,
    tools: TOOLS,
    on_failure: OnFailure::Continue,
    once: OnceRule::Started,
    stop_cap: StopCap { times: 8, variable: None },
    text_cap: None,
    protected_variables: &[
        "AMPLIFIER_PROJECT_DIR",
        "AMPLIFIER_HOOKS_DIR",
        "AMPLIFIER_SESSION_ID",
        "AMPLIFIER_ENV_FILE",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PLUGIN_ROOT",
        "HOOK",
    ],
    markers: &["AMPLIFIER_SESSION_ID"],
    placeholders: &[
        "AMPLIFIER_PROJECT_DIR",
        "AMPLIFIER_HOOKS_DIR",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_PLUGIN_ROOT",
    ],
    own_variables: &[],
    default_timeout: |_, _| Duration::from_secs(30),
    max_timeout: Some(Duration::from_secs(300)),
    // One message of the user with the prompt and nothing else.
    net: None,
    asking: Asking { max_tokens: 256, instructions: None },
    http: HttpRules::NATIVE,
    ask_default: None,
    arguments: ArgumentRule::Native,
};

/// The neutral name of a tool, where the stock modules name it differently.
pub(super) fn neutral_tool(native: &str) -> Option<&'static str> {
    TOOLS.iter().find(|row| row.native == native).map(|row| row.neutral)
}

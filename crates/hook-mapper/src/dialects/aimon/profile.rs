//! What AIMON's hooks say in tables ("Hook Configuration Guide, Supported events and their mapping", "Handler types").

use std::time::Duration;

use hook_core::{
    ArgumentRule, Asking, DialectId, EventKind, EventRow, Flavour, HandlerKind, Hook, HttpRules, Layer, Net,
    OnFailure, OnceRule, Profile, StopCap, Subject, VariableSyntax,
};

use HandlerKind::{Command, Deny, Http, Mcp};

/// The id.
pub(super) const ID: DialectId = DialectId("aimon");

const LIFECYCLE: &[HandlerKind] = &[Command];

/// An event: its own name, and Claude Code's where that has other letters; types of handler; neutral kinds.
const fn row(
    names: &'static [&'static str],
    handlers: &'static [HandlerKind],
    hears: &'static [EventKind],
) -> EventRow {
    // Matchers are for tools, and of the events with a tool for these two ("Matcher syntax").
    let tool = handlers.len() > LIFECYCLE.len();
    let subject = if tool { Subject::Tool } else { Subject::None };
    EventRow { name: names[0], hears, fired_as: names, subject, flavour: None, handlers }
}

// In the order of the guide's table.
const EVENTS: &[EventRow] = &[
    row(&["preTool", "PreToolUse"], &[Command, Http, Mcp, Deny], &[EventKind::PreToolUse]),
    // It fires after a failed call, too, and after one that was refused.
    row(
        &["postTool", "PostToolUse"],
        &[Command, Http, Mcp],
        &[EventKind::PostToolUse, EventKind::PostToolUseFailure],
    ),
    row(&["onStop", "Stop"], LIFECYCLE, &[EventKind::Stop, EventKind::StopFailure]),
    row(&["preCompact"], LIFECYCLE, &[EventKind::PreCompact]),
    row(&["onSessionStart", "SessionStart"], LIFECYCLE, &[EventKind::SessionStart]),
    row(&["onSessionEnd", "SessionEnd"], LIFECYCLE, &[EventKind::SessionEnd]),
    row(&["subagentStop"], LIFECYCLE, &[EventKind::SubagentStop]),
    // The main agent's turn begins with a prompt of the user, a subagent's does not.
    row(&["onStart"], LIFECYCLE, &[EventKind::UserPromptSubmit, EventKind::TurnStart]),
    row(&["postCompact"], LIFECYCLE, &[EventKind::PostCompact]),
    row(&["subagentStart"], LIFECYCLE, &[EventKind::SubagentStart]),
    row(&["permissionRequest"], LIFECYCLE, &[EventKind::PermissionRequest]),
    row(&["permissionDenied"], LIFECYCLE, &[EventKind::PermissionDenied]),
    row(&["onConfigReload"], LIFECYCLE, &[EventKind::ConfigReload]),
];

/// The row of an event under its own name or Claude Code's, letter case ignored.
pub(super) fn event_row(name: &str) -> Option<&'static EventRow> {
    EVENTS.iter().find(|row| row.fired_as.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// The own name of an event, as this hook wrote it or by its kind; empty for kinds that never fire here.
pub(super) fn own_event(hook: &Hook, kind: &EventKind) -> &'static str {
    let row = event_row(&hook.event_name).or_else(|| EVENTS.iter().find(|row| row.hears.contains(kind)));
    row.map_or("", |row| row.name)
}

/// True where somebody consumes a refusal ("Blocking?" in the guide's table).
pub(super) fn refuses(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::PreToolUse
            | EventKind::PermissionRequest
            | EventKind::UserPromptSubmit
            | EventKind::TurnStart
            | EventKind::PreCompact
    )
}

/// The name of the place a hook was written in: `project#0` for the first entry of an event in the project's file, else the
/// skill ("Template variables, `skill_name`").
pub(super) fn source_name(hook: &Hook) -> String {
    let origin = &hook.origin;
    match (origin.layer, &origin.source) {
        (Layer::Skill | Layer::Agent | Layer::Pack, Some(name)) => name.to_string(),
        (layer, _) => format!("{layer}#{}", origin.entry),
    }
}

/// Budgets beyond this are cut ("timeout and the hook policy", `MAX_DECLARED_BUDGET`).
const LONGEST: Duration = Duration::from_secs(600);

/// The profile.
pub(super) static PROFILE: Profile = Profile {
    id: ID,
    title: "AIMON",
    aliases: &["aimon-core"],
    flavour: Flavour::Aimon,
    runs_own_files: false,
    runs_in_project: true,
    events: EVENTS,
    tools: &[],
    on_failure: OnFailure::Continue,
    once: OnceRule::Succeeded,
    stop_cap: StopCap { times: 8, variable: None },
    text_cap: None,
    protected_variables: &[
        "AIMON_AGENT_RUNTIME_ID",
        "AIMON_COMPACTION_TRIGGER",
        "AIMON_CONFIG_SOURCE",
        "AIMON_DENY_REASON",
        "AIMON_ESTIMATED_TOKENS",
        "AIMON_EXECUTION_ID",
        "AIMON_FAILURE_REASON",
        "AIMON_HOOK_EVENT",
        "AIMON_INVOKER_NAME",
        "AIMON_INVOKER_TYPE",
        "AIMON_ITERATION",
        "AIMON_ITERATION_COUNT",
        "AIMON_MESSAGES_SUMMARIZED",
        "AIMON_MESSAGE_COUNT",
        "AIMON_POST_COMPACT_TOKENS",
        "AIMON_PRE_COMPACT_TOKENS",
        "AIMON_PRINCIPAL_ID",
        "AIMON_PRINCIPAL_TYPE",
        "AIMON_RELOAD_COUNTER",
        "AIMON_SESSION_CLEAN",
        "AIMON_SESSION_ID",
        "AIMON_SKILL_NAME",
        "AIMON_SUBAGENT_DESCRIPTION",
        "AIMON_SUBAGENT_GOAL",
        "AIMON_SUBAGENT_NAME",
        "AIMON_SUCCESS",
        "AIMON_TASK_ID",
        "AIMON_TERMINATION_REASON",
        "AIMON_TOOL_NAME",
        "AIMON_TOOL_RESULT_STATUS",
        "AIMON_USER_MESSAGE_LENGTH",
        "HOOK",
    ],
    markers: &["AIMON_HOOK_EVENT"],
    placeholders: &[],
    own_variables: &[],
    default_timeout: |_, handler| match handler {
        Http | Mcp => Duration::from_secs(10),
        _ => Duration::from_secs(30),
    },
    max_timeout: Some(LONGEST),
    net: Some(Net { policy: Duration::from_secs(30), grace: Duration::from_secs(5) }),
    // Its files know no prompt hooks.
    asking: Asking { max_tokens: 256, instructions: None },
    ask_default: Some("AIMON_HOOK_ASK_DEFAULT"),
    arguments: ArgumentRule::Dotted,
    http: HttpRules {
        redirects: 5,
        most_redirects: 5,
        max_body: 16 * 1024 * 1024,
        event_body: false,
        headers: VariableSyntax::Dotted,
    },
};

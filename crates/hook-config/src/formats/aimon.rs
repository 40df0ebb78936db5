//! AIMON's hook files ("Hook Configuration Guide, Configuration locations and the 4-tier layering").

mod strict;

use std::path::Path;
use std::time::Duration;

use hook_core::diagnostic::codes;
use hook_core::{DialectId, HandlerKind, Layer, Severity, Shell};

use super::{Entries, Format, Module, Rewakes, Rules, Tolerance, Untyped, Ways, lies_in};
use crate::frontmatter;
use crate::load::Loader;
use crate::spec::DocumentSpec;

const ID: DialectId = DialectId("aimon");

pub(super) const FORMAT: Format = Format {
    id: ID,
    always: true,
    rules: |layer| if layer == Layer::Skill { &SKILL } else { &FILE },
    load,
    guess,
    special: |_, _| false,
    module: Some(Module {
        subagent_tools: &[],
        max_timeout: Duration::from_secs(600),
        strict: Some(strict::tighten),
    }),
};

/// Events of Claude Code that the guide names and the agent does not fire.
const UNSUPPORTED: &[&str] = &["Notification", "UserPromptSubmit", "stop_hook_active"];

/// Events whose context can be made again when a hook is woken.
const REWAKES: &[&str] = &["preTool", "preCompact", "onSessionStart", "onSessionEnd", "onConfigReload"];

/// Events of skills; sessions and reloads happen outside of them.
const SKILL_EVENTS: &[&str] = &[
    "onStart",
    "preTool",
    "postTool",
    "onStop",
    "subagentStart",
    "subagentStop",
    "permissionRequest",
    "permissionDenied",
    "preCompact",
    "postCompact",
];

const COMMAND: &[&str] = &["type", "command", "timeout", "timeoutMs", "asyncRewake", "failOpen"];
const HTTP: &[&str] = &[
    "type",
    "url",
    "method",
    "headers",
    "body",
    "allowedEnvVars",
    "timeout",
    "timeoutMs",
    "asyncRewake",
    "failOpen",
];
const MCP: &[&str] =
    &["type", "server", "tool", "args", "allowedEnvVars", "timeout", "timeoutMs", "asyncRewake", "failOpen"];
const DENY: &[&str] = &["type", "reason", "timeout", "timeoutMs", "asyncRewake", "failOpen"];
// What a type that does not exist would want is not known.
const ANY: &[&str] = &[
    "type",
    "command",
    "url",
    "method",
    "headers",
    "body",
    "allowedEnvVars",
    "server",
    "tool",
    "args",
    "reason",
    "prompt",
    "model",
    "timeout",
    "timeoutMs",
    "asyncRewake",
    "failOpen",
];

static FILE: Rules = Rules {
    lax: Tolerance::Refuse,
    bom: Tolerance::Warn,
    naked: Tolerance::Refuse,
    flat: Tolerance::Refuse,
    single_group: false,
    null_matcher: true,
    empty_group_is_fine: false,
    top: Some(&["hooks"]),
    switches: &[],
    group: &["matcher", "hooks"],
    tools: None,
    types: &[
        ("command", HandlerKind::Command),
        ("http", HandlerKind::Http),
        ("mcp", HandlerKind::Mcp),
        ("mcp_tool", HandlerKind::Mcp),
        ("mcptool", HandlerKind::Mcp),
        ("deny", HandlerKind::Deny),
    ],
    untyped: Untyped::Refuse,
    fields: |kind| match kind {
        HandlerKind::Command => COMMAND,
        HandlerKind::Http => HTTP,
        HandlerKind::Mcp => MCP,
        HandlerKind::Deny => DENY,
        _ => ANY,
    },
    once_everywhere: false,
    agent_stop_is_subagent_stop: false,
    no_user_config_in_shell: None,
    failure_tables: false,
    foreign_events: false,
    skill_needs: &["name", "description"],
    ways: Ways {
        entries: Entries::Groups,
        empty_is_fine: true,
        notes_are_fine: false,
        types_in_any_case: true,
        left_out: Some(Severity::Warning),
        whole_timeouts: true,
        unsupported: UNSUPPORTED,
        one_list_per_event: true,
        matcher_for_tools_only: true,
        shell: Shell::Bash,
        rewakes: Rewakes::On(REWAKES),
    },
    skill_relative: false,
};

static SKILL: Rules = Rules {
    lax: Tolerance::Refuse,
    bom: Tolerance::Warn,
    naked: Tolerance::Refuse,
    flat: Tolerance::Refuse,
    single_group: false,
    null_matcher: true,
    empty_group_is_fine: false,
    top: None,
    switches: &[],
    group: &["matcher", "action"],
    tools: None,
    types: &[
        ("shell", HandlerKind::Command),
        ("deny", HandlerKind::Deny),
        ("http", HandlerKind::Http),
        ("mcp", HandlerKind::Mcp),
    ],
    untyped: Untyped::Refuse,
    fields: |kind| match kind {
        HandlerKind::Command => &["type", "command", "timeoutMs"],
        HandlerKind::Http => &["type", "url", "method", "headers", "body", "allowedEnvVars", "timeoutMs"],
        HandlerKind::Mcp => &["type", "server", "tool", "args", "allowedEnvVars", "timeoutMs"],
        HandlerKind::Deny => &["type", "reason"],
        _ => ANY,
    },
    once_everywhere: false,
    agent_stop_is_subagent_stop: false,
    no_user_config_in_shell: None,
    failure_tables: false,
    foreign_events: false,
    skill_needs: &["name", "description"],
    ways: Ways {
        entries: Entries::Actions(SKILL_EVENTS),
        left_out: Some(Severity::Error),
        whole_timeouts: true,
        matcher_for_tools_only: true,
        shell: Shell::Bash,
        ..Ways::USUAL
    },
    skill_relative: false,
};

/// The files of user, project and one person, in this order; then skills, whose hooks wait until they are activated.
fn load(loader: &mut Loader<'_>) {
    let first = loader.documents.len();
    let host = loader.request.host;
    let module = loader.settings.agents.get(&ID).cloned().unwrap_or_default();
    let open =
        |switch: &Option<crate::module::Setting<bool>>| switch.as_ref().is_none_or(|setting| setting.value);
    let user = host.home.as_ref().map(|home| home.join(".aimon"));
    let project = host.project.join(".aimon");
    let mut places = Vec::new();
    if let (true, Some(user)) = (open(&module.allow_user_hooks), &user) {
        places.push((Layer::User, user.join("hooks.json")));
    }
    if open(&module.allow_project_hooks) {
        // A session in the home directory itself has one file of that name, not two.
        if user.as_ref() != Some(&project) {
            places.push((Layer::Project, project.join("hooks.json")));
        }
        places.push((Layer::Local, project.join("hooks.local.json")));
    }
    for (layer, path) in places {
        let (documents, findings) = (loader.documents.len(), loader.diagnostics.len());
        loader.optional(DocumentSpec::new(&path, ID, layer));
        if module.is_strict() {
            strict::hold(loader, layer, &path, documents, findings);
        } else {
            // A layer that cannot be read counts as one that is not there.
            for finding in &mut loader.diagnostics[findings..] {
                if finding.code == codes::UNREADABLE_FILE {
                    finding.severity = Severity::Warning;
                }
            }
        }
    }
    loader.diagnostics.extend(module.too_long(ID));
    loader.each_hook_from(first, |hook| module.govern(hook));
    let home = host.home.as_ref().filter(|home| **home != host.project);
    for place in [Some(&host.project), home].into_iter().flatten() {
        loader.skills_in(&place.join(".aimon/skills"), ID, None);
    }
}

fn guess(path: &Path) -> Option<DocumentSpec> {
    if !lies_in(path, ".aimon") {
        return None;
    }
    if frontmatter::is_markdown(path) {
        return Some(frontmatter::spec(path, ID));
    }
    let layer = match path.file_name()?.to_str()? {
        "hooks.json" => Layer::Project,
        "hooks.local.json" => Layer::Local,
        _ => return None,
    };
    Some(DocumentSpec::new(path, ID, layer))
}

//! The engine's own files.

use std::path::Path;

use hook_core::{DialectId, HandlerKind, Layer};

use super::{Format, Rewakes, Rules, Tolerance, Untyped, Ways, lies_in};
use crate::frontmatter;
use crate::load::Loader;
use crate::spec::DocumentSpec;

pub(super) const FORMAT: Format = Format {
    id: DialectId::NATIVE,
    always: true,
    rules: |_| &RULES,
    load,
    guess,
    special: |_, _| false,
    module: None,
};

/// A deny has no transport, and nothing to wait for; in the background it would deny nothing.
const DENY: &[&str] =
    &["type", "id", "enabled", "if", "once", "statusMessage", "priority", "asyncRewake", "reason", "matcher"];

const HANDLER: &[&str] = &[
    "type",
    "id",
    "enabled",
    "if",
    "once",
    "timeout",
    "timeoutMs",
    "onFailure",
    "statusMessage",
    "priority",
    "async",
    "asyncRewake",
    "rewakeMessage",
    "rewakeSummary",
    // command
    "command",
    "args",
    "shell",
    // http
    "url",
    "method",
    "headers",
    "body",
    "bodyJson",
    "allowedEnvVars",
    "followRedirects",
    // mcp
    "server",
    "tool",
    "input",
    // prompt, agent
    "prompt",
    "model",
    "continueOnBlock",
    // a handler in the place of a group
    "matcher",
];

static RULES: Rules = Rules {
    lax: Tolerance::Silent,
    bom: Tolerance::Warn,
    naked: Tolerance::Silent,
    flat: Tolerance::Silent,
    single_group: true,
    null_matcher: true,
    empty_group_is_fine: false,
    top: Some(&["$schema", "version", "name", "description", "dialect", "settings", "hooks"]),
    switches: &[],
    group: &["matcher", "hooks", "parallel", "description"],
    tools: None,
    types: &[
        ("command", HandlerKind::Command),
        ("http", HandlerKind::Http),
        ("mcp", HandlerKind::Mcp),
        ("mcp_tool", HandlerKind::Mcp),
        ("prompt", HandlerKind::Prompt),
        ("agent", HandlerKind::Agent),
        ("deny", HandlerKind::Deny),
    ],
    untyped: Untyped::Infer,
    fields: |kind| if kind == HandlerKind::Deny { DENY } else { HANDLER },
    once_everywhere: true,
    agent_stop_is_subagent_stop: false,
    no_user_config_in_shell: None,
    failure_tables: true,
    foreign_events: true,
    skill_needs: &["name", "description"],
    // An answer that comes later is no approval.
    ways: Ways { rewakes: Rewakes::AllBut(&["PermissionRequest", "PermissionDenied"]), ..Ways::USUAL },
    skill_relative: true,
};

fn load(loader: &mut Loader<'_>) {
    let host = loader.request.host;
    let project = host.project.join(".hooks");
    let places = [
        (Layer::Managed, host.managed.as_ref().map(|dir| dir.join("hooks.json"))),
        (Layer::User, host.config.as_ref().map(|dir| dir.join("hooks.json"))),
        (Layer::Project, Some(project.join("hooks.json"))),
        (Layer::Local, Some(project.join("hooks.local.json"))),
    ];
    for (layer, path) in places {
        if let Some(path) = path {
            loader.optional(DocumentSpec::new(path, DialectId::NATIVE, layer));
        }
    }
}

fn guess(path: &Path) -> Option<DocumentSpec> {
    if !lies_in(path, ".hooks") {
        return None;
    }
    if frontmatter::is_markdown(path) {
        return Some(frontmatter::spec(path, DialectId::NATIVE));
    }
    let local = path.file_name().is_some_and(|name| name == "hooks.local.json");
    let layer = if local { Layer::Local } else { Layer::Project };
    Some(DocumentSpec::new(path, DialectId::NATIVE, layer))
}

//! The files of Amplifier's shell hooks ("Shell hooks module for Amplifier, Configuration discovery").

use std::path::Path;
use std::time::Duration;

use hook_core::diagnostic::codes;
use hook_core::{Diagnostic, DialectId, EntryKind, HandlerKind, Layer};
use serde_json::Value;

use super::{Format, Rules, Tolerance, Untyped, lies_in};
use crate::load::Loader;
use crate::spec::DocumentSpec;
use crate::suggest::nearest;

const ID: DialectId = DialectId("amplifier");

pub(super) const FORMAT: Format =
    Format { id: ID, always: true, rules: |_| &RULES, load, guess, special: |_, _| false };

static RULES: Rules = Rules {
    lax: Tolerance::Refuse,
    bom: Tolerance::Refuse,
    naked: Tolerance::Refuse,
    flat: Tolerance::Refuse,
    single_group: true,
    null_matcher: true,
    empty_group_is_fine: true,
    top: Some(&["$schema", "version", "name", "description", "hooks"]),
    switches: &[],
    group: &["matcher", "hooks", "parallel"],
    types: &[("command", HandlerKind::Command), ("prompt", HandlerKind::Prompt)],
    untyped: Untyped::Command,
    fields: |kind| match kind {
        HandlerKind::Command => &["type", "command", "timeout", "once"],
        HandlerKind::Prompt => &["type", "prompt", "model", "timeout", "once"],
        // What a type that does not exist would want is not known.
        _ => &[
            "type", "timeout", "once", "command", "prompt", "url", "server", "tool", "headers", "input",
            "model",
        ],
    },
    once_everywhere: false,
    agent_stop_is_subagent_stop: false,
    no_user_config_in_shell: None,
    failure_tables: false,
    foreign_events: false,
};

/// The module's settings that are read here.
const SETTINGS: &[&str] =
    &["enabled", "allow_user_hooks", "allow_project_hooks", "default_timeout", "max_timeout", "timeout"];

fn load(loader: &mut Loader<'_>) {
    check_settings(loader);
    let first = loader.documents.len();
    let host = loader.request.host;
    let user = host.home.as_ref().map(|home| home.join(".amplifier/hooks"));
    let project = host.project.join(".amplifier/hooks");
    if switch(loader, "allow_user_hooks")
        && let Some(user) = &user
    {
        directory(loader, user, Layer::User);
    }
    // A session in the home directory itself has one directory of hooks, not two.
    if switch(loader, "allow_project_hooks") && user.as_ref() != Some(&project) {
        directory(loader, &project, Layer::Project);
    }
    let enabled = switch(loader, "enabled");
    let default = seconds(loader, "default_timeout").or_else(|| seconds(loader, "timeout"));
    let ceiling = seconds(loader, "max_timeout");
    loader.each_hook_from(first, |hook| {
        hook.limits.timeout = hook.limits.timeout.or(default);
        hook.limits.ceiling = ceiling;
        if let Some(ceiling) = ceiling {
            hook.limits.timeout = hook.limits.timeout.map(|timeout| timeout.min(ceiling));
        }
        if !enabled {
            hook.enabled = false;
            hook.disabled_because.get_or_insert_with(|| "the module's setting `enabled` is false".to_owned());
        }
    });
}

/// The root registry, then the registry of every direct sub-directory by name.
fn directory(loader: &mut Loader<'_>, directory: &Path, layer: Layer) {
    loader.optional(DocumentSpec::new(directory.join("hooks.json"), ID, layer));
    for entry in loader.entries(directory) {
        if entry.kind == EntryKind::Directory {
            let plugin = directory.join(&entry.name);
            let spec = DocumentSpec::new(plugin.join("hooks.json"), ID, layer);
            loader.optional(spec.of_source(&plugin, entry.name.to_string_lossy()));
        }
    }
}

fn switch(loader: &Loader<'_>, name: &str) -> bool {
    loader.request.switches.get(name).and_then(Value::as_bool).unwrap_or(true)
}

fn seconds(loader: &Loader<'_>, name: &str) -> Option<Duration> {
    let seconds = loader.request.switches.get(name)?.as_f64().filter(|seconds| *seconds > 0.0)?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn check_settings(loader: &mut Loader<'_>) {
    let mut findings = Vec::new();
    for (name, value) in &loader.request.switches {
        let right = match name.as_str() {
            "enabled" | "allow_user_hooks" | "allow_project_hooks" => value.is_boolean(),
            "default_timeout" | "max_timeout" | "timeout" => {
                value.as_f64().is_some_and(|seconds| seconds > 0.0)
            }
            _ => {
                let mut finding = Diagnostic::new(
                    codes::UNKNOWN_FIELD,
                    format!("{name:?} is no setting of the module; it has no effect"),
                );
                finding.suggestion = nearest(name, SETTINGS.iter().copied()).map(str::to_owned);
                findings.push(finding.help(format!("the settings are {}", SETTINGS.join(", "))));
                continue;
            }
        };
        if !right {
            let wanted =
                if name.contains("timeout") { "a number of seconds above zero" } else { "true or false" };
            let message =
                format!("the module's setting {name:?} is {value}, not {wanted}; its default is used");
            findings.push(Diagnostic::new(codes::WRONG_TYPE, message));
        }
    }
    loader.diagnostics.extend(findings);
}

fn guess(path: &Path) -> Option<DocumentSpec> {
    let hooks = lies_in(path, ".amplifier") && path.file_name().is_some_and(|name| name == "hooks.json");
    hooks.then(|| DocumentSpec::new(path, ID, Layer::Project))
}

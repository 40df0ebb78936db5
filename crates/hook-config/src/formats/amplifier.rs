//! The files of Amplifier's shell hooks ("Shell hooks module for Amplifier, Configuration discovery").

mod state;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hook_core::diagnostic::codes;
use hook_core::{Diagnostic, DialectId, EntryKind, HandlerKind, Layer, Location, Severity};

use super::{Format, Module, Rules, Tolerance, Untyped, Ways, lies_in};
use crate::disabled::Plugin;
use crate::frontmatter;
use crate::load::Loader;
use crate::module::Setting;
use crate::skills::Hooks;
use crate::spec::DocumentSpec;
use crate::suggest::nearest;

const ID: DialectId = DialectId("amplifier");

/// The file that says which plugins are off.
const STATE: &str = "state.json";

pub(super) const FORMAT: Format = Format {
    id: ID,
    always: true,
    rules: |_| &RULES,
    load,
    guess,
    special,
    module: Some(Module { subagent_tools: &["Task"], max_timeout: Duration::from_secs(300), strict: None }),
};

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
    tools: None,
    types: &[("command", HandlerKind::Command), ("prompt", HandlerKind::Prompt)],
    untyped: Untyped::Command,
    fields: |kind| match kind {
        HandlerKind::Command => &["type", "command", "timeout", "once", "onFailure"],
        HandlerKind::Prompt => &["type", "prompt", "model", "timeout", "once", "onFailure"],
        // What a type that does not exist would want is not known.
        _ => &[
            "type",
            "timeout",
            "once",
            "onFailure",
            "command",
            "prompt",
            "url",
            "server",
            "tool",
            "headers",
            "input",
            "model",
        ],
    },
    once_everywhere: false,
    agent_stop_is_subagent_stop: false,
    no_user_config_in_shell: None,
    failure_tables: false,
    foreign_events: false,
    skill_needs: &["name", "description"],
    ways: Ways::USUAL,
    skill_relative: true,
};

fn load(loader: &mut Loader<'_>) {
    let first = loader.documents.len();
    let host = loader.request.host;
    let user = host.home.as_ref().map(|home| home.join(".amplifier/hooks"));
    let project = host.project.join(".amplifier/hooks");
    let module = loader.settings.agents.get(&ID).cloned().unwrap_or_default();
    let open = |switch: &Option<Setting<bool>>| switch.as_ref().is_none_or(|setting| setting.value);
    if let (true, Some(user)) = (open(&module.allow_user_hooks), &user) {
        directory(loader, user, Layer::User);
    }
    // A session in the home directory itself has one directory of hooks, not two.
    if open(&module.allow_project_hooks) && user.as_ref() != Some(&project) {
        directory(loader, &project, Layer::Project);
    }
    loader.diagnostics.extend(module.too_long(ID));
    loader.each_hook_from(first, |hook| module.govern(hook));
    skills(loader);
}

/// Skills and subagents, whose hooks wait until they are loaded. The project's come before the user's of the same name.
fn skills(loader: &mut Loader<'_>) {
    let host = loader.request.host;
    let user = host.home.as_ref().filter(|home| **home != host.project);
    for place in [Some(&host.project), user].into_iter().flatten() {
        let place = place.join(".amplifier");
        loader.skills_in(&place.join("skills"), ID, None);
        loader.markdown_in(&place.join("agents"), ID, None, Hooks::Count);
    }
}

/// The root registry, then the registry of every direct sub-directory by name.
fn directory(loader: &mut Loader<'_>, directory: &Path, layer: Layer) {
    let state_file = directory.join(STATE);
    let state = state::read(loader.request.files, &state_file);
    loader.sources.extend(state.source);
    loader.diagnostics.extend(state.findings);
    let plugin = |name: Option<&str>, file: PathBuf, disabled_at: Option<Location>| Plugin {
        agent: ID,
        name: name.map(Arc::from),
        layer,
        file,
        state: state_file.clone(),
        disabled_at,
    };
    let root = directory.join("hooks.json");
    if loader.optional(DocumentSpec::new(&root, ID, layer)) {
        loader.plugins.push(plugin(None, root, None));
    }
    let mut names = Vec::new();
    for entry in loader.entries(directory).into_iter().filter(|entry| entry.kind == EntryKind::Directory) {
        let name = entry.name.to_string_lossy();
        let folder = directory.join(&entry.name);
        let file = folder.join("hooks.json");
        let (documents, findings) = (loader.documents.len(), loader.diagnostics.len());
        if !loader.optional(DocumentSpec::new(&file, ID, layer).of_source(&folder, &name)) {
            continue;
        }
        let off = state.disabled.iter().find(|(known, _)| *known == name).map(|(_, place)| place.clone());
        if let Some(place) = &off {
            let why = format!("the plugin {name} is switched off at {place}");
            loader.each_hook_from(documents, |hook| {
                hook.enabled = false;
                hook.disabled_because = Some(why.clone());
            });
            // What nobody runs harms nobody.
            for finding in &mut loader.diagnostics[findings..] {
                finding.severity = Severity::Info;
            }
        }
        loader.plugins.push(plugin(Some(&name), file, off));
        names.push(name.into_owned());
    }
    for (name, place) in state.disabled.iter().filter(|(name, _)| !names.contains(name)) {
        let message = format!("no plugin here is called {name:?}, so nothing is switched off");
        let mut finding = Diagnostic::new(codes::DISABLED_UNKNOWN, message).at(place.clone(), "");
        finding.suggestion = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        let help = if names.is_empty() {
            "plugins are the directories beside this file that hold a hooks.json".to_owned()
        } else {
            format!("the plugins are {}", names.join(", "))
        };
        loader.diagnostics.push(finding.help(help));
    }
}

/// A hook file, the state file beside plugins, or a skill.
fn guess(path: &Path) -> Option<DocumentSpec> {
    if !lies_in(path, ".amplifier") {
        return None;
    }
    if frontmatter::is_markdown(path) {
        return Some(frontmatter::spec(path, ID));
    }
    let known = path.file_name().is_some_and(|name| name == "hooks.json" || name == STATE);
    known.then(|| DocumentSpec::new(path, ID, Layer::Project))
}

/// A state file speaks of the plugins beside it, so they are read with it.
fn special(loader: &mut Loader<'_>, spec: &DocumentSpec) -> bool {
    let Some(folder) = spec.path.parent().filter(|_| spec.path.ends_with(STATE)) else { return false };
    directory(loader, folder, spec.layer);
    true
}

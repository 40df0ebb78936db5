//! Hooks that a list `disabled` switches off.
//!
//! A list switches off what has no more authority than its file: a managed one everything, a user's everything but managed
//! hooks, those of a project and of packs only hooks of projects, packs and skills.

use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{Diagnostic, DialectId, Document, Hook, Layer, Location, Severity};

use crate::module::privileged;

/// One entry of a list `disabled`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisabledId {
    /// The id of the hook.
    pub id: String,
    /// The layer of the file.
    pub layer: Layer,
    /// Where the entry stands.
    pub location: Location,
}

impl DisabledId {
    /// True where a list of this layer may switch off a hook of that layer.
    pub fn may_disable(list: Layer, hook: Layer) -> bool {
        match list {
            Layer::Managed => true,
            list if privileged(list) => hook != Layer::Managed,
            _ => !privileged(hook),
        }
    }
}

/// A part of an agent's hooks that its own state file switches by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// The agent.
    pub agent: DialectId,
    /// Its name; `None` for the root registry, which has none and cannot be switched off.
    pub name: Option<Arc<str>>,
    /// Its layer: user or project.
    pub layer: Layer,
    /// Its hook file.
    pub file: std::path::PathBuf,
    /// The file that says which plugins are off; it may be missing.
    pub state: std::path::PathBuf,
    /// Where it is switched off.
    pub disabled_at: Option<Location>,
}

/// Switches the hooks off. Ids have to be given out already.
pub(crate) fn apply(entries: &[DisabledId], documents: &mut [Document]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if entries.is_empty() {
        return findings;
    }
    let mut found = vec![false; entries.len()];
    let hooks = documents.iter_mut().flat_map(|document| &mut document.bindings);
    for hook in hooks.flat_map(|binding| &mut binding.hooks) {
        for (index, entry) in entries.iter().enumerate() {
            if entry.id != hook.id.as_str() {
                continue;
            }
            let first = !std::mem::replace(&mut found[index], true);
            if DisabledId::may_disable(entry.layer, hook.origin.layer) {
                // Of several lists, the one of most authority is the reason.
                if hook.enabled || hook.disabled_because.is_none() {
                    switch_off(hook, &entry.location);
                }
            } else if first {
                findings.push(refused(entry, hook));
            }
        }
    }
    for entry in entries.iter().zip(found).filter(|(_, found)| !found).map(|(entry, _)| entry) {
        // A user's list speaks of all projects, so most of its ids are strangers in each of them.
        if !privileged(entry.layer) {
            let message = format!("no hook that is read here has the id {:?}", entry.id);
            let finding = Diagnostic::new(codes::DISABLED_UNKNOWN, message).at(entry.location.clone(), "");
            findings.push(
                finding
                    .severity(Severity::Info)
                    .help("`hook list` shows the ids; a hook that is edited gets another one"),
            );
        }
    }
    findings
}

fn switch_off(hook: &mut Arc<Hook>, location: &Location) {
    let hook = Arc::make_mut(hook);
    hook.enabled = false;
    hook.disabled_because = Some(format!("switched off at {location}"));
}

fn refused(entry: &DisabledId, hook: &Hook) -> Diagnostic {
    let message = format!(
        "{:?} is a hook of the {} layer; a {} file cannot switch it off, so it runs",
        entry.id, hook.origin.layer, entry.layer
    );
    let mut finding =
        Diagnostic::new(codes::SETTING_NOT_ALLOWED_HERE, message).at(entry.location.clone(), "");
    if let Some(location) = &hook.origin.location {
        finding = finding.at(location.clone(), "the hook");
    }
    let help = if hook.origin.layer == Layer::Managed {
        "managed hooks are switched off in managed files only"
    } else {
        "switch it off in your user file: `hook disable ID`"
    };
    finding.help(help)
}

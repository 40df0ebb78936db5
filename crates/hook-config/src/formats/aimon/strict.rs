//! The strict mode of later versions: a guard that cannot decide refuses, and an entry that cannot be applied under a guard event
//! does not let the agent work as if it were not there.
//!
//! The agent itself does not start with such an entry. Here nothing starts, so what cannot be applied stands in the way of the
//! event that it was written for, until it is mended.

use std::path::Path;
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{
    Binding, Code, Diagnostic, Document, EventKind, FailMode, FailureKind, Flavour, Handler, HandlerKind,
    Hook, HookId, Layer, MatcherSpec, OnFailure, Origin, Severity,
};

use super::ID;
use crate::load::Loader;

/// The events whose refusals are consumed, with the kinds that they hear.
const GUARDS: &[(&str, &[EventKind])] = &[
    ("preTool", &[EventKind::PreToolUse]),
    ("permissionRequest", &[EventKind::PermissionRequest]),
    ("onStart", &[EventKind::UserPromptSubmit, EventKind::TurnStart]),
    ("preCompact", &[EventKind::PreCompact]),
];

/// Findings about groups and handlers that left nothing behind.
const NOT_APPLIED: &[Code] = &[
    codes::GROUP_WITHOUT_HOOKS,
    codes::HOOKS_NOT_A_LIST,
    codes::ENTRY_NOT_AN_OBJECT,
    codes::FLAT_ENTRY,
    codes::MATCHER_NOT_A_STRING,
];

/// Makes a hook strict. Where its author said what a failure means, that counts.
pub(super) fn tighten(hook: &mut Hook) {
    hook.strict = true;
    if hook.matcher.flavour == Flavour::Aimon {
        hook.matcher.flavour = Flavour::AimonStrict;
    }
    if hook.on_failure.is_stated() {
        return;
    }
    // A script that exits with another code is broken, and says nothing; a server that answers with another status has not decided.
    let decides =
        |kind: &FailureKind| *kind != FailureKind::Exit || hook.handler.kind() != HandlerKind::Command;
    let kinds = FailureKind::ALL.iter().copied().filter(decides);
    hook.on_failure.by_kind = kinds.map(|kind| (kind, OnFailure::Block)).collect();
}

/// Puts something in the way of guard events for everything of a file that cannot be applied there.
pub(super) fn hold(loader: &mut Loader<'_>, layer: Layer, path: &Path, documents: usize, findings: usize) {
    let mut blocks: Vec<(&'static str, &'static [EventKind], Diagnostic)> = Vec::new();
    let found = &loader.diagnostics[findings..];
    if loader.documents.len() == documents {
        // The file as a whole: any guard may stand in it.
        if let Some(broken) = found.iter().find(|finding| finding.severity == Severity::Error) {
            blocks.extend(GUARDS.iter().map(|(name, kinds)| (*name, *kinds, broken.clone())));
        }
    }
    for finding in found {
        let guard = if finding.code == codes::UNKNOWN_EVENT {
            finding.suggestion.as_deref().and_then(guard)
        } else if NOT_APPLIED.contains(&finding.code) {
            event_of(finding).and_then(guard)
        } else {
            None
        };
        blocks.extend(guard.map(|(name, kinds)| (name, kinds, finding.clone())));
    }
    // A handler that was read and cannot run keeps its matcher.
    let hooks = loader.documents[documents..].iter_mut().flat_map(|document| &mut document.bindings);
    for hook in hooks.flat_map(|binding| &mut binding.hooks) {
        let guards = GUARDS.iter().any(|(_, kinds)| kinds.contains(&hook.event));
        if let (true, false, Some(why)) = (guards, hook.enabled, hook.disabled_because.clone()) {
            let hook = Arc::make_mut(hook);
            hook.handler = Handler::Unknown { kind: why };
            hook.enabled = true;
            hook.on_failure = block();
        }
    }
    if blocks.is_empty() {
        return;
    }
    let file: Arc<Path> = Arc::from(path);
    let bindings = blocks.into_iter().enumerate().flat_map(|(entry, (name, kinds, finding))| {
        let file = file.clone();
        kinds.iter().map(move |kind| obstacle(name, kind, &finding, layer, &file, entry))
    });
    let bindings = bindings.collect();
    loader.documents.push(Document {
        dialect: ID,
        layer,
        file: Some(file.clone()),
        root: None,
        source: None,
        description: None,
        bindings,
        switches: serde_json::Map::new(),
    });
}

/// A hook that cannot run, fails, and blocks.
fn obstacle(
    name: &str,
    kind: &EventKind,
    finding: &Diagnostic,
    layer: Layer,
    file: &Arc<Path>,
    entry: usize,
) -> Binding {
    let why = finding.message.clone();
    let hook = Hook {
        id: HookId::new(""),
        event_name: name.to_owned(),
        on_failure: block(),
        disabled_because: Some(why.clone()),
        origin: Origin {
            layer,
            file: Some(file.clone()),
            entry,
            location: finding.location().cloned(),
            pointer: format!("{}#{entry}", finding.pointer.as_deref().unwrap_or_default()),
            ..Origin::code(0)
        },
        ..Hook::new("", ID, kind.clone(), Handler::Unknown { kind: why })
    };
    Binding {
        event: kind.clone(),
        event_name: name.to_owned(),
        matcher: MatcherSpec { text: None, flavour: Flavour::Aimon, location: None },
        parallel: false,
        entry,
        hooks: vec![Arc::new(hook)],
    }
}

fn block() -> FailMode {
    FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() }
}

fn guard(name: &str) -> Option<(&'static str, &'static [EventKind])> {
    let row = hook_mapper::Dialects::standard().get(ID)?.event_row(name)?;
    GUARDS.iter().copied().find(|(own, _)| *own == row.name)
}

/// The event that a finding stands under: `/hooks/<event>/…`.
fn event_of(finding: &Diagnostic) -> Option<&str> {
    finding.pointer.as_deref()?.strip_prefix("/hooks/")?.split('/').next()
}

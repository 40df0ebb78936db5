//! Hooks that settings keep from running.

use hook_core::{Code, Diagnostic, FailureKind, Handler, Hook, OnFailure};

use crate::report::step;

/// Keeps a hook from running; where its author wants failures to block, it stays in force, fails and blocks. `None` for a hook
/// that does not run anyway. `member` is what the finding points at, empty for the whole handler.
pub(crate) fn refuse(hook: &mut Hook, code: Code, member: &str, why: String) -> Option<Diagnostic> {
    if !hook.enabled {
        return None;
    }
    let blocks = hook.on_failure.for_kind(FailureKind::Spawn, OnFailure::Continue) == OnFailure::Block;
    let effect = if blocks { "it fails, and blocks" } else { "it never runs" };
    let mut pointer = hook.origin.pointer.clone();
    if !member.is_empty() {
        pointer = step(&pointer, member);
    }
    let mut finding = Diagnostic::new(code, format!("{why}; {effect}")).pointer(pointer);
    if let Some(location) = &hook.origin.location {
        finding = finding.at(location.clone(), "");
    }
    if blocks {
        hook.handler = Handler::Unknown { kind: why.clone() };
    }
    hook.enabled = blocks;
    hook.disabled_because = Some(why);
    Some(finding)
}

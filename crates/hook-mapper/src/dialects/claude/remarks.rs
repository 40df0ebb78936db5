//! What a document says in vain, for the person who wrote the hook: its agent drops these fields without a word.

use hook_core::{Event, EventKind, Note};
use serde_json::{Map, Value};

use super::profile::{self, Block};
use super::{document, terminal};

/// A remark for every field that has no effect on this event.
pub(super) fn on(event: &Event, map: &Map<String, Value>) -> Vec<Note> {
    let kind = &event.kind;
    let takes = profile::takes(kind);
    let said = |name: &str| map.get(name).is_some_and(|value| !value.is_null());
    let mut notes = Vec::new();
    let mut vain = |name: &str| notes.push(Note::warning(format!("`{name}` has no effect on {kind}")));

    if map.get("continue") == Some(&Value::Bool(false)) && !takes.stop {
        vain("continue");
    }
    if said("systemMessage") && !takes.message && !profile::message_is_context(event) {
        vain("systemMessage");
    }
    let tells = matches!(kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
    match (map.get("decision").and_then(Value::as_str), profile::block_on(event)) {
        (Some("block"), Block::Holds(_)) if !worktree(kind) => {}
        (Some("block"), _) if tells => {}
        (Some("approve"), _) if *kind == EventKind::PreToolUse => {}
        (Some(_), _) => vain("decision"),
        (None, _) => {}
    }
    if let Some(sequence) = map.get("terminalSequence").and_then(Value::as_str) {
        if profile::is_deaf(kind) {
            vain("terminalSequence");
        } else if !terminal::is_allowed(sequence) {
            notes.push(Note::warning(
                "`terminalSequence` holds something other than bells and titles or notifications, so all of it is dropped",
            ));
        }
    }
    if let Some(Value::Object(own)) = map.get("hookSpecificOutput") {
        notes.extend(on_own(event, own, takes.context));
    }
    notes
}

fn on_own(event: &Event, own: &Map<String, Value>, context: bool) -> Vec<Note> {
    let kind = &event.kind;
    let said = |name: &str| own.get(name).is_some_and(|value| !value.is_null());
    let mut notes = Vec::new();
    for name in document::foreign(kind, own) {
        notes.push(Note::warning(format!("`hookSpecificOutput.{name}` has no effect on {kind}")));
    }
    let mut vain = |name: &str, why: &str| {
        notes.push(Note::warning(format!("`hookSpecificOutput.{name}` has no effect here: {why}")));
    };
    if said("additionalContext") && document::has(kind, "additionalContext") && !context {
        vain("additionalContext", "the event takes no context");
    }
    if said("sessionTitle") && document::has(kind, "sessionTitle") && !profile::takes_title(event) {
        vain("sessionTitle", "the session keeps its title after a clear or a compaction");
    }
    if own.get("permissionDecision").and_then(Value::as_str) == Some("defer") {
        for name in ["updatedInput", "additionalContext"].into_iter().filter(|name| said(name)) {
            vain(name, "the call is put off, and comes again");
        }
    }
    if *kind == EventKind::PostToolUse && said("updatedMCPToolOutput") && !profile::is_mcp(event) {
        vain("updatedMCPToolOutput", "the tool is none of an MCP server; write updatedToolOutput");
    }
    let note = own.get("classifierContext").and_then(Value::as_str).unwrap_or_default();
    if *kind == EventKind::PostToolUse && note.chars().nth(profile::CLASSIFIER_CONTEXT).is_some() {
        notes.push(Note::warning(format!(
            "`hookSpecificOutput.classifierContext` is cut after {} characters",
            profile::CLASSIFIER_CONTEXT
        )));
    }
    notes
}

fn worktree(kind: &EventKind) -> bool {
    matches!(kind, EventKind::WorktreeCreate | EventKind::WorktreeRemove)
}

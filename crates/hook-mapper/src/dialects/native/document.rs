//! The answer document of a native hook, in any of its three spellings: the engine's own, Claude Code's and Amplifier's,
//! each member for itself, so that a script carried over from either runs as it is.

use hook_core::{Answer, Audience, Decision, Effect, EventKind, Level};
use serde_json::{Map, Value};

use crate::values;

/// What a document says, and what of it could not be read.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) answer: Answer,
    /// Members with a value that means nothing. Not empty: the document may hold a decision that was lost.
    pub(super) unreadable: Vec<String>,
}

pub(super) fn read(kind: &EventKind, document: &Map<String, Value>) -> Said {
    let mut said = Said::default();
    let specific = match document.get("hookSpecificOutput") {
        Some(Value::Object(specific)) => specific.clone(),
        None | Some(Value::Null) => Map::new(),
        Some(_) => {
            said.unreadable.push("hookSpecificOutput is no object".into());
            Map::new()
        }
    };
    decisions(&mut said, kind, document, &specific);
    rewrites(&mut said.answer, kind, document, &specific);
    texts(&mut said, document, &specific);
    effects(&mut said.answer, kind, document, &specific);
    stop(&mut said, document);
    said
}

/// Of several decisions in one document the strongest counts.
fn decisions(
    said: &mut Said,
    kind: &EventKind,
    document: &Map<String, Value>,
    specific: &Map<String, Value>,
) {
    let offer = |said: &mut Said, member: &str, word: &Value, reason: Option<String>| {
        let Some(decision) = word.as_str().and_then(decision) else {
            said.unreadable.push(format!("{member} is {word}"));
            return;
        };
        if decision > said.answer.decision {
            said.answer.reason = reason;
        } else if decision == said.answer.decision {
            said.answer.reason = said.answer.reason.take().or(reason);
        }
        said.answer.decision = said.answer.decision.max(decision);
    };
    let reason = values::some_text(document.get("reason"));
    if let Some(word) = values::first(specific, &["permissionDecision"]) {
        let own = values::some_text(specific.get("permissionDecisionReason"));
        offer(said, "permissionDecision", word, own.or_else(|| reason.clone()));
    }
    match values::first(specific, &["decision"]) {
        Some(Value::Object(decision)) => {
            if let Some(word) = values::first(decision, &["behavior"]) {
                offer(
                    said,
                    "behavior",
                    word,
                    values::some_text(decision.get("message")).or_else(|| reason.clone()),
                );
            }
        }
        Some(word) => offer(said, "hookSpecificOutput.decision", word, reason.clone()),
        None => {}
    }
    if let Some(word) = values::first(document, &["decision", "permissionDecision"]) {
        offer(said, "decision", word, reason.clone());
    }
    if said.answer.reason.is_none() {
        said.answer.reason = reason;
    }
    let to_user = *kind == EventKind::UserPromptSubmit
        || matches!(said.answer.decision, Decision::Allow | Decision::Ask);
    said.answer.reason_to = if to_user { Audience::User } else { Audience::Model };
}

/// A decision in any letter case and in the words of all three spellings.
fn decision(word: &str) -> Option<Decision> {
    match word.trim().to_ascii_lowercase().as_str() {
        "deny" | "block" => Some(Decision::Deny),
        "ask" => Some(Decision::Ask),
        "defer" => Some(Decision::Defer),
        "allow" | "approve" => Some(Decision::Allow),
        "none" | "continue" | "" => Some(Decision::None),
        _ => None,
    }
}

fn rewrites(
    answer: &mut Answer,
    kind: &EventKind,
    document: &Map<String, Value>,
    specific: &Map<String, Value>,
) {
    let permission = specific.get("decision").and_then(Value::as_object);
    let from_permission = permission.and_then(|decision| values::first(decision, &["updatedInput"]));
    let input = values::first(document, &["updatedInput"])
        .or_else(|| values::first(specific, &["updatedInput"]))
        .or(from_permission);
    answer.updated_input = input.cloned();
    let output = ["updatedOutput", "updatedToolOutput", "updatedMCPToolOutput"];
    answer.updated_output =
        values::first(document, &output).or_else(|| values::first(specific, &output)).cloned();
    match (kind, values::first(document, &["newContent"])) {
        (EventKind::PreToolUse, Some(content @ Value::Object(_))) if answer.updated_input.is_none() => {
            answer.updated_input = Some(content.clone());
        }
        (_, Some(content)) => answer.effects.push(Effect::ReplaceContent { content: content.clone() }),
        (_, None) => {}
    }
}

fn texts(said: &mut Said, document: &Map<String, Value>, specific: &Map<String, Value>) {
    let contexts = [
        document.get("context"),
        document.get("additionalContext"),
        document.get("contextInjection"),
        specific.get("additionalContext"),
    ];
    for value in contexts.into_iter().flatten() {
        for text in each(value).filter_map(|item| values::some_text(Some(item))) {
            said.answer.effects.push(Effect::Context { text });
        }
    }
    let messages = [document.get("message"), document.get("messages"), document.get("systemMessage")];
    for item in messages.into_iter().flatten().flat_map(each) {
        let (text, level) = match item {
            Value::Object(message) => (values::some_text(message.get("text")), level(message.get("level"))),
            other => (values::some_text(Some(other)), Level::Info),
        };
        said.answer.effects.extend(text.map(|text| Effect::Message { text, level }));
    }
}

/// The items of an array, or the value itself.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    match value {
        Value::Array(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    }
    .iter()
}

fn level(value: Option<&Value>) -> Level {
    match value.and_then(Value::as_str) {
        Some("warning") => Level::Warning,
        Some("error") => Level::Error,
        _ => Level::Info,
    }
}

fn effects(
    answer: &mut Answer,
    kind: &EventKind,
    document: &Map<String, Value>,
    specific: &Map<String, Value>,
) {
    let find = |name: &str| values::first(document, &[name]).or_else(|| values::first(specific, &[name]));
    let text = |name: &str| values::some_text(find(name));
    let is_true = |name: &str| find(name) == Some(&Value::Bool(true));
    let out = &mut answer.effects;
    out.extend(text("sessionTitle").map(|text| Effect::SessionTitle { text }));
    out.extend(text("initialUserMessage").map(|text| Effect::InitialPrompt { text }));
    out.extend(text("displayContent").map(|text| Effect::DisplayContent { text }));
    out.extend(text("terminalSequence").map(|text| Effect::TerminalSequence { text }));
    out.extend(text("worktreePath").map(|path| Effect::WorktreePath { path }));
    if let Some(Value::Array(paths)) = find("watchPaths") {
        let paths = paths.iter().filter_map(Value::as_str).map(String::from).collect();
        out.push(Effect::WatchPaths { paths });
    }
    out.extend(is_true("suppressOriginalPrompt").then_some(Effect::HidePrompt));
    out.extend(is_true("reloadSkills").then_some(Effect::ReloadSkills));
    out.extend(is_true("retry").then_some(Effect::Retry));
    if let Some(Value::Object(permission)) = specific.get("decision") {
        out.extend((permission.get("interrupt") == Some(&Value::Bool(true))).then_some(Effect::Interrupt));
        let updates = values::first(permission, &["updatedPermissions"]).cloned();
        out.extend(updates.map(|updates| Effect::Permissions { updates }));
    }
    if matches!(kind, EventKind::Elicitation | EventKind::ElicitationResult)
        && let Some(action) = text("action")
    {
        out.push(Effect::Elicitation { action, content: find("content").cloned() });
    }
}

fn stop(said: &mut Said, document: &Map<String, Value>) {
    said.answer.stop = document.get("stop") == Some(&Value::Bool(true))
        || document.get("continue") == Some(&Value::Bool(false));
    for (member, value) in ["stop", "continue"].map(|name| (name, document.get(name))) {
        if value.is_some_and(|value| !value.is_boolean() && !value.is_null()) {
            said.unreadable.push(format!("{member} is neither true nor false"));
        }
    }
    if said.answer.stop {
        said.answer.stop_reason = values::some_text(document.get("stopReason"));
    }
}

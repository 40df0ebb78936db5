//! The answer document of webhooks and policy servers: `{"decision", "reason", "updatedInput"}` ("Hook Configuration Guide, http").
//!
//! By the guide only a `deny` is looked for, and what means nothing passes. The strict mode reads the words of Claude Code in a webhook's
//! answer, too; of several statements the strictest counts, and one that cannot be read is none.

use hook_core::{Answer, Decision, Effect, Note};
use serde_json::{Map, Value};

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// A webhook. It may have been written for Claude Code.
    Http,
    /// A tool of an MCP server: a member that happens to be called `continue` is no verdict.
    Mcp,
}

/// What a document says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) answer: Answer,
    /// Members that mean nothing.
    pub(super) notes: Vec<Note>,
}

impl Said {
    /// What stands beside a refusal is not looked at.
    fn deny(reason: Option<String>) -> Said {
        let answer = Answer { decision: Decision::Deny, reason, ..Answer::default() };
        Said { answer, notes: Vec::new() }
    }
}

/// Reads a document by the guide.
pub(super) fn read(document: &Map<String, Value>, from: From) -> Said {
    if word(document.get("decision")).as_deref() == Some("deny") {
        return Said::deny(document.get("reason").and_then(text));
    }
    let mut said = Said::default();
    match document.get("updatedInput") {
        Some(input @ Value::Object(_)) => said.answer.updated_input = Some(input.clone()),
        None | Some(Value::Null) => {}
        Some(_) => said.notes.push(Note::warning("\"updatedInput\" is no object and is left out")),
    }
    said.answer.effects.extend(feedback(document, from));
    said
}

/// What one place of a document says, mildest first.
#[derive(Debug, PartialEq, Eq)]
enum Statement {
    Nothing,
    Ask(Option<String>),
    Unreadable(String),
    Deny(Option<String>),
}

/// Reads a document by the strict mode, or says why it holds no verdict.
pub(super) fn read_strict(document: &Map<String, Value>, from: From) -> Result<Said, String> {
    let specific = match document.get("hookSpecificOutput").filter(|_| from == From::Http) {
        None | Some(Value::Null) => None,
        Some(Value::Object(specific)) => Some(specific),
        Some(_) => {
            return strictest(
                vec![decision(document), unreadable("hookSpecificOutput")],
                document,
                None,
                from,
            );
        }
    };
    let mut statements = vec![decision(document)];
    if from == From::Http {
        statements.extend(specific.map(permission));
        statements.push(goes_on(document));
    }
    strictest(statements, document, specific, from)
}

fn strictest(
    statements: Vec<Statement>,
    document: &Map<String, Value>,
    specific: Option<&Map<String, Value>>,
    from: From,
) -> Result<Said, String> {
    let denies = |statement: &Statement| matches!(statement, Statement::Deny(_));
    if statements.iter().any(denies) {
        let reasons = statements.into_iter().filter_map(|statement| match statement {
            Statement::Deny(reason) => reason,
            _ => None,
        });
        return Ok(Said::deny(reasons.into_iter().next()));
    }
    let mut said = Said::default();
    for statement in statements {
        match statement {
            Statement::Unreadable(what) => return Err(format!("{what} cannot be read as a verdict")),
            Statement::Ask(reason) => {
                said.answer.decision = Decision::Ask;
                said.answer.reason = reason;
            }
            Statement::Nothing | Statement::Deny(_) => {}
        }
    }
    let inputs = [document.get("updatedInput"), specific.and_then(|specific| specific.get("updatedInput"))];
    for input in inputs.into_iter().flatten().filter(|input| !input.is_null()) {
        if !input.is_object() {
            return Err("\"updatedInput\" is no object".into());
        }
        if said.answer.updated_input.as_ref().is_some_and(|known| known != input) {
            return Err("\"updatedInput\" is given twice and differs".into());
        }
        said.answer.updated_input = Some(input.clone());
    }
    said.answer.effects.extend(feedback(document, from));
    Ok(said)
}

fn unreadable(what: &str) -> Statement {
    Statement::Unreadable(format!("{what:?}"))
}

fn decision(document: &Map<String, Value>) -> Statement {
    match (document.get("decision"), word(document.get("decision")).as_deref()) {
        (None | Some(Value::Null), _) | (_, Some("allow" | "defer")) => Statement::Nothing,
        (_, Some("deny" | "block")) => Statement::Deny(document.get("reason").and_then(text)),
        _ => unreadable("decision"),
    }
}

fn permission(specific: &Map<String, Value>) -> Statement {
    let reason = || specific.get("permissionDecisionReason").and_then(text);
    let value = specific.get("permissionDecision");
    match (value, word(value).as_deref()) {
        (None | Some(Value::Null), _) | (_, Some("allow")) => Statement::Nothing,
        (_, Some("deny")) => Statement::Deny(reason()),
        (_, Some("ask")) => Statement::Ask(reason()),
        _ => unreadable("permissionDecision"),
    }
}

fn goes_on(document: &Map<String, Value>) -> Statement {
    match document.get("continue") {
        None | Some(Value::Null | Value::Bool(true)) => Statement::Nothing,
        Some(Value::Bool(false)) => Statement::Deny(document.get("stopReason").and_then(text)),
        Some(_) => unreadable("continue"),
    }
}

/// The first text for the model.
fn feedback(document: &Map<String, Value>, from: From) -> Option<Effect> {
    let specific = document.get("hookSpecificOutput").and_then(|specific| specific.get("additionalContext"));
    let all = [document.get("feedback"), document.get("systemMessage"), specific];
    let read = if from == From::Http { &all[..] } else { &all[..1] };
    let text = read.iter().copied().flatten().find_map(text)?;
    Some(Effect::Context { text })
}

fn word(value: Option<&Value>) -> Option<String> {
    Some(value?.as_str()?.trim().to_ascii_lowercase())
}

/// A text that is not blank.
fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

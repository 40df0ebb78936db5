//! Standard output as an answer document ("JSON output"): what it is, and whether it fits the schema.

use hook_core::dialect::type_name;
use hook_core::{EventKind, StdoutForm};
use serde_json::{Map, Value};

/// Standard output, taken for something.
#[derive(Debug)]
pub(super) enum Stdout<'a> {
    Empty,
    Text(&'a str),
    /// The beginning of a document that was too long to be kept.
    Cut,
    Json(Map<String, Value>),
    /// Braces around something that is no JSON; the error.
    Invalid(String),
    /// JSON that does not fit; what is wrong.
    Misfit(String),
}

impl Stdout<'_> {
    pub(super) fn form(&self) -> StdoutForm {
        match self {
            Stdout::Empty => StdoutForm::Empty,
            Stdout::Text(_) => StdoutForm::Text,
            Stdout::Json(_) => StdoutForm::Json,
            Stdout::Invalid(_) | Stdout::Cut => StdoutForm::InvalidJson,
            Stdout::Misfit(_) => StdoutForm::SchemaError,
        }
    }
}

/// Members that make a line a hook's answer.
const HOOK_FIELDS: &[&str] = &[
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "terminalSequence",
    "decision",
    "reason",
    "hookSpecificOutput",
];

/// Blanks as JavaScript trims them: a byte order mark is one.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// What follows a first line `{"async": true}`, by which a hook sends itself into the background.
pub(super) fn after_async(text: &str) -> Option<&str> {
    let (first, rest) = trim(text).split_once('\n').unwrap_or((trim(text), ""));
    let document: Value = serde_json::from_str(first).ok()?;
    (document.get("async") == Some(&Value::Bool(true))).then_some(rest)
}

/// Plain text that ends with a document: something was printed before it.
pub(super) fn hides_document(text: &str) -> bool {
    if text.starts_with('{') {
        return false;
    }
    let tails = text.match_indices("\n{").map(|(at, _)| &text[at..]);
    text.ends_with('}') && tails.take(64).any(|tail| serde_json::from_str::<Map<String, Value>>(tail).is_ok())
}

/// `whole` is false where the text was cut off at the end.
pub(super) fn take<'a>(text: &'a str, whole: bool, event: &EventKind) -> Stdout<'a> {
    let text = trim(text);
    if text.is_empty() {
        return Stdout::Empty;
    }
    if !whole && text.starts_with('{') {
        // Half a document is none, even where it happens to end with a brace.
        return Stdout::Cut;
    }
    if !(text.starts_with('{') && text.ends_with('}')) {
        return Stdout::Text(text);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) => match check(&map, event) {
            Ok(()) => Stdout::Json(map),
            Err(why) => Stdout::Misfit(why),
        },
        Ok(_) => Stdout::Text(text),
        Err(_) if is_log(text) => Stdout::Text(text),
        Err(error) => Stdout::Invalid(error.to_string()),
    }
}

/// Several lines, each an object without any field of a hook's answer: a log.
fn is_log(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.all(|line| match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(map)) => !HOOK_FIELDS.iter().any(|field| map.contains_key(*field)),
        _ => false,
    })
}

#[derive(Clone, Copy)]
enum Type {
    Bool,
    Text,
    Object,
    Texts,
    List,
    One(&'static [&'static str]),
    Any,
}

/// Fields of every answer.
const COMMON: &[(&str, Type)] = &[
    ("continue", Type::Bool),
    ("stopReason", Type::Text),
    ("suppressOutput", Type::Bool),
    ("systemMessage", Type::Text),
    ("terminalSequence", Type::Text),
    ("decision", Type::One(&["approve", "block"])),
    ("reason", Type::Text),
    ("hookSpecificOutput", Type::Object),
];

/// Fields of the event's own output.
fn specific(event: &EventKind) -> &'static [(&'static str, Type)] {
    match event {
        EventKind::PreToolUse => &[
            ("permissionDecision", Type::One(&["allow", "deny", "ask", "defer"])),
            ("permissionDecisionReason", Type::Text),
            ("updatedInput", Type::Object),
            ("additionalContext", Type::Text),
        ],
        EventKind::PreModelSwitch => &[
            ("permissionDecision", Type::One(&["allow", "deny", "ask", "defer"])),
            ("permissionDecisionReason", Type::Text),
        ],
        EventKind::PermissionRequest => &[("decision", Type::Object)],
        EventKind::PermissionDenied => &[("retry", Type::Bool)],
        EventKind::PostToolUse => &[
            ("additionalContext", Type::Text),
            ("updatedToolOutput", Type::Any),
            ("updatedMCPToolOutput", Type::Any),
            ("classifierContext", Type::Text),
        ],
        EventKind::SessionStart => &[
            ("additionalContext", Type::Text),
            ("initialUserMessage", Type::Text),
            ("sessionTitle", Type::Text),
            ("watchPaths", Type::Texts),
            ("reloadSkills", Type::Bool),
        ],
        EventKind::UserPromptSubmit => &[
            ("additionalContext", Type::Text),
            ("sessionTitle", Type::Text),
            ("suppressOriginalPrompt", Type::Bool),
        ],
        EventKind::UserPromptExpansion => {
            &[("additionalContext", Type::Text), ("suppressOriginalPrompt", Type::Bool)]
        }
        EventKind::CwdChanged | EventKind::FileChanged => &[("watchPaths", Type::Texts)],
        EventKind::WorktreeCreate => &[("worktreePath", Type::Text)],
        EventKind::MessageDisplay => &[("displayContent", Type::Text)],
        EventKind::Elicitation | EventKind::ElicitationResult => {
            &[("action", Type::One(&["accept", "decline", "cancel"])), ("content", Type::Object)]
        }
        _ => &[("additionalContext", Type::Text)],
    }
}

/// True where the event's own output has this field.
pub(super) fn has(event: &EventKind, name: &str) -> bool {
    specific(event).iter().any(|(field, _)| *field == name)
}

/// The fields of an event's own output that belong to other events: they do no harm, and nothing else either.
pub(super) fn foreign(event: &EventKind, own: &Map<String, Value>) -> Vec<String> {
    let known = |name: &str| EventKind::ALL.iter().any(|kind| has(kind, name));
    own.iter()
        .filter(|(name, value)| !value.is_null() && !has(event, name) && known(name))
        .map(|(name, _)| name.clone())
        .collect()
}

fn check(map: &Map<String, Value>, event: &EventKind) -> Result<(), String> {
    fields(map, COMMON, "")?;
    let Some(Value::Object(own)) = map.get("hookSpecificOutput") else { return Ok(()) };
    match own.get("hookEventName") {
        Some(Value::String(name)) if name == event.name() => {}
        Some(other) => {
            return Err(format!("hookSpecificOutput.hookEventName is {other}, and the event is {event}"));
        }
        None => return Err(format!("hookSpecificOutput has no hookEventName; it should be {event}")),
    }
    fields(own, specific(event), "hookSpecificOutput.")?;
    if let (EventKind::PermissionRequest, Some(Value::Object(decision))) = (event, own.get("decision")) {
        let rows = [
            ("behavior", Type::One(&["allow", "deny"])),
            ("message", Type::Text),
            ("interrupt", Type::Bool),
            ("updatedInput", Type::Object),
            ("updatedPermissions", Type::List),
        ];
        fields(decision, &rows, "hookSpecificOutput.decision.")?;
        if !decision.contains_key("behavior") {
            return Err("hookSpecificOutput.decision has no behavior".into());
        }
    }
    Ok(())
}

fn fields(map: &Map<String, Value>, rows: &[(&str, Type)], path: &str) -> Result<(), String> {
    for (name, wanted) in rows {
        let Some(value) = map.get(*name).filter(|value| !value.is_null()) else { continue };
        let (fits, wanted) = match wanted {
            Type::Bool => (value.is_boolean(), "a boolean".to_owned()),
            Type::Text => (value.is_string(), "a string".to_owned()),
            Type::Object => (value.is_object(), "an object".to_owned()),
            Type::Texts => (
                value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
                "a list of strings".to_owned(),
            ),
            Type::List => (value.is_array(), "a list".to_owned()),
            Type::One(words) => (
                value.as_str().is_some_and(|word| words.contains(&word)),
                format!("one of {}", words.join(", ")),
            ),
            Type::Any => (true, String::new()),
        };
        if !fits {
            let found = match value {
                Value::String(text) => format!("{text:?}"),
                other => type_name(other).to_owned(),
            };
            return Err(format!("{path}{name} is {found}, not {wanted}"));
        }
    }
    Ok(())
}

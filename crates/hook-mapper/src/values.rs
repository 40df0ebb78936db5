//! Small readings of JSON values that several dialects share.

use std::path::PathBuf;

use hook_core::{Effect, Level, Outcome, ReadError};
use serde_json::{Map, Value};

/// A value as text: null is nothing, a string is itself, anything else its JSON form.
pub(crate) fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The same without texts that are blank.
pub(crate) fn some_text(value: Option<&Value>) -> Option<String> {
    text(value).filter(|text| !text.trim().is_empty())
}

/// The level of an effort (`{"level": "high"}`).
pub(crate) fn effort(value: Option<&Value>) -> Option<String> {
    some_text(value?.get("level"))
}

/// The first member that is there and not null.
pub(crate) fn first<'a>(map: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| map.get(*key).filter(|value| !value.is_null()))
}

/// The first member that is there and not null, which has to be a string: a guard that cannot read its subject must not
/// pass for one that found nothing.
pub(crate) fn first_string(map: &Map<String, Value>, keys: &[&str]) -> Result<Option<String>, ReadError> {
    for key in keys {
        match map.get(*key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => return Ok(Some(text.clone())),
            Some(other) => {
                return Err(ReadError::WrongType {
                    field: (*key).to_owned(),
                    found: hook_core::dialect::type_name(other),
                    wanted: "a string",
                });
            }
        }
    }
    Ok(None)
}

/// The files a tool input names.
pub(crate) fn input_paths(input: &Value) -> Vec<PathBuf> {
    let names = ["file_path", "notebook_path", "path"].iter().filter_map(|key| input.get(key)?.as_str());
    names.filter(|name| !name.is_empty()).map(PathBuf::from).collect()
}

/// Appends a name unless it is there.
pub(crate) fn push_unique(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// The texts for the model: contexts and feedback, in order.
pub(crate) fn model_texts(outcome: &Outcome) -> Vec<&str> {
    let texts = outcome.answer.effects.iter().filter_map(|effect| match effect {
        Effect::Context { text } | Effect::Feedback { text, to: hook_core::Audience::Model } => {
            Some(text.as_str())
        }
        _ => None,
    });
    texts.collect()
}

/// The texts for the user: messages and feedback, in order, with their levels.
pub(crate) fn user_texts(outcome: &Outcome) -> Vec<(&str, Level)> {
    let texts = outcome.answer.effects.iter().filter_map(|effect| match effect {
        Effect::Message { text, level } => Some((text.as_str(), *level)),
        Effect::Feedback { text, to: hook_core::Audience::User } => Some((text.as_str(), Level::Info)),
        _ => None,
    });
    texts.collect()
}

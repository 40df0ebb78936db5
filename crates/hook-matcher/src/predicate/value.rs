//! Values of a tool's input, and expressions that are searched in them.

use std::borrow::Cow;

use serde_json::Value;

use super::globs;
use crate::matcher::Shape;
use crate::shown::shown;

/// Longer values are not searched.
const MAX_VALUE: usize = 1 << 20;
/// Values are not searched where the engine might need more steps than this: the bytes of the value, times the size of the pattern.
const MAX_STEPS: usize = 1 << 27;
/// The same for an engine that backtracks, whose time may grow with the square of the value.
const MAX_BACKTRACKED: usize = 1_536;

/// What a part of a predicate says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) holds: bool,
    /// The value it saw, in words.
    pub(super) saw: String,
    /// The limit that was reached, so that it holds.
    pub(super) limit: Option<String>,
}

impl Seen {
    pub(super) fn of(holds: bool, saw: impl Into<String>) -> Seen {
        Seen { holds, saw: saw.into(), limit: None }
    }

    pub(super) fn beyond(saw: impl Into<String>, limit: impl Into<String>) -> Seen {
        Seen { holds: true, saw: saw.into(), limit: Some(limit.into()) }
    }
}

/// A field of the input, and the expression that has to be found in it.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) path: Vec<String>,
    pub(super) shape: Shape,
    /// Of the pattern, in nodes.
    pub(super) size: usize,
}

impl Field {
    /// A field that the tool is known to have.
    pub(super) fn is_of(&self, tool: &str) -> bool {
        matches!(self.path.as_slice(), [name] if globs::fields(tool).is_some_and(|known| known.contains(&name.as_str())))
    }

    pub(super) fn test(&self, inputs: &[&Value]) -> Seen {
        let name = self.path.join(".");
        let Some(value) = inputs.iter().find_map(|input| walk(input, &self.path)) else {
            return Seen::of(false, format!("there is no {name}"));
        };
        let values: Vec<Cow<'_, str>> = match value {
            Value::Array(items) => items.iter().filter_map(scalar).collect(),
            value => scalar(value).into_iter().collect(),
        };
        if values.is_empty() {
            return Seen::of(false, format!("{name} is {}", kind(value)));
        }
        let saw = || match value {
            Value::String(text) => format!("{name} is {}", shown(text)),
            value => format!("{name} is {}", shown(&value.to_string()).trim_matches('"')),
        };
        let mut beyond = None;
        for value in &values {
            match self.search(value) {
                Ok(true) => return Seen::of(true, saw()),
                Ok(false) => {}
                Err(limit) => beyond = Some(limit),
            }
        }
        match beyond {
            Some(limit) => Seen::beyond(saw(), format!("{name} {limit}")),
            None => Seen::of(false, saw()),
        }
    }

    fn search(&self, value: &str) -> Result<bool, String> {
        let Shape::Pattern(regex) = &self.shape else {
            return match value.len() <= MAX_VALUE {
                true => Ok(self.shape.matches_one(value)),
                false => Err(format!("is longer than {MAX_VALUE} bytes")),
            };
        };
        let most = match regex.backtracks() {
            true => MAX_BACKTRACKED,
            false => MAX_VALUE.min(MAX_STEPS / self.size.max(1)),
        };
        if value.len() > most {
            return Err(format!("is longer than the {most} bytes that this expression is searched in"));
        }
        regex.search(value).ok_or_else(|| "takes the expression more steps than are granted".to_owned())
    }
}

/// Walks objects; nothing else has members.
fn walk<'v>(input: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(input, |value, name| value.as_object()?.get(name))
}

/// Texts as they are, numbers and booleans by their JSON text.
fn scalar(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(_) | Value::Bool(_) => Some(Cow::Owned(value.to_string())),
        _ => None,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Array(_) => "a list without texts, numbers or booleans",
        _ => "an object",
    }
}

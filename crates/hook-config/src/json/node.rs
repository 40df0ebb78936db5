//! Values that remember where they stand.

use hook_core::Span;
use serde_json::Value;

use crate::report::step;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Node>),
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn get(&self, key: &str) -> Option<&Member> {
        match &self.kind {
            Kind::Object(members) => members.iter().find(|member| member.key == key),
            _ => None,
        }
    }

    pub(crate) fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// What it is, for messages.
    pub(crate) fn what(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "a list",
            Kind::Object(_) => "an object",
        }
    }

    /// JSON pointer to the member or element that holds this place.
    pub(crate) fn pointer_to(&self, span: Span) -> String {
        let inside = |outer: Span| outer.start <= span.start && span.end <= outer.end;
        let mut pointer = String::new();
        let mut node = self;
        loop {
            let next = match &node.kind {
                Kind::Object(members) => members
                    .iter()
                    .find(|member| inside(member.key_span) || inside(member.value.span))
                    .map(|member| (member.key.clone(), &member.value)),
                Kind::Array(items) => items
                    .iter()
                    .enumerate()
                    .find(|(_, item)| inside(item.span))
                    .map(|(index, item)| (index.to_string(), item)),
                _ => None,
            };
            let Some((part, inner)) = next else { return pointer };
            pointer = step(&pointer, part);
            node = inner;
        }
    }

    /// The value without places. `text` is the text it was parsed from: numbers are taken from it digit by digit.
    pub(crate) fn to_value(&self, text: &str) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(_) => {
                let digits = text.get(self.span.start..self.span.end).unwrap_or_default();
                // A number beyond every float has no JSON value; its digits are kept as a string.
                serde_json::from_str(digits).unwrap_or_else(|_| Value::String(digits.to_owned()))
            }
            Kind::String(value) => Value::String(value.clone()),
            Kind::Array(items) => Value::Array(items.iter().map(|item| item.to_value(text)).collect()),
            Kind::Object(members) => Value::Object(
                members.iter().map(|member| (member.key.clone(), member.value.to_value(text))).collect(),
            ),
        }
    }

    /// The place of a part of a string, where the string is written as it is (bare, in quotes without escapes, or as a block of
    /// lines); else of the whole string.
    pub(crate) fn span_within(&self, text: &str, part: Span) -> Span {
        let Some(value) = self.as_str().filter(|value| part.start <= part.end && part.end <= value.len())
        else {
            return self.span;
        };
        let written = text.get(self.span.start..self.span.end).unwrap_or_default();
        let quoted = text.get(self.span.start + 1..self.span.end.saturating_sub(1));
        let first = if written == value {
            Some(0)
        } else if quoted == Some(value) {
            Some(1)
        } else {
            in_block(written, value, part)
        };
        first.map_or(self.span, |first| {
            Span::new(self.span.start + first + part.start, self.span.start + first + part.end)
        })
    }
}

/// How far a part of a literal block is moved by the indentation of the lines up to its own. The first line of a block begins
/// after its indentation.
fn in_block(written: &str, value: &str, part: Span) -> Option<usize> {
    let line = value.get(..part.start)?.matches('\n').count();
    if value[part.start..part.end].contains('\n') {
        return None;
    }
    let mut moved = 0;
    for (number, (written, value)) in written.split('\n').zip(value.split('\n')).enumerate() {
        let bare = written.strip_suffix('\r').unwrap_or(written);
        let indent = bare.len().checked_sub(value.len()).filter(|_| bare.ends_with(value))?;
        moved += indent;
        if number == line {
            return Some(moved);
        }
        moved += written.len() - bare.len();
    }
    None
}

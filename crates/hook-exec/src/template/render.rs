//! Placeholders into values.

use std::borrow::Cow;

use hook_core::Note;
use serde_json::{Map, Value};

use super::scan::{Piece, Reference, Syntax, pieces};

/// Bytes that one renderer gives at most; a template that repeats a large value could else fill the memory.
pub const MAX_RENDERED: usize = 16 * 1024 * 1024;

/// How many notes are kept: a template may have a thousand placeholders.
const MAX_NOTES: usize = 20;

/// What placeholders stand for.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    /// What `${tool_input.…}` walks into.
    pub tool_input: &'a Value,
    /// What `${context.…}` names, and what paths walk into.
    pub context: &'a Map<String, Value>,
    /// The value of a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a variable may be named at all.
    pub allowed: &'a dyn Fn(&str) -> bool,
}

impl Default for Values<'_> {
    /// No values.
    fn default() -> Self {
        static NOTHING: Value = Value::Null;
        static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        Values { tool_input: &NOTHING, context: &EMPTY, variable: &|_| None, allowed: &|_| false }
    }
}

impl std::fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values may be secrets.
        f.debug_struct("Values").finish_non_exhaustive()
    }
}

/// Fills in templates and collects what there is to say of them. One renderer serves all templates of one hook's run.
#[derive(Debug)]
pub struct Renderer<'a> {
    values: Values<'a>,
    notes: Vec<Note>,
    given: usize,
}

impl<'a> Renderer<'a> {
    /// A renderer for these values.
    pub fn new(values: Values<'a>) -> Renderer<'a> {
        Renderer { values, notes: Vec::new(), given: 0 }
    }

    /// A text, filled in.
    pub fn text(&mut self, template: &str, syntax: Syntax) -> String {
        let mut out = String::with_capacity(template.len());
        for piece in pieces(template, syntax) {
            match piece {
                Piece::Text(text) => self.put(&mut out, text),
                Piece::Placeholder(written, reference) => {
                    let value = match self.look_up(written, reference) {
                        Found::Nothing => continue,
                        Found::Literally => Cow::Borrowed(written),
                        Found::Text(text) => Cow::Owned(text),
                        Found::Value(value) => as_text(value),
                    };
                    self.put(&mut out, &value);
                }
            }
        }
        out
    }

    /// A document with every text in it filled in; keys, numbers, booleans and null stay as they are, and texts stay texts.
    pub fn texts(&mut self, template: &Value, syntax: Syntax) -> Value {
        self.tree(template, syntax, Renderer::text_leaf)
    }

    /// A document with every text in it filled in, in which a text that is one placeholder and nothing else becomes the value
    /// itself: a number, an object, or null where there is none.
    pub fn document(&mut self, template: &Value, syntax: Syntax) -> Value {
        self.tree(template, syntax, Renderer::typed_leaf)
    }

    /// What there is to say: variables that were not allowed, values that are not there.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The same, at the end.
    pub fn into_notes(self) -> Vec<Note> {
        self.notes
    }

    /// True where what was rendered would have become longer than [`MAX_RENDERED`]; the rest is left out then.
    pub fn overflowed(&self) -> bool {
        self.given > MAX_RENDERED
    }

    fn tree(&mut self, value: &Value, syntax: Syntax, leaf: fn(&mut Self, &str, Syntax) -> Value) -> Value {
        match value {
            Value::String(text) => leaf(self, text, syntax),
            Value::Array(items) => items.iter().map(|item| self.tree(item, syntax, leaf)).collect(),
            Value::Object(members) => {
                let filled = members.iter().map(|(key, value)| (key.clone(), self.tree(value, syntax, leaf)));
                Value::Object(filled.collect())
            }
            other => other.clone(),
        }
    }

    fn text_leaf(&mut self, text: &str, syntax: Syntax) -> Value {
        Value::String(self.text(text, syntax))
    }

    fn typed_leaf(&mut self, text: &str, syntax: Syntax) -> Value {
        let mut parts = pieces(text, syntax);
        let (Some(Piece::Placeholder(written, reference)), None) = (parts.next(), parts.next()) else {
            return self.text_leaf(text, syntax);
        };
        match self.look_up(written, reference) {
            Found::Nothing => Value::Null,
            Found::Literally => written.into(),
            Found::Text(text) => {
                self.given = self.given.saturating_add(text.len());
                if self.overflowed() { Value::Null } else { text.into() }
            }
            Found::Value(value) => {
                self.given = self.given.saturating_add(as_text(value).len());
                if self.overflowed() { Value::Null } else { value.clone() }
            }
        }
    }

    fn put(&mut self, out: &mut String, text: &str) {
        self.given = self.given.saturating_add(text.len());
        if !self.overflowed() {
            out.push_str(text);
        }
    }

    fn look_up(&mut self, written: &str, reference: Reference<'_>) -> Found<'a> {
        let Values { tool_input, context, variable, allowed } = self.values;
        let value = match reference {
            Reference::Input(path) => walk(tool_input, path.split('.')),
            Reference::Context(name) => context.get(name),
            Reference::Path("tool_input") => Some(tool_input),
            Reference::Path(path) => match path.strip_prefix("tool_input.") {
                Some(path) => walk(tool_input, path.split('.')),
                None => {
                    let mut keys = path.split('.');
                    keys.next().and_then(|first| context.get(first)).and_then(|value| walk(value, keys))
                }
            },
            Reference::ShortVariable(name) if !allowed(name) => {
                self.note(Note::info(format!(
                    "{written} stays as it is: \"allowedEnvVars\" does not name {name}"
                )));
                return Found::Literally;
            }
            Reference::Variable(name) | Reference::ShortVariable(name) => {
                let value = if allowed(name) { variable(name) } else { None };
                return match value {
                    Some(value) => Found::Text(value),
                    None => {
                        let why = if allowed(name) { "is not set" } else { "is not allowed" };
                        self.note(Note::warning(format!(
                            "{written} is empty: the variable {name} {why}{}",
                            if allowed(name) { "" } else { " (\"allowedEnvVars\", or the settings)" }
                        )));
                        Found::Nothing
                    }
                };
            }
        };
        match value {
            Some(value) if !value.is_null() => Found::Value(value),
            _ => {
                self.note(Note::warning(format!("{written} is empty: this event has no such value")));
                Found::Nothing
            }
        }
    }

    fn note(&mut self, note: Note) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

enum Found<'a> {
    Nothing,
    Literally,
    Text(String),
    Value(&'a Value),
}

/// Objects only: an array cannot be indexed, and a key that holds a dot cannot be reached.
fn walk(value: &Value, mut keys: impl Iterator<Item = impl AsRef<str>>) -> Option<&Value> {
    keys.try_fold(value, |value, key| value.as_object()?.get(key.as_ref()))
}

fn as_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

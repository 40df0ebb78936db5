//! The compiled matcher.

use hook_core::Flavour;

use crate::engine::Regex;
use crate::flavours;
use crate::problem::Problem;

/// A matcher and what its author should know about it.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The matcher.
    pub matcher: Matcher,
    /// Problems, in the order of the text.
    pub problems: Vec<Problem>,
}

/// A compiled matcher. Matching never fails and never compiles anything.
#[derive(Debug, Clone)]
pub struct Matcher {
    pub(crate) shape: Shape,
    /// The flavour tests the empty text where an event has no subject.
    pub(crate) absent_is_empty: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Shape {
    All,
    Names(Vec<String>),
    Parts(Vec<Glob>),
    Literal(String),
    Pattern(Regex),
    Unreadable,
}

impl Matcher {
    /// Compiles a matcher; `None` is a matcher that was not written.
    pub fn compile(text: Option<&str>, flavour: Flavour) -> Compiled {
        flavours::compile(text.unwrap_or_default(), flavour)
    }

    /// True where one of the values matches. Without any value the event has no subject: its matchers are ignored, or in
    /// Amplifier's flavour tested against the empty text. An unreadable matcher matches nothing.
    pub fn matches<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> bool {
        let mut values = values.into_iter().peekable();
        if values.peek().is_none() {
            return if self.absent_is_empty { self.matches([""]) } else { !self.is_unreadable() };
        }
        match &self.shape {
            Shape::All => true,
            Shape::Names(names) => values.any(|value| names.iter().any(|name| name == value)),
            Shape::Parts(parts) => values.any(|value| parts.iter().any(|part| part.matches(value))),
            Shape::Literal(text) => values.any(|value| value.to_lowercase() == *text),
            Shape::Pattern(regex) => values.any(|value| regex.is_match(value)),
            Shape::Unreadable => false,
        }
    }

    /// True where the text could not be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.shape, Shape::Unreadable)
    }

    /// True where everything matches.
    pub fn is_all(&self) -> bool {
        matches!(self.shape, Shape::All)
    }

    /// The names of an exact list in which letter case counts; `None` for every other shape.
    pub fn exact_names(&self) -> Option<&[String]> {
        match &self.shape {
            Shape::Names(names) => Some(names),
            _ => None,
        }
    }

    /// How the text was understood, for people: `one of Edit, Write`.
    pub fn describe(&self) -> String {
        match &self.shape {
            Shape::All => "everything".to_owned(),
            Shape::Names(names) if names.len() == 1 => format!("exactly {}", names[0]),
            Shape::Names(names) => format!("one of {}", names.join(", ")),
            Shape::Parts(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| part.pieces.join("*")).collect();
                format!("whole name like {}", parts.join(" or "))
            }
            Shape::Literal(text) => format!("literally {text}, letter case ignored"),
            Shape::Pattern(regex) => format!("regular expression ({})", regex.name()),
            Shape::Unreadable => "unreadable".to_owned(),
        }
    }
}

/// A pattern of `*` and literal text over the whole name. Matching is linear in the name for each `*`.
#[derive(Debug, Clone)]
pub(crate) struct Glob {
    /// The literal pieces between the stars; at least one.
    pieces: Vec<String>,
}

impl Glob {
    pub(crate) fn new(text: &str) -> Glob {
        Glob { pieces: text.split('*').map(String::from).collect() }
    }

    fn matches(&self, value: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.pieces.first().is_some_and(|only| only == value);
        };
        let Some(mut rest) = value.strip_prefix(first.as_str()) else { return false };
        for piece in middle {
            match rest.find(piece.as_str()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

//! The compiled matcher.

use hook_core::Flavour;

use crate::engine::Regex;
use crate::flavours;
use crate::problem::Problem;
use crate::wild::Wild;

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
    Wilds(Vec<Wild>),
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
    ///
    /// The first value is the agent's own name. Amplifier's flavour ignores letter case by itself, so a further name that
    /// differs in nothing else is no other name there: a pattern that wants `(?-i:Bash)` does not mean the tool `bash`.
    pub fn matches<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> bool {
        let mut values = values.into_iter();
        let Some(first) = values.next() else {
            return if self.absent_is_empty { self.matches_one("") } else { !self.is_unreadable() };
        };
        let other = |value: &str| !self.absent_is_empty || !value.eq_ignore_ascii_case(first);
        self.matches_one(first) || values.any(|value| other(value) && self.matches_one(value))
    }

    fn matches_one(&self, value: &str) -> bool {
        match &self.shape {
            Shape::All => true,
            Shape::Names(names) => names.iter().any(|name| name == value),
            Shape::Wilds(wilds) => wilds.iter().any(|wild| wild.matches(value)),
            Shape::Literal(text) => {
                value.eq_ignore_ascii_case(text)
                    || (!text.is_ascii() && value.to_lowercase() == text.to_lowercase())
            }
            Shape::Pattern(regex) => regex.is_match(value),
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

    /// How the text was understood, for people: `one of Edit, Write`, `starts with mcp__github__`.
    pub fn describe(&self) -> String {
        match &self.shape {
            Shape::All => "everything".to_owned(),
            Shape::Names(names) if names.is_empty() => "no name at all".to_owned(),
            Shape::Names(names) if names.len() == 1 => format!("exactly {}", names[0]),
            Shape::Names(names) => format!("one of {}", names.join(", ")),
            Shape::Wilds(wilds) => {
                let all: Vec<String> = wilds.iter().map(Wild::to_string).collect();
                let exact: Option<Vec<&str>> = all.iter().map(|wild| wild.strip_prefix("exactly ")).collect();
                let text = match exact {
                    Some(names) if names.len() > 1 => format!("one of {}", names.join(", ")),
                    _ => all.join(" or "),
                };
                let folds = wilds.iter().any(|wild| wild.fold);
                if folds { format!("{text}, letter case ignored") } else { text }
            }
            Shape::Literal(text) => format!("literally {text}, letter case ignored"),
            Shape::Pattern(regex) => format!("regular expression ({})", regex.name()),
            Shape::Unreadable => "unreadable".to_owned(),
        }
    }
}

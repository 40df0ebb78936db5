//! The compiled matcher.

use std::sync::Arc;

use hook_core::{Flavour, Verdict};
use serde_json::Value;

use crate::engine::Regex;
use crate::flavours;
use crate::predicate::Predicate;
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

/// A compiled matcher: what it says of names, and where it looks at the input of a tool, a [`Predicate`] beside it. Matching never
/// fails and never compiles anything.
#[derive(Debug, Clone)]
pub struct Matcher {
    pub(crate) shape: Shape,
    pub(crate) predicate: Option<Arc<Predicate>>,
    /// The text could not be read and is taken for the name of a tool.
    pub(crate) fallback: bool,
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
    /// Alternatives of shapes that all have to fit, for values that may have several names.
    Either(Vec<Vec<Shape>>),
    Unreadable,
}

impl Shape {
    /// Alternatives of shapes in the simplest form.
    pub(crate) fn either(alternatives: Vec<Vec<Shape>>) -> Shape {
        let mut all = Vec::with_capacity(alternatives.len());
        for mut shapes in alternatives {
            shapes.retain(|shape| !matches!(shape, Shape::All));
            if shapes.is_empty() {
                return Shape::All;
            }
            all.push(shapes);
        }
        let lists = all.iter().map(|shapes| match shapes.as_slice() {
            [Shape::Names(names)] => Some(names.as_slice()),
            _ => None,
        });
        if let Some(lists) = lists.collect::<Option<Vec<_>>>() {
            let mut names: Vec<String> = Vec::new();
            for name in lists.into_iter().flatten() {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            return Shape::Names(names);
        }
        match all.as_mut_slice() {
            [shapes] if shapes.len() == 1 => shapes.remove(0),
            _ => Shape::Either(all),
        }
    }

    fn matches<'a>(&self, values: impl Iterator<Item = &'a str> + Clone) -> bool {
        match self {
            Shape::Either(alternatives) => {
                alternatives.iter().any(|shapes| shapes.iter().all(|shape| shape.matches(values.clone())))
            }
            shape => values.clone().any(|value| shape.matches_one(value)),
        }
    }

    pub(crate) fn matches_one(&self, value: &str) -> bool {
        match self {
            Shape::All => true,
            Shape::Names(names) => names.iter().any(|name| name == value),
            Shape::Wilds(wilds) => wilds.iter().any(|wild| wild.matches(value)),
            Shape::Literal(text) => {
                value.eq_ignore_ascii_case(text)
                    || (!text.is_ascii() && value.to_lowercase() == text.to_lowercase())
            }
            Shape::Pattern(regex) => regex.is_match(value),
            Shape::Either(_) => self.matches(std::iter::once(value)),
            Shape::Unreadable => false,
        }
    }
}

impl Matcher {
    /// A matcher of everything.
    pub(crate) fn all() -> Matcher {
        Matcher { shape: Shape::All, predicate: None, fallback: false, absent_is_empty: false }
    }

    /// Compiles a matcher; `None` is a matcher that was not written.
    pub fn compile(text: Option<&str>, flavour: Flavour) -> Compiled {
        flavours::compile(text.unwrap_or_default(), flavour)
    }

    /// True where one of the values matches. Without any value the event has no subject: its matchers are ignored, or in
    /// Amplifier's flavour tested against the empty text. An unreadable matcher matches nothing.
    ///
    /// The first value is the agent's own name. Amplifier's flavour ignores letter case by itself, so a further name that
    /// differs in nothing else is no other name there: a pattern that wants `(?-i:Bash)` does not mean the tool `bash`.
    ///
    /// Where there is a [`predicate`](Matcher::predicate), true means that the names fit and the predicate has to be asked.
    pub fn matches<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> bool {
        let values: Vec<&str> = values.into_iter().collect();
        let Some(first) = values.first() else {
            return if self.absent_is_empty { self.shape.matches_one("") } else { !self.is_unreadable() };
        };
        let other = |value: &&str| !self.absent_is_empty || !value.eq_ignore_ascii_case(first);
        let others = values[1..].iter().copied().filter(other);
        self.shape.matches(std::iter::once(*first).chain(others))
    }

    /// The part that looks at the input of a tool.
    pub fn predicate(&self) -> Option<&Arc<Predicate>> {
        self.predicate.as_ref()
    }

    /// Tests one call of a tool as a whole: every name of the tool, best first, and its input.
    ///
    /// ```
    /// use hook_core::Flavour;
    /// use hook_matcher::Matcher;
    /// use serde_json::json;
    ///
    /// let matcher = Matcher::compile(Some("Bash & input.command~^npm"), Flavour::Aimon).matcher;
    /// assert!(matcher.judge(&["Bash"], &json!({"command": "npm install"})).holds);
    /// let verdict = matcher.judge(&["Bash"], &json!({"command": "pnpm install"}));
    /// assert_eq!(verdict.why, "input.command~^npm: command is \"pnpm install\"");
    /// ```
    pub fn judge(&self, names: &[&str], input: &Value) -> Verdict {
        match &self.predicate {
            Some(predicate) => predicate.judge(names, &[input]),
            None => Verdict::of(self.matches(names.iter().copied()), self.describe()),
        }
    }

    /// True where the text could not be read and is taken for the name of a tool, which no tool has ("AIMON hook configuration
    /// guide, Matcher syntax": a pattern that cannot be interpreted falls back to name-only).
    pub fn is_fallback(&self) -> bool {
        self.fallback
    }

    /// True where the text could not be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.shape, Shape::Unreadable)
    }

    /// True where everything matches.
    pub fn is_all(&self) -> bool {
        matches!(self.shape, Shape::All) && self.predicate.is_none()
    }

    /// The names of an exact list in which letter case counts; `None` for every other shape. Where there is a predicate, no other
    /// tool can fit.
    pub fn exact_names(&self) -> Option<&[String]> {
        match &self.shape {
            Shape::Names(names) => Some(names),
            _ => None,
        }
    }

    /// How the text was understood, for people: `one of Edit, Write`, `starts with mcp__github__`.
    pub fn describe(&self) -> String {
        match &self.predicate {
            Some(_) => format!("{}, as far as the input fits", self.shape.describe()),
            None => self.shape.describe(),
        }
    }
}

impl Shape {
    fn describe(&self) -> String {
        match self {
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
            Shape::Either(alternatives) => {
                let one = |shapes: &Vec<Shape>| {
                    shapes.iter().map(Shape::describe).collect::<Vec<_>>().join(" and ")
                };
                alternatives.iter().map(one).collect::<Vec<_>>().join(", or ")
            }
            Shape::Unreadable => "unreadable".to_owned(),
        }
    }
}

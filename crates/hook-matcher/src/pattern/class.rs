//! Classes: `[…]`.

use hook_core::Span;

use super::escape::Escaped;
use super::node::{Item, Node, Set};
use super::parse::Parser;
use super::{Cause, Language, Refused};

impl Parser<'_> {
    /// A class after its `[`.
    pub(super) fn class(&mut self, start: usize) -> Result<Node, Refused> {
        if self.is_java() {
            return self.class_of_java(start);
        }
        let negated = self.eat("^");
        if self.rest().starts_with("[:") && self.rest().contains(":]") {
            let message = "there are no POSIX classes here: `[[:alpha:]]` is one of the characters `[:alph`, followed by a `]`";
            self.trap(start, message);
        }
        let mut items = Vec::new();
        let mut first = true;
        loop {
            let at = self.at;
            let Some(c) = self.peek() else {
                return Err(Refused {
                    cause: Cause::Invalid,
                    span: Span::new(start, self.text.len()),
                    why: "the class is not closed".into(),
                    help: None,
                });
            };
            if c == ']' && (!first || self.is_js()) {
                self.at += 1;
                let mut fold = self.flags.fold;
                if fold {
                    add_other_case(&mut items);
                    // Only letters beyond ASCII are left to the engine.
                    let ascii = |item: &Item| matches!(item, Item::Range(_, high) if high.is_ascii());
                    fold = !self.is_js() && !self.flags.ascii && !items.iter().all(ascii);
                }
                return Ok(Node::Set(Set { negated, fold, items }));
            }
            if self.rest().starts_with("&&") {
                self.traps.push(super::Trap {
                    span: Span::new(at, at + 2),
                    message: "`&&` in a class is two plain characters here, no intersection".into(),
                });
            }
            first = false;
            let low = self.member(at)?;
            let range = self.rest().starts_with('-') && !self.rest().starts_with("-]") && self.rest() != "-";
            if !range {
                push(&mut items, low);
                continue;
            }
            self.at += 1;
            let high_at = self.at;
            let high = self.member(high_at)?;
            match (low, high) {
                (Escaped::Char(low), Escaped::Char(high)) if low <= high => {
                    items.push(Item::Range(low, high));
                }
                (Escaped::Char(_), Escaped::Char(_)) => {
                    return Err(self.invalid(at, "the range is the wrong way round"));
                }
                (low, high) if self.is_js() => {
                    push(&mut items, low);
                    push(&mut items, Escaped::Char('-'));
                    push(&mut items, high);
                }
                _ => return Err(self.invalid(at, "a range has a character at either end")),
            }
        }
    }

    fn member(&mut self, at: usize) -> Result<Escaped, Refused> {
        let c = self.next();
        if self.language == Language::Common {
            return match c {
                // Nested classes, set operations and escapes differ between the languages.
                Some(c) if c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '/' | ' ') => {
                    Ok(Escaped::Char(c))
                }
                _ => Err(self.invalid(at, "not common to all languages")),
            };
        }
        match c {
            Some('\\') => self.escaped(at, true),
            Some(c) => Ok(Escaped::Char(c)),
            None => Ok(Escaped::Nothing),
        }
    }
}

fn push(items: &mut Vec<Item>, member: Escaped) {
    match member {
        Escaped::Char(c) => items.push(Item::Range(c, c)),
        Escaped::Items(more) => items.extend(more),
        Escaped::Nothing => {}
    }
}

/// Adds the other case of ASCII letters. Engines get `[A-c]` wrong where case is ignored, and one that folds all of Unicode would
/// find `s` in the `\W` of ASCII, by way of `ſ`.
fn add_other_case(items: &mut Vec<Item>) {
    for item in items.clone() {
        let Item::Range(low, high) = item else { continue };
        for (first, last, to) in
            [('a', 'z', char::to_ascii_uppercase as fn(&char) -> char), ('A', 'Z', char::to_ascii_lowercase)]
        {
            let (low, high) = (low.max(first), high.min(last));
            if low <= high {
                items.push(Item::Range(to(&low), to(&high)));
            }
        }
    }
}

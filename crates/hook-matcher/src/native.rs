//! The native flavour: exact lists, globs, and expressions in Rust's own syntax.

use std::sync::Arc;

use crate::engine::{Needs, Regex};
use crate::flavours::{is_name, names, pattern, too_long, too_much, unreadable, unsupported, with_names};
use crate::matcher::Shape;
use crate::pattern::{Cause, Language, Reach, Refused};
use crate::predicate::{self, Predicate};
use crate::problem::Problem;
use crate::traps;
use crate::wild::Wild;

/// Deeper nesting is not compiled.
const MAX_DEPTH: usize = 64;

pub(crate) fn compile(
    text: &str,
    predicate: &mut Option<Arc<Predicate>>,
    problems: &mut Vec<Problem>,
) -> Shape {
    let read = match list(text, problems) {
        Some(shape) => return shape,
        None => predicate::native(text, problems).unwrap_or_else(|| Ok((name(text, problems)?, None))),
    };
    match read {
        Ok((shape, tests)) => {
            *predicate = tests;
            shape
        }
        Err(problem) => {
            problems.push(problem);
            Shape::Unreadable
        }
    }
}

/// A matcher on names alone.
pub(crate) fn name(text: &str, problems: &mut Vec<Problem>) -> Result<Shape, Problem> {
    if let Some(shape) = list(text, problems) {
        return Ok(shape);
    }
    // What all languages share takes the cheap forms, the rest of the syntax is Rust's own.
    let shape = match pattern(text, Language::Common, Reach::Search, problems) {
        Ok(ran) => Ok(ran.shape),
        Err(refused) if refused.cause == Cause::Invalid => raw(text),
        Err(refused) => Err(refused),
    };
    match shape {
        Ok(shape) => {
            problems.extend(traps::comma(text));
            Ok(with_names(shape))
        }
        Err(refused) => Err(unreadable(refused, text, "the native flavour")),
    }
}

/// Names and globs, separated by commas or bars.
fn list(text: &str, problems: &mut Vec<Problem>) -> Option<Shape> {
    if matches!(text, "*") {
        return Some(Shape::All);
    }
    let separators = &[',', '|'];
    if text.chars().all(|c| is_name(c) || separators.contains(&c)) {
        return Some(Shape::Names(names(text, separators, problems)));
    }
    let in_glob = |c: char| is_name(c) || matches!(c, '*' | '.' | ':' | '/') || separators.contains(&c);
    if !text.contains('*') || text.contains(".*") || !text.chars().all(in_glob) {
        return None;
    }
    let parts: Vec<Wild> = names(text, separators, problems).iter().map(|name| Wild::glob(name)).collect();
    Some(if parts.iter().any(Wild::is_all) { Shape::All } else { Shape::Wilds(parts) })
}

/// An expression in Rust's own syntax.
pub(crate) fn raw(text: &str) -> Result<Shape, Refused> {
    too_long(text)?;
    let (depth, backtracking) = scan(text);
    if depth > MAX_DEPTH {
        return Err(unsupported(text, format!("the matcher is nested deeper than {MAX_DEPTH} levels")));
    }
    match Regex::new(text, Needs { unicode: true, backtracking, long: false }) {
        Ok(regex) => Ok(Shape::Pattern(regex.of_source(text))),
        Err(failure) if failure.syntax => {
            Err(Refused { cause: Cause::Invalid, ..unsupported(text, failure.why) })
        }
        Err(failure) => Err(too_much(text, &failure)),
    }
}

/// How deep the groups and classes are nested, and whether there is anything that needs backtracking.
fn scan(text: &str) -> (usize, bool) {
    let (mut depth, mut deepest, mut classes, mut hard) = (0usize, 0, 0usize, false);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            '\\' => {
                let next = chars.next().map(|(_, c)| c);
                hard |= classes == 0 && matches!(next, Some('1'..='9' | 'k' | 'g' | 'K' | 'G'));
            }
            '[' => classes += 1,
            ']' => classes = classes.saturating_sub(1),
            '(' if classes == 0 => {
                depth += 1;
                let marks = ["?=", "?!", "?<=", "?<!", "?>", "?(", "?P=", "?P>"];
                hard |= marks.iter().any(|mark| rest.starts_with(mark));
            }
            ')' if classes == 0 => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth + classes);
    }
    (deepest, hard)
}

//! The native flavour: exact lists, globs, and expressions in Rust's own syntax.

use crate::engine::{Needs, Regex};
use crate::flavours::{
    is_name, names, pattern, too_long, too_much, unreadable, unsupported, whole, with_names,
};
use crate::matcher::Shape;
use crate::pattern::{Cause, Language, Reach, Refused};
use crate::problem::{Problem, ProblemKind};
use crate::traps;
use crate::wild::Wild;

/// Deeper nesting is not compiled.
const MAX_DEPTH: usize = 64;

pub(crate) fn compile(text: &str, problems: &mut Vec<Problem>) -> Shape {
    let separators = &[',', '|'];
    if text.chars().all(|c| is_name(c) || separators.contains(&c)) {
        return Shape::Names(names(text, separators, problems));
    }
    let in_glob = |c: char| is_name(c) || matches!(c, '*' | '.' | ':' | '/') || separators.contains(&c);
    if text.contains('*') && !text.contains(".*") && text.chars().all(in_glob) {
        let parts: Vec<Wild> =
            names(text, separators, problems).iter().map(|name| Wild::glob(name)).collect();
        return if parts.iter().any(Wild::is_all) { Shape::All } else { Shape::Wilds(parts) };
    }
    if is_predicate(text) {
        let message = "this is a predicate on the tool's input, which this version cannot read yet";
        problems.push(
            Problem::new(ProblemKind::Unreadable, whole(text), message)
                .help("match the tool's name, and let the hook look at its input"),
        );
        return Shape::Unreadable;
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
            with_names(shape)
        }
        Err(refused) => {
            problems.push(unreadable(refused, text, "the native flavour"));
            Shape::Unreadable
        }
    }
}

fn raw(text: &str) -> Result<Shape, Refused> {
    too_long(text)?;
    let (depth, backtracking) = scan(text);
    if depth > MAX_DEPTH {
        return Err(unsupported(text, format!("the matcher is nested deeper than {MAX_DEPTH} levels")));
    }
    match Regex::new(text, Needs { unicode: true, backtracking }) {
        Ok(regex) => Ok(Shape::Pattern(regex.of_source(text))),
        Err(failure) if failure.syntax => {
            Err(Refused { cause: Cause::Invalid, ..unsupported(text, failure.why) })
        }
        Err(failure) => Err(too_much(text, &failure)),
    }
}

/// `Tool(…)` with something in it that no name has, or an `&`: taken for a regular expression it would silently never match.
fn is_predicate(text: &str) -> bool {
    traps::permission_rule(text).is_some() || text.contains(" & ")
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

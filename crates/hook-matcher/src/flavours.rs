//! What a matcher's text means, flavour by flavour.

use hook_core::{Flavour, Span};

use crate::engine::{Failure, Regex};
use crate::matcher::{Compiled, Matcher, Shape};
use crate::native;
use crate::pattern::{self, Cause, Language, Reach, Refused};
use crate::problem::{Problem, ProblemKind};
use crate::traps;
use crate::wild::Wild;

/// Longer patterns are not compiled.
const MAX_LENGTH: usize = 4096;

pub(crate) fn compile(text: &str, flavour: Flavour) -> Compiled {
    let mut problems = Vec::new();
    let shape = match flavour {
        _ if matches!(text, "" | "*") => Shape::All,
        Flavour::Claude => claude(text, is_name, &[',', '|'], &mut problems),
        Flavour::ClaudeNarrow => claude(text, is_narrow_name, &['|'], &mut problems),
        Flavour::Amplifier => amplifier(text, &mut problems),
        _ => native::compile(text, &mut problems),
    };
    problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
    Compiled { matcher: Matcher { shape, absent_is_empty: flavour == Flavour::Amplifier }, problems }
}

pub(crate) fn whole(text: &str) -> Span {
    Span::new(0, text.len())
}

/// "Claude Code hooks reference, Matcher patterns": letters, digits, `_`, `-` and blanks make an exact name.
pub(crate) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ')
}

/// The same for FileChanged and StopFailure.
fn is_narrow_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn claude(text: &str, is_name: fn(char) -> bool, separators: &[char], problems: &mut Vec<Problem>) -> Shape {
    if text.chars().all(|c| is_name(c) || separators.contains(&c)) {
        return Shape::Names(names(text, separators, problems));
    }
    match pattern(text, Language::JavaScript, Reach::Search, problems) {
        Ok(Ran { shape, .. }) => {
            let shape = with_names(shape);
            if let Shape::Names(names) = &shape {
                problems.extend(names.iter().filter_map(|name| traps::anchored_server(name, text)));
            }
            problems.extend(traps::of_readers(text, Reach::Search));
            shape
        }
        Err(refused) => {
            problems.push(unreadable(refused, text, "JavaScript"));
            Shape::Unreadable
        }
    }
}

/// The parts of a list, trimmed; empty ones are harmless.
pub(crate) fn names(text: &str, separators: &[char], problems: &mut Vec<Problem>) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = 0;
    for part in text.split(separators) {
        let name = part.trim();
        if !name.is_empty() {
            let start = at + (part.len() - part.trim_start().len());
            problems.extend(traps::server(name, start, text));
            names.push(name.to_owned());
        }
        at += part.len() + 1;
    }
    names
}

/// "Shell hooks module for Amplifier, Hook matching": the whole name, letter case ignored, literal where it is no pattern.
fn amplifier(text: &str, problems: &mut Vec<Problem>) -> Shape {
    // Most matchers are one plain name, which needs no parser.
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !text.starts_with("mcp__") {
        return Shape::Wilds(vec![Wild { fold: true, ..Wild::glob(text) }]);
    }
    match pattern(text, Language::Python, Reach::Whole, problems) {
        Ok(Ran { shape, branches }) => {
            for branch in branches {
                problems.extend(traps::server(&text[branch.start..branch.end], branch.start, text));
            }
            problems.extend(traps::of_readers(text, Reach::Whole));
            shape
        }
        Err(refused) if refused.cause == Cause::Invalid => {
            problems.push(literal_fallback(refused, text));
            Shape::Literal(text.to_owned())
        }
        Err(refused) => {
            problems.push(unreadable(refused, text, "Python"));
            Shape::Unreadable
        }
    }
}

fn literal_fallback(refused: Refused, text: &str) -> Problem {
    let message = format!(
        "this is no regular expression of Python ({}); it is compared as it stands, so it hardly matches anything",
        refused.why
    );
    let problem = match traps::glob_hint(text) {
        Some(regex) => Problem::new(ProblemKind::LiteralFallback, whole(text), message)
            .help("there are no globs here: a `*` repeats what stands before it; for any text write `.*`")
            .suggest(regex),
        None => Problem::new(ProblemKind::LiteralFallback, refused.span, message)
            .help("write a regular expression that covers the whole name"),
    };
    Problem { help: refused.help.map(str::to_owned).or(problem.help.clone()), ..problem }
}

pub(crate) fn unreadable(refused: Refused, text: &str, language: &str) -> Problem {
    let message = match refused.cause {
        Cause::Invalid => format!("this is no regular expression of {language}: {}", refused.why),
        _ => refused.why,
    };
    let hint = if refused.cause == Cause::Invalid { traps::glob_hint(text) } else { None };
    match (hint, refused.help) {
        (Some(regex), _) => Problem::new(ProblemKind::Unreadable, whole(text), message)
            .help("there are no globs here: a `*` repeats what stands before it; for any text write `.*`")
            .suggest(regex),
        (None, Some(help)) => Problem::new(ProblemKind::Unreadable, refused.span, message).help(help),
        (None, None) => Problem::new(ProblemKind::Unreadable, refused.span, message),
    }
}

/// A pattern in the cheapest form that runs it, and the alternatives of its outermost level.
pub(crate) struct Ran {
    pub(crate) shape: Shape,
    pub(crate) branches: Vec<Span>,
}

/// Compiles a pattern; its traps are added to the problems where it can be run.
pub(crate) fn pattern(
    text: &str,
    language: Language,
    reach: Reach,
    problems: &mut Vec<Problem>,
) -> Result<Ran, Refused> {
    too_long(text)?;
    let parsed = pattern::parse(text, language)?;
    let node = pattern::settle(parsed.node, language, reach == Reach::Whole, whole(text))?;
    let shape = match pattern::wilds(&node, reach) {
        Some(wilds) if wilds.iter().any(Wild::is_all) => Shape::All,
        Some(wilds) => Shape::Wilds(wilds),
        None => {
            let (translated, needs) = pattern::emit(&node, reach == Reach::Whole);
            let regex = Regex::new(&translated, needs).map_err(|failure| too_much(text, &failure))?;
            Shape::Pattern(if reach == Reach::Search { regex.of_source(text) } else { regex })
        }
    };
    for trap in parsed.traps {
        problems.push(Problem::new(ProblemKind::DialectTrap, trap.span, trap.message));
    }
    Ok(Ran { shape, branches: parsed.branches })
}

pub(crate) fn too_long(text: &str) -> Result<(), Refused> {
    if text.len() <= MAX_LENGTH {
        return Ok(());
    }
    Err(unsupported(text, format!("the matcher is longer than {MAX_LENGTH} bytes")))
}

/// The language takes the pattern, and the engine does not.
pub(crate) fn too_much(text: &str, failure: &Failure) -> Refused {
    unsupported(text, format!("the matcher is too much for the engine: {}", failure.why))
}

pub(crate) fn unsupported(text: &str, why: String) -> Refused {
    Refused { cause: Cause::Unsupported, span: whole(text), why, help: None }
}

/// Patterns that match nothing but names are lists of names.
pub(crate) fn with_names(shape: Shape) -> Shape {
    match &shape {
        Shape::Wilds(wilds) => match wilds.iter().map(|wild| wild.exact().map(str::to_owned)).collect() {
            Some(names) => Shape::Names(names),
            None => shape,
        },
        _ => shape,
    }
}

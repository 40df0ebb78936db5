//! What a matcher's text means, flavour by flavour.

use hook_core::{Flavour, Span};

use crate::engine::{Failure, Regex};
use crate::matcher::{Compiled, Matcher, Shape};
use crate::native;
use crate::pattern::{self, Cause, Language, Reach, Refused};
use crate::predicate;
use crate::problem::{Problem, ProblemKind};
use crate::traps;
use crate::wild::Wild;

/// Longer patterns are not compiled.
const MAX_LENGTH: usize = 4096;

pub(crate) fn compile(text: &str, flavour: Flavour) -> Compiled {
    let mut problems = Vec::new();
    let mut matcher = Matcher { absent_is_empty: flavour == Flavour::Amplifier, ..Matcher::all() };
    matcher.shape = match flavour {
        _ if matches!(text, "" | "*") => Shape::All,
        Flavour::Claude => claude(text, is_name, &[',', '|'], &mut problems),
        Flavour::ClaudeNarrow => claude(text, is_narrow_name, &['|'], &mut problems),
        Flavour::Amplifier => amplifier(text, &mut problems),
        Flavour::Aimon => aimon(text, false, &mut matcher, &mut problems),
        Flavour::AimonStrict => aimon(text, true, &mut matcher, &mut problems),
        _ => native::compile(text, &mut matcher.predicate, &mut problems),
    };
    problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
    Compiled { matcher, problems }
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

/// "AIMON hook configuration guide, Matcher syntax": what cannot be read is the name of a tool, in strict mode nothing.
fn aimon(text: &str, strict: bool, matcher: &mut Matcher, problems: &mut Vec<Problem>) -> Shape {
    let name = text.trim();
    if matches!(name, "" | "*") {
        return Shape::All;
    }
    match predicate::aimon(text, strict, problems) {
        Ok((shape, predicate)) => {
            matcher.predicate = predicate;
            shape
        }
        Err(problem) if strict => {
            *problems = vec![problem];
            Shape::Unreadable
        }
        Err(problem) => {
            let message = format!(
                "{}; the whole text is taken for the name of a tool, which no tool has, so the hook never runs",
                problem.message
            );
            *problems = vec![Problem { kind: ProblemKind::NameFallback, message, ..problem }];
            matcher.fallback = true;
            match name.contains('*') {
                true => Shape::Wilds(vec![Wild::glob(name)]),
                false => Shape::Names(vec![name.to_owned()]),
            }
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
        Ok(Ran { shape, branches, .. }) => {
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
    /// Nodes of the pattern with its repetitions written out.
    pub(crate) size: usize,
    pub(crate) branches: Vec<Span>,
}

/// Compiles a pattern; its traps are added to the problems where it can be run.
pub(crate) fn pattern(
    text: &str,
    language: Language,
    reach: Reach,
    problems: &mut Vec<Problem>,
) -> Result<Ran, Refused> {
    run(text, language, reach, false, problems)
}

/// The same for values that may be long.
pub(crate) fn pattern_on_values(
    text: &str,
    language: Language,
    problems: &mut Vec<Problem>,
) -> Result<Ran, Refused> {
    run(text, language, Reach::Search, true, problems)
}

fn run(
    text: &str,
    language: Language,
    reach: Reach,
    long: bool,
    problems: &mut Vec<Problem>,
) -> Result<Ran, Refused> {
    too_long(text)?;
    let parsed = pattern::parse(text, language)?;
    let node = pattern::settle(parsed.node, language, reach, whole(text))?;
    let size = pattern::size(&node);
    let shape = match pattern::wilds(&node, reach) {
        Some(wilds) if wilds.iter().any(Wild::is_all) => Shape::All,
        Some(wilds) => Shape::Wilds(wilds),
        None => {
            let node = if long { pattern::spell_case(node) } else { node };
            let (translated, needs) = pattern::emit(&node, reach == Reach::Whole, long);
            let regex = Regex::new(&translated, needs).map_err(|failure| too_much(text, &failure))?;
            Shape::Pattern(if reach == Reach::Search { regex.of_source(text) } else { regex })
        }
    };
    for trap in parsed.traps {
        problems.push(Problem::new(ProblemKind::DialectTrap, trap.span, trap.message));
    }
    Ok(Ran { shape, size, branches: parsed.branches })
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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Patterns whose verdicts differ, with the reason.
    const KNOWN: &[(&str, &str)] = &[
        ("\\b", "the ends of words are ASCII since Java 19"),
        ("a\\b", "the same"),
        ("^(?x:-|\\b)|]", "the same"),
    ];

    /// `java.json` holds what Java 17 says: a pattern, the indexes of the values that it covers whole, and of those it is found in;
    /// `"all"` for all of them, and null where Java refuses the pattern. What cannot be run here may be refused.
    #[test]
    fn java_patterns_mean_what_java_makes_of_them() {
        let data: Value = serde_json::from_str(include_str!("../tests/data/java.json")).unwrap();
        let values: Vec<&str> =
            data["values"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        let (mut wrong, mut unsupported) = (Vec::new(), Vec::new());
        for row in data["rows"].as_array().unwrap() {
            let text = row[0].as_str().unwrap();
            for (reach, long, expected) in [
                (Reach::Whole, false, &row[1]),
                (Reach::Search, false, &row[2]),
                (Reach::Search, true, &row[2]),
            ] {
                let differs: Vec<&str> =
                    match (run(text, Language::Java, reach, long, &mut Vec::new()), expected) {
                        (Ok(_), Value::Null) => vec!["(taken)"],
                        (Err(refused), Value::Null) if refused.cause == Cause::Invalid => Vec::new(),
                        (Err(refused), _) if refused.cause == Cause::Unsupported => {
                            unsupported.push(text);
                            Vec::new()
                        }
                        (Err(_), _) => vec!["(refused)"],
                        (Ok(ran), expected) => {
                            let shape = Matcher { shape: ran.shape, ..Matcher::all() };
                            let hit = |at: usize| {
                                expected == "all" || expected.as_array().unwrap().contains(&Value::from(at))
                            };
                            let all = values.iter().enumerate();
                            all.filter(|(at, value)| shape.matches([**value]) != hit(*at))
                                .map(|(_, value)| *value)
                                .collect()
                        }
                    };
                if !differs.is_empty() && !KNOWN.iter().any(|(known, _)| *known == text) {
                    wrong.push(format!("{text:?} {reach:?} {long} on {differs:?}"));
                }
            }
        }
        unsupported.dedup();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(unsupported.len() < 50, "{unsupported:?}");
    }
}

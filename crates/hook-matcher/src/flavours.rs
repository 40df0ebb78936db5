//! What a matcher's text means, flavour by flavour.

use hook_core::{Flavour, Span};

use crate::engine::{Needs, Regex};
use crate::matcher::{Compiled, Glob, Matcher, Shape};
use crate::problem::{Problem, ProblemKind};
use crate::translate::{self, Language};

/// Longer texts are not compiled.
const MAX_LENGTH: usize = 4096;

/// Deeper nesting is not compiled.
const MAX_DEPTH: usize = 64;

pub(crate) fn compile(text: &str, flavour: Flavour) -> Compiled {
    if matches!(text, "" | "*") {
        return Compiled {
            matcher: Matcher { shape: Shape::All, absent_is_empty: false },
            problems: Vec::new(),
        };
    }
    let mut problems = Vec::new();
    let shape = match too_large(text) {
        Some(why) => {
            problems.push(Problem::new(ProblemKind::Unreadable, whole(text), why));
            Shape::Unreadable
        }
        None => match flavour {
            Flavour::Claude => claude(text, is_claude_name, &[',', '|'], &mut problems),
            Flavour::ClaudeNarrow => {
                claude(text, |c| c.is_ascii_alphanumeric() || c == '_', &['|'], &mut problems)
            }
            Flavour::Amplifier => amplifier(text, &mut problems),
            _ => native(text, &mut problems),
        },
    };
    Compiled { matcher: Matcher { shape, absent_is_empty: flavour == Flavour::Amplifier }, problems }
}

fn whole(text: &str) -> Span {
    Span::new(0, text.len())
}

fn too_large(text: &str) -> Option<String> {
    if text.len() > MAX_LENGTH {
        return Some(format!("the matcher is longer than {MAX_LENGTH} bytes"));
    }
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(format!("the matcher is nested deeper than {MAX_DEPTH} levels"));
        }
    }
    None
}

/// "Claude Code hooks reference, Matcher patterns": letters, digits, `_`, `-` and blanks make an exact name.
fn is_claude_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ')
}

fn claude(text: &str, is_name: fn(char) -> bool, separators: &[char], problems: &mut Vec<Problem>) -> Shape {
    if text.chars().all(|c| is_name(c) || separators.contains(&c)) {
        return Shape::Names(names(text, separators, problems));
    }
    let translated = translate::translate(text, Language::JavaScript);
    compiled(text, translated, |pattern| pattern.to_owned(), problems)
}

/// The parts of a list, trimmed; empty ones are harmless.
fn names(text: &str, separators: &[char], problems: &mut Vec<Problem>) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = 0;
    for part in text.split(separators) {
        let name = part.trim();
        if !name.is_empty() {
            let start = at + (part.len() - part.trim_start().len());
            problems.extend(server_prefix(name, start));
            names.push(name.to_owned());
        }
        at += part.len() + 1;
    }
    names
}

/// `mcp__server` alone equals no tool: tools are called `mcp__server__tool`.
fn server_prefix(name: &str, start: usize) -> Option<Problem> {
    let server = name.strip_prefix("mcp__")?;
    let bare = !server.is_empty() && !server.contains("__") && server.chars().all(is_claude_name);
    bare.then(|| {
        let message =
            format!("{name} is the name of a server, and no tool has it; the hook never runs for its tools");
        Problem::new(ProblemKind::McpServerPrefix, Span::new(start, start + name.len()), message)
            .help("name the server's tools")
            .suggest(format!("{name}__.*"))
    })
}

/// "Shell hooks module for Amplifier, Hook matching": the whole name, letter case ignored, literal where it is no pattern.
fn amplifier(text: &str, problems: &mut Vec<Problem>) -> Shape {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | ',');
    if text.chars().all(plain) {
        problems.extend(server_prefix(text, 0));
        return Shape::Literal(text.to_lowercase());
    }
    let translated = translate::translate(text, Language::Python);
    // A pattern in verbose mode may end in a comment, which the line break ends.
    let wrap = |pattern: &str| format!("\\A(?i:{pattern}\n)\\z");
    let bare = |pattern: &str| format!("\\A(?i:{pattern})\\z");
    let verbose = translated.as_ref().is_ok_and(|t| t.verbose);
    let before = problems.len();
    let shape = compiled(text, translated, |p| if verbose { wrap(p) } else { bare(p) }, problems);
    if !matches!(shape, Shape::Unreadable) {
        return shape;
    }
    for problem in &mut problems[before..] {
        if problem.kind == ProblemKind::Unreadable {
            problem.kind = ProblemKind::LiteralFallback;
            problem.message = format!(
                "{}; the text is compared as it stands, so it hardly matches anything",
                problem.message
            );
            problem.help = Some("write a regular expression that covers the whole name: `.*Bash` for a name that ends in Bash".into());
        }
    }
    Shape::Literal(text.to_lowercase())
}

fn native(text: &str, problems: &mut Vec<Problem>) -> Shape {
    let separators = &[',', '|'];
    if text.chars().all(|c| is_claude_name(c) || separators.contains(&c)) {
        return Shape::Names(names(text, separators, problems));
    }
    let in_glob =
        |c: char| is_claude_name(c) || matches!(c, '*' | '.' | ':' | '/') || separators.contains(&c);
    if text.contains('*') && !text.contains(".*") && text.chars().all(in_glob) {
        return Shape::Parts(names(text, separators, problems).iter().map(|name| Glob::new(name)).collect());
    }
    if is_predicate(text) {
        let message = "this is a predicate on the tool's input, which this version cannot read yet";
        problems.push(
            Problem::new(ProblemKind::Unreadable, whole(text), message)
                .help("match the tool's name, and let the hook look at its input"),
        );
        return Shape::Unreadable;
    }
    let translated = Ok(translate::Translated {
        pattern: text.to_owned(),
        needs: Needs { unicode: true, backtracking: has_look_around(text) },
        verbose: false,
        traps: Vec::new(),
    });
    compiled(text, translated, |pattern| pattern.to_owned(), problems)
}

/// `Tool(…)` with something in it that no name has, or an `&`: taken for a regular expression it would silently never match.
fn is_predicate(text: &str) -> bool {
    let call = text.split_once('(').is_some_and(|(tool, rest)| {
        !tool.is_empty()
            && tool.chars().all(is_claude_name)
            && rest.ends_with(')')
            && rest.contains([' ', '=', '/', ':'])
    });
    call || text.contains(" & ")
}

fn has_look_around(text: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!", "(?>"].iter().any(|mark| text.contains(mark))
        || text.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit())
}

fn compiled(
    text: &str,
    translated: Result<translate::Translated, translate::Refused>,
    wrap: impl Fn(&str) -> String,
    problems: &mut Vec<Problem>,
) -> Shape {
    let translated = match translated {
        Ok(translated) => translated,
        Err(refused) => {
            problems.push(Problem::new(ProblemKind::Unreadable, refused.span, refused.why));
            return Shape::Unreadable;
        }
    };
    for (span, message) in translated.traps {
        problems.push(Problem::new(ProblemKind::DialectTrap, span, message));
    }
    match Regex::new(&wrap(&translated.pattern), translated.needs) {
        Ok(regex) => Shape::Pattern(regex),
        Err(why) => {
            let problem = Problem::new(
                ProblemKind::Unreadable,
                whole(text),
                format!("the matcher is no regular expression: {why}"),
            );
            let problem = match glob_hint(text) {
                Some(regex) => problem
                    .help("a `*` repeats what stands before it; for any text write `.*`")
                    .suggest(regex),
                None => problem,
            };
            problems.push(problem);
            Shape::Unreadable
        }
    }
}

/// The regular expression that somebody meant who wrote a glob.
fn glob_hint(text: &str) -> Option<String> {
    let glob = text.chars().all(|c| is_claude_name(c) || matches!(c, '*' | '|'));
    (glob && text.contains('*')).then(|| text.replace('*', ".*"))
}

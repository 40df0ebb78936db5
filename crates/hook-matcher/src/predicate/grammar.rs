//! The text of a matcher into alternatives of terms, by the grammar in `predicate.pest`.

use hook_core::Span;
use pest::Parser as _;
use pest::error::InputLocation;
use pest::iterators::Pair;

use crate::problem::{Problem, ProblemKind};

/// Longer matchers are not read.
pub(super) const MAX_LENGTH: usize = 4096;
/// Parentheses nested deeper than this are not read: the parser goes down with them.
const MAX_DEPTH: usize = 64;

mod generated {
    #[derive(pest_derive::Parser)]
    #[grammar = "predicate/predicate.pest"]
    pub(super) struct Grammar;
}

use generated::{Grammar, Rule as Part};

/// A part of the text, blanks around it left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl<'a> Slice<'a> {
    pub(super) fn new(text: &'a str, start: usize) -> Slice<'a> {
        let lead = text.len() - text.trim_start().len();
        Slice { text: text.trim(), start: start + lead }
    }

    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What<'a> {
    /// A name, a glob or an expression.
    Pattern,
    /// `tool(argument)`
    Call { tool: &'a str, argument: Slice<'a> },
    /// `input.path~regex`
    Input { path: &'a str, regex: Slice<'a> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term<'a> {
    pub(super) whole: Slice<'a>,
    pub(super) what: What<'a>,
}

/// Alternatives of terms that all have to fit.
pub(super) type Alternatives<'a> = Vec<Vec<Term<'a>>>;

pub(super) fn parse(text: &str) -> Result<Alternatives<'_>, Problem> {
    let whole = Span::new(0, text.len());
    let unreadable = |message: String| Problem::new(ProblemKind::Unreadable, whole, message);
    if text.len() > MAX_LENGTH {
        return Err(unreadable(format!("the matcher is longer than {MAX_LENGTH} bytes")));
    }
    if depth(text) > MAX_DEPTH {
        return Err(unreadable(format!("the matcher is nested deeper than {MAX_DEPTH} levels")));
    }
    let first = match Grammar::parse(Part::matcher, text) {
        Ok(pairs) => return Ok(alternatives(text, pairs)),
        Err(error) => error,
    };
    // Where a backslash or a bracket is no more than text, as in `Bash([ -f *)`, all parentheses count.
    let plain = text.replace('\\', "\u{1}").replace(['[', ']'], "\u{2}");
    match Grammar::parse(Part::matcher, &plain) {
        Ok(pairs) => Ok(alternatives(text, pairs)),
        Err(_) => {
            let at = match first.location {
                InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
            };
            Err(refused(text, at))
        }
    }
}

/// The field and the expression of `field=regex`.
pub(super) fn field_test<'a>(argument: Slice<'a>) -> Option<(&'a str, Slice<'a>)> {
    let pairs = Grammar::parse(Part::field_test, argument.text).ok()?;
    let (mut path, mut regex) = (None, None);
    for part in pairs.flatten() {
        let span = part.as_span();
        let text = &argument.text[span.start()..span.end()];
        match part.as_rule() {
            Part::path => path = Some(text),
            Part::field_regex => regex = Some(Slice::new(text, argument.start + span.start())),
            _ => {}
        }
    }
    path.zip(regex)
}

/// Parses of equal length give places; the text is taken from what was written.
fn alternatives<'a>(text: &'a str, pairs: pest::iterators::Pairs<'_, Part>) -> Alternatives<'a> {
    let part = |pair: &Pair<'_, Part>| {
        let span = pair.as_span();
        Slice::new(&text[span.start()..span.end()], span.start())
    };
    let term = |pair: Pair<'_, Part>| {
        let whole = part(&pair);
        let mut term = Term { whole, what: What::Pattern };
        for inner in pair.into_inner() {
            let rule = inner.as_rule();
            let parts: Vec<Slice<'a>> = inner.into_inner().map(|inner| part(&inner)).collect();
            match (rule, parts.as_slice()) {
                (Part::call, [tool, argument]) => {
                    term.what = What::Call { tool: tool.text, argument: *argument };
                }
                (Part::input_test, [path, regex]) => {
                    term.what = What::Input { path: path.text, regex: *regex };
                }
                _ => {}
            }
        }
        term
    };
    let all = pairs.flat_map(Pair::into_inner).filter(|pair| pair.as_rule() == Part::alternative);
    all.map(|alternative| alternative.into_inner().map(term).collect()).collect()
}

fn depth(text: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// Why the grammar stopped at a byte, in words of its users.
fn refused(text: &str, at: usize) -> Problem {
    let rest = &text[at..];
    let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
    let start = if rest.is_empty() { last } else { at };
    let one = text[start..].chars().next().map_or(0, char::len_utf8);
    let here = Span::new(start, start + one);
    let new = |span, message: &str| Problem::new(ProblemKind::Unreadable, span, message);
    match unpaired(text) {
        Some((open, '(')) => {
            return new(Span::new(open, text.len()), "the parenthesis is never closed")
                .help("end it with `)`; a parenthesis that stands alone is written `\\(`");
        }
        Some((close, _)) => {
            return new(Span::new(close, close + 1), "this parenthesis closes nothing")
                .help("a parenthesis that stands alone is written `\\)`");
        }
        None => {}
    }
    let before = text[..at].trim_end();
    if rest.is_empty() || rest.starts_with(['|', '&']) || before.is_empty() || before.ends_with(['|', '&']) {
        return new(here, "there is nothing on one side of the `|` or `&`")
            .help("write a term on either side, or remove the sign");
    }
    new(here, "the matcher cannot be read from here on")
}

/// The first parenthesis without its other half.
fn unpaired(text: &str) -> Option<(usize, char)> {
    let mut open = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => open.push(at),
            ')' if open.pop().is_none() => return Some((at, ')')),
            _ => {}
        }
    }
    open.first().map(|at| (*at, '('))
}

//! The text of a rule into its parts, by the grammar in `rule.pest`.

use hook_core::Span;
use pest::Parser as _;
use pest::error::InputLocation;
use pest::iterators::Pair;

use crate::problem::{Problem, ProblemKind};

/// Longer rules are not read.
const MAX_LENGTH: usize = 4096;
/// Parentheses nested deeper than this are not read: the parser goes down with them.
const MAX_DEPTH: usize = 32;

mod generated {
    #[derive(pest_derive::Parser)]
    #[grammar = "rule/rule.pest"]
    pub(super) struct Grammar;
}

use generated::{Grammar, Rule as Part};

/// A rule, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed<'a> {
    pub(super) tool: &'a str,
    pub(super) tool_span: Span,
    /// The tool is one of an MCP server, or all of them.
    pub(super) mcp: bool,
    /// What stands in the parentheses, with its escapes taken off.
    pub(super) content: Option<Content>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) span: Span,
}

pub(super) fn parse(text: &str) -> Result<Parsed<'_>, Problem> {
    let whole = Span::new(0, text.len());
    if text.len() > MAX_LENGTH {
        let message = format!("the rule is longer than {MAX_LENGTH} bytes");
        return Err(Problem::new(ProblemKind::Unreadable, whole, message));
    }
    let depth = text.bytes().fold((0usize, 0usize), |(open, deepest), byte| match byte {
        b'(' => (open + 1, deepest.max(open + 1)),
        b')' => (open.saturating_sub(1), deepest),
        _ => (open, deepest),
    });
    if depth.1 > MAX_DEPTH {
        let message = format!("the rule has more than {MAX_DEPTH} levels of parentheses");
        return Err(Problem::new(ProblemKind::Unreadable, whole, message));
    }
    let rule = match Grammar::parse(Part::rule, text) {
        Ok(mut pairs) => pairs.next(),
        Err(error) => {
            let at = match error.location {
                InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
            };
            return Err(refused(text, at));
        }
    };
    let mut parsed = Parsed { tool: "", tool_span: whole, mcp: false, content: None };
    for part in rule.into_iter().flat_map(Pair::into_inner) {
        match part.as_rule() {
            Part::tool => {
                parsed.tool = part.as_str();
                parsed.tool_span = span(&part);
                parsed.mcp = part.into_inner().any(|part| part.as_rule() == Part::mcp);
            }
            Part::content => parsed.content = Some(Content { span: span(&part), text: unescaped(part) }),
            _ => {}
        }
    }
    Ok(parsed)
}

fn span(part: &Pair<'_, Part>) -> Span {
    Span::new(part.as_span().start(), part.as_span().end())
}

fn unescaped(content: Pair<'_, Part>) -> String {
    let mut text = String::new();
    put(content, &mut text);
    text
}

fn put(content: Pair<'_, Part>, text: &mut String) {
    for part in content.into_inner() {
        match part.as_rule() {
            Part::escape => text.push_str(&part.as_str()[1..]),
            Part::group => {
                text.push('(');
                part.into_inner().for_each(|inner| put(inner, text));
                text.push(')');
            }
            _ => text.push_str(part.as_str()),
        }
    }
}

/// Why the grammar stopped at a byte, in words of its users.
fn refused(text: &str, at: usize) -> Problem {
    let rest = &text[at..];
    let new = |span, message: &str| Problem::new(ProblemKind::Unreadable, span, message);
    // A place at the end has no byte of its own.
    let last = text.trim_end().char_indices().next_back().map_or(0, |(at, _)| at);
    let here = Span::new(if rest.is_empty() { last } else { at }, text.len());
    let before = text[..at].trim();
    if before == "mcp__" {
        return new(here, "the rule names no server; no tool is called like this")
            .help("write `mcp__SERVER` for all tools of a server, and one handler for each server");
    }
    if before.is_empty() || !before.contains(|c: char| c.is_ascii_alphanumeric()) {
        return new(here, "a rule begins with the name of a tool")
            .help("write `Tool` or `Tool(what its input looks like)`; without an \"if\" the hook runs for every call");
    }
    let combined = ["||", "&&", "|", "&", ","].iter().find(|sign| rest.trim_start().starts_with(**sign));
    if let Some(sign) = combined {
        return new(here, &format!("`{sign}` combines nothing here: an \"if\" is one rule"))
            .help("write a handler for each rule");
    }
    if let Some(open) = text.find('(').filter(|_| rest.is_empty()) {
        let inner = text[open..].trim_end();
        return new(Span::new(open, open + inner.len()), "the parenthesis is never closed")
            .help("end the rule with `)`; a parenthesis that stands alone within it is written `\\(`")
            .suggest(format!("{inner})"));
    }
    new(here, "the rule ends before this; nothing may follow it")
        .help("write a handler for each rule; a `)` that belongs to the content is written `\\)`")
}

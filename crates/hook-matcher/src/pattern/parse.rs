//! The reader: alternatives, sequences and quantifiers.

use hook_core::Span;

use super::java;
use super::node::{End, Item, LINE_ENDS_OF_JAVASCRIPT, LINE_FEED, Mode, Node, Set};
use super::{Cause, Language, Parsed, Refused, Trap};

/// Deeper groups are refused.
pub(crate) const MAX_DEPTH: usize = 64;

/// The flags in force at one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) fold: bool,
    pub(super) lines: bool,
    pub(super) dot_all: bool,
    pub(super) verbose: bool,
    pub(super) ascii: bool,
    /// Letter case beyond ASCII counts as case, though shorthands mean ASCII.
    pub(super) unicode_case: bool,
    /// Only a line feed ends a line.
    pub(super) unix_lines: bool,
}

/// A capturing group that was opened.
#[derive(Debug, Clone, Default)]
pub(super) struct Capture {
    pub(super) name: Option<String>,
    pub(super) closed: bool,
    /// Fewest and most characters, once it is closed.
    pub(super) width: (u32, Option<u32>),
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) language: Language,
    pub(super) flags: Flags,
    pub(super) depth: usize,
    pub(super) captures: Vec<Capture>,
    /// Capturing groups of the whole text, and the names among them; JavaScript looks ahead for them.
    pub(super) total: usize,
    pub(super) names: Vec<String>,
    /// Groups that were there when the outermost look-behind began.
    pub(super) behind: Option<usize>,
    /// Groups that Python's conditions name before they are there.
    pub(super) conditions: Vec<(usize, Span)>,
    pub(super) traps: Vec<Trap>,
    pub(super) branches: Vec<Span>,
}

/// Reads a pattern by the rules of its language.
pub(crate) fn parse(text: &str, language: Language) -> Result<Parsed, Refused> {
    match Parser::new(text, language, false).run() {
        Err(refused) if refused.cause == Cause::Verbose => Parser::new(text, language, true).run(),
        result => result,
    }
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, language: Language, verbose: bool) -> Parser<'a> {
        let (total, names) = match language {
            Language::JavaScript => super::group::count(text),
            _ => (0, Vec::new()),
        };
        Parser {
            text,
            at: 0,
            language,
            flags: Flags {
                fold: language == Language::Python,
                ascii: language == Language::Java,
                verbose,
                ..Flags::default()
            },
            depth: 0,
            captures: Vec::new(),
            total,
            names,
            behind: None,
            conditions: Vec::new(),
            traps: Vec::new(),
            branches: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Parsed, Refused> {
        let node = self.alternatives()?;
        if self.at < self.text.len() {
            self.at += 1;
            return Err(self.invalid(self.at - 1, "this bracket closes no group"));
        }
        for (group, span) in &self.conditions {
            if *group > self.captures.len() {
                return Err(Refused {
                    cause: Cause::Invalid,
                    span: *span,
                    why: format!("there is no group {group}"),
                    help: None,
                });
            }
        }
        Ok(Parsed { node, traps: self.traps, branches: self.branches })
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// The text up to `end`, which is eaten too.
    pub(super) fn until(&mut self, end: char) -> Option<&'a str> {
        let length = self.rest().find(end)?;
        let text = &self.rest()[..length];
        self.at += length + end.len_utf8();
        Some(text)
    }

    pub(super) fn is_js(&self) -> bool {
        self.language == Language::JavaScript
    }

    pub(super) fn is_python(&self) -> bool {
        self.language == Language::Python
    }

    pub(super) fn is_java(&self) -> bool {
        self.language == Language::Java
    }

    pub(super) fn refused(&self, cause: Cause, start: usize, why: impl Into<String>) -> Refused {
        let end = self.at.max(start).min(self.text.len());
        // An empty span shows nothing; at the very end there is only the character before.
        let span = if end > start {
            Span::new(start, end)
        } else {
            let width = |c: char| c.len_utf8();
            match self.text[start..].chars().next() {
                Some(c) => Span::new(start, start + width(c)),
                None => Span::new(start - self.text[..start].chars().next_back().map_or(0, width), start),
            }
        };
        Refused { cause, span, why: why.into(), help: None }
    }

    pub(super) fn invalid(&self, start: usize, why: impl Into<String>) -> Refused {
        self.refused(Cause::Invalid, start, why)
    }

    pub(super) fn trap(&mut self, start: usize, message: impl Into<String>) {
        self.traps.push(Trap { span: Span::new(start, self.at), message: message.into() });
    }

    /// Alternatives up to a closing bracket or the end, neither of which is eaten.
    pub(super) fn alternatives(&mut self) -> Result<Node, Refused> {
        let mut nodes = Vec::new();
        loop {
            let start = self.at;
            nodes.push(self.sequence(nodes.is_empty())?);
            if self.depth == 0 {
                self.branches.push(Span::new(start, self.at));
            }
            if !self.eat("|") {
                return Ok(Node::alt(nodes));
            }
        }
    }

    /// One alternative. `first` is true for the first one of its group.
    pub(super) fn sequence(&mut self, first: bool) -> Result<Node, Refused> {
        let mut nodes = Vec::new();
        loop {
            if self.flags.verbose && self.skip_verbose() {
                continue;
            }
            let start = self.at;
            let Some(c) = self.peek() else { break };
            if c == '|' || c == ')' {
                break;
            }
            self.at += c.len_utf8();
            match c {
                '*' => self.repeat(start, 0, None, &mut nodes)?,
                '+' => self.repeat(start, 1, None, &mut nodes)?,
                '?' => self.repeat(start, 0, Some(1), &mut nodes)?,
                '{' => match self.bounds(start)? {
                    Some((min, max)) => self.repeat(start, min, max, &mut nodes)?,
                    None => nodes.push(self.literal('{')),
                },
                '^' => nodes.push(self.start()),
                '$' => nodes.push(self.end()),
                '.' => nodes.push(self.dot()),
                '[' => nodes.push(self.class(start)?),
                '(' => {
                    let leads = first && nodes.is_empty() && self.depth == 0;
                    nodes.extend(self.group(start, leads)?);
                }
                '\\' if self.is_java() && self.eat("Q") => {
                    let quoted = self.quoted();
                    nodes.extend(quoted.chars().map(|c| self.literal(c)));
                }
                '\\' => nodes.push(self.escape(start)?),
                ']' | '}' if self.language == Language::Common => {
                    return Err(self.invalid(start, "not common to all languages"));
                }
                c => nodes.push(self.literal(c)),
            }
        }
        Ok(Node::concat(nodes))
    }

    /// Blanks and comments of verbose mode.
    fn skip_verbose(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')) {
            self.at += 1;
        }
        if self.eat("#") && self.until('\n').is_none() {
            self.at = self.text.len();
        }
        self.at > start
    }

    pub(super) fn literal(&self, c: char) -> Node {
        // ASCII modes know no other letters.
        let beyond = !self.flags.ascii || self.flags.unicode_case;
        Node::Char { c, fold: self.flags.fold && (c.is_ascii() || beyond) }
    }

    fn start(&self) -> Node {
        match (self.flags.lines, self.language) {
            (_, Language::Java) => self.start_of_java(),
            (true, Language::JavaScript) => {
                Node::Alt(vec![Node::Start { line: false }, Node::look(false, false, line_end())])
            }
            (line, _) => Node::Start { line },
        }
    }

    fn end(&self) -> Node {
        match (self.flags.lines, self.language) {
            (_, Language::Java) => self.end_of_java(),
            (true, Language::JavaScript) => {
                Node::Alt(vec![Node::End(End::Text), Node::look(true, false, line_end())])
            }
            (true, _) => Node::End(End::Line),
            (false, Language::Python) => Node::End(End::BeforeLastLineFeed),
            (false, _) => Node::End(End::Text),
        }
    }

    fn dot(&self) -> Node {
        Node::Dot(match (self.flags.dot_all, self.language) {
            (true, _) => &[],
            (false, Language::JavaScript) => LINE_ENDS_OF_JAVASCRIPT,
            (false, Language::Java) if !self.flags.unix_lines => java::LINE_ENDS,
            (false, _) => LINE_FEED,
        })
    }

    /// The bounds after a `{`; nothing where the brace is plain text.
    fn bounds(&mut self, start: usize) -> Result<Option<(u32, Option<u32>)>, Refused> {
        let parsed = self.rest().find('}').and_then(|end| {
            let body = &self.rest()[..end];
            let (low, high) = body.split_once(',').map_or((body, None), |(low, high)| (low, Some(high)));
            let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
            let open = self.is_python() && high.is_some();
            (digits(low) && high.is_none_or(digits) && (open || !low.is_empty())).then_some((end, low, high))
        });
        let Some((end, low, high)) = parsed else {
            return match self.language {
                Language::Common => Err(self.invalid(start, "not common to all languages")),
                Language::Java => Err(self
                    .invalid(start, "a `{` begins the bounds of a repetition")
                    .help("write `\\{` for the character")),
                _ => Ok(None),
            };
        };
        self.at += end + 1;
        let number = |text: &str| text.parse().unwrap_or(u32::MAX);
        let min = if low.is_empty() { 0 } else { number(low) };
        let max = match high {
            None => Some(min),
            Some("") => None,
            Some(high) => Some(number(high)),
        };
        if max.is_some_and(|max| max < min) {
            return Err(self.invalid(start, "the bounds of this repetition are the wrong way round"));
        }
        Ok(Some((min, max)))
    }

    /// Puts a quantifier around the last node.
    fn repeat(
        &mut self,
        start: usize,
        min: u32,
        max: Option<u32>,
        nodes: &mut Vec<Node>,
    ) -> Result<(), Refused> {
        let mode = if self.eat("?") {
            Mode::Lazy
        } else if (self.is_python() || self.is_java()) && self.eat("+") {
            Mode::Possessive
        } else {
            Mode::Greedy
        };
        let nothing = "there is nothing here to repeat";
        // Java takes bounds behind nothing, and behind a repetition, and they repeat nothing there.
        let empty = matches!(nodes.last(), None | Some(Node::Repeat { .. }));
        if self.is_java() && empty && self.text[start..].starts_with('{') {
            return Err(self.unsupported(start, "bounds with nothing to repeat cannot be used here"));
        }
        let Some(node) = nodes.pop() else { return Err(self.invalid(start, nothing)) };
        // Java repeats what takes no character, too.
        let anchor = matches!(node, Node::Start { .. } | Node::End(_) | Node::Word { .. });
        let node = if anchor && self.is_java() { Node::Group(None, Box::new(node)) } else { node };
        match &node {
            Node::Repeat { .. } => {
                let refused = self.invalid(start, "this repeats a repetition");
                return Err(if self.is_js() && &self.text[start..self.at] == "+" {
                    refused.help("JavaScript has no possessive quantifiers; leave the second `+` out")
                } else {
                    refused
                });
            }
            Node::Start { .. } | Node::End(_) | Node::Word { .. } => {
                return Err(self.invalid(start, nothing));
            }
            Node::Look { ahead: false, .. } if self.is_js() => return Err(self.invalid(start, nothing)),
            // Written as an anchor in JavaScript, where it depends on a flag.
            Node::Alt(_) => return Err(self.invalid(start, nothing)),
            _ => {}
        }
        nodes.push(Node::Repeat { node: Box::new(node), min, max, mode });
        Ok(())
    }
}

fn line_end() -> Node {
    let items = LINE_ENDS_OF_JAVASCRIPT.iter().map(|c| Item::Range(*c, *c)).collect();
    Node::Set(Set { items, ..Set::default() })
}

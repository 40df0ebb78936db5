//! YAML text into the same tree that JSON becomes.
//!
//! Plain words follow the core schema of YAML 1.2: `true`, `false` and `null` in their usual cases are no strings, numbers are
//! those that JSON has too, and everything else is a string: `no`, `on`, `0777` and `1.2.3` stay what their author wrote.
//! Aliases are resolved, merges (`<<`) too; how much text they may add is bounded.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError};
use hook_core::Span;

use crate::json::{self, Duplicate, Kind, MAX_DEPTH, Member, Node, SyntaxError, Tree};

/// Nodes and bytes that anchors and aliases may copy.
const MOST_COPIED: usize = 1 << 20;

/// Reads the YAML that stands at `range` of a text; every place is one of the whole text.
pub(super) fn parse(text: &str, range: Range<usize>) -> Result<Tree, SyntaxError> {
    let Some(yaml) = text.get(range.clone()) else {
        return Err(error(Span::new(range.start, range.end), "not a part of the text", None));
    };
    let mut options = Options::default();
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    let mut builder = Builder::default();
    for event in Parser::new_from_str_with_options(yaml, options) {
        let (event, span) = event.map_err(|error| syntax(&error, text, range.start, range.end))?;
        let place = span.byte_range().unwrap_or(yaml.len()..yaml.len());
        builder.event(event, Span::new(range.start + place.start, range.start + place.end))?;
    }
    let empty = Node { span: Span::new(range.start, range.start), kind: Kind::Null };
    Ok(Tree { root: builder.root.unwrap_or(empty), lax: None, duplicates: builder.duplicates })
}

fn error(span: Span, message: impl Into<String>, help: Option<&'static str>) -> SyntaxError {
    SyntaxError { span, message: message.into(), help, too_deep: false }
}

/// What the parser says, with its place in the whole text and with what people usually meant.
fn syntax(found: &ScanError, text: &str, base: usize, end: usize) -> SyntaxError {
    let mut at = found.marker().byte_offset().map_or(end, |offset| (base + offset).min(end));
    let tab = matches!(
        found.kind(),
        ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInPlainScalar
            | ErrorKind::TabNotAllowed
            | ErrorKind::TabAtBlockScalarStart
    );
    if tab {
        // Some are reported behind the tab, some where the text begins that it stands in.
        at = match text.get(base..at) {
            Some(before) if before.ends_with('\t') => at - 1,
            _ => at + text.get(at..end).and_then(|rest| rest.find('\t')).unwrap_or(0),
        };
    }
    let next = text.get(at..end).and_then(|rest| rest.chars().next());
    let span = Span::new(at, at + next.map_or(0, char::len_utf8));
    let help = match found.kind() {
        _ if tab || next == Some('\t') => Some("indent with blanks; YAML takes no tabs"),
        ErrorKind::UnknownAnchor | ErrorKind::MissingAnchorOrAliasName => Some(
            "put the text into quotes: outside of them a `*` or `&` at the beginning means an alias or an anchor",
        ),
        ErrorKind::MappingValueNotAllowed => {
            Some("where the text itself holds `: `, put it into quotes; else mend the indentation")
        }
        ErrorKind::UnexpectedCharacter { .. } => Some("put the text into quotes"),
        ErrorKind::InvalidTrailingDoubleQuotedScalar | ErrorKind::InvalidTrailingSingleQuotedScalar => {
            Some("put the whole text into one pair of quotes")
        }
        ErrorKind::UnclosedQuotedScalar => Some("close it with the same quote"),
        _ => None,
    };
    let too_deep = matches!(found.kind(), ErrorKind::RecursionLimitExceeded);
    SyntaxError { span, message: found.info(), help, too_deep }
}

/// A collection that is open.
enum Open {
    List { start: usize, anchor: usize, items: Vec<Node> },
    Map { start: usize, anchor: usize, members: Vec<Member>, key: Option<(String, Span)> },
}

/// What an alias may stand for.
struct Anchored {
    node: Node,
    /// Nodes and bytes of it.
    weight: usize,
    depth: usize,
}

#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    copied: usize,
    duplicates: Vec<Duplicate>,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let core = tag.as_deref().and_then(|tag| tag.core_suffix());
                let plain =
                    style == ScalarStyle::Plain && (tag.is_none() || core.is_some_and(|tag| tag != "str"));
                let kind = if plain { plain_word(&text, span) } else { Kind::String(text.into_owned()) };
                self.anchored(Node { span, kind }, anchor)
            }
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::SequenceStart(_, anchor, _) => {
                self.deeper(span)?;
                self.open.push(Open::List { start: span.start, anchor, items: Vec::new() });
                Ok(())
            }
            Event::MappingStart(_, anchor, _) => {
                self.deeper(span)?;
                self.open.push(Open::Map { start: span.start, anchor, members: Vec::new(), key: None });
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { start, anchor, items }) => {
                    let span = Span::new(start, span.end);
                    self.anchored(Node { span, kind: Kind::Array(items) }, anchor)
                }
                Some(Open::Map { start, anchor, members, .. }) => {
                    let members = json::without_repeats(members, &mut self.duplicates);
                    let kind = Kind::Object(merged(members));
                    self.anchored(Node { span: Span::new(start, span.end), kind }, anchor)
                }
                None => Ok(()),
            },
            Event::DocumentStart(..) if self.root.is_some() => Err(error(
                span,
                "a second YAML document",
                Some("remove the line that ends the first one (`...`)"),
            )),
            _ => Ok(()),
        }
    }

    fn deeper(&self, span: Span) -> Result<(), SyntaxError> {
        if self.open.len() < MAX_DEPTH { Ok(()) } else { Err(too_deep(span)) }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), SyntaxError> {
        let Some(known) = self.anchors.get(&anchor) else {
            return Err(error(span, "an alias for something that it is a part of", None));
        };
        if self.open.len() + known.depth > MAX_DEPTH {
            return Err(too_deep(span));
        }
        let node = known.node.clone();
        let weight = known.weight;
        self.copy(weight, span)?;
        self.place(node)
    }

    fn copy(&mut self, weight: usize, span: Span) -> Result<(), SyntaxError> {
        self.copied = self.copied.saturating_add(weight);
        if self.copied <= MOST_COPIED {
            return Ok(());
        }
        Err(error(span, "aliases make more of this text than is read", Some("write it without aliases")))
    }

    /// A finished node; it is remembered where it has an anchor.
    fn anchored(&mut self, node: Node, anchor: usize) -> Result<(), SyntaxError> {
        if anchor != 0 {
            let (weight, depth) = measure(&node);
            self.copy(weight, node.span)?;
            self.anchors.insert(anchor, Anchored { node: node.clone(), weight, depth });
        }
        self.place(node)
    }

    fn place(&mut self, node: Node) -> Result<(), SyntaxError> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { members, key, .. }) => match key.take() {
                Some((key, key_span)) => members.push(Member { key, key_span, value: node }),
                None => *key = Some(key_of(node)?),
            },
        }
        Ok(())
    }
}

fn too_deep(span: Span) -> SyntaxError {
    let message = format!("nested deeper than {MAX_DEPTH} levels");
    SyntaxError { span, message, help: None, too_deep: true }
}

/// A key as text, whatever word it is written as.
fn key_of(node: Node) -> Result<(String, Span), SyntaxError> {
    let text = match node.kind {
        Kind::String(text) => text,
        Kind::Null => "null".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::Number(value) => value.to_string(),
        Kind::Array(_) | Kind::Object(_) => {
            return Err(error(
                node.span,
                "a list or a mapping as a key",
                Some("write a word before the colon"),
            ));
        }
    };
    Ok((text, node.span))
}

/// The kind of a word without quotes.
fn plain_word(text: &str, span: Span) -> Kind {
    match text {
        // What is not written at all comes as a tilde.
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        _ => match json::number(text) {
            // A number is read again from its text, which therefore has to be all there is.
            Some(value) if span.end - span.start == text.len() => Kind::Number(value),
            _ => Kind::String(text.to_owned()),
        },
    }
}

/// Nodes and bytes of a node, and its levels.
fn measure(node: &Node) -> (usize, usize) {
    let sum = |parts: &mut dyn Iterator<Item = (usize, usize)>| {
        parts.fold((1, 1), |(weight, depth), (more, below)| (weight + more, depth.max(below + 1)))
    };
    match &node.kind {
        Kind::String(text) => (1 + text.len(), 0),
        Kind::Array(items) => sum(&mut items.iter().map(measure)),
        Kind::Object(members) => sum(&mut members.iter().map(|member| {
            let (weight, depth) = measure(&member.value);
            (weight + member.key.len(), depth)
        })),
        _ => (1, 0),
    }
}

/// The members that `<<` adds; those that are written beside it count more.
fn merged(mut members: Vec<Member>) -> Vec<Member> {
    let Some(at) = members.iter().position(|member| member.key == "<<" && is_merge(&member.value)) else {
        return members;
    };
    let merge = members.remove(at).value;
    let sources = match merge.kind {
        Kind::Array(sources) => sources,
        _ => vec![merge],
    };
    let mut known: HashSet<String> = members.iter().map(|member| member.key.clone()).collect();
    for source in sources {
        let Kind::Object(more) = source.kind else { continue };
        members.extend(more.into_iter().filter(|member| known.insert(member.key.clone())));
    }
    members
}

fn is_merge(node: &Node) -> bool {
    let object = |node: &Node| matches!(node.kind, Kind::Object(_));
    match &node.kind {
        Kind::Array(items) => items.iter().all(object),
        _ => object(node),
    }
}

#[cfg(test)]
mod tests;

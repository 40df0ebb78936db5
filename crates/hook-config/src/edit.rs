//! Lossless edits of hook files: a word into a list, a word out of a list, every other byte as it was.
//!
//! [`remove_from_list`] undoes [`add_to_list`] byte for byte. So that it knows what was there before, `add` leaves a mark in the
//! blanks: what it makes itself has a blank after its bracket (`[ "x" ]`), and what goes into an empty list that stood there
//! already has none (`["x"]`).

mod tokens;

use hook_core::Span;
use serde_json::{Value, json};

use crate::json::{self, Kind, Node};
use tokens::{Piece, Token, cut};

const BOM: &str = "\u{feff}";

/// What became of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// It says already what it should. `at` is where the word stands; `None` where it should not and does not.
    Unchanged {
        /// The word's bytes.
        at: Option<Span>,
    },
    /// It changed.
    Changed {
        /// The whole text.
        text: String,
        /// The word's bytes: in the new text where it was added, in the old one where it was removed.
        at: Span,
    },
    /// All that is left is what [`add_to_list`] makes where there is no file: the file was made for the word that goes.
    Gone {
        /// The word's bytes in the old text.
        at: Span,
    },
}

/// Why a text was left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EditError {
    /// What is wrong with it.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// Adds `word` to the list at `path`, members of objects from the top; what is missing of the path is made. Without a text
/// the whole file is.
///
/// # Errors
/// The text is no JSON, or something else stands at the path.
pub fn add_to_list(text: Option<&str>, path: &[&str], word: &str) -> Result<Edit, EditError> {
    let Some(text) = text else {
        let text = fresh(path, word);
        let at = Open::new(&text)?.find(path, word)?.unwrap_or_default();
        return Ok(Edit::Changed { text, at });
    };
    let open = Open::new(text)?;
    if let Some(at) = open.find(path, word)? {
        return Ok(Edit::Unchanged { at: Some(at) });
    }
    let (node, missing) = open.walk(path)?;
    let changed = open.insert(node, &made(missing, word));
    let mut wanted = open.value();
    push(&mut wanted, path, word);
    let text = open.settle(&changed, &wanted)?;
    let at = Open::new(&text)?.find(path, word)?.unwrap_or_default();
    Ok(Edit::Changed { text, at })
}

/// Takes `word` out of the list at `path`, and with it a list and objects that were made for it alone.
///
/// # Errors
/// The text is no JSON, or something else than a list stands at the path.
pub fn remove_from_list(text: &str, path: &[&str], word: &str) -> Result<Edit, EditError> {
    let mut current = text.to_owned();
    let mut removed = None;
    loop {
        let open = Open::new(&current)?;
        // From the last one on, so that the places of those before stay true.
        let Some(at) = open.find(path, word)? else { break };
        removed = Some(at);
        if current == fresh(path, word) {
            return Ok(Edit::Gone { at });
        }
        let (changed, wanted) = open.without(path, word);
        current = open.settle(&changed, &wanted)?;
    }
    Ok(match removed {
        Some(at) => Edit::Changed { text: current, at },
        None => Edit::Unchanged { at: None },
    })
}

/// The file that is made for one word.
fn fresh(path: &[&str], word: &str) -> String {
    match path {
        [] => format!("[ {} ]\n", quoted(word)),
        path => format!("{{\n  {}\n}}\n", made(path, word)),
    }
}

/// What is missing of a path, down to the word.
fn made(missing: &[&str], word: &str) -> String {
    match missing {
        [] => quoted(word),
        [name] => format!("{}: [ {} ]", quoted(name), quoted(word)),
        [name, rest @ ..] => format!("{}: {{ {} }}", quoted(name), made(rest, word)),
    }
}

fn quoted(word: &str) -> String {
    Value::from(word).to_string()
}

/// The word in the list at `path` of a value; what is missing is made.
fn push(value: &mut Value, path: &[&str], word: &str) {
    let mut place = value;
    for name in path {
        place = &mut place[*name];
    }
    match place {
        Value::Array(items) => items.push(word.into()),
        other => *other = json!([word]),
    }
}

fn items(node: &Node) -> Option<&[Node]> {
    match &node.kind {
        Kind::Array(items) => Some(items),
        _ => None,
    }
}

/// The bytes of every child of a container: of a member, from its key on.
fn children(node: &Node) -> Vec<Span> {
    match &node.kind {
        Kind::Array(items) => items.iter().map(|item| item.span).collect(),
        Kind::Object(members) => {
            members.iter().map(|member| Span::new(member.key_span.start, member.value.span.end)).collect()
        }
        _ => Vec::new(),
    }
}

/// A text that is being edited. Spans are those of the text without its byte order mark.
struct Open<'t> {
    mark: &'t str,
    text: &'t str,
    root: Node,
    tokens: Vec<Token>,
}

/// Bytes and what goes into their place.
type Patch = (Span, String);

impl<'t> Open<'t> {
    fn new(whole: &'t str) -> Result<Open<'t>, EditError> {
        let text = whole.strip_prefix(BOM).unwrap_or(whole);
        let mark = &whole[..whole.len() - text.len()];
        match json::parse(text) {
            Ok(tree) => Ok(Open { mark, text, root: tree.root, tokens: cut(text) }),
            Err(error) => {
                let span = Span::new(error.span.start + mark.len(), error.span.end + mark.len());
                Err(EditError { message: error.message, span })
            }
        }
    }

    fn outer(&self, span: Span) -> Span {
        Span::new(span.start + self.mark.len(), span.end + self.mark.len())
    }

    fn value(&self) -> Value {
        self.root.to_value(self.text)
    }

    /// The innermost thing of the path that is there, and the rest of the path.
    fn walk<'p>(&self, path: &'p [&'p str]) -> Result<(&Node, &'p [&'p str]), EditError> {
        let mut node = &self.root;
        for (depth, name) in path.iter().enumerate() {
            if !matches!(node.kind, Kind::Object(_)) {
                return Err(self.wrong(node, &path[..depth], "an object"));
            }
            match node.get(name) {
                Some(member) => node = &member.value,
                None => return Ok((node, &path[depth..])),
            }
        }
        if items(node).is_none() {
            return Err(self.wrong(node, path, "a list"));
        }
        Ok((node, &[]))
    }

    fn wrong(&self, node: &Node, path: &[&str], wanted: &str) -> EditError {
        let place = path.last().map_or_else(|| "the top level".to_owned(), |name| format!("{name:?}"));
        let message = format!("{place} is {}, not {wanted}", node.what());
        EditError { message, span: self.outer(node.span) }
    }

    /// Where the word stands in the list; the last one of several.
    fn find(&self, path: &[&str], word: &str) -> Result<Option<Span>, EditError> {
        let (node, missing) = self.walk(path)?;
        let found = items(node).filter(|_| missing.is_empty()).unwrap_or_default().iter().rev();
        let mut found = found.filter(|item| item.as_str() == Some(word));
        Ok(found.next().map(|item| self.outer(item.span)))
    }

    /// The tokens between the brackets of a container.
    fn inside(&self, container: Span) -> &[Token] {
        let from = self.tokens.partition_point(|token| token.start <= container.start);
        let to = self.tokens.partition_point(|token| token.end < container.end);
        self.tokens.get(from..to).unwrap_or_default()
    }

    fn text_of(&self, token: Token) -> &'t str {
        &self.text[token.start..token.end]
    }

    /// Puts `content` at the end of a container.
    fn insert(&self, container: &Node, content: &str) -> Vec<Patch> {
        let at = |place: usize, text: String| (Span::new(place, place), text);
        let inside = self.inside(container.span);
        let Some(last) = inside.iter().rposition(|token| token.counts()) else {
            return vec![at(container.span.start + 1, content.to_owned())];
        };
        // A remark behind the last child, on its line, stays with it.
        let mut place = inside[last].end;
        let mut after_line_comment = false;
        for token in &inside[last + 1..] {
            let ends_line = self.text_of(*token).contains('\n');
            match token.piece {
                Piece::Blank if ends_line => break,
                Piece::Blank => {}
                _ => {
                    place = token.end;
                    after_line_comment = token.piece == Piece::LineComment;
                    if ends_line {
                        break;
                    }
                }
            }
        }
        let start = children(container).into_iter().map(|child| child.start).max().unwrap_or_default();
        let before = inside.iter().rfind(|token| token.end == start && token.piece == Piece::Blank);
        let gap = match before.map(|token| self.text_of(*token)) {
            Some(blank) if blank.contains('\n') => {
                let line = blank.rfind('\n').unwrap_or_default();
                let line = line - usize::from(blank[..line].ends_with('\r'));
                blank[line..].to_owned()
            }
            _ if after_line_comment && self.text[place..].starts_with("\r\n") => "\r\n".to_owned(),
            _ if after_line_comment => "\n".to_owned(),
            _ => " ".to_owned(),
        };
        if inside[last].piece == Piece::Mark(b',') {
            vec![at(place, format!("{gap}{content},"))]
        } else {
            vec![at(inside[last].end, ",".to_owned()), at(place, format!("{gap}{content}"))]
        }
    }

    /// Takes the word out: the item, or the outermost thing that was made for it. Gives the value that is left, too.
    fn without(&self, path: &[&str], word: &str) -> (Vec<Patch>, Value) {
        let mut wanted = self.value();
        let mut way: Vec<(&Node, usize)> = Vec::new();
        let mut node = &self.root;
        for name in path {
            let Some(index) = node.members().iter().position(|member| member.key == *name) else { break };
            way.push((node, index));
            node = &node.members()[index].value;
        }
        let found = items(node).unwrap_or_default().iter().rposition(|item| item.as_str() == Some(word));
        let index = found.unwrap_or_default();
        way.push((node, index));
        let mut depth = way.len() - 1;
        while depth > 0 && self.was_made(way[depth].0, way[depth - 1]) {
            depth -= 1;
        }
        let mut place = &mut wanted;
        for name in &path[..depth] {
            place = &mut place[*name];
        }
        match place {
            Value::Array(items) => {
                items.remove(index);
            }
            Value::Object(members) => {
                members.shift_remove(path[depth]);
            }
            _ => {}
        }
        let (container, child) = way[depth];
        (self.delete(container, child), wanted)
    }

    /// True for a container that holds one thing and was made for it; nothing that people wrote goes with it.
    fn was_made(&self, container: &Node, (parent, child): (&Node, usize)) -> bool {
        let begins_blank =
            self.inside(container.span).first().is_some_and(|token| token.piece == Piece::Blank);
        let member = children(parent)[child];
        let inside = |token: &&Token| member.start <= token.start && token.end <= member.end;
        begins_blank
            && children(container).len() == 1
            && !self.tokens.iter().filter(inside).any(|token| token.is_comment())
    }

    /// Takes a child out of a container, one comma and the blanks that came with it.
    fn delete(&self, container: &Node, child: usize) -> Vec<Patch> {
        let gone = |start: usize, end: usize| (Span::new(start, end), String::new());
        let child = children(container)[child];
        let inside = self.inside(container.span);
        let first = inside.partition_point(|token| token.start < child.start);
        let after = inside.partition_point(|token| token.end <= child.end);
        let before = inside[..first].iter().rposition(|token| token.counts());
        let next = inside[after..].iter().position(|token| token.counts()).map(|next| next + after);

        // From the end of what stands before it.
        let mut start = child.start;
        let blank = first.checked_sub(1).map(|index| inside[index]).filter(|t| t.piece == Piece::Blank);
        let mut end = child.end;
        let mut patches = Vec::new();
        let comma = next.filter(|next| inside[*next].piece == Piece::Mark(b','));
        if let Some(comma) = comma {
            if inside[after..comma].iter().any(|token| token.is_comment()) {
                patches.push(gone(inside[comma].start, inside[comma].end));
            } else {
                end = inside[comma].end;
            }
            // The first of several: what follows moves to its place.
            let follows = inside[comma + 1..].iter().any(|token| token.counts());
            if before.is_none() && follows {
                if let Some(blank) =
                    inside.get(comma + 1).filter(|t| t.piece == Piece::Blank && end > child.end)
                {
                    end = blank.end;
                }
                patches.insert(0, gone(start, end));
                return patches;
            }
        } else if let Some(before) = before {
            patches.push(gone(inside[before].start, inside[before].end));
        }
        if let Some(blank) = blank {
            start = blank.start;
            let comment = first.checked_sub(2).is_some_and(|i| inside[i].piece == Piece::LineComment);
            let newline = self.text[end..].starts_with('\n') || self.text[end..].starts_with("\r\n");
            if comment && !newline {
                // What follows must not become part of the remark.
                start += self.text_of(blank).find('\n').map_or(0, |line| line + 1);
            }
        }
        patches.push(gone(start, end));
        patches
    }

    /// Applies the patches, and makes sure that the text says what it should.
    fn settle(&self, patches: &[Patch], wanted: &Value) -> Result<String, EditError> {
        let mut sorted: Vec<&Patch> = patches.iter().collect();
        sorted.sort_by_key(|(span, _)| span.start);
        let mut text = self.mark.to_owned();
        let mut at = 0;
        for (span, new) in sorted {
            text.push_str(&self.text[at..span.start]);
            text.push_str(new);
            at = span.end;
        }
        text.push_str(&self.text[at..]);
        match Open::new(&text).map(|open| open.value()) {
            Ok(value) if value == *wanted => Ok(text),
            _ => Err(EditError {
                message: "it is written in a way that is not edited safely; change it by hand".to_owned(),
                span: self.outer(self.root.span),
            }),
        }
    }
}

#[cfg(test)]
mod tests;

//! A line that was read.

use crate::placeholders::{name_at, placeholders};
use crate::scan;
use crate::unknown::Unknown;

/// Bytes of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// A range.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }
}

/// The quotes something stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quoting {
    /// None.
    None,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
}

/// What a piece of a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Text that stands for itself; quotes and escapes lie outside of it.
    Text,
    /// `$NAME` or `${NAME}`.
    Variable {
        /// The bytes of the name.
        name: Span,
        /// It stands in braces.
        braces: bool,
        /// `${NAME:-…}` and its like.
        has_default: bool,
    },
    /// `*`, `?` or `[` outside of quotes.
    Glob,
    /// `$(( ))` without any command in it.
    Arithmetic,
    /// `$( )` or backticks. The commands in it are commands of the line.
    Substitution,
    /// Anything else that only a shell can tell.
    Opaque,
}

/// A part of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Its bytes.
    pub span: Span,
    /// The quotes around it.
    pub quoting: Quoting,
    /// What it is.
    pub kind: Kind,
}

/// What a word is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// `if`, `do`, `!` and the like, in front of a command.
    Keyword,
    /// `NAME=…` in front of a command.
    Assignment,
    /// The target of a redirection, or the number of its descriptor.
    Target,
    /// The name or an argument of the command.
    Plain,
}

#[derive(Debug)]
pub(crate) struct WordData {
    pub(crate) span: Span,
    /// Of [`Line::pieces`].
    pub(crate) pieces: Span,
    pub(crate) quoted: bool,
    pub(crate) role: Role,
}

/// A shell line, read. Words and pieces are ranges of its text; nothing is copied.
#[derive(Debug)]
pub struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) words: Vec<WordData>,
    /// Ranges of `words`.
    pub(crate) commands: Vec<Span>,
    pub(crate) doubt: Option<(Unknown, Span)>,
    pub(crate) variable: Option<Span>,
    pub(crate) substitution: Option<Span>,
}

impl<'a> Line<'a> {
    /// Reads a line. After a here-document the scan ends: what follows is text.
    pub fn read(text: &'a str) -> Line<'a> {
        scan::read(text)
    }

    /// The line as written.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The simple commands, in the order of their ends: what stands in a substitution comes before the command around it.
    pub fn commands(&self) -> impl Iterator<Item = Command<'_>> {
        self.commands.iter().map(|words| Command { line: self, words: *words })
    }

    /// All words, command by command.
    pub fn words(&self) -> impl Iterator<Item = Word<'_>> {
        self.words.iter().map(|data| Word { line: self, data })
    }

    /// What makes the line more than a list of known commands, and where it stands; the first such thing.
    pub fn doubt(&self) -> Option<(Unknown, Span)> {
        self.doubt
    }

    /// The first plain variable (`$X`, `$1`, `$?`) other than `$HOME`. Those that are quoted or in braces are a doubt already.
    pub fn variable(&self) -> Option<Span> {
        self.variable
    }

    /// The first `$( )` or backticks.
    pub fn substitution(&self) -> Option<Span> {
        self.substitution
    }
}

/// A simple command.
#[derive(Debug, Clone, Copy)]
pub struct Command<'l> {
    line: &'l Line<'l>,
    words: Span,
}

impl<'l> Command<'l> {
    /// All of its words, in order.
    pub fn words(&self) -> impl Iterator<Item = Word<'l>> + use<'l> {
        let line = self.line;
        line.words[self.words.start..self.words.end].iter().map(move |data| Word { line, data })
    }

    /// Its name and arguments: no keywords, leading assignments or redirections.
    pub fn arguments(&self) -> impl Iterator<Item = Word<'l>> + use<'l> {
        self.words().filter(|word| word.role() == Role::Plain)
    }

    /// Name and arguments with their quotes taken off, one blank between two; what only a shell can tell stays as written.
    pub fn plain_text(&self) -> String {
        let mut text = String::new();
        self.push_plain_text(&mut text);
        text
    }

    /// The same, at the end of a buffer.
    pub fn push_plain_text(&self, text: &mut String) {
        for (index, word) in self.arguments().enumerate() {
            if index > 0 {
                text.push(' ');
            }
            word.push_plain_text(text);
        }
    }

    /// Name, arguments and redirections as written, from the name to the last word.
    pub fn written(&self) -> &'l str {
        self.from(self.arguments().next())
    }

    /// All of it as written, leading assignments and redirections included.
    pub fn whole(&self) -> &'l str {
        self.from(self.words().find(|word| word.role() != Role::Keyword))
    }

    /// From a word to the last one.
    fn from(&self, first: Option<Word<'l>>) -> &'l str {
        let last = self.line.words[self.words.start..self.words.end].last();
        let span = first.zip(last).map(|(first, last)| (first.data.span.start, last.span.end));
        span.and_then(|(start, end)| self.line.text.get(start..end)).unwrap_or_default()
    }
}

/// A variable in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable<'a> {
    /// Its name.
    pub name: &'a str,
    /// All of it.
    pub span: Span,
    /// The quotes around it; in single quotes it is none for the shell.
    pub quoting: Quoting,
    /// `${NAME:-…}` and its like.
    pub has_default: bool,
}

/// A word of a command.
#[derive(Debug, Clone, Copy)]
pub struct Word<'l> {
    line: &'l Line<'l>,
    data: &'l WordData,
}

impl<'l> Word<'l> {
    /// Its bytes, quotes included.
    pub fn span(&self) -> Span {
        self.data.span
    }

    /// As written.
    pub fn written(&self) -> &'l str {
        &self.line.text[self.data.span.start..self.data.span.end]
    }

    /// Its parts.
    pub fn pieces(&self) -> &'l [Piece] {
        &self.line.pieces[self.data.pieces.start..self.data.pieces.end]
    }

    /// Some of it is quoted or escaped.
    pub fn quoted(&self) -> bool {
        self.data.quoted
    }

    /// What it is for.
    pub fn role(&self) -> Role {
        self.data.role
    }

    fn text_of(&self, span: Span) -> &'l str {
        &self.line.text[span.start..span.end]
    }

    /// Its variables, in order; what looks like one in single quotes too.
    pub fn variables(&self) -> Vec<Variable<'l>> {
        let mut found = Vec::new();
        for piece in self.pieces() {
            match piece.kind {
                Kind::Variable { name, has_default, .. } => found.push(Variable {
                    name: self.text_of(name),
                    span: piece.span,
                    quoting: piece.quoting,
                    has_default,
                }),
                Kind::Text if piece.quoting == Quoting::Single => {
                    let at = piece.span.start;
                    found.extend(placeholders(self.text_of(piece.span)).into_iter().map(|inner| Variable {
                        name: inner.name,
                        span: Span::new(at + inner.span.start, at + inner.span.end),
                        quoting: Quoting::Single,
                        has_default: false,
                    }));
                }
                _ => {}
            }
        }
        found
    }

    /// The text, with variables looked up; `None` where only a shell could tell.
    pub fn text(&self, lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let mut text = String::new();
        for piece in self.pieces() {
            match piece.kind {
                Kind::Text => text.push_str(self.text_of(piece.span)),
                Kind::Variable { name, .. } => text.push_str(&lookup(self.text_of(name))?),
                _ => return None,
            }
        }
        Some(text)
    }

    /// The word without its quotes, at the end of a buffer; what only a shell can tell as written.
    pub fn push_plain_text(&self, text: &mut String) {
        for piece in self.pieces() {
            text.push_str(self.text_of(piece.span));
        }
    }

    /// The name in `NAME=…` or `NAME+=…`, wherever the word stands.
    pub fn assigns(&self) -> Option<&'l str> {
        assigned(self.line.text, self.pieces())
    }

    /// True where some of it is only known to a shell.
    pub fn is_unknown(&self) -> bool {
        self.pieces().iter().any(|piece| is_unknown(self.line.text, piece))
    }
}

/// The name in `NAME=…`.
pub(crate) fn assigned<'a>(text: &'a str, pieces: &[Piece]) -> Option<&'a str> {
    let first = pieces.first().filter(|piece| piece.kind == Kind::Text && piece.quoting == Quoting::None)?;
    let first = &text[first.span.start..first.span.end];
    let name = name_at(first);
    let rest = &first[name.len()..];
    (!name.is_empty() && (rest.starts_with('=') || rest.starts_with("+="))).then_some(name)
}

/// Everything but text and `$HOME`, which is taken as known.
pub(crate) fn is_unknown(text: &str, piece: &Piece) -> bool {
    match piece.kind {
        Kind::Text => false,
        Kind::Variable { name, braces, .. } => braces || &text[name.start..name.end] != "HOME",
        _ => true,
    }
}

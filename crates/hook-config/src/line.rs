//! A shell line into words, as far as a look at scripts and placeholders needs it.
//!
//! Quotes, escapes, variables, substitutions and separators are told apart; nothing is expanded. After a here-document
//! the scan ends: what follows is text.

use hook_core::Span;

/// Substitutions nested deeper than this are not looked into.
const MAX_NESTING: usize = 16;

/// The command of words that belong to none: targets of redirections.
pub(crate) const ASIDE: usize = usize::MAX;

/// Where a piece stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    None,
    Single,
    Double,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// As it stands.
    Text(String),
    /// `$NAME` or `${NAME}`.
    Variable { name: String, span: Span, quoting: Quoting, has_default: bool },
    /// What only a shell can tell: a substitution, a pattern.
    Opaque,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) span: Span,
    pub(crate) pieces: Vec<Piece>,
    /// Some of it is quoted or escaped.
    pub(crate) quoted: bool,
    /// The simple command it belongs to.
    pub(crate) command: usize,
}

impl Word {
    /// The variables of the word.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, Span, Quoting, bool)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { name, span, quoting, has_default } => {
                Some((name.as_str(), *span, *quoting, *has_default))
            }
            _ => None,
        })
    }

    /// The text, with variables looked up; `None` where only a shell could tell.
    pub(crate) fn text(&self, lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Variable { name, quoting, .. } if *quoting != Quoting::Single => {
                    text.push_str(&lookup(name)?)
                }
                _ => return None,
            }
        }
        Some(text)
    }

    /// `NAME=…`
    pub(crate) fn is_assignment(&self) -> bool {
        let Some(Piece::Text(first)) = self.pieces.first() else { return false };
        let Some((name, _)) = first.split_once('=') else { return false };
        !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.bytes().all(is_name)
    }
}

/// The words of a line, in order of their ends.
pub(crate) fn words(line: &str) -> Vec<Word> {
    let mut scanner =
        Scanner { line, bytes: line.as_bytes(), at: 0, words: Vec::new(), commands: 0, stopped: false };
    scanner.commands(None, 0);
    scanner.words
}

/// The variables in a text that no shell splits (`args`): only the form with braces counts there.
pub(crate) fn placeholders(text: &str) -> Vec<(String, Span, bool)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('$') {
        let rest = &text[at + 1..];
        let (name, braces) = match rest.strip_prefix('{') {
            Some(inner) => (inner.split_once('}').map_or("", |(name, _)| name), true),
            None => (name_of(rest), false),
        };
        if !name.is_empty() && name.bytes().all(is_name) {
            let length = 1 + name.len() + if braces { 2 } else { 0 };
            found.push((name.to_owned(), Span::new(at, at + length), braces));
        }
    }
    found
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn name_of(text: &str) -> &str {
    let end = text.bytes().position(|byte| !is_name(byte)).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

struct Scanner<'a> {
    line: &'a str,
    bytes: &'a [u8],
    at: usize,
    words: Vec<Word>,
    commands: usize,
    stopped: bool,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next_command(&mut self) -> usize {
        self.commands += 1;
        self.commands
    }

    /// Commands up to `end`, which is stepped over.
    fn commands(&mut self, end: Option<u8>, depth: usize) {
        let mut command = self.next_command();
        while let Some(byte) = self.peek() {
            if self.stopped {
                return;
            }
            if Some(byte) == end {
                self.at += 1;
                return;
            }
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' => self.at += self.line[self.at..].find('\n').unwrap_or(self.line.len() - self.at),
                b';' | b'&' | b'|' | b'\n' | b'(' | b')' => {
                    self.at += 1;
                    command = self.next_command();
                }
                b'<' if self.line[self.at..].starts_with("<<")
                    && !self.line[self.at..].starts_with("<<<") =>
                {
                    self.stopped = true;
                    self.at = self.bytes.len();
                }
                b'<' | b'>' => {
                    self.at += 1;
                    while matches!(self.peek(), Some(b'<' | b'>' | b'&' | b'|' | b' ')) {
                        self.at += 1;
                    }
                    // The target of a redirection is a word of no command.
                    let aside = ASIDE;
                    if self.peek().is_some_and(|byte| !b";&|\n()".contains(&byte) && Some(byte) != end) {
                        self.word(aside, end, depth);
                    }
                }
                _ => self.word(command, end, depth),
            }
        }
    }

    fn word(&mut self, command: usize, end: Option<u8>, depth: usize) {
        let start = self.at;
        let mut pieces = Pieces::default();
        let mut quoted = false;
        while let Some(byte) = self.peek() {
            if Some(byte) == end || b" \t\r\n;&|<>()".contains(&byte) {
                break;
            }
            match byte {
                b'\\' => {
                    quoted = true;
                    self.at += 1;
                    pieces.push(self.character());
                }
                b'\'' => {
                    quoted = true;
                    self.at += 1;
                    self.single(&mut pieces);
                }
                b'"' => {
                    quoted = true;
                    self.at += 1;
                    self.double(&mut pieces, depth);
                }
                b'$' => self.dollar(&mut pieces, Quoting::None, depth),
                b'`' => self.nested(&mut pieces, b'`', depth),
                b'*' | b'?' | b'[' if self.at > start || byte != b'[' => {
                    self.at += 1;
                    pieces.opaque();
                }
                _ => pieces.push(self.character()),
            }
        }
        // A byte that no rule takes must not stop the scan.
        if self.at == start {
            self.at += 1;
            return;
        }
        let span = Span::new(start, self.at);
        self.words.push(Word { span, pieces: pieces.0, quoted, command });
    }

    fn character(&mut self) -> Option<char> {
        let next = self.line.get(self.at..).and_then(|rest| rest.chars().next());
        self.at += next.map_or(0, char::len_utf8);
        next
    }

    fn single(&mut self, pieces: &mut Pieces) {
        let from = self.at;
        let length = self.line[from..].find('\'').unwrap_or(self.line.len() - from);
        let text = &self.line[from..from + length];
        let mut done = 0;
        for (name, span, _) in placeholders(text) {
            pieces.text(&text[done..span.start]);
            done = span.end;
            let span = Span::new(from + span.start, from + span.end);
            pieces.0.push(Piece::Variable { name, span, quoting: Quoting::Single, has_default: false });
        }
        pieces.text(&text[done..]);
        self.at = (from + length + 1).min(self.line.len());
    }

    fn double(&mut self, pieces: &mut Pieces, depth: usize) {
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    self.at += 1;
                    pieces.push(self.character());
                }
                b'$' => self.dollar(pieces, Quoting::Double, depth),
                b'`' => self.nested(pieces, b'`', depth),
                _ => pieces.push(self.character()),
            }
        }
    }

    fn nested(&mut self, pieces: &mut Pieces, end: u8, depth: usize) {
        self.at += 1;
        pieces.opaque();
        if depth < MAX_NESTING {
            self.commands(Some(end), depth + 1);
        } else {
            self.stopped = true;
            self.at = self.bytes.len();
        }
    }

    fn dollar(&mut self, pieces: &mut Pieces, quoting: Quoting, depth: usize) {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'(') => self.nested(pieces, b')', depth),
            Some(b'{') => {
                let inner = &self.line[self.at + 1..];
                let name = name_of(inner);
                let mut open = 1usize;
                let close = inner.bytes().position(|byte| {
                    open = open + usize::from(byte == b'{') - usize::from(byte == b'}');
                    open == 0
                });
                let length = close.unwrap_or(inner.len());
                self.at = (self.at + 1 + length + 1).min(self.line.len());
                let (name, rest) = (name.to_owned(), &inner[name.len().min(length)..length]);
                let has_default = rest.starts_with([':', '-', '=', '+']);
                if name.is_empty() || (!rest.is_empty() && !has_default) {
                    pieces.opaque();
                } else {
                    let span = Span::new(start, self.at);
                    pieces.0.push(Piece::Variable { name, span, quoting, has_default });
                }
            }
            Some(byte) if is_name(byte) && !byte.is_ascii_digit() => {
                let name = name_of(&self.line[self.at..]).to_owned();
                self.at += name.len();
                let span = Span::new(start, self.at);
                pieces.0.push(Piece::Variable { name, span, quoting, has_default: false });
            }
            Some(byte) if byte.is_ascii_digit() || b"?!#@*$-".contains(&byte) => {
                self.at += 1;
                pieces.opaque();
            }
            _ => pieces.text("$"),
        }
    }
}

#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn push(&mut self, c: Option<char>) {
        if let Some(c) = c {
            self.text(c.encode_utf8(&mut [0; 4]));
        }
    }

    fn text(&mut self, part: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(text)) => text.push_str(part),
            _ if part.is_empty() => {}
            _ => self.0.push(Piece::Text(part.to_owned())),
        }
    }

    fn opaque(&mut self) {
        self.0.push(Piece::Opaque);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> Vec<(usize, Option<String>)> {
        let lookup = |name: &str| (name == "D").then(|| "/d d".to_owned());
        words(line).iter().map(|word| (word.command, word.text(&lookup))).collect()
    }

    #[test]
    fn words_keep_their_command_and_their_text() {
        let text = |s: &str| Some(s.to_owned());
        assert_eq!(
            read(r#"a "b c" 'd e' f\ g"#),
            [(1, text("a")), (1, text("b c")), (1, text("d e")), (1, text("f g"))]
        );
        assert_eq!(read("a&&b|c"), [(1, text("a")), (3, text("b")), (4, text("c"))]);
        assert_eq!(
            read(r#""$D/x" ${D}/y '$D/z' $E"#),
            [(1, text("/d d/x")), (1, text("/d d/y")), (1, None), (1, None)]
        );
        assert_eq!(read("a > out.txt b # c"), [(1, text("a")), (ASIDE, text("out.txt")), (1, text("b"))]);
        assert_eq!(read("cat <<EOF\n$D\nEOF").len(), 1);
        assert_eq!(
            read("x $(cat y) `z`"),
            [(1, text("x")), (2, text("cat")), (2, text("y")), (1, None), (3, text("z")), (1, None)]
        );
        assert_eq!(read("*.sh a?"), [(1, None), (1, None)]);
    }

    #[test]
    fn variables_know_their_quotes() {
        let all = words(r#"$A "${B}" '$C' ${D:-x} "$(echo $E)""#);
        let found: Vec<(String, Quoting, bool)> = all
            .iter()
            .flat_map(Word::variables)
            .map(|(name, _, quoting, default)| (name.into(), quoting, default))
            .collect();
        let wanted = [
            ("A", Quoting::None, false),
            ("B", Quoting::Double, false),
            ("C", Quoting::Single, false),
            ("D", Quoting::None, true),
            ("E", Quoting::None, false),
        ];
        assert_eq!(found, wanted.map(|(name, quoting, default)| (name.to_owned(), quoting, default)));
    }

    #[test]
    fn plain_placeholders_have_braces() {
        let found: Vec<_> =
            placeholders("${A}/x $B ${c d} $1").into_iter().map(|(name, _, braces)| (name, braces)).collect();
        assert_eq!(found, [("A".to_owned(), true), ("B".to_owned(), false)]);
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in "[ab$(){}`'\"\\\\é;&|<>#~*?\n ]{0,60}") {
            for word in words(&line) {
                prop_assert!(line.get(word.span.start..word.span.end).is_some());
                for (_, span, _, _) in word.variables() {
                    prop_assert!(line.get(span.start..span.end).is_some_and(|text| text.starts_with('$')));
                }
            }
        }
    }
}

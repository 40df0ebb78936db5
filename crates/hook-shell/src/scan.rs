//! One pass over the bytes of a line.
//!
//! Words and pieces that are not finished yet lie on stacks, so that what stands in a substitution is finished before the word
//! around it. No byte is looked at more than a few times, and nesting ends at [`MAX_NESTING`].

use crate::line::{Kind, Line, Piece, Quoting, Role, Span, WordData, assigned, is_unknown};
use crate::placeholders::{is_name, name_at};
use crate::unknown::Unknown;

/// Substitutions and subshells nested deeper than this are not looked into.
const MAX_NESTING: usize = 64;

/// Bytes that end a word where they are not quoted.
const ENDS_WORD: &[u8] = b" \t\r\n;&|<>()";
/// Bytes that mean something within a word.
const IN_WORD: &[u8] = b"\\'\"$`*?[";
/// Bytes that mean something within double quotes.
const IN_QUOTES: &[u8] = b"\\\"$`";

const fn table(lists: &[&[u8]]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            table[lists[list][at] as usize] = true;
            at += 1;
        }
        list += 1;
    }
    table
}

const WORD_ENDS: [bool; 256] = table(&[ENDS_WORD]);
const STOPS_WORD: [bool; 256] = table(&[ENDS_WORD, IN_WORD]);
const STOPS_QUOTES: [bool; 256] = table(&[IN_QUOTES]);

pub(crate) fn read(text: &str) -> Line<'_> {
    let line = Line {
        text,
        pieces: Vec::new(),
        words: Vec::new(),
        commands: Vec::new(),
        doubt: None,
        variable: None,
        substitution: None,
    };
    let mut scanner = Scanner {
        line,
        bytes: text.as_bytes(),
        at: 0,
        open_pieces: Vec::new(),
        open_words: Vec::new(),
        depth: 0,
        backticks: 0,
        loops: None,
        any_variable: false,
        own_home: None,
        home: false,
    };
    scanner.commands(None);
    scanner.finish()
}

/// A command that is being read.
struct Open {
    /// Where its words begin among those that are not finished.
    base: usize,
    seen: Seen,
}

/// What of a command has been read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    /// Nothing, or words like `if` and `!`.
    Keywords,
    /// Assignments and redirections.
    Preamble,
    /// Its name.
    Name,
}

struct Scanner<'a> {
    line: Line<'a>,
    bytes: &'a [u8],
    at: usize,
    open_pieces: Vec<Piece>,
    open_words: Vec<WordData>,
    depth: usize,
    /// Backticks that are open.
    backticks: usize,
    /// The first `for` or `select`.
    loops: Option<Span>,
    any_variable: bool,
    /// The first `HOME=…`.
    own_home: Option<Span>,
    /// `$HOME` is used.
    home: bool,
}

impl<'a> Scanner<'a> {
    fn finish(mut self) -> Line<'a> {
        if let Some(at) = self.bytes.iter().position(|&byte| byte == 0) {
            self.doubt(Unknown::NulByte, Span::new(at, at + 1));
        }
        if let Some(span) = self.own_home.filter(|_| self.home) {
            self.doubt(Unknown::OwnHome, span);
        }
        if let Some(span) = self.loops.filter(|_| self.any_variable) {
            self.doubt(Unknown::LoopVariable, span);
        }
        self.line
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn doubt(&mut self, unknown: Unknown, span: Span) {
        self.line.doubt.get_or_insert((unknown, span));
    }

    /// The bytes from `start` to here.
    fn since(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    fn stop(&mut self, unknown: Unknown) {
        let span = Span::new(self.at, self.bytes.len());
        self.doubt(unknown, span);
        self.at = self.bytes.len();
    }

    // --- commands ---

    /// Commands up to `end`, which is stepped over; false where the line ends first.
    fn commands(&mut self, end: Option<u8>) -> bool {
        let mut open = Open { base: self.open_words.len(), seen: Seen::Keywords };
        while let Some(byte) = self.peek() {
            if Some(byte) == end {
                self.end_command(&mut open);
                self.at += 1;
                return true;
            }
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.peek_at(1) == Some(b'\n') => self.at += 2,
                b'#' => self.comment(end),
                b'&' if self.peek_at(1) == Some(b'>') => self.redirection(&mut open, end),
                b'<' | b'>' => self.redirection(&mut open, end),
                b';' | b'\n' | b'|' | b'&' => {
                    self.end_command(&mut open);
                    self.at += 1;
                }
                b'(' => self.parenthesis(&mut open),
                b')' => {
                    self.end_command(&mut open);
                    self.at += 1;
                    self.doubt(Unknown::StrayParenthesis, Span::new(self.at - 1, self.at));
                }
                _ => self.command_word(&mut open, end),
            }
        }
        self.end_command(&mut open);
        end.is_none()
    }

    fn end_command(&mut self, open: &mut Open) {
        open.seen = Seen::Keywords;
        if self.open_words.len() > open.base {
            let first = self.line.words.len();
            self.line.words.extend(self.open_words.drain(open.base..));
            self.line.commands.push(Span::new(first, self.line.words.len()));
        }
    }

    fn comment(&mut self, end: Option<u8>) {
        // Within backticks a comment cannot hide the second one.
        let stops = |byte: u8| byte == b'\n' || (end == Some(b'`') && byte == b'`');
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&byte| stops(byte)).unwrap_or(rest.len());
        if self.backticks > 0 && end != Some(b'`') {
            self.doubt(Unknown::NestedBackticks, Span::new(self.at, self.at));
        }
    }

    /// `(`: a subshell where a command may begin, else something that is not read as what it is.
    fn parenthesis(&mut self, open: &mut Open) {
        let start = self.at;
        if open.seen != Seen::Keywords {
            let array = self.bytes[..start].ends_with(b"=");
            let unknown = if array { Unknown::Array } else { Unknown::Function };
            self.doubt(unknown, Span::new(start, start + 1));
        }
        self.end_command(open);
        self.at += 1;
        if !self.nested(b')') {
            self.doubt(Unknown::OpenParenthesis, Span::new(start, start + 1));
        }
    }

    /// The commands up to `end`; false where it never comes.
    fn nested(&mut self, end: u8) -> bool {
        if self.depth == MAX_NESTING {
            self.stop(Unknown::Nesting);
            return true;
        }
        self.depth += 1;
        let closed = self.commands(Some(end));
        self.depth -= 1;
        closed
    }

    fn redirection(&mut self, open: &mut Open, end: Option<u8>) {
        let start = self.at;
        open.seen = open.seen.max(Seen::Preamble);
        let rest = &self.bytes[start..];
        if rest.starts_with(b"<(") || rest.starts_with(b">(") {
            self.at += 2;
            self.doubt(Unknown::ProcessSubstitution, self.since(start));
            self.nested(b')');
            return;
        }
        if rest.starts_with(b"<<") && !rest.starts_with(b"<<<") {
            self.stop(Unknown::HereDocument);
            return;
        }
        const OPERATORS: [&[u8]; 10] = [b"&>>", b"&>", b"<<<", b"<&", b"<>", b"<", b">>", b">&", b">|", b">"];
        self.at +=
            OPERATORS.iter().find(|operator| rest.starts_with(operator)).map_or(1, |found| found.len());
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                _ => break,
            }
        }
        if self.peek().is_some_and(|byte| !WORD_ENDS[usize::from(byte)] && Some(byte) != end) {
            let word = self.word(end);
            self.open_words.push(WordData { role: Role::Target, ..word });
        }
    }

    /// A word of a command, and what it is for.
    fn command_word(&mut self, open: &mut Open, end: Option<u8>) {
        let word = self.word(end);
        let role = self.role(open.seen, &word);
        open.seen = open.seen.max(match role {
            Role::Keyword => Seen::Keywords,
            Role::Assignment | Role::Target => Seen::Preamble,
            Role::Plain => Seen::Name,
        });
        self.open_words.push(WordData { role, ..word });
    }

    fn role(&mut self, seen: Seen, word: &WordData) -> Role {
        let text = self.line.text;
        let pieces = &self.line.pieces[word.pieces.start..word.pieces.end];
        let written = &text[word.span.start..word.span.end];
        if matches!(self.peek(), Some(b'<' | b'>')) && written.bytes().all(|byte| byte.is_ascii_digit()) {
            return Role::Target;
        }
        let assigned = assigned(text, pieces);
        if assigned == Some("HOME") {
            self.own_home.get_or_insert(word.span);
        }
        if seen == Seen::Name {
            return Role::Plain;
        }
        let pattern = written.starts_with('[') && !matches!(written, "[" | "[[");
        let unknown = written != "[[" && (pattern || pieces.iter().any(|piece| is_unknown(text, piece)));
        // What a substitution gives is not what a command is; a variable may be anything.
        let variable = pieces.iter().any(|piece| {
            matches!(piece.kind, Kind::Variable { .. } | Kind::Opaque) && is_unknown(text, piece)
        });
        if seen == Seen::Keywords {
            match written {
                "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "!" => {
                    return Role::Keyword;
                }
                "{" | "}" => {
                    self.doubt(Unknown::BraceGroup, word.span);
                    return Role::Keyword;
                }
                "case" | "esac" => self.doubt(Unknown::Case, word.span),
                "function" => self.doubt(Unknown::Function, word.span),
                "for" | "select" => drop(self.loops.get_or_insert(word.span)),
                _ => {}
            }
        }
        if assigned.is_some() {
            if variable {
                self.doubt(Unknown::AssignedVariable, word.span);
            }
            return Role::Assignment;
        }
        let name = name_at(written);
        if !name.is_empty()
            && written[name.len()..].starts_with('[')
            && (written.contains("]=") || written.contains("]+="))
        {
            self.doubt(Unknown::Array, word.span);
            return Role::Assignment;
        }
        if unknown {
            self.doubt(Unknown::CommandName, word.span);
        }
        Role::Plain
    }

    // --- words ---

    /// A word; there is one byte of it at least.
    fn word(&mut self, end: Option<u8>) -> WordData {
        let start = self.at;
        let base = self.open_pieces.len();
        let mut quoted = false;
        while let Some(byte) = self.peek() {
            if Some(byte) == end || WORD_ENDS[usize::from(byte)] {
                break;
            }
            match byte {
                b'\\' => {
                    quoted |= self.peek_at(1) != Some(b'\n');
                    self.escape(base, Quoting::None);
                }
                b'\'' => {
                    quoted = true;
                    self.single();
                }
                b'"' => {
                    quoted = true;
                    self.double(base);
                }
                b'$' => self.dollar(base, Quoting::None),
                b'`' => self.backtick(Quoting::None),
                b'*' | b'?' => self.one(Kind::Glob),
                // `[` by itself is a command.
                b'[' if self.at > start => self.one(Kind::Glob),
                _ => {
                    let from = self.at;
                    let stops = |byte: &u8| STOPS_WORD[usize::from(*byte)];
                    let rest = &self.bytes[from + 1..];
                    self.at += 1 + rest.iter().position(stops).unwrap_or(rest.len());
                    self.push_text(base, self.since(from), Quoting::None);
                }
            }
        }
        let first = self.line.pieces.len();
        self.brace_list(base, start);
        self.line.pieces.extend(self.open_pieces.drain(base..));
        let pieces = Span::new(first, self.line.pieces.len());
        WordData { span: self.since(start), pieces, quoted, role: Role::Plain }
    }

    fn push(&mut self, span: Span, quoting: Quoting, kind: Kind) {
        self.open_pieces.push(Piece { span, quoting, kind });
    }

    /// Text; what goes on where the last piece ended goes into it.
    fn push_text(&mut self, base: usize, span: Span, quoting: Quoting) {
        if let Some(last) = self.open_pieces[base..].last_mut()
            && (last.kind, last.quoting, last.span.end) == (Kind::Text, quoting, span.start)
        {
            last.span.end = span.end;
            return;
        }
        self.push(span, quoting, Kind::Text);
    }

    fn one(&mut self, kind: Kind) {
        self.at += 1;
        self.push(Span::new(self.at - 1, self.at), Quoting::None, kind);
    }

    /// A backslash and the character behind it.
    fn escape(&mut self, base: usize, quoting: Quoting) {
        let next = self.line.text[self.at + 1..].chars().next();
        if self.backticks > 0 && matches!(next, Some('`' | '\\' | '$')) {
            self.doubt(Unknown::NestedBackticks, Span::new(self.at, self.at + 1));
        }
        let Some(next) = next else {
            self.at += 1;
            self.push_text(base, Span::new(self.at - 1, self.at), quoting);
            return;
        };
        let from = self.at;
        self.at += 1 + next.len_utf8();
        let takes = quoting == Quoting::None || matches!(next, '$' | '`' | '"' | '\\');
        match next {
            '\n' => {}
            _ if takes => self.push(Span::new(from + 1, self.at), quoting, Kind::Text),
            _ => self.push_text(base, self.since(from), quoting),
        }
    }

    /// Single quotes; without an end they go to the end of the line, as in the client of the "Bash matching table".
    fn single(&mut self) {
        let from = self.at + 1;
        let inner = &self.bytes[from..];
        let length = inner.iter().position(|&byte| byte == b'\'').unwrap_or(inner.len());
        if self.backticks > 0 && inner[..length].contains(&b'`') {
            self.doubt(Unknown::NestedBackticks, Span::new(from, from + length));
        }
        self.push(Span::new(from, from + length), Quoting::Single, Kind::Text);
        self.at = (from + length + 1).min(self.bytes.len());
    }

    fn double(&mut self, base: usize) {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.escape(base, Quoting::Double),
                b'$' => self.dollar(base, Quoting::Double),
                b'`' => self.backtick(Quoting::Double),
                _ => {
                    let from = self.at;
                    let rest = &self.bytes[from..];
                    let stops = |byte: &u8| STOPS_QUOTES[usize::from(*byte)];
                    self.at += rest.iter().position(stops).unwrap_or(rest.len());
                    self.push_text(base, self.since(from), Quoting::Double);
                }
            }
        }
        self.doubt(Unknown::OpenDoubleQuote, Span::new(start, start + 1));
    }

    fn backtick(&mut self, quoting: Quoting) {
        let start = self.at;
        if self.backticks > 0 {
            self.stop(Unknown::NestedBackticks);
            return;
        }
        self.at += 1;
        self.backticks += 1;
        let closed = self.nested(b'`');
        self.backticks -= 1;
        if !closed {
            self.doubt(Unknown::OpenBacktick, Span::new(start, start + 1));
        }
        self.substitution(start, quoting);
    }

    fn substitution(&mut self, start: usize, quoting: Quoting) {
        let span = self.since(start);
        // The first one by its beginning: the inner ones end before.
        if self.line.substitution.is_none_or(|first| first.start > start) {
            self.line.substitution = Some(span);
        }
        self.push(span, quoting, Kind::Substitution);
    }

    fn dollar(&mut self, base: usize, quoting: Quoting) {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'(') => {
                if self.arithmetic() {
                    self.push(self.since(start), quoting, Kind::Arithmetic);
                    return;
                }
                self.at += 1;
                if !self.nested(b')') {
                    self.doubt(Unknown::OpenSubstitution, Span::new(start, start + 2));
                }
                self.substitution(start, quoting);
            }
            Some(b'{') => self.braced(start, quoting),
            Some(byte) if is_name(byte) && !byte.is_ascii_digit() => {
                let name = name_at(&self.line.text[self.at..]);
                self.at += name.len();
                let span = self.since(start);
                let kind =
                    Kind::Variable { name: Span::new(start + 1, self.at), braces: false, has_default: false };
                self.push(span, quoting, kind);
                self.any_variable = true;
                if name == "HOME" {
                    self.home = true;
                } else {
                    self.plain_variable(span, quoting);
                }
            }
            Some(byte) if byte.is_ascii_digit() || b"?!#@*$-".contains(&byte) => {
                self.at += 1;
                let span = self.since(start);
                self.push(span, quoting, Kind::Opaque);
                self.any_variable = true;
                self.plain_variable(span, quoting);
            }
            Some(b'\'') if quoting == Quoting::None => {
                self.doubt(Unknown::DollarQuotes, Span::new(start, self.at + 1));
                self.ansi();
                self.push(self.since(start), quoting, Kind::Opaque);
            }
            Some(b'"') if quoting == Quoting::None => {
                self.doubt(Unknown::DollarQuotes, Span::new(start, self.at + 1));
            }
            Some(b'[') => {
                self.doubt(Unknown::OldArithmetic, Span::new(start, self.at + 1));
                self.push(self.since(start), quoting, Kind::Opaque);
            }
            _ => self.push_text(base, self.since(start), quoting),
        }
    }

    fn plain_variable(&mut self, span: Span, quoting: Quoting) {
        if quoting == Quoting::Double {
            self.doubt(Unknown::QuotedVariable, span);
        } else if self.line.variable.is_none() {
            self.line.variable = Some(span);
        }
    }

    /// `${…}`, from the opening brace to the one that closes it.
    fn braced(&mut self, start: usize, quoting: Quoting) {
        let from = self.at + 1;
        let inner = &self.line.text[from..];
        let mut open = 1usize;
        let close = inner.bytes().position(|byte| {
            open = open + usize::from(byte == b'{') - usize::from(byte == b'}');
            open == 0
        });
        let length = close.unwrap_or(inner.len());
        let name = name_at(inner);
        let rest = &inner[name.len().min(length)..length];
        let has_default = rest.starts_with([':', '-', '=', '+']);
        self.at = (from + length + 1).min(self.bytes.len());
        let span = self.since(start);
        let kind = if name.is_empty() || !(rest.is_empty() || has_default) {
            Kind::Opaque
        } else {
            Kind::Variable { name: Span::new(from, from + name.len()), braces: true, has_default }
        };
        self.push(span, quoting, kind);
        self.any_variable = true;
        self.doubt(Unknown::BracedVariable, span);
    }

    /// The inside of `$'…'`, in which a backslash can take the quote.
    fn ansi(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\'' => return,
                b'\\' => self.at += usize::from(self.at < self.bytes.len()),
                _ => {}
            }
        }
    }

    /// Steps over `$((…))` that holds numbers, names and operators only. Anything else between the parentheses could hide
    /// commands, so that it is read as a substitution; and the look ahead ends before the next `$(`, so that it costs little.
    fn arithmetic(&mut self) -> bool {
        if self.peek_at(1) != Some(b'(') {
            return false;
        }
        let from = self.at + 2;
        let mut open = 2usize;
        let mut variable = None;
        for (index, &byte) in self.bytes[from..].iter().enumerate() {
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    let at = from + index;
                    if open == 1 && self.bytes.get(at + 1) != Some(&b')') {
                        return false;
                    }
                    if open == 0 {
                        self.at = at + 1;
                        if let Some(at) = variable {
                            self.any_variable = true;
                            self.plain_variable(Span::new(at, at + 1), Quoting::None);
                        }
                        return true;
                    }
                }
                b'$' if self.bytes.get(from + index + 1).is_some_and(|&next| is_name(next)) => {
                    variable = Some(from + index);
                }
                b' ' | b'\t' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|'
                | b'^' | b'~' | b'?' | b':' | b',' | b'#' => {}
                byte if is_name(byte) => {}
                _ => return false,
            }
        }
        false
    }

    /// Doubts a word that holds `{a,b}` or `{1..3}` outside of quotes.
    fn brace_list(&mut self, base: usize, start: usize) {
        let (mut open, mut parts, mut last) = (false, false, 0);
        let pieces = &self.open_pieces[base..];
        let any = self.bytes[start..self.at].contains(&b'{');
        let found = any
            && pieces.iter().any(|piece| {
                if piece.kind != Kind::Text || piece.quoting != Quoting::None {
                    return false;
                }
                // An escaped character stands for itself.
                let escaped = piece.span.start > 0 && self.bytes[piece.span.start - 1] == b'\\';
                self.bytes[piece.span.start..piece.span.end].iter().skip(usize::from(escaped)).any(|&byte| {
                    match byte {
                        b'{' => open = true,
                        b',' => parts |= open,
                        b'.' if last == b'.' => parts |= open,
                        b'}' if parts => return true,
                        b'}' => open = false,
                        _ => {}
                    }
                    last = byte;
                    false
                })
            });
        if found {
            self.doubt(Unknown::BraceList, self.since(start));
        }
    }
}

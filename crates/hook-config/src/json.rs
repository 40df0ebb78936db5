//! JSON text into a tree that remembers where every key and every value stands.
//!
//! The parser reads JSON with comments and trailing commas and says where it met them; whether they are allowed is for the
//! dialect to say. A member that stands twice counts with its last value, as in the agents' own parsers, and both places are
//! reported. Nothing is read deeper than [`MAX_DEPTH`], so no text can exhaust the stack.

use std::collections::HashMap;

use hook_core::Span;
mod node;

pub(crate) use node::{Kind, Member, Node};

/// Deeper nesting than this is refused.
pub(crate) const MAX_DEPTH: usize = 128;

/// Objects with more members than this are checked for repeats through a hash table.
const SMALL_OBJECT: usize = 16;

/// A member that stands twice in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Duplicate {
    pub(crate) key: String,
    /// The key that no longer counts.
    pub(crate) first: Span,
    /// The key that counts.
    pub(crate) last: Span,
}

/// A text, read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree {
    pub(crate) root: Node,
    /// The first comment or trailing comma, and what it is.
    pub(crate) lax: Option<(Span, &'static str)>,
    pub(crate) duplicates: Vec<Duplicate>,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    pub(crate) too_deep: bool,
}

/// Reads a text.
pub(crate) fn parse(text: &str) -> Result<Tree, SyntaxError> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, lax: None, duplicates: Vec::new() };
    parser.skip_blanks()?;
    if parser.peek().is_none() {
        return Err(parser.error("the file is empty", Some("write `{\"hooks\": {}}`, or remove the file")));
    }
    let root = parser.value(0)?;
    parser.skip_blanks()?;
    if parser.peek().is_some() {
        return Err(parser.error(
            "text after the end of the JSON value",
            Some("a file holds one JSON value; look for a brace that closes too early"),
        ));
    }
    Ok(Tree { root, lax: parser.lax, duplicates: parser.duplicates })
}

/// The number that a text is in JSON; `None` where it is none.
pub(crate) fn number(text: &str) -> Option<f64> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, lax: None, duplicates: Vec::new() };
    parser.number().ok().filter(|_| parser.at == text.len())
}

/// The last value of a repeated key, at the place of the first.
pub(crate) fn without_repeats(members: Vec<Member>, duplicates: &mut Vec<Duplicate>) -> Vec<Member> {
    if members.len() < 2 {
        return members;
    }
    let mut kept: Vec<Member> = Vec::with_capacity(members.len());
    let mut places: HashMap<String, usize> = HashMap::new();
    let large = members.len() > SMALL_OBJECT;
    for member in members {
        let known = if large {
            places.get(&member.key).copied()
        } else {
            kept.iter().position(|other| other.key == member.key)
        };
        match known {
            Some(index) => {
                let first = kept[index].key_span;
                let last = member.key_span;
                duplicates.push(Duplicate { key: member.key.clone(), first, last });
                kept[index] = member;
            }
            None => {
                if large {
                    places.insert(member.key.clone(), kept.len());
                }
                kept.push(member);
            }
        }
    }
    kept
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    lax: Option<(Span, &'static str)>,
    duplicates: Vec<Duplicate>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// An error at the character that stands next.
    fn error(&self, message: impl Into<String>, help: Option<&'static str>) -> SyntaxError {
        let width = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.error_at(Span::new(self.at, self.at + width), message, help)
    }

    fn error_at(&self, span: Span, message: impl Into<String>, help: Option<&'static str>) -> SyntaxError {
        SyntaxError { span, message: message.into(), help, too_deep: false }
    }

    fn next_for_people(&self) -> String {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(c) => format!("{c:?}"),
            None => "the end of the file".to_owned(),
        }
    }

    fn skip_blanks(&mut self) -> Result<(), SyntaxError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        match self.bytes.get(self.at + 1) {
            Some(b'/') => {
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            }
            Some(b'*') => match self.text[self.at + 2..].find("*/") {
                Some(end) => self.at += 2 + end + 2,
                None => {
                    let span = Span::new(start, start + 2);
                    return Err(self.error_at(span, "a comment that never ends", Some("close it with `*/`")));
                }
            },
            _ => return Err(self.error("a value cannot begin with '/'", None)),
        }
        self.note_lax(Span::new(start, self.at), "a comment");
        Ok(())
    }

    fn note_lax(&mut self, span: Span, what: &'static str) {
        self.lax.get_or_insert((span, what));
    }

    fn value(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => {
                let message = format!("nested deeper than {MAX_DEPTH} levels");
                let span = Span::new(self.at, self.at + 1);
                return Err(SyntaxError { span, message, help: None, too_deep: true });
            }
            Some(b'{') => Kind::Object(self.object(depth)?),
            Some(b'[') => Kind::Array(self.array(depth)?),
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Kind::Number(self.number()?),
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.word()?,
            Some(b'\'') => {
                let help = "JSON knows double quotes only";
                return Err(self.error("a string in single quotes", Some(help)));
            }
            _ => {
                return Err(self.error(format!("expected a value, found {}", self.next_for_people()), None));
            }
        };
        Ok(Node { span: Span::new(start, self.at), kind })
    }

    fn word(&mut self) -> Result<Kind, SyntaxError> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = &self.text[self.at..self.at + length];
        let kind = match word {
            "null" => Kind::Null,
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            _ => {
                let span = Span::new(self.at, self.at + length);
                let help = Some("text stands in double quotes; bare words are `true`, `false` and `null`");
                return Err(self.error_at(span, format!("{word} is no JSON value"), help));
            }
        };
        self.at += length;
        Ok(kind)
    }

    fn number(&mut self) -> Result<f64, SyntaxError> {
        let start = self.at;
        let digits = |parser: &mut Self| {
            let from = parser.at;
            while matches!(parser.peek(), Some(b'0'..=b'9')) {
                parser.at += 1;
            }
            parser.at > from
        };
        self.eat(b'-');
        let leading_zero = self.peek() == Some(b'0');
        let integer = self.at;
        let mut fine = digits(self) && (!leading_zero || self.at == integer + 1);
        if self.eat(b'.') {
            fine &= digits(self);
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _sign = self.eat(b'+') || self.eat(b'-');
            fine &= digits(self);
        }
        let text = &self.text[start..self.at];
        match text.parse() {
            Ok(value) if fine => Ok(value),
            _ => Err(self.error_at(Span::new(start, self.at), format!("{text} is no JSON number"), None)),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Node>, SyntaxError> {
        let open = self.at;
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blanks()?;
            if self.eat(b']') {
                return Ok(items);
            }
            self.check_open(open, "list")?;
            items.push(self.value(depth + 1)?);
            self.separator(open, b']', "list")?;
        }
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, SyntaxError> {
        let open = self.at;
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip_blanks()?;
            if self.eat(b'}') {
                return Ok(without_repeats(members, &mut self.duplicates));
            }
            self.check_open(open, "object")?;
            let start = self.at;
            if self.peek() != Some(b'"') {
                let message = format!("expected a key in double quotes, found {}", self.next_for_people());
                return Err(self.error(message, None));
            }
            let key = self.string()?;
            let key_span = Span::new(start, self.at);
            self.skip_blanks()?;
            if !self.eat(b':') {
                let message = format!("expected ':' after the key {key:?}, found {}", self.next_for_people());
                return Err(self.error(message, None));
            }
            self.skip_blanks()?;
            let value = self.value(depth + 1)?;
            members.push(Member { key, key_span, value });
            self.separator(open, b'}', "object")?;
        }
    }

    fn check_open(&self, open: usize, what: &str) -> Result<(), SyntaxError> {
        if self.peek().is_some() {
            return Ok(());
        }
        let message = format!("this {what} never ends");
        Err(self.error_at(
            Span::new(open, open + 1),
            message,
            Some("close it, or remove the brace that opens it"),
        ))
    }

    /// A comma, or nothing before the closing brace.
    fn separator(&mut self, open: usize, close: u8, what: &str) -> Result<(), SyntaxError> {
        self.skip_blanks()?;
        let comma = self.at;
        if self.eat(b',') {
            self.skip_blanks()?;
            if self.peek() == Some(close) {
                self.note_lax(Span::new(comma, comma + 1), "a trailing comma");
            }
            return Ok(());
        }
        self.check_open(open, what)?;
        if self.peek() == Some(close) {
            return Ok(());
        }
        let close = char::from(close);
        Err(self.error(format!("expected ',' or '{close}', found {}", self.next_for_people()), None))
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let open = self.at;
        self.at += 1;
        let mut value = String::new();
        let mut from = self.at;
        loop {
            match self.peek() {
                None => {
                    let help = Some("close it with a double quote");
                    return Err(self.error_at(Span::new(open, open + 1), "this string never ends", help));
                }
                Some(b'"') => {
                    value.push_str(&self.text[from..self.at]);
                    self.at += 1;
                    return Ok(value);
                }
                Some(b'\\') => {
                    value.push_str(&self.text[from..self.at]);
                    value.push(self.escape()?);
                    from = self.at;
                }
                Some(byte) if byte < 0x20 => {
                    let what =
                        if byte == b'\n' || byte == b'\r' { "a line break" } else { "a control character" };
                    let help = Some("write it as an escape, \\n for instance, or close the string before it");
                    return Err(self.error(format!("{what} inside a string"), help));
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let escaped = self.peek();
        // Only an ASCII byte is stepped over, so that `at` stays on a character boundary.
        self.at += usize::from(escaped.is_some_and(|byte| byte.is_ascii()));
        Ok(match escaped {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => self.unicode(start)?,
            _ => {
                let help = Some(
                    "a backslash is written twice; the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000",
                );
                return Err(self.error_at(
                    Span::new(start, self.at),
                    "an escape that JSON does not know",
                    help,
                ));
            }
        })
    }

    fn unicode(&mut self, start: usize) -> Result<char, SyntaxError> {
        let first = self.four_digits(start)?;
        if !(0xd800..0xdc00).contains(&first) {
            // A half of a pair alone stands for no character.
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = self.at;
        if self.eat(b'\\') && self.eat(b'u') {
            let second = self.four_digits(before)?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.at = before;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four_digits(&mut self, start: usize) -> Result<u32, SyntaxError> {
        let digits = self.bytes.get(self.at..self.at + 4).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            let span = Span::new(start, self.at);
            return Err(self.error_at(span, "\\u wants four hexadecimal digits", None));
        };
        let code =
            digits.iter().fold(0, |code, &digit| code * 16 + char::from(digit).to_digit(16).unwrap_or(0));
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests;

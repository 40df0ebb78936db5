//! What stands behind a backslash.

use super::node::{Item, Node, Set, Shorthand};
use super::parse::Parser;
use super::{Cause, Language, Refused};

/// A character, or several, that an escape stands for.
pub(super) enum Escaped {
    Char(char),
    /// A shorthand, as the items of a class.
    Items(Vec<Item>),
    /// Half of a character beyond the first plane, which no text holds alone.
    Nothing,
}

const DIGITS: &[(char, char)] = &[('0', '9')];
const WORDS: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
const BLANKS: &[(char, char)] = &[('\t', '\r'), (' ', ' ')];
const BLANKS_OF_JAVASCRIPT: &[(char, char)] = &[
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];

impl Parser<'_> {
    /// An escape outside a class, after its backslash.
    pub(super) fn escape(&mut self, start: usize) -> Result<Node, Refused> {
        let (js, python) = (self.is_js(), self.is_python());
        if self.language == Language::Common {
            return match self.next() {
                Some(c) if c.is_ascii_punctuation() && c != '<' && c != '>' => Ok(self.literal(c)),
                _ => Err(self.invalid(start, "not common to all languages")),
            };
        }
        if self.is_java() {
            return self.escape_of_java(start);
        }
        match self.peek() {
            Some(c @ ('b' | 'B')) => {
                self.at += 1;
                return Ok(Node::Word { negated: c == 'B', ascii: js || self.flags.ascii });
            }
            Some('A') if python => {
                self.at += 1;
                return Ok(Node::Start { line: false });
            }
            Some('Z') if python => {
                self.at += 1;
                return Ok(Node::End(super::node::End::Text));
            }
            Some('1'..='9') => {
                if let Some(node) = self.numbered(start)? {
                    return Ok(node);
                }
            }
            Some('k') if js && !self.names.is_empty() => {
                self.at += 1;
                let name = if self.eat("<") { self.until('>') } else { None };
                let Some(group) = name.and_then(|name| self.names.iter().position(|known| known == name))
                else {
                    return Err(self.invalid(start, "there is no group of this name"));
                };
                let name = self.names[group].clone();
                let group = self.captures.iter().position(|capture| capture.name.as_ref() == Some(&name));
                return match group {
                    Some(group) => self.back(start, group + 1),
                    None => Ok(Node::Empty),
                };
            }
            _ => {}
        }
        Ok(match self.escaped(start, false)? {
            Escaped::Char(c) => self.literal(c),
            Escaped::Items(items) => Node::Set(Set { negated: false, fold: false, items }),
            Escaped::Nothing => Node::Set(Set::default()),
        })
    }

    /// `\1` and so on; nothing is eaten and given where it is an octal escape.
    fn numbered(&mut self, start: usize) -> Result<Option<Node>, Refused> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let rest = self.rest();
        let octal = |length: usize| rest.len() >= length && rest[..length].bytes().all(|b| b < b'8');
        if self.is_js() {
            let number: usize = rest[..digits].parse().unwrap_or(usize::MAX);
            if number > self.total {
                return Ok(None);
            }
            self.at += digits;
            return self.back(start, number).map(Some);
        }
        if digits >= 3 && octal(3) {
            return Ok(None);
        }
        let length = digits.min(2);
        let number: usize = rest[..length].parse().unwrap_or(usize::MAX);
        self.at += length;
        self.back(start, number).map(Some)
    }

    /// A back-reference.
    pub(super) fn back(&mut self, start: usize, group: usize) -> Result<Node, Refused> {
        let fold = self.flags.fold;
        let capture = self.captures.get(group.wrapping_sub(1)).cloned();
        if self.is_js() {
            // A group that has not matched yet is empty, and so is one that is still open.
            if !capture.is_some_and(|capture| capture.closed) {
                return Ok(Node::Empty);
            }
            if self.behind.is_some_and(|before| group > before) {
                let why = "a back-reference in a look-behind is read backwards in JavaScript, which cannot be done here";
                return Err(self.refused(Cause::Unsupported, start, why));
            }
            let yes = Box::new(Node::Back { group, fold });
            let condition = Node::If { group, yes, no: Box::new(Node::Empty) };
            return Ok(Node::Group(None, Box::new(condition)));
        }
        let Some(capture) = capture else {
            return Err(self.invalid(start, format!("there is no group {group}")));
        };
        if !capture.closed {
            return Err(self.invalid(start, format!("group {group} is not closed yet")));
        }
        if self.behind.is_some_and(|before| group > before) {
            return Err(self.invalid(start, "a look-behind cannot refer to a group of its own"));
        }
        Ok(Node::Back { group, fold })
    }

    /// An escape that stands for characters, after its backslash.
    pub(super) fn escaped(&mut self, start: usize, in_class: bool) -> Result<Escaped, Refused> {
        let Some(c) = self.next() else {
            return Err(self.invalid(start, "a backslash ends the matcher"));
        };
        let js = self.is_js();
        Ok(Escaped::Char(match c {
            'd' | 'D' => return Ok(self.shorthand(Shorthand::Digit, c == 'D')),
            'w' | 'W' => return Ok(self.shorthand(Shorthand::Word, c == 'W')),
            's' | 'S' => return Ok(self.shorthand(Shorthand::Space, c == 'S')),
            'b' if in_class => '\x08',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\x0c',
            'v' => '\x0b',
            '0'..='9' => self.octal(start, in_class)?,
            'x' => return self.hex(start, 2),
            'u' => return self.hex(start, 4),
            'a' if !js => '\x07',
            'U' if !js => return self.hex(start, 8),
            'N' if !js && self.rest().starts_with('{') => {
                let _ = self.until('}');
                let why = "characters by name cannot be used here";
                return Err(self.refused(Cause::Unsupported, start, why).help("write the character itself"));
            }
            'c' if js => self.control(in_class),
            'k' if js && !self.names.is_empty() => {
                return Err(self.invalid(start, "`\\k` needs the name of a group"));
            }
            c if c.is_ascii_alphabetic() && js => {
                self.trap(start, format!("`\\{c}` is the plain letter {c} in JavaScript"));
                c
            }
            c if c.is_ascii_alphabetic() => {
                return Err(self.invalid(start, format!("Python has no escape `\\{c}`")));
            }
            c => c,
        }))
    }

    /// `\d` and its like: ASCII in JavaScript, all of Unicode in Python where no flag says otherwise.
    fn shorthand(&self, kind: Shorthand, negated: bool) -> Escaped {
        if !self.is_js() && !self.flags.ascii {
            return Escaped::Items(vec![Item::Unicode { kind, negated }]);
        }
        let ranges = match kind {
            Shorthand::Digit => DIGITS,
            Shorthand::Word => WORDS,
            Shorthand::Space if self.is_js() => BLANKS_OF_JAVASCRIPT,
            Shorthand::Space => BLANKS,
        };
        let items = ranges.iter().map(|(low, high)| Item::Range(*low, *high));
        Escaped::Items(if negated { complement(ranges) } else { items.collect() })
    }

    /// `\cA`, after the `c`.
    fn control(&mut self, in_class: bool) -> char {
        let allowed = |c: &char| c.is_ascii_alphabetic() || (in_class && (c.is_ascii_digit() || *c == '_'));
        match self.peek().filter(allowed) {
            Some(letter) => {
                self.at += 1;
                char::from((letter as u32 % 32) as u8)
            }
            None => {
                // The backslash is plain text, and the letter is read again.
                self.at -= 1;
                '\\'
            }
        }
    }

    /// An octal escape, after its first digit.
    fn octal(&mut self, start: usize, in_class: bool) -> Result<char, Refused> {
        let first = self.at - 1;
        let digits = |limit: usize| {
            let rest = self.text[first..].bytes();
            rest.take(limit).take_while(|b| (b'0'..b'8').contains(b)).count()
        };
        let value = |length: usize| u32::from_str_radix(&self.text[first..first + length], 8).unwrap_or(0);
        let mut length = digits(3);
        if self.is_js() {
            if length == 0 {
                let c = char::from(self.text.as_bytes()[first]);
                self.trap(start, format!("`\\{c}` is the plain digit {c} in JavaScript"));
                return Ok(c);
            }
            if value(length) > 0o377 {
                length -= 1;
            }
            let code = value(length);
            self.at = first + length;
            if code != 0 {
                let message =
                    "there is no such group, so this is a character by its octal number in JavaScript";
                self.trap(start, message);
            }
            return Ok(char::from_u32(code).unwrap_or('\0'));
        }
        if length == 0 || value(length) > 0o377 || (!in_class && length < 3 && value(1) != 0) {
            return Err(self.invalid(start, "this is no octal number of a character"));
        }
        self.at = first + length;
        Ok(char::from_u32(value(length)).unwrap_or('\0'))
    }

    /// A character by its hexadecimal number, after the letter.
    fn hex(&mut self, start: usize, length: usize) -> Result<Escaped, Refused> {
        let Some(code) = self.hex_digits(length) else {
            let letter = &self.text[start + 1..self.at];
            if !self.is_js() {
                return Err(self.invalid(start, format!("`\\{letter}` needs {length} hexadecimal digits")));
            }
            self.trap(
                start,
                format!("`\\{letter}` without {length} digits is the plain letter {letter} in JavaScript"),
            );
            return Ok(Escaped::Char(if length == 2 { 'x' } else { 'u' }));
        };
        if let Some(c) = char::from_u32(code) {
            return Ok(Escaped::Char(c));
        }
        if self.is_js() && (0xd800..0xdc00).contains(&code) {
            let here = self.at;
            if self.eat("\\u")
                && let Some(low @ 0xdc00..0xe000) = self.hex_digits(4)
                && let Some(c) = char::from_u32(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00))
            {
                return Ok(Escaped::Char(c));
            }
            self.at = here;
        }
        if code > 0x10_ffff {
            return Err(self.invalid(start, "there is no character of this number"));
        }
        Ok(Escaped::Nothing)
    }

    pub(super) fn hex_digits(&mut self, length: usize) -> Option<u32> {
        let digits = self.rest().get(..length).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        self.at += length;
        Some(code)
    }
}

/// All characters outside the ranges, which are in order.
fn complement(ranges: &[(char, char)]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut low = 0u32;
    let mut push = |low: u32, high: u32| {
        if let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high))
            && low <= high
        {
            items.push(Item::Range(low, high));
        }
    };
    for (start, end) in ranges {
        if let Some(high) = (*start as u32).checked_sub(1) {
            push(low, high);
        }
        low = *end as u32 + 1;
    }
    push(low, 0x10_ffff);
    items
}

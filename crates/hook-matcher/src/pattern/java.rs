//! What Java's patterns have of their own.
//!
//! "Java SE API, `java.util.regex.Pattern`". Classes are sets that can be nested, joined and cut; the ends of lines are six
//! characters; shorthands and letter case mean ASCII where no flag says otherwise. Word ends are those of Java 19 and later.

use hook_core::Span;

use super::group;
use super::node::{End, Item, Mode, Node, Set};
use super::parse::{Flags, Parser};
use super::ranges::Ranges;
use super::{Cause, Refused};

/// Ends of lines where Java's `.` stops.
pub(super) const LINE_ENDS: &[char] = &['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

const DIGITS: &[(char, char)] = &[('0', '9')];
const WORDS: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
const BLANKS: &[(char, char)] = &[('\t', '\r'), (' ', ' ')];
const HORIZONTAL: &[(char, char)] = &[
    ('\t', '\t'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];
const VERTICAL: &[(char, char)] = &[('\n', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}')];

/// Classes by name, of ASCII alone.
const NAMED: &[(&str, &[(char, char)])] = &[
    ("Lower", &[('a', 'z')]),
    ("Upper", &[('A', 'Z')]),
    ("ASCII", &[('\0', '\x7f')]),
    ("Alpha", &[('A', 'Z'), ('a', 'z')]),
    ("Digit", DIGITS),
    ("Alnum", &[('0', '9'), ('A', 'Z'), ('a', 'z')]),
    ("Punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    ("Graph", &[('!', '~')]),
    ("Print", &[(' ', '~')]),
    ("Blank", &[('\t', '\t'), (' ', ' ')]),
    ("Cntrl", &[('\0', '\x1f'), ('\x7f', '\x7f')]),
    ("XDigit", &[('0', '9'), ('A', 'F'), ('a', 'f')]),
    ("Space", BLANKS),
];

/// What an escape stands for.
enum Escaped {
    Char(char),
    Set(Ranges),
}

impl<'a> Parser<'a> {
    /// `\Q…\E`, after the `Q`: every character stands for itself. Without an end it goes on to the end of the pattern.
    pub(super) fn quoted(&mut self) -> &'a str {
        let text = self.rest();
        let length = text.find("\\E").unwrap_or(text.len());
        self.at += length;
        self.eat("\\E");
        &text[..length]
    }

    /// An escape outside a class, after its backslash.
    pub(super) fn escape_of_java(&mut self, start: usize) -> Result<Node, Refused> {
        let ascii = self.flags.ascii;
        if let Some(c @ '1'..='9') = self.peek() {
            return self.numbered_of_java(start, c);
        }
        let node = match self.peek() {
            Some(c @ ('b' | 'B')) => {
                self.at += 1;
                if c == 'b' && self.rest().starts_with('{') {
                    let _ = self.until('}');
                    return Err(self.unsupported(start, "boundaries by name cannot be used here"));
                }
                return Ok(Node::Word { negated: c == 'B', ascii });
            }
            Some('A' | 'G') => Node::Start { line: false },
            Some('z') => Node::End(End::Text),
            Some('Z') => self.last_line_end(),
            Some('R') => line_break(),
            Some('X') => {
                self.at += 1;
                return Err(self.unsupported(start, "`\\X` cannot be used here"));
            }
            Some('k') => {
                self.at += 1;
                let name = if self.eat("<") { self.until('>') } else { None };
                let Some(name) = name else {
                    return Err(self.invalid(start, "`\\k` needs the name of a group"));
                };
                let group = self.captures.iter().position(|capture| capture.name.as_deref() == Some(name));
                return match group {
                    Some(group) => self.back_of_java(start, group + 1),
                    None => Err(self.invalid(start, "there is no group of this name")),
                };
            }
            _ => {
                return Ok(match self.escaped_of_java(start)? {
                    Escaped::Char(c) => self.literal(c),
                    Escaped::Set(set) => Node::Set(Set { items: set.items(), ..Set::default() }),
                });
            }
        };
        self.at += 1;
        Ok(node)
    }

    /// `\1` and so on: as many digits as there are groups for.
    fn numbered_of_java(&mut self, start: usize, first: char) -> Result<Node, Refused> {
        self.at += 1;
        let mut number = first as usize - '0' as usize;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            let longer = number * 10 + digit as usize;
            if longer > self.captures.len() {
                break;
            }
            number = longer;
            self.at += 1;
        }
        self.back_of_java(start, number)
    }

    fn back_of_java(&mut self, start: usize, group: usize) -> Result<Node, Refused> {
        // Java lets a reference stand before its group, or within it; it means what an earlier round held.
        if !self.captures.get(group - 1).is_some_and(|capture| capture.closed) {
            let why = "a back-reference before the end of its group cannot be run here";
            return Err(self.unsupported(start, why));
        }
        if self.behind.is_some() {
            return Err(self.invalid(start, "a look-behind cannot refer to a group"));
        }
        Ok(Node::Back { group, fold: self.flags.fold })
    }

    /// An escape that stands for characters, after its backslash.
    fn escaped_of_java(&mut self, start: usize) -> Result<Escaped, Refused> {
        let Some(c) = self.next() else {
            return Err(self.invalid(start, "a backslash ends the matcher"));
        };
        let set = match c {
            'd' | 'D' => self.unicode_free(start, DIGITS)?,
            'w' | 'W' => self.unicode_free(start, WORDS)?,
            's' | 'S' => self.unicode_free(start, BLANKS)?,
            'h' | 'H' => Ranges::of(HORIZONTAL),
            'v' | 'V' => Ranges::of(VERTICAL),
            'p' | 'P' => self.named(start)?,
            _ => return self.char_of_java(start, c).map(Escaped::Char),
        };
        Ok(Escaped::Set(if c.is_ascii_uppercase() { set.complement() } else { set }))
    }

    /// A shorthand, where no flag makes it one of Unicode's.
    fn unicode_free(&self, start: usize, ranges: &[(char, char)]) -> Result<Ranges, Refused> {
        if self.flags.ascii {
            return Ok(Ranges::of(ranges));
        }
        Err(self.unsupported(start, "shorthands over all of Unicode cannot be used here"))
    }

    /// `\p{Alpha}`, after the `p`.
    fn named(&mut self, start: usize) -> Result<Ranges, Refused> {
        let name = if self.eat("{") {
            self.until('}')
        } else {
            let from = self.at;
            self.next().map(|_| &self.text[from..self.at])
        };
        let Some(name) = name else { return Err(self.invalid(start, "the class has no name")) };
        let known = NAMED.iter().find(|(known, _)| *known == name).filter(|_| self.flags.ascii);
        match known {
            // Where case is ignored, Java takes either case for each of the two.
            Some(("Lower" | "Upper", _)) if self.flags.fold => Ok(Ranges::of(&[('A', 'Z'), ('a', 'z')])),
            Some((_, ranges)) => Ok(Ranges::of(ranges)),
            None => {
                let refused = self.unsupported(start, "classes of Unicode by name cannot be used here");
                Err(refused
                    .help("write the characters, as in `[A-Za-z]`, or a class of ASCII, as `\\p{Alpha}`"))
            }
        }
    }

    fn char_of_java(&mut self, start: usize, c: char) -> Result<char, Refused> {
        Ok(match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\x0c',
            'a' => '\x07',
            'e' => '\x1b',
            '0' => {
                let digits: &str = self.rest();
                let octal = digits.bytes().take(3).take_while(|b| (b'0'..b'8').contains(b)).count();
                // Three digits only where the first is at most 3.
                let length = if octal == 3 && digits.as_bytes()[0] > b'3' { 2 } else { octal };
                let code = u32::from_str_radix(&digits[..length], 8).ok().and_then(char::from_u32);
                let Some(c) = code else {
                    return Err(self.invalid(start, "`\\0` needs octal digits"));
                };
                self.at += length;
                c
            }
            'x' if self.eat("{") => {
                let digits = self.until('}').unwrap_or_default();
                let hex = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
                match u32::from_str_radix(digits, 16).ok().filter(|_| hex).and_then(char::from_u32) {
                    Some(c) => c,
                    None => return Err(self.invalid(start, "there is no character of this number")),
                }
            }
            'x' | 'u' => return self.hex_of_java(start, if c == 'x' { 2 } else { 4 }),
            'c' => match self.next() {
                Some(c) if c.is_ascii() => char::from(c as u8 ^ 64),
                Some(_) => return Err(self.unsupported(start, "only ASCII has control characters here")),
                None => return Err(self.invalid(start, "`\\c` needs a character")),
            },
            'N' => {
                let _ = self.until('}');
                let refused = self.unsupported(start, "characters by name cannot be used here");
                return Err(refused.help("write the character itself"));
            }
            c if c.is_ascii_alphabetic() => {
                return Err(self.invalid(start, format!("Java has no escape `\\{c}`")));
            }
            c => c,
        })
    }

    fn hex_of_java(&mut self, start: usize, length: usize) -> Result<char, Refused> {
        let letter = if length == 2 { 'x' } else { 'u' };
        let code = self.hex_digits(length);
        let Some(code) = code else {
            return Err(self.invalid(start, format!("`\\{letter}` needs {length} hexadecimal digits")));
        };
        if let Some(c) = char::from_u32(code) {
            return Ok(c);
        }
        if code < 0xdc00
            && self.eat("\\u")
            && let Some(low @ 0xdc00..0xe000) = self.hex_digits(4)
            && let Some(c) = char::from_u32(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00))
        {
            return Ok(c);
        }
        Err(self.unsupported(start, "half of a character cannot be used here"))
    }

    /// A class after its `[`.
    pub(super) fn class_of_java(&mut self, start: usize) -> Result<Node, Refused> {
        let mut set = self.ranges(start, 0)?;
        let fold = self.flags.fold && (!self.flags.ascii || self.flags.unicode_case) && !set.is_ascii();
        if self.flags.fold && !fold {
            set.fold_ascii();
        }
        Ok(Node::Set(Set { negated: false, fold, items: set.items() }))
    }

    fn ranges(&mut self, start: usize, depth: usize) -> Result<Ranges, Refused> {
        if depth + self.depth > super::parse::MAX_DEPTH {
            return Err(self.unsupported(start, "the class is nested too deeply"));
        }
        let negated = self.eat("^");
        // What stands left of the last `&&`, and what has been read since.
        let (mut left, mut set): (Option<Ranges>, Ranges) = (None, Ranges::default());
        let mut fresh = true;
        loop {
            let at = self.at;
            let Some(c) = self.peek() else {
                return Err(Refused {
                    cause: Cause::Invalid,
                    span: Span::new(start, self.text.len()),
                    why: "the class is not closed".into(),
                    help: None,
                });
            };
            if c == ']' && !fresh {
                self.at += 1;
                let set = match left {
                    Some(left) => left.meet(&set),
                    None => set,
                };
                let mut set = set;
                if negated && self.flags.fold {
                    set.fold_ascii();
                }
                return Ok(if negated { set.complement() } else { set });
            }
            if self.eat("&&") {
                // Java reads operators without operands in ways of its own.
                let open = self.peek().is_none_or(|c| matches!(c, ']' | '&' | '^'));
                if fresh || open {
                    let why = "an intersection without something on either side cannot be used here";
                    return Err(self.unsupported(at, why));
                }
                let right = std::mem::take(&mut set);
                left = Some(match left {
                    Some(left) => left.meet(&right),
                    None => right,
                });
                continue;
            }
            fresh = false;
            if self.eat("[") {
                set.join(&self.ranges(at, depth + 1)?);
                continue;
            }
            match self.member_of_java(at)? {
                Escaped::Set(more) => set.join(&more),
                Escaped::Char(low) => {
                    let open = self.rest().starts_with("-]") || self.rest().starts_with("-[");
                    if !self.rest().starts_with('-') || open || self.rest() == "-" {
                        set.add(low, low);
                        continue;
                    }
                    if self.rest().starts_with("-&&") {
                        return Err(self.unsupported(at, "a range before `&&` cannot be used here"));
                    }
                    self.at += 1;
                    match self.member_of_java(at)? {
                        Escaped::Char(high) if low <= high => set.add(low, high),
                        _ => return Err(self.invalid(at, "the range is the wrong way round")),
                    }
                }
            }
        }
    }

    fn member_of_java(&mut self, at: usize) -> Result<Escaped, Refused> {
        if self.flags.verbose && self.peek().is_some_and(|c| c.is_ascii_whitespace() || c == '#') {
            return Err(self.unsupported(at, "blanks and comments in a class cannot be used here"));
        }
        match self.next() {
            Some('\\') => match self.peek() {
                Some('Q' | 'E') => Err(self.unsupported(at, "quotes in a class cannot be used here")),
                Some('1'..='9') => Err(self.invalid(at, "a class cannot refer to a group")),
                _ => self.escaped_of_java(at),
            },
            Some(c) => Ok(Escaped::Char(c)),
            None => Err(self.invalid(at, "the class is not closed")),
        }
    }

    /// A group after `(?`, which is none of those that all languages have.
    pub(super) fn group_of_java(&mut self, start: usize) -> Result<Option<Node>, Refused> {
        if self.eat("<") {
            let name = self.until('>').unwrap_or_default().to_owned();
            let letters = name.chars().all(|c| c.is_ascii_alphanumeric());
            if !letters || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return Err(self.invalid(start, "the group has no proper name"));
            }
            if self.captures.iter().any(|capture| capture.name.as_deref() == Some(&name)) {
                return Err(self.invalid(start, format!("there are two groups {name}")));
            }
            return self.capture(start, Some(name)).map(Some);
        }
        if self.eat(">") {
            let node = self.body(start, self.flags)?;
            return Ok(Some(Node::Atomic(Box::new(node))));
        }
        let Some((flags, scoped)) = self.flag_letters() else {
            let named = self.peek() == Some('P');
            self.next();
            let refused = self.invalid(start, "Java has no such group");
            let help = named.then_some("a named group is written `(?<name>…)`");
            return Err(Refused { help, ..refused });
        };
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        if let Some(letter) = on.chars().chain(off.chars()).find(|c| !"idmsuxU".contains(*c)) {
            return Err(self.invalid(start, format!("Java has no flag {letter}")));
        }
        let mut inside = self.flags;
        apply(&mut inside, on, true);
        apply(&mut inside, off, false);
        if scoped {
            let node = self.body(start, inside)?;
            return Ok(Some(Node::Group(None, Box::new(node))));
        }
        // Up to the end of the group they stand in.
        self.flags = inside;
        Ok(None)
    }

    /// `^`
    pub(super) fn start_of_java(&self) -> Node {
        if !self.flags.lines {
            return Node::Start { line: false };
        }
        let behind = |chars: &[char]| Node::look(false, false, one_of(chars));
        let not_at_end = Node::look(true, true, Node::End(End::Text));
        let after = if self.flags.unix_lines {
            behind(&['\n'])
        } else {
            let return_alone = vec![behind(&['\r']), Node::look(true, true, one_of(&['\n']))];
            Node::alt(vec![behind(&['\n', '\u{85}', '\u{2028}', '\u{2029}']), Node::Concat(return_alone)])
        };
        let start = group_of(vec![Node::Start { line: false }, after]);
        Node::Group(None, Box::new(Node::Concat(vec![start, not_at_end])))
    }

    /// `$`
    pub(super) fn end_of_java(&self) -> Node {
        if !self.flags.lines {
            return self.last_line_end();
        }
        if self.flags.unix_lines {
            return group_of(vec![Node::End(End::Text), Node::look(true, false, one_of(&['\n']))]);
        }
        let alone = vec![Node::look(false, true, one_of(&['\r'])), Node::look(true, false, one_of(&['\n']))];
        let ends = one_of(&['\r', '\u{85}', '\u{2028}', '\u{2029}']);
        group_of(vec![Node::End(End::Text), Node::look(true, false, ends), Node::Concat(alone)])
    }

    fn last_line_end(&self) -> Node {
        Node::End(if self.flags.unix_lines { End::BeforeLastLineFeed } else { End::BeforeLastBreak })
    }

    pub(super) fn unsupported(&self, start: usize, why: impl Into<String>) -> Refused {
        self.refused(Cause::Unsupported, start, why)
    }
}

fn group_of(nodes: Vec<Node>) -> Node {
    Node::Group(None, Box::new(Node::Alt(nodes)))
}

fn one_of(chars: &[char]) -> Node {
    let items = chars.iter().map(|c| Item::Range(*c, *c)).collect();
    Node::Set(Set { items, ..Set::default() })
}

/// `\R`, and the end of a line that ends the text.
pub(super) fn line_break() -> Node {
    let both = vec![Node::Char { c: '\r', fold: false }, Node::Char { c: '\n', fold: false }];
    let items = VERTICAL.iter().map(|(low, high)| Item::Range(*low, *high)).collect();
    group_of(vec![Node::Concat(both), Node::Set(Set { items, ..Set::default() })])
}

/// The end of the text, or the end of a line before it, which is eaten: for a place behind which nothing stands.
pub(super) fn eaten_line_end() -> Node {
    let both = vec![Node::Char { c: '\r', fold: false }, Node::Char { c: '\n', fold: false }];
    let end = group_of(vec![Node::Concat(both), one_of(LINE_ENDS)]);
    let end = Node::Repeat { node: Box::new(end), min: 0, max: Some(1), mode: Mode::Greedy };
    Node::Group(None, Box::new(Node::Concat(vec![end, Node::End(End::Text)])))
}

/// The same where something may follow, so that nothing is eaten. Between the two halves of `\r\n` no line ends.
pub(super) fn seen_line_end() -> Node {
    let to_end =
        |chars: &[char]| Node::look(true, false, Node::Concat(vec![one_of(chars), Node::End(End::Text)]));
    let both = Node::Concat(vec![one_of(&['\r']), one_of(&['\n']), Node::End(End::Text)]);
    let feed = vec![Node::look(false, true, one_of(&['\r'])), to_end(&['\n'])];
    group_of(vec![
        Node::End(End::Text),
        to_end(&['\r', '\u{85}', '\u{2028}', '\u{2029}']),
        Node::look(true, false, both),
        Node::Concat(feed),
    ])
}

fn apply(flags: &mut Flags, letters: &str, on: bool) {
    for letter in letters.chars() {
        match letter {
            'd' => flags.unix_lines = on,
            'u' => flags.unicode_case = on,
            'U' => {
                flags.ascii = !on;
                flags.unicode_case = on;
            }
            letter => group::apply(flags, letter.encode_utf8(&mut [0; 4]), on),
        }
    }
}

//! From the regular expressions of other languages to those of the Rust engines, with the meaning of the source language.
//!
//! What cannot be said is refused, never approximated. What reads alike and means something else is a trap, reported with its span.

use hook_core::Span;

use crate::engine::Needs;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// ECMAScript without flags, as `RegExp(text).test(name)` reads it.
    JavaScript,
    /// Python's `re`.
    Python,
}

#[derive(Debug)]
pub(crate) struct Translated {
    pub(crate) pattern: String,
    pub(crate) needs: Needs,
    /// Python's verbose mode is on.
    pub(crate) verbose: bool,
    pub(crate) traps: Vec<(Span, String)>,
}

#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) span: Span,
    pub(crate) why: String,
}

pub(crate) fn translate(text: &str, language: Language) -> Result<Translated, Refused> {
    let mut translator = Translator {
        text,
        at: 0,
        language,
        out: String::with_capacity(text.len() + 16),
        needs: Needs { unicode: !text.is_ascii(), backtracking: false },
        verbose: false,
        traps: Vec::new(),
        groups: count_groups(text),
    };
    translator.run()?;
    let Translator { out, needs, verbose, traps, .. } = translator;
    Ok(Translated { pattern: out, needs, verbose, traps })
}

struct Translator<'a> {
    text: &'a str,
    at: usize,
    language: Language,
    out: String,
    needs: Needs,
    verbose: bool,
    traps: Vec<(Span, String)>,
    groups: usize,
}

impl Translator<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn refuse(&self, start: usize, why: impl Into<String>) -> Refused {
        Refused { span: Span::new(start, self.at.max(start + 1).min(self.text.len())), why: why.into() }
    }

    fn trap(&mut self, start: usize, message: impl Into<String>) {
        self.traps.push((Span::new(start, self.at), message.into()));
    }

    fn is_js(&self) -> bool {
        self.language == Language::JavaScript
    }

    fn run(&mut self) -> Result<(), Refused> {
        // True while the last thing put out is a quantifier, after which a `+` would make it possessive.
        let mut quantified = false;
        loop {
            let start = self.at;
            let Some(c) = self.next() else { return Ok(()) };
            let mut quantifier = false;
            match c {
                '\\' => self.escape(start, false)?,
                '[' => self.class(start)?,
                '(' => self.group(start)?,
                '{' => quantifier = self.brace(),
                '}' => self.out.push_str("\\}"),
                ']' => self.out.push_str("\\]"),
                '*' | '+' | '?' => {
                    if quantified {
                        match (c, self.language) {
                            // `a+?` is the lazy form in both languages.
                            ('?', _) => {}
                            ('+', Language::Python) => self.needs.backtracking = true,
                            _ => return Err(self.refuse(start, "nothing to repeat here")),
                        }
                    } else {
                        quantifier = true;
                    }
                    self.out.push(c);
                }
                _ => self.out.push(c),
            }
            quantified = quantifier;
        }
    }

    /// A `{`: a quantifier, or plain text where it is none. True for a quantifier.
    fn brace(&mut self) -> bool {
        if let Some(end) = self.rest().find('}') {
            let body = &self.rest()[..end];
            let (low, high) = body.split_once(',').map_or((body, None), |(low, high)| (low, Some(high)));
            let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
            let bounds = digits(low) && high.is_none_or(digits);
            let open_start = !self.is_js() && low.is_empty() && high.is_some_and(|high| !high.is_empty());
            if bounds && (!low.is_empty() || open_start) {
                let low = if low.is_empty() { "0" } else { low };
                let quantifier = match high {
                    Some(high) => format!("{{{low},{high}}}"),
                    None => format!("{{{low}}}"),
                };
                self.out.push_str(&quantifier);
                self.at += end + 1;
                return true;
            }
        }
        self.out.push_str("\\{");
        false
    }

    fn group(&mut self, start: usize) -> Result<(), Refused> {
        if !self.eat("?") {
            self.out.push('(');
            return Ok(());
        }
        for look in ["=", "!", "<=", "<!"] {
            if self.eat(look) {
                self.needs.backtracking = true;
                self.out.push_str("(?");
                self.out.push_str(look);
                return Ok(());
            }
        }
        if self.eat(":") {
            self.out.push_str("(?:");
            return Ok(());
        }
        match self.language {
            Language::JavaScript => self.group_of_javascript(start),
            Language::Python => self.group_of_python(start),
        }
    }

    fn group_of_javascript(&mut self, start: usize) -> Result<(), Refused> {
        if self.eat("<") {
            self.out.push_str("(?P<");
            return Ok(());
        }
        if let Some((flags, true)) = self.flags("ims") {
            self.out.push_str(&format!("(?{flags}:"));
            return Ok(());
        }
        Err(self.refuse(start, "JavaScript has no such group"))
    }

    fn group_of_python(&mut self, start: usize) -> Result<(), Refused> {
        if self.eat("P<") {
            self.out.push_str("(?P<");
            return Ok(());
        }
        if self.eat("P=") {
            let Some(end) = self.rest().find(')') else {
                return Err(self.refuse(start, "the group is not closed"));
            };
            let name = self.rest()[..end].to_owned();
            self.at += end + 1;
            self.needs.backtracking = true;
            self.out.push_str(&format!("(?P={name})"));
            return Ok(());
        }
        if self.eat("#") {
            let Some(end) = self.rest().find(')') else {
                return Err(self.refuse(start, "the comment is not closed"));
            };
            self.at += end + 1;
            return Ok(());
        }
        if self.eat(">") {
            self.needs.backtracking = true;
            self.out.push_str("(?>");
            return Ok(());
        }
        if self.eat("(") {
            self.needs.backtracking = true;
            self.out.push_str("(?(");
            return Ok(());
        }
        let Some((flags, scoped)) = self.flags("aiLmsux") else {
            return Err(self.refuse(start, "Python has no such group"));
        };
        if flags.contains('L') {
            return Err(self.refuse(start, "the flag L is for bytes"));
        }
        // `a` and `u` choose the alphabet of `\w`; the names of tools and events are ASCII.
        let flags: String = flags.chars().filter(|c| !matches!(c, 'a' | 'u')).collect();
        self.verbose |= flags.split('-').next().is_some_and(|on| on.contains('x'));
        if scoped {
            self.out.push_str(&format!("(?{flags}:"));
            return Ok(());
        }
        if start != 0 || flags.contains('-') {
            return Err(self.refuse(start, "flags for the whole pattern stand at its very start"));
        }
        if !flags.is_empty() {
            self.out.push_str(&format!("(?{flags})"));
        }
        Ok(())
    }

    /// Flags of a group, with its `:` (true) or `)` (false). Nothing is eaten where there are none.
    fn flags(&mut self, known: &str) -> Option<(String, bool)> {
        let end = self.rest().find([':', ')'])?;
        let flags = self.rest()[..end].to_owned();
        let valid = !flags.is_empty()
            && flags != "-"
            && flags.chars().all(|c| known.contains(c) || c == '-')
            && flags.matches('-').count() <= 1;
        if !valid {
            return None;
        }
        let scoped = self.rest()[end..].starts_with(':');
        self.at += end + 1;
        Some((flags, scoped))
    }

    fn class(&mut self, start: usize) -> Result<(), Refused> {
        let negated = self.eat("^");
        if self.is_js() && self.eat("]") {
            // `[^]` is any character, `[]` is none.
            self.out.push_str(if negated { "(?s:.)" } else { "[^\\s\\S]" });
            return Ok(());
        }
        if self.rest().starts_with("[:") {
            self.trap(
                start,
                "POSIX classes are plain characters here: `[[:alpha:]]` is one of `[:alph` and then a `]`",
            );
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        let mut first = true;
        loop {
            let at = self.at;
            let Some(c) = self.next() else {
                return Err(Refused {
                    span: Span::new(start, self.text.len()),
                    why: "the class is not closed".into(),
                });
            };
            match c {
                ']' if !first || self.is_js() => {
                    self.out.push(']');
                    return Ok(());
                }
                '\\' => self.escape(at, true)?,
                '&' | '~' | '-' if self.rest().starts_with(c) => {
                    if c == '&' {
                        self.trap(at, "`&&` in a class is two plain characters here, no intersection");
                    }
                    self.out.push('\\');
                    self.out.push(c);
                }
                '[' | '&' | '~' | ']' | '^' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                _ => self.out.push(c),
            }
            first = false;
        }
    }

    fn escape(&mut self, start: usize, in_class: bool) -> Result<(), Refused> {
        let Some(c) = self.next() else { return Err(self.refuse(start, "a backslash ends the matcher")) };
        match c {
            'd' | 'w' | 's' | 'D' | 'W' | 'S' => self.shorthand(c, in_class),
            'b' if in_class => self.out.push_str("\\x08"),
            'b' | 'B' => {
                self.needs.unicode |= !self.is_js();
                self.out.push('\\');
                self.out.push(c);
            }
            'n' | 'r' | 't' | 'f' | 'v' => {
                self.out.push('\\');
                self.out.push(c);
            }
            '1'..='9' => self.back_reference(start, in_class)?,
            '0' => self.out.push_str("\\x00"),
            'x' => self.hex(start, 2)?,
            'u' => self.hex(start, 4)?,
            'U' if !self.is_js() => self.hex(start, 8)?,
            'a' if !self.is_js() => self.out.push_str("\\x07"),
            'A' if !self.is_js() && !in_class => self.out.push_str("\\A"),
            'Z' if !self.is_js() && !in_class => self.out.push_str("\\z"),
            'c' if self.is_js() => match self.rest().chars().next().filter(char::is_ascii_alphabetic) {
                Some(letter) => {
                    self.at += 1;
                    self.out.push_str(&format!("\\x{:02x}", letter as u32 % 32));
                }
                None => self.out.push_str("\\\\c"),
            },
            'k' if self.is_js() && self.rest().starts_with('<') => {
                let Some(end) = self.rest().find('>') else {
                    return Err(self.refuse(start, "the name is not closed"));
                };
                let name = self.rest()[1..end].to_owned();
                self.at += end + 1;
                self.needs.backtracking = true;
                self.out.push_str(&format!("(?P={name})"));
            }
            c if c.is_ascii_alphabetic() => {
                if !self.is_js() {
                    return Err(self.refuse(start, format!("Python has no escape \\{c}")));
                }
                self.trap(start, format!("`\\{c}` is the plain letter {c} in JavaScript"));
                self.out.push(c);
            }
            c => push_literal(&mut self.out, c),
        }
        Ok(())
    }

    /// `\d` and its like: ASCII in JavaScript, Unicode in Python.
    fn shorthand(&mut self, c: char, in_class: bool) {
        if !self.is_js() || matches!(c, 's' | 'S') {
            self.needs.unicode |= !self.is_js();
            self.out.push('\\');
            self.out.push(c);
            return;
        }
        let set = match c {
            'd' | 'D' => "0-9",
            _ => "0-9A-Za-z_",
        };
        match (c.is_ascii_uppercase(), in_class) {
            (false, true) => self.out.push_str(set),
            (false, false) => self.out.push_str(&format!("[{set}]")),
            (true, in_class) => {
                // Only the larger engine knows a class within a class.
                self.needs.unicode |= in_class;
                self.out.push_str(&format!("[^{set}]"));
            }
        }
    }

    fn back_reference(&mut self, start: usize, in_class: bool) -> Result<(), Refused> {
        let digits = self.text[start + 1..].bytes().take_while(u8::is_ascii_digit).take(2).count();
        self.at = start + 1 + digits;
        let number: usize = self.text[start + 1..self.at].parse().unwrap_or(usize::MAX);
        if in_class || number > self.groups {
            return Err(self.refuse(start, format!("there is no group {number}")));
        }
        self.needs.backtracking = true;
        self.out.push_str(&format!("(?:\\{number})"));
        Ok(())
    }

    fn hex(&mut self, start: usize, length: usize) -> Result<(), Refused> {
        let digits = self.rest().bytes().take(length).take_while(u8::is_ascii_hexdigit).count();
        if digits < length {
            if !self.is_js() {
                return Err(self.refuse(start, "an escape with too few hexadecimal digits"));
            }
            let letter = &self.text[start + 1..self.at];
            let message =
                format!("`\\{letter}` without its digits is the plain letter {letter} in JavaScript");
            self.out.push_str(&self.text[start + 1..self.at]);
            self.trap(start, message);
            return Ok(());
        }
        let code = u32::from_str_radix(&self.rest()[..length], 16).unwrap_or(u32::MAX);
        self.at += length;
        match char::from_u32(code) {
            Some(_) => {
                self.needs.unicode |= code > 0x7f;
                self.out.push_str(&format!("\\x{{{code:x}}}"));
                Ok(())
            }
            None => Err(self.refuse(start, "an escape that is no character")),
        }
    }
}

fn push_literal(out: &mut String, c: char) {
    // Escaping more would change the meaning: `\<` is a word boundary to the Rust engines.
    if "\\.+*?()|[]{}^$#&-~/".contains(c) {
        out.push('\\');
    }
    out.push(c);
}

/// Capturing groups of a pattern, roughly: enough to tell a back-reference from a mistake.
fn count_groups(text: &str) -> usize {
    let mut count = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '(' if chars.peek() != Some(&'?') => count += 1,
            _ => {}
        }
    }
    count + text.matches("(?P<").count() + text.matches("(?<").count()
}

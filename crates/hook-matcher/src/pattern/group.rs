//! Groups: what stands behind a `(`.

use hook_core::Span;

use super::node::Node;
use super::parse::{Capture, Flags, MAX_DEPTH, Parser};
use super::{Cause, Language, Refused, measure};

/// Capturing groups of a JavaScript pattern, and the names among them.
pub(super) fn count(text: &str) -> (usize, Vec<String>) {
    let (mut count, mut names, mut in_class) = (0, Vec::new(), false);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let rest = &text[at + 1..];
                let named = rest.strip_prefix("?<").filter(|rest| !rest.starts_with(['=', '!']));
                if let Some(rest) = named {
                    names.push(rest.split('>').next().unwrap_or_default().to_owned());
                }
                if named.is_some() || !rest.starts_with('?') {
                    count += 1;
                }
            }
            _ => {}
        }
    }
    (count, names)
}

impl<'a> Parser<'a> {
    /// A group after its `(`. Comments and flags for the whole pattern leave no node. `leads` is true at the very start of
    /// the pattern.
    pub(super) fn group(&mut self, start: usize, leads: bool) -> Result<Option<Node>, Refused> {
        if !self.eat("?") {
            return self.capture(start, None).map(Some);
        }
        if self.eat(":") {
            let node = self.body(start, self.flags)?;
            return Ok(Some(Node::Group(None, Box::new(node))));
        }
        if self.language == Language::Common {
            return Err(self.invalid(start, "not common to all languages"));
        }
        for (token, ahead, negated) in
            [("=", true, false), ("!", true, true), ("<=", false, false), ("<!", false, true)]
        {
            if self.eat(token) {
                return self.look(start, ahead, negated).map(Some);
            }
        }
        match self.language {
            Language::JavaScript => self.group_of_javascript(start).map(Some),
            Language::Java => self.group_of_java(start),
            _ => self.group_of_python(start, leads),
        }
    }

    /// What stands in a group, and its closing bracket.
    pub(super) fn body(&mut self, start: usize, flags: Flags) -> Result<Node, Refused> {
        self.enter(start)?;
        let outside = std::mem::replace(&mut self.flags, flags);
        let node = self.alternatives()?;
        self.flags = outside;
        self.leave(start)?;
        Ok(node)
    }

    fn enter(&mut self, start: usize) -> Result<(), Refused> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let why = format!("the matcher is nested deeper than {MAX_DEPTH} levels");
            return Err(self.refused(Cause::Unsupported, start, why));
        }
        Ok(())
    }

    fn leave(&mut self, start: usize) -> Result<(), Refused> {
        self.depth -= 1;
        if self.eat(")") { Ok(()) } else { Err(self.invalid(start, "the group is not closed")) }
    }

    pub(super) fn capture(&mut self, start: usize, name: Option<String>) -> Result<Node, Refused> {
        self.captures.push(Capture { name, ..Capture::default() });
        let index = self.captures.len();
        let node = self.body(start, self.flags)?;
        let width = measure::width(&node, &self.captures);
        if let Some(capture) = self.captures.get_mut(index - 1) {
            capture.closed = true;
            capture.width = width;
        }
        Ok(Node::Group(Some(index), Box::new(node)))
    }

    fn look(&mut self, start: usize, ahead: bool, negated: bool) -> Result<Node, Refused> {
        let outside = self.behind;
        if !ahead && self.behind.is_none() {
            self.behind = Some(self.captures.len());
        }
        let node = self.body(start, self.flags)?;
        self.behind = outside;
        if !ahead && self.is_python() {
            let (min, max) = measure::width(&node, &self.captures);
            if Some(min) != max {
                return Err(self.invalid(start, "Python looks behind only for a text of fixed length"));
            }
        }
        Ok(Node::look(ahead, negated, node))
    }

    fn group_of_javascript(&mut self, start: usize) -> Result<Node, Refused> {
        if self.eat("<") {
            let name = self.until('>').unwrap_or_default().to_owned();
            if !is_identifier(&name, true) {
                return Err(self.invalid(start, "the group has no proper name"));
            }
            if self.captures.iter().any(|capture| capture.name.as_deref() == Some(&name)) {
                return Err(self.invalid(start, format!("there are two groups {name}")));
            }
            return self.capture(start, Some(name));
        }
        if let Some((flags, scoped)) = self.flag_letters() {
            let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
            let known = |c: char| "ims".contains(c);
            let once = flags.chars().enumerate().all(|(at, c)| !flags[..at].contains(c));
            if scoped && once && flags != "-" && on.chars().chain(off.chars()).all(known) {
                let mut inside = self.flags;
                apply(&mut inside, on, true);
                apply(&mut inside, off, false);
                self.trap(
                    start,
                    "only the newest JavaScript engines read flags for a group; others refuse the pattern",
                );
                let node = self.body(start, inside)?;
                return Ok(Node::Group(None, Box::new(node)));
            }
            let refused = self.invalid(start, "JavaScript has no flags inside a pattern");
            return Err(refused.help("write both letters where case does not matter: `[Bb]ash`"));
        }
        let (help, length) = match self.peek() {
            Some('P') => (Some("a named group is written `(?<name>…)`"), 1),
            Some('>') => (Some("write an ordinary group, `(?:…)`"), 1),
            _ => (None, 0),
        };
        self.at += length;
        let refused = self.invalid(start, "JavaScript has no such group");
        Err(Refused { help, ..refused })
    }

    fn group_of_python(&mut self, start: usize, leads: bool) -> Result<Option<Node>, Refused> {
        if self.eat("P<") {
            let name = self.until('>').unwrap_or_default().to_owned();
            if !is_identifier(&name, false) {
                return Err(self.invalid(start, "the group has no proper name"));
            }
            if self.captures.iter().any(|capture| capture.name.as_deref() == Some(&name)) {
                return Err(self.invalid(start, format!("there are two groups {name}")));
            }
            return self.capture(start, Some(name)).map(Some);
        }
        if self.eat("P=") {
            let name = self.until(')').unwrap_or_default();
            let group = self.captures.iter().position(|capture| capture.name.as_deref() == Some(name));
            let Some(group) = group else {
                return Err(self.invalid(start, format!("there is no group {name}")));
            };
            return self.back(start, group + 1).map(Some);
        }
        if self.eat("#") {
            return match self.until(')') {
                Some(_) => Ok(None),
                None => Err(self.invalid(start, "the comment is not closed")),
            };
        }
        if self.eat(">") {
            let node = self.body(start, self.flags)?;
            return Ok(Some(Node::Atomic(Box::new(node))));
        }
        if self.eat("(") {
            return self.condition(start).map(Some);
        }
        self.flags_of_python(start, leads)
    }

    /// `(?(1)yes|no)`
    fn condition(&mut self, start: usize) -> Result<Node, Refused> {
        let name = self.until(')').unwrap_or_default();
        let named = self.captures.iter().position(|capture| capture.name.as_deref() == Some(name));
        let number = if name.bytes().all(|b| b.is_ascii_digit()) { name.parse().ok() } else { None };
        let group = match named.map(|at| at + 1).or(number) {
            Some(group) if group > 0 => group,
            _ => return Err(self.invalid(start, "the condition names no group")),
        };
        if self.behind.is_some_and(|before| group > before) {
            return Err(self.invalid(start, "a look-behind cannot refer to a group of its own"));
        }
        self.conditions.push((group, Span::new(start, self.at)));
        self.enter(start)?;
        let flags = self.flags;
        let yes = Box::new(self.sequence(false)?);
        let no = Box::new(if self.eat("|") { self.sequence(false)? } else { Node::Empty });
        self.flags = flags;
        self.leave(start)?;
        // As a group, so that a quantifier may follow.
        Ok(Node::Group(None, Box::new(Node::If { group, yes, no })))
    }

    fn flags_of_python(&mut self, start: usize, leads: bool) -> Result<Option<Node>, Refused> {
        let Some((flags, scoped)) = self.flag_letters() else {
            self.next();
            return Err(self.invalid(start, "Python has no such group"));
        };
        let (on, off) = flags.split_once('-').map_or((flags, None), |(on, off)| (on, Some(off)));
        let alphabets = |text: &str| ['a', 'L', 'u'].iter().filter(|c| text.contains(**c)).count();
        let both = off.is_some_and(|off| on.chars().any(|c| off.contains(c)));
        let empty = off.is_some_and(str::is_empty) || (on.is_empty() && off.is_none());
        let known = flags.chars().all(|c| "aiLmsux-".contains(c)) && flags.matches('-').count() <= 1;
        if !known || both || empty || alphabets(on) > 1 || alphabets(off.unwrap_or_default()) > 0 {
            return Err(self.invalid(start, "Python has no such flags"));
        }
        if on.contains('L') {
            return Err(self.invalid(start, "Python's flag L is for bytes"));
        }
        let mut inside = self.flags;
        apply(&mut inside, on, true);
        apply(&mut inside, off.unwrap_or_default(), false);
        if scoped {
            let node = self.body(start, inside)?;
            return Ok(Some(Node::Group(None, Box::new(node))));
        }
        if off.is_some() {
            return Err(self.invalid(start, "flags can be switched off only inside a group, `(?-i:…)`"));
        }
        if !leads {
            return Err(self.invalid(start, "flags for the whole pattern stand at its very start"));
        }
        if inside.verbose && !self.flags.verbose {
            return Err(self.refused(Cause::Verbose, start, "read again in verbose mode"));
        }
        self.flags = inside;
        Ok(None)
    }

    /// Letters and `-` up to a `:` (true) or `)` (false), which is eaten too. Nothing is eaten where there are none.
    pub(super) fn flag_letters(&mut self) -> Option<(&'a str, bool)> {
        let end = self.rest().find([':', ')'])?;
        let flags = &self.text[self.at..self.at + end];
        if flags.is_empty() || !flags.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
            return None;
        }
        let scoped = self.rest()[end..].starts_with(':');
        self.at += end + 1;
        Some((flags, scoped))
    }
}

pub(super) fn apply(flags: &mut Flags, letters: &str, on: bool) {
    for letter in letters.chars() {
        match letter {
            'i' => flags.fold = on,
            'm' => flags.lines = on,
            's' => flags.dot_all = on,
            'x' => flags.verbose = on,
            'a' => flags.ascii = true,
            'u' => flags.ascii = false,
            _ => {}
        }
    }
}

fn is_identifier(name: &str, dollar: bool) -> bool {
    let other = |c: char| c == '_' || (dollar && c == '$');
    name.chars().next().is_some_and(|c| c.is_alphabetic() || other(c))
        && name.chars().all(|c| c.is_alphanumeric() || other(c))
}

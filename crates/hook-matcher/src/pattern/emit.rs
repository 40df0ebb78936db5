//! The tree, said in the syntax that the Rust engines share.

use std::fmt::Write as _;

use super::node::{End, Item, LINE_FEED, Mode, Node, Set, Shorthand};
use crate::engine::Needs;

/// No character at all; all engines know it.
const NEVER: &str = "[^\\x{0}-\\x{10FFFF}]";

/// The pattern for the engine that `needs` names; with `whole` it covers the whole text, with `long` it is made for long ones.
pub(crate) fn emit(node: &Node, whole: bool, long: bool) -> (String, Needs) {
    let needs = needs(node, long);
    let mut keeps = false;
    node.walk(&mut |node| keeps |= matches!(node, Node::Back { .. } | Node::If { .. }));
    let mut emitter = Emitter { out: String::new(), needs, keeps };
    if whole {
        emitter.out.push_str("\\A");
        emitter.grouped(node, false);
        emitter.out.push_str("\\z");
    } else {
        emitter.node(node, false);
    }
    (emitter.out, needs)
}

fn needs(node: &Node, long: bool) -> Needs {
    let mut needs = Needs { long, ..Needs::default() };
    let mut ascii_word = false;
    node.walk(&mut |node| match node {
        Node::Look { .. }
        | Node::Back { .. }
        | Node::If { .. }
        | Node::Atomic(_)
        | Node::Repeat { mode: Mode::Possessive, .. } => needs.backtracking = true,
        Node::Char { c, fold } => needs.unicode |= *fold && !c.is_ascii(),
        Node::Word { negated, ascii } => {
            // Of the two, the engine for long texts has only the ends of ASCII words.
            needs.long &= !(*negated && *ascii);
            ascii_word |= ascii;
            needs.unicode |= !ascii;
        }
        Node::Set(set) => {
            needs.unicode |= set.items.iter().any(|item| match item {
                Item::Range(low, high) => set.fold && !(low.is_ascii() && high.is_ascii()),
                Item::Unicode { .. } => true,
            });
        }
        _ => {}
    });
    // The ends of ASCII words are said by look-around where the engine's own words are Unicode's.
    needs.backtracking |= ascii_word && needs.unicode;
    needs
}

struct Emitter {
    out: String,
    needs: Needs,
    /// Groups keep their numbers.
    keeps: bool,
}

/// Whether letter case is ignored below a node: nowhere that matters, everywhere alike, or mixed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Free,
    Fold(bool),
    Mixed,
}

fn case(node: &Node) -> Case {
    let own = match node {
        Node::Char { c, fold } if c.is_alphabetic() || !c.is_ascii() => Case::Fold(*fold),
        // Unicode's shorthands hold the letters of either case.
        Node::Set(set) if set.items.iter().all(|item| matches!(item, Item::Unicode { .. })) => Case::Free,
        // Either case of a letter stands in the set already, where case is ignored.
        Node::Set(Set { fold, .. }) | Node::Back { fold, .. } => Case::Fold(*fold),
        _ => Case::Free,
    };
    node.children().into_iter().fold(own, |seen, child| match (seen, case(child)) {
        (seen, Case::Free) => seen,
        (Case::Free, below) => below,
        (seen, below) if seen == below => seen,
        _ => Case::Mixed,
    })
}

impl Emitter {
    /// A node where letter case is ignored or not, as the engine understands it at this place.
    fn node(&mut self, node: &Node, fold: bool) {
        match case(node) {
            Case::Fold(wanted) if wanted != fold => {
                self.out.push_str(if wanted { "(?i:" } else { "(?-i:" });
                self.plain(node, wanted);
                self.out.push(')');
            }
            _ => self.plain(node, fold),
        }
    }

    fn grouped(&mut self, node: &Node, fold: bool) {
        self.out.push_str("(?:");
        self.node(node, fold);
        self.out.push(')');
    }

    fn plain(&mut self, node: &Node, fold: bool) {
        match node {
            Node::Empty => {}
            Node::Char { c, .. } => push_char(&mut self.out, *c),
            Node::Dot([]) => self.out.push_str("(?s:.)"),
            Node::Dot(ends) if *ends == LINE_FEED => self.out.push('.'),
            Node::Dot(ends) => {
                self.out.push_str("[^");
                ends.iter().for_each(|c| push_char(&mut self.out, *c));
                self.out.push(']');
            }
            Node::Set(set) => self.set(set),
            Node::Start { line } => self.out.push_str(if *line { "(?m:^)" } else { "\\A" }),
            Node::End(End::Line) => self.out.push_str("(?m:$)"),
            Node::End(_) => self.out.push_str("\\z"),
            Node::Word { negated, ascii } => self.word(*negated, *ascii),
            Node::Concat(nodes) => {
                for node in nodes {
                    // An alternative in a row stands in a group of its own already, but for anchors.
                    if matches!(node, Node::Alt(_)) {
                        self.grouped(node, fold);
                    } else {
                        self.node(node, fold);
                    }
                }
            }
            Node::Alt(nodes) => {
                for (at, node) in nodes.iter().enumerate() {
                    if at > 0 {
                        self.out.push('|');
                    }
                    self.node(node, fold);
                }
            }
            Node::Repeat { node, min, max, mode } => self.repeat(node, (*min, *max), *mode, fold),
            Node::Group(index, node) => {
                self.out.push_str(if index.is_some() && self.keeps { "(" } else { "(?:" });
                self.node(node, fold);
                self.out.push(')');
            }
            Node::Atomic(node) => {
                self.out.push_str("(?>");
                self.node(node, fold);
                self.out.push(')');
            }
            Node::Look { ahead, negated, node } => {
                self.out.push_str(match (ahead, negated) {
                    (true, false) => "(?=",
                    (true, true) => "(?!",
                    (false, false) => "(?<=",
                    (false, true) => "(?<!",
                });
                self.node(node, fold);
                self.out.push(')');
            }
            Node::Back { group, .. } => {
                let _ = write!(self.out, "(?:\\{group})");
            }
            Node::If { group, yes, no } => {
                let _ = write!(self.out, "(?({group})");
                self.grouped(yes, fold);
                self.out.push('|');
                self.grouped(no, fold);
                self.out.push(')');
            }
        }
    }

    fn repeat(&mut self, node: &Node, (min, max): (u32, Option<u32>), mode: Mode, fold: bool) {
        if takes_nothing(node) {
            // Once is as good as often, and engines refuse to repeat it.
            self.out.push_str("(?:");
            self.node(node, fold);
            self.out.push_str(if min == 0 { "|)" } else { ")" });
            return;
        }
        if mode == Mode::Possessive {
            self.out.push_str("(?>");
        }
        match node {
            Node::Char { .. } | Node::Dot(_) | Node::Set(_) | Node::Group(..) | Node::Atomic(_) => {
                self.node(node, fold);
            }
            _ => self.grouped(node, fold),
        }
        match (min, max) {
            (0, None) => self.out.push('*'),
            (1, None) => self.out.push('+'),
            (0, Some(1)) => self.out.push('?'),
            (min, None) => {
                let _ = write!(self.out, "{{{min},}}");
            }
            (min, Some(max)) => {
                let _ = write!(self.out, "{{{min},{max}}}");
            }
        }
        match mode {
            Mode::Greedy => {}
            Mode::Lazy => self.out.push('?'),
            Mode::Possessive => self.out.push(')'),
        }
    }

    fn word(&mut self, negated: bool, ascii: bool) {
        let short = if negated { "\\B" } else { "\\b" };
        match (ascii, self.needs.backtracking, self.needs.unicode) {
            (true, false, false) if self.needs.long => self.out.push_str("(?-u:\\b)"),
            // The smallest engine knows no other word than the ASCII one.
            (true, false, false) | (false, ..) => self.out.push_str(short),
            (true, ..) => {
                let word = "[0-9A-Za-z_]";
                let (open, close) = if negated { ("=", "!") } else { ("!", "=") };
                let _ = write!(self.out, "(?-i:(?<={word})(?{open}{word})|(?<!{word})(?{close}{word}))");
            }
        }
    }

    fn set(&mut self, set: &Set) {
        if set.items.is_empty() {
            self.out.push_str(if set.negated { "(?s:.)" } else { NEVER });
            return;
        }
        self.out.push_str(if set.negated { "[^" } else { "[" });
        for item in &set.items {
            match item {
                Item::Range(low, high) => {
                    push_char(&mut self.out, *low);
                    if low != high {
                        self.out.push('-');
                        push_char(&mut self.out, *high);
                    }
                }
                Item::Unicode { kind, negated } => {
                    // As Python's `str.isdecimal`, `isalnum` and `isspace` have it.
                    let members = match kind {
                        Shorthand::Digit => "\\p{Nd}",
                        Shorthand::Word => "\\p{L}\\p{N}_",
                        Shorthand::Space => "\\s\\x{1c}-\\x{1f}",
                    };
                    if *negated {
                        let _ = write!(self.out, "[^{members}]");
                    } else {
                        self.out.push_str(members);
                    }
                }
            }
        }
        self.out.push(']');
    }
}

/// True for what never covers a character.
fn takes_nothing(node: &Node) -> bool {
    match node {
        Node::Char { .. } | Node::Dot(_) | Node::Set(_) | Node::Back { .. } => false,
        Node::Look { .. } => true,
        node => node.children().into_iter().all(takes_nothing),
    }
}

fn push_char(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || c == '_' {
        out.push(c);
    } else {
        let _ = write!(out, "\\x{{{:x}}}", c as u32);
    }
}

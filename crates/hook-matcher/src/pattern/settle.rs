//! The last step of reading: what depends on the place in the whole tree.

use hook_core::Span;

use super::java;
use super::measure::{forgetful, size};
use super::node::{End, Item, Mode, Node, Set};
use super::shape::Reach;
use super::{Cause, Language, Refused};

/// Larger trees are refused: engines would spend too much time on them.
const MAX_SIZE: usize = 10_000;

/// Resolves the `$` of Python and Java and repeated look-arounds, and refuses what cannot be run with the meaning of its language.
pub(crate) fn settle(node: Node, language: Language, reach: Reach, span: Span) -> Result<Node, Refused> {
    let refused = |why: &str| Refused { cause: Cause::Unsupported, span, why: why.to_owned(), help: None };
    if size(&node) > MAX_SIZE {
        return Err(refused("the matcher is too large with its repetitions written out"));
    }
    if language == Language::JavaScript {
        let forgetful = forgetful(&node);
        let mut meets = false;
        node.walk(&mut |node| meets |= matches!(node, Node::Back { group, .. } if forgetful.contains(group)));
        if meets {
            return Err(refused(
                "a back-reference to a group that a repetition may pass by cannot be run here",
            ));
        }
    }
    // In a searched pattern what ends the line can be eaten where nothing else follows.
    let eats = reach == Reach::Search && !has_look(&node);
    let node = if eats { eat_line_ends(node) } else { node };
    Ok(place(node, reach == Reach::Whole))
}

fn has_look(node: &Node) -> bool {
    let mut found = false;
    node.walk(&mut |node| found |= matches!(node, Node::Look { .. } | Node::Atomic(_)));
    found
}

/// Java's `$` at the very end of a searched pattern, without a look ahead. What Java refuses to see, the end between the two
/// halves of a last `\r\n`, is seen then; it can matter only to a pattern that has taken the first half.
fn eat_line_ends(node: Node) -> Node {
    match node {
        Node::End(End::BeforeLastBreak) => java::eaten_line_end(),
        Node::Concat(mut nodes) => {
            if let Some(last) = nodes.pop() {
                nodes.push(eat_line_ends(last));
            }
            Node::Concat(nodes)
        }
        Node::Alt(nodes) => Node::Alt(nodes.into_iter().map(eat_line_ends).collect()),
        Node::Group(index, node) => Node::Group(index, Box::new(eat_line_ends(*node))),
        node => node,
    }
}

/// `last` is true where nothing can follow but the end of the text.
fn place(node: Node, last: bool) -> Node {
    match node {
        Node::End(End::BeforeLastBreak) if last => Node::End(End::Text),
        Node::End(End::BeforeLastBreak) => java::seen_line_end(),
        Node::End(End::BeforeLastLineFeed) if last => Node::End(End::Text),
        Node::End(End::BeforeLastLineFeed) => {
            let feed = Node::Char { c: '\n', fold: false };
            let before = Node::Concat(vec![feed, Node::End(End::Text)]);
            Node::Group(
                None,
                Box::new(Node::Alt(vec![Node::End(End::Text), Node::look(true, false, before)])),
            )
        }
        Node::Concat(nodes) => {
            let end = nodes.len() - 1;
            Node::Concat(
                nodes.into_iter().enumerate().map(|(at, node)| place(node, last && at == end)).collect(),
            )
        }
        Node::Alt(nodes) => Node::Alt(nodes.into_iter().map(|node| place(node, last)).collect()),
        Node::Repeat { node, min, max, mode } => match *node {
            // It takes no character, so once is as good as often.
            Node::Look { .. } if min == 0 => Node::Empty,
            look @ Node::Look { .. } => place(look, false),
            node => {
                let last = last && max == Some(1) && mode != Mode::Possessive;
                Node::Repeat { node: Box::new(place(node, last)), min, max, mode }
            }
        },
        Node::Group(index, node) => Node::Group(index, Box::new(place(*node, last))),
        Node::Atomic(node) => Node::Atomic(Box::new(place(*node, false))),
        Node::Look { ahead, negated, node } => Node::look(ahead, negated, place(*node, false)),
        // Engines do not take a condition for nothing.
        Node::If { yes, no, .. } if *yes == Node::Empty && *no == Node::Empty => Node::Empty,
        Node::If { group, yes, no } => {
            Node::If { group, yes: Box::new(place(*yes, last)), no: Box::new(place(*no, last)) }
        }
        node => node,
    }
}

/// Letters whose case is ignored as sets of both: an engine that folds all of Unicode would find `k` in a Kelvin sign.
pub(crate) fn spell_case(node: Node) -> Node {
    let boxed = |node: Box<Node>| Box::new(spell_case(*node));
    let each = |nodes: Vec<Node>| nodes.into_iter().map(spell_case).collect();
    match node {
        Node::Char { c, fold: true } if c.is_ascii_alphabetic() => {
            let both = [c.to_ascii_lowercase(), c.to_ascii_uppercase()];
            let items = both.iter().map(|c| Item::Range(*c, *c)).collect();
            Node::Set(Set { items, ..Set::default() })
        }
        Node::Char { c, fold: true } if c.is_ascii() => Node::Char { c, fold: false },
        Node::Concat(nodes) => Node::Concat(each(nodes)),
        Node::Alt(nodes) => Node::Alt(each(nodes)),
        Node::Repeat { node, min, max, mode } => Node::Repeat { node: boxed(node), min, max, mode },
        Node::Group(index, node) => Node::Group(index, boxed(node)),
        Node::Atomic(node) => Node::Atomic(boxed(node)),
        Node::Look { ahead, negated, node } => Node::Look { ahead, negated, node: boxed(node) },
        Node::If { group, yes, no } => Node::If { group, yes: boxed(yes), no: boxed(no) },
        node => node,
    }
}

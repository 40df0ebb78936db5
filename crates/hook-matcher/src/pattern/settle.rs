//! The last step of reading: what depends on the place in the whole tree.

use hook_core::Span;

use super::measure::{forgetful, size};
use super::node::{End, Mode, Node};
use super::{Cause, Language, Refused};

/// Larger trees are refused: engines would spend too much time on them.
const MAX_SIZE: usize = 10_000;

/// Resolves Python's `$` and repeated look-arounds, and refuses what cannot be run with the meaning of its language.
///
/// With `whole` the pattern has to cover the whole text.
pub(crate) fn settle(node: Node, language: Language, whole: bool, span: Span) -> Result<Node, Refused> {
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
    Ok(place(node, whole))
}

/// `last` is true where nothing can follow but the end of the text.
fn place(node: Node, last: bool) -> Node {
    match node {
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

//! Numbers about a tree: how much text it covers, how large it is, which captures go stale.

use super::node::Node;
use super::parse::Capture;

/// Fewest and most characters that a node covers, as Python counts them for look-behinds.
pub(super) fn width(node: &Node, captures: &[Capture]) -> (u32, Option<u32>) {
    let add = |a: (u32, Option<u32>), b: (u32, Option<u32>)| {
        (a.0.saturating_add(b.0), a.1.zip(b.1).map(|(a, b)| a.saturating_add(b)))
    };
    let either =
        |a: (u32, Option<u32>), b: (u32, Option<u32>)| (a.0.min(b.0), a.1.zip(b.1).map(|(a, b)| a.max(b)));
    match node {
        Node::Char { .. } | Node::Dot(_) | Node::Set(_) => (1, Some(1)),
        Node::Empty | Node::Start { .. } | Node::End(_) | Node::Word { .. } | Node::Look { .. } => {
            (0, Some(0))
        }
        Node::Concat(nodes) => nodes.iter().map(|node| width(node, captures)).fold((0, Some(0)), add),
        Node::Alt(nodes) => {
            nodes.iter().map(|node| width(node, captures)).reduce(either).unwrap_or((0, Some(0)))
        }
        Node::Repeat { node, min, max, .. } => {
            let (low, high) = width(node, captures);
            let most = match (high, max) {
                (Some(0), _) => Some(0),
                (Some(high), Some(max)) => Some(high.saturating_mul(*max)),
                _ => None,
            };
            (low.saturating_mul(*min), most)
        }
        Node::Group(_, node) | Node::Atomic(node) => width(node, captures),
        Node::Back { group, .. } => {
            captures.get(group.wrapping_sub(1)).map_or((0, None), |capture| capture.width)
        }
        Node::If { yes, no, .. } => either(width(yes, captures), width(no, captures)),
    }
}

/// Nodes of the tree with every repetition written out.
pub(crate) fn size(node: &Node) -> usize {
    let below = || node.children().into_iter().map(size).fold(1usize, usize::saturating_add);
    match node {
        Node::Repeat { node, min, max, .. } => {
            let times = max.unwrap_or(*min).max(1) as usize;
            size(node).saturating_mul(times)
        }
        _ => below(),
    }
}

/// Groups inside a repetition that one round may pass by. JavaScript forgets what they held in the round before, the Rust
/// engine remembers.
pub(super) fn forgetful(node: &Node) -> Vec<usize> {
    fn visit(node: &Node, repeated: bool, skippable: bool, found: &mut Vec<usize>) {
        match node {
            Node::Group(Some(index), _) if skippable => found.push(*index),
            _ => {}
        }
        let (repeated, skippable) = match node {
            // The round itself may be the one that passes its own optional parts by.
            Node::Repeat { min, max, .. } if *max == Some(1) => {
                (repeated, skippable || (repeated && *min == 0))
            }
            Node::Repeat { min, .. } => (true, skippable || (repeated && *min == 0)),
            Node::Alt(_) | Node::If { .. } | Node::Look { .. } => (repeated, repeated || skippable),
            _ => (repeated, skippable),
        };
        for child in node.children() {
            visit(child, repeated, skippable, found);
        }
    }
    let mut found = Vec::new();
    visit(node, false, false, &mut found);
    found
}

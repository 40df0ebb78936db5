//! The tree of a pattern, with every flag resolved.

/// Ends of lines where JavaScript's `.` stops.
pub(crate) const LINE_ENDS_OF_JAVASCRIPT: &[char] = &['\n', '\r', '\u{2028}', '\u{2029}'];
/// Ends of lines where the `.` of Python and Rust stops.
pub(crate) const LINE_FEED: &[char] = &['\n'];

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Empty,
    Char {
        c: char,
        /// Letter case is ignored.
        fold: bool,
    },
    /// Any character but these.
    Dot(&'static [char]),
    Set(Set),
    Start {
        line: bool,
    },
    End(End),
    Word {
        negated: bool,
        ascii: bool,
    },
    Concat(Vec<Node>),
    Alt(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        mode: Mode,
    },
    /// A group; it captures where it has an index.
    Group(Option<usize>, Box<Node>),
    Atomic(Box<Node>),
    Look {
        ahead: bool,
        negated: bool,
        node: Box<Node>,
    },
    Back {
        group: usize,
        fold: bool,
    },
    /// Goes by whether the group has matched.
    If {
        group: usize,
        yes: Box<Node>,
        no: Box<Node>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Text,
    Line,
    /// Python's `$`: the end, or before a line feed that ends the text.
    BeforeLastLineFeed,
    /// Java's `$`: the end, or before the end of a line that ends the text.
    BeforeLastBreak,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Set {
    pub(crate) negated: bool,
    pub(crate) fold: bool,
    pub(crate) items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Range(char, char),
    /// A shorthand over all of Unicode.
    Unicode {
        kind: Shorthand,
        negated: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shorthand {
    Digit,
    Word,
    Space,
}

impl Node {
    /// Calls `see` for this node and all below it.
    pub(crate) fn walk(&self, see: &mut dyn FnMut(&Node)) {
        see(self);
        for child in self.children() {
            child.walk(see);
        }
    }

    pub(crate) fn children(&self) -> Vec<&Node> {
        match self {
            Node::Concat(nodes) | Node::Alt(nodes) => nodes.iter().collect(),
            Node::Repeat { node, .. }
            | Node::Group(_, node)
            | Node::Atomic(node)
            | Node::Look { node, .. } => {
                vec![node]
            }
            Node::If { yes, no, .. } => vec![yes, no],
            _ => Vec::new(),
        }
    }

    /// One of several nodes, without a needless level.
    pub(crate) fn alt(mut nodes: Vec<Node>) -> Node {
        match nodes.len() {
            1 => nodes.remove(0),
            _ => Node::Alt(nodes),
        }
    }

    /// Nodes in a row, without a needless level.
    pub(crate) fn concat(mut nodes: Vec<Node>) -> Node {
        match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Concat(nodes),
        }
    }

    /// A look-around.
    pub(crate) fn look(ahead: bool, negated: bool, node: Node) -> Node {
        Node::Look { ahead, negated, node: Box::new(node) }
    }
}

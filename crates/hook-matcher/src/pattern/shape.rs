//! Patterns that need no engine: literal text with gaps, and lists of such.

use super::node::{End, Mode, Node};
use crate::wild::Wild;

/// More alternatives are left to an engine.
const MAX_WILDS: usize = 64;

/// How much of the text a pattern has to cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All of it.
    Whole,
    /// Any part.
    Search,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Atom {
    Start,
    End,
    Char { c: char, fold: bool },
    Gap(&'static [char]),
}

/// The pattern as alternatives of literal text with gaps, where it is no more than that.
pub(crate) fn wilds(node: &Node, reach: Reach) -> Option<Vec<Wild>> {
    expand(node)?.iter().map(|atoms| wild(atoms, reach)).collect()
}

fn expand(node: &Node) -> Option<Vec<Vec<Atom>>> {
    let one = |atom| Some(vec![vec![atom]]);
    let rows = match node {
        Node::Empty => vec![Vec::new()],
        // Letter case beyond ASCII is for an engine.
        Node::Char { c, fold: true } if !c.is_ascii() => return None,
        Node::Char { c, fold } => return one(Atom::Char { c: *c, fold: *fold }),
        Node::Start { line: false } => return one(Atom::Start),
        Node::End(End::Text) => return one(Atom::End),
        Node::Group(_, node) => expand(node)?,
        Node::Concat(nodes) => {
            let mut rows = vec![Vec::new()];
            for node in nodes {
                let next = expand(node)?;
                if rows.len() * next.len() > MAX_WILDS {
                    return None;
                }
                // Nearly always one character: no row is copied then.
                if let [more] = next.as_slice() {
                    rows.iter_mut().for_each(|row: &mut Vec<Atom>| row.extend_from_slice(more));
                    continue;
                }
                rows = rows
                    .iter()
                    .flat_map(|row| next.iter().map(move |more| [row.as_slice(), more].concat()))
                    .collect();
            }
            rows
        }
        Node::Alt(nodes) => {
            let mut rows = Vec::new();
            for node in nodes {
                rows.extend(expand(node)?);
            }
            rows
        }
        Node::Repeat { mode: Mode::Possessive, .. } => return None,
        Node::Repeat { node, min: 0, max: None, .. } => match **node {
            Node::Dot(ends) => return one(Atom::Gap(ends)),
            _ => return None,
        },
        Node::Repeat { node, min: 0, max: Some(1), .. } => {
            let mut rows = expand(node)?;
            rows.push(Vec::new());
            rows
        }
        _ => return None,
    };
    (rows.len() <= MAX_WILDS).then_some(rows)
}

fn wild(atoms: &[Atom], reach: Reach) -> Option<Wild> {
    let whole = reach == Reach::Whole;
    let lead = atoms.iter().take_while(|atom| **atom == Atom::Start).count();
    let (start, atoms) = (whole || lead > 0, &atoms[lead..]);
    let trail = atoms.iter().rev().take_while(|atom| **atom == Atom::End).count();
    let (end, mut atoms) = (whole || trail > 0, &atoms[..atoms.len() - trail]);
    // A gap at an open end covers nothing that matters.
    while let (false, [Atom::Gap(_), rest @ ..]) = (start, atoms) {
        atoms = rest;
    }
    while let (false, [rest @ .., Atom::Gap(_)]) = (end, atoms) {
        atoms = rest;
    }
    let mut wild = Wild { start, end, ..Wild::default() };
    let mut folds = None;
    let mut stops: Option<&'static [char]> = None;
    let mut piece = String::new();
    for atom in atoms {
        match atom {
            // An anchor in the middle is for an engine.
            Atom::Start | Atom::End => return None,
            Atom::Char { c, fold } => {
                if c.is_alphabetic() && *folds.get_or_insert(*fold) != *fold {
                    return None;
                }
                piece.push(*c);
            }
            Atom::Gap(ends) => {
                if *stops.get_or_insert(ends) != *ends {
                    return None;
                }
                wild.pieces.push(std::mem::take(&mut piece));
            }
        }
    }
    wild.pieces.push(piece);
    wild.fold = folds.unwrap_or(false);
    wild.stops = stops.unwrap_or_default();
    Some(wild)
}

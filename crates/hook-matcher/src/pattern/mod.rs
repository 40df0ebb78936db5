//! Regular expressions of other languages: read by the rules of their own language, said again for the Rust engines.
//!
//! What cannot be said is refused, never approximated. What reads alike and means something else is a trap, reported with its
//! span. Text is taken as characters, also where a language counts UTF-16 units, and letter case beyond ASCII follows Unicode's
//! simple folding only where the pattern itself holds such letters: the names of tools and events are ASCII.

mod class;
mod emit;
mod escape;
mod group;
mod java;
mod measure;
mod node;
mod parse;
mod ranges;
mod settle;
mod shape;

pub(crate) use emit::emit;
pub(crate) use measure::size;
pub(crate) use node::Node;
pub(crate) use parse::parse;
pub(crate) use settle::{settle, spell_case};
pub(crate) use shape::{Reach, wilds};

use hook_core::Span;

/// The language of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// ECMAScript without flags, as `RegExp(text).test(name)` reads it.
    JavaScript,
    /// Python's `re` with `IGNORECASE`.
    Python,
    /// Java's `Pattern` without flags.
    Java,
    /// What all languages share; everything else is refused, for the caller to hand to a Rust engine as it stands.
    Common,
}

/// A pattern, read.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) node: Node,
    /// What means something else than it seems to.
    pub(crate) traps: Vec<Trap>,
    /// The alternatives of the outermost level.
    pub(crate) branches: Vec<Span>,
}

#[derive(Debug)]
pub(crate) struct Trap {
    pub(crate) span: Span,
    pub(crate) message: String,
}

/// Why a pattern cannot be used.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) cause: Cause,
    pub(crate) span: Span,
    pub(crate) why: String,
    pub(crate) help: Option<&'static str>,
}

impl Refused {
    pub(crate) fn help(mut self, help: &'static str) -> Refused {
        self.help = Some(help);
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The language itself refuses it.
    Invalid,
    /// The language takes it, and it cannot be run here.
    Unsupported,
    /// Python's verbose mode was switched on: the text has to be read again with it.
    Verbose,
}

//! Exit codes. The engine's own failures are never 0, and never 2, which agents read as a block; `dispatch` alone speaks the
//! agent's codes.

/// Fine.
pub(crate) const OK: u8 = 0;
/// `check` found errors, `get` found no such field.
pub(crate) const FINDINGS: u8 = 1;
/// `run`: the hooks block.
pub(crate) const BLOCKED: u8 = 3;
/// `run`: the hooks want a human asked.
pub(crate) const ASK: u8 = 4;
/// `run`: the hooks put it off.
pub(crate) const DEFER: u8 = 5;
/// The command line is wrong.
pub(crate) const USAGE: u8 = 64;
/// A payload or file is not what it should be.
pub(crate) const DATA: u8 = 65;
/// Our fault.
pub(crate) const INTERNAL: u8 = 70;
/// Reading or writing failed.
pub(crate) const IO: u8 = 74;

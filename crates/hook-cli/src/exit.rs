//! Exit codes of the `hook` command. The engine's own failures are never 0, and never 2, which agents read as a block; `dispatch` alone speaks the
//! agent's codes.

/// Fine.
pub const OK: u8 = 0;
/// `check` found errors, `get` found no such field, `enable` and `disable` refused or left something off, `serve` found no server to ask
/// or one that runs already.
pub const FINDINGS: u8 = 1;
/// `run`: the hooks block.
pub const BLOCKED: u8 = 3;
/// `run`: the hooks want a human asked.
pub const ASK: u8 = 4;
/// `run`: the hooks put it off.
pub const DEFER: u8 = 5;
/// The command line is wrong.
pub const USAGE: u8 = 64;
/// A payload or file is not what it should be.
pub const DATA: u8 = 65;
/// Our fault.
pub const INTERNAL: u8 = 70;
/// Reading or writing failed.
pub const IO: u8 = 74;

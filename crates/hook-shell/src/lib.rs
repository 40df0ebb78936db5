//! Shell lines read into simple commands and words, with the place of everything.
//!
//! Nothing is expanded and nothing is run. A [`Line`] knows its simple commands (those within substitutions and subshells too),
//! the words of each with their quotes taken off, and what in it only a shell could tell:
//!
//! ```
//! use hook_shell::{Line, Unknown};
//!
//! let line = Line::read("cd /x && FOO=1 git 'push' > log # now");
//! let commands: Vec<String> = line.commands().map(|command| command.plain_text()).collect();
//! assert_eq!(commands, ["cd /x", "git push"]);
//! assert!(line.doubt().is_none());
//!
//! let line = Line::read("$TOOL push");
//! assert_eq!(line.doubt().map(|(unknown, _)| unknown), Some(Unknown::CommandName));
//! ```
//!
//! Reading takes time in proportion to the line, whatever stands in it, and never fails.

mod line;
mod pieces;
mod placeholders;
mod scan;
mod unknown;

pub use line::{Command, Kind, Line, Piece, Quoting, Role, Span, Variable, Word};
pub use pieces::{Pieces, bare_pieces, pieces};
pub use placeholders::{Placeholder, placeholders};
pub use unknown::Unknown;

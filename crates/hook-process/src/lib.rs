//! Started processes and the groups they lead.
//!
//! [`Leader`] takes over a child that was started as the leader of its process group (`Command::process_group(0)`) and sees to it
//! that nothing of the group stays: it is signalled as a whole, the leader is reaped, and a leader that is dropped is killed with
//! its group. [`Strays`] are descendants that a signal to the group does not reach.
//! [`find_program`] tells which file a program's name means.
//!
//! Process groups are a Unix notion: the crate builds on Unix.

mod leader;
mod program;
mod strays;

pub use leader::{Leader, REAP_GRACE, Sight};
pub use program::{find_program, is_executable};
pub use strays::Strays;

//! Matchers of agent hooks: names, lists and name patterns of every dialect.
//!
//! Each agent has its own idea of what `Edit|Write`, `mcp__*` or `*Bash` mean. A [`Matcher`] is one such text, compiled once in
//! its [`Flavour`](hook_core::Flavour); what the author should know about it comes beside it as [`Problem`]s, with spans.
//!
//! ```
//! use hook_core::Flavour;
//! use hook_matcher::Matcher;
//!
//! let compiled = Matcher::compile(Some("Edit|Write"), Flavour::Claude);
//! assert!(compiled.matcher.matches(["Write"]));
//! assert!(!compiled.matcher.matches(["NotebookEdit"]), "lists are exact");
//!
//! let compiled = Matcher::compile(Some("*Bash"), Flavour::Claude);
//! assert!(compiled.matcher.is_unreadable());
//! assert_eq!(compiled.problems.len(), 1);
//! ```
//!
//! # Flavours
//!
//! | flavour | absent, empty, `*` | exact | pattern | letter case | unreadable |
//! |---|---|---|---|---|---|
//! | `Claude` | everything | letters, digits, `_`, `-`, blank; split at `,` and `\|` | JavaScript, searched | counts | unreadable |
//! | `ClaudeNarrow` | everything | letters, digits, `_`; split at `\|` | JavaScript, searched | counts | unreadable |
//! | `Amplifier` | everything | – | Python, whole name | ignored | compared literally |
//! | `Native` | everything | as `Claude` | `*` globs over the whole name, else Rust, searched | counts | unreadable |
//!
//! Whether an unreadable matcher counts as matching is for the caller to decide: on a guard it should.
//!
//! # Engines
//!
//! The pattern alone chooses its engine, so that a cold process and a warm one agree: lists and globs need none; `regex-lite` takes
//! patterns on which it agrees with `regex`; Unicode classes need `regex`; look-around and back-references need `fancy-regex`, whose
//! step limit counts as a match when it is reached.

mod engine;
mod flavours;
mod matcher;
mod problem;
mod translate;

pub use matcher::{Compiled, Matcher};
pub use problem::{Problem, ProblemKind};

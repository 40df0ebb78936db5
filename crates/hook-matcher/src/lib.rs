//! Matchers of agent hooks: names, lists and name patterns of every dialect; and the rules that stand beside them as `if`.
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
//! A [`Rule`] is the `if` of a hook, a permission rule such as `Bash(git push *)`; its grammar stands in `rule/rule.pest`.
//!
//! # Flavours
//!
//! | flavour | absent, empty, `*` | exact | pattern | letter case | unreadable |
//! |---|---|---|---|---|---|
//! | `Claude` | everything | letters, digits, `_`, `-`, blank; split at `,` and `\|` | JavaScript, searched | counts | unreadable |
//! | `ClaudeNarrow` | everything | letters, digits, `_`; split at `\|` | JavaScript, searched | counts | unreadable |
//! | `Amplifier` | everything | – | Python, whole name | ignored | compared literally |
//! | `Native` | everything | as `Claude` | `*` globs over the whole name, else Rust, searched | counts | unreadable |
//! | `Aimon` | everything | letters, digits, `_`, `-`, `.`, `:`, `/`; split at `\|` | `*` globs and Java, whole name | counts | the name of a tool |
//! | `AimonStrict` | everything | letters, digits, `_`, `-`, `.`; split at `\|` | the same without other signs | counts | unreadable |
//!
//! Matchers of the last three may look at the input of a tool: [`mod@reference`] is their language, a [`Predicate`] what they compile
//! to beside the names.
//!
//! Whether an unreadable matcher counts as matching is for the caller to decide: on a guard it should.
//!
//! # Engines
//!
//! Patterns are read by the rules of their own language and said again for the engine. The pattern alone chooses the engine, so that
//! a cold process and a warm one agree:
//!
//! | tier | takes |
//! |---|---|
//! | none | lists, globs, and patterns that are literal text with gaps: `^mcp__fs__`, `^(Edit\|Write)$`, `mcp__.*__get` |
//! | `regex-lite` | every pattern on which it agrees with `regex` |
//! | `regex` | Unicode classes and letter case beyond ASCII; Rust syntax of the native flavour that other languages lack; whatever is searched in the input of a tool, which may be long |
//! | `fancy-regex` | look-around, back-references, atomic groups; reaching its step limit counts as a match |
//!
//! A pattern is unreadable where its language refuses it (in Amplifier's flavour it is then compared literally), and where it is
//! longer than 4096 bytes, nested deeper than 64 levels, or too large with its repetitions written out.

// The parser that is made from the grammar of rules names it; without the features that bring a stack guard in assembler.
extern crate alloc;

mod condition;
mod engine;
mod flavours;
mod matcher;
mod native;
mod pattern;
mod predicate;
mod problem;
pub mod reference;
mod rule;
mod shown;
mod traps;
mod url;
mod wild;

pub use condition::CompiledIf;
pub use matcher::{Compiled, Matcher};
pub use predicate::Predicate;
pub use problem::{Problem, ProblemKind};
pub use rule::{CompiledRule, Rule, RuleInput, known_tools};
pub use url::UrlPattern;

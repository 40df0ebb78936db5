//! Hook files of every dialect, read into documents whose every hook knows the place it was written at.
//!
//! [`load`] finds and reads the files of a host, layer by layer; [`parse`] reads one text. Both give what could be read
//! *and* what was wrong with the rest: a broken entry takes nothing with it but itself. Files are reached through
//! [`hook_core::Files`] only, so that a tree in memory tests the code that reads real ones; [`StdFiles`] is the machine's.
//!
//! | module | job |
//! |---|---|
//! | `json` | text into a tree with the place of every key and value |
//! | `text` | size, encoding, syntax, and what a dialect allows of it |
//! | `frontmatter`, `skills`, `relative` | skills, slash commands and subagents: YAML into the same tree, where they lie, `./` in them |
//! | `shape`, `handler`, `fields` | the shapes of hook files, shared by all dialects |
//! | `actions`, `rewake` | skills with one action per entry; blocks that say when a hook is woken again |
//! | `formats` | where each agent keeps its files, and how it takes what is not quite right |
//! | `load`, `ids`, `settings`, `module`, `disabled` | everything together |
//! | `servers` | MCP servers that people wrote down, read when a hook calls one |
//! | `edit` | a word into a list and out again, every other byte as it was |
//! | `scripts`, `line` | a look at the commands of hooks: placeholders, quotes, scripts |
//!
//! Documents come in dispatch order: by layer, packs by name. `priority` is left as written; the registry orders by it.

mod actions;
mod disabled;
mod edit;
mod fields;
mod files;
mod formats;
mod frontmatter;
mod handler;
mod http;
mod ids;
mod json;
mod load;
mod matchers;
mod module;
mod refusal;
mod relative;
mod report;
mod rewake;
mod rules;
mod scripts;
mod servers;
mod settings;
mod shape;
mod skills;
mod spec;
mod suggest;
mod switches;
mod text;

pub use disabled::{DisabledId, Plugin};
pub use edit::{Edit, EditError, add_to_list, remove_from_list};
pub use files::StdFiles;
pub use load::{LoadRequest, Loaded, Parsed, check_file, load, parse, parse_value};
pub use module::{Mode, ModuleSettings, Setting};
pub use scripts::lint;
pub use servers::{LoadedServers, load_servers, unknown_servers};
pub use settings::{EngineFailureMode, HttpSettings, ModelChoice, Settings, Unsupported, Untrusted};
pub use skills::skill_document;
pub use spec::DocumentSpec;
pub use text::MAX_FILE;

//! Templates: texts and documents with placeholders for values of the event and for variables of the environment.
//!
//! One pass from left to right: a value that was put in is never looked at again, nothing nests and nothing is escaped
//! ("AIMON hooks guide, Template variables"). Three syntaxes share the pass:
//!
//! | syntax | placeholders | who uses it |
//! |---|---|---|
//! | [`Syntax::Dotted`] | `${tool_input.a.b}`, `${context.x}`, `${env.X}` | bodies; AIMON's headers and arguments |
//! | [`Syntax::Shell`] | `$X`, `${X}`: variables of the environment | Claude Code's headers |
//! | [`Syntax::Both`] | dotted ones, and short ones for variables that the author allows | native headers |
//! | [`Syntax::Path`] | `${a.b}`: a path into the event's document | Claude Code's arguments of MCP tools |
//! | [`Syntax::DottedOrPath`] | dotted ones and paths | native arguments of MCP tools |
//!
//! What no syntax knows stays as it is. A placeholder that is known and has no value gives empty text and a note. Texts render
//! as they are, numbers and booleans as their JSON words, objects and arrays as compact JSON, null as nothing.
//!
//! ```
//! use hook_exec::template::{Renderer, Syntax, Values};
//! use serde_json::json;
//!
//! let input = json!({"file_path": "/a", "edits": [1, 2]});
//! let variable = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
//! let allowed = |name: &str| name == "TOKEN";
//! let values = Values { tool_input: &input, variable: &variable, allowed: &allowed, ..Values::default() };
//!
//! let mut renderer = Renderer::new(values);
//! assert_eq!(renderer.text("path=${tool_input.file_path} ${tool_input.edits}", Syntax::Dotted), "path=/a [1,2]");
//! assert_eq!(renderer.text("Bearer $TOKEN, $HOME", Syntax::Shell), "Bearer s3cret, ");
//! assert_eq!(renderer.notes().len(), 1); // HOME is not allowed
//! ```

mod render;
mod scan;
#[cfg(test)]
mod tests;

pub use render::{MAX_RENDERED, Renderer, Values};
pub use scan::{Piece, Reference, Syntax, pieces};

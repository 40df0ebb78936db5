//! Matchers: which calls a hook is asked about.
//!
//! A matcher names tools, and may look at what they are called with. It is the text of `"matcher"` in a hook file. Native files and
//! those of AIMON have the language of this page; they differ in how a name is read, and in what becomes of a text that cannot be
//! read. Matchers of Claude Code and Amplifier see names alone.
//!
//! # The language
//!
//! ```text
//! matcher     = alternative , { "|" , alternative }        nothing or "*": every tool
//! alternative = term , { "&" , term }                      all terms have to fit
//! term        = name
//!             | tool "(" glob ")"                          Bash and tools that take a path
//!             | tool "(" field "=" expression ")"          any tool
//!             | "input." field "~" expression              with any tool, up to the end of the term
//! field       = word , { "." , word }                      walks objects
//! ```
//!
//! - `&` binds tighter than `|`, and there are no parentheses around terms. A doubled `&&` is text.
//! - Both signs count only outside of parentheses. While they are paired, a backslash takes the character behind it, and `[…]` what
//!   is in it; where the matcher cannot be read so, parentheses are paired without that.
//! - Blanks around a term do not count.
//! - Letter case counts everywhere.
//!
//! # Names
//!
//! | written | native | AIMON |
//! |---|---|---|
//! | letters, digits, `_`, `-` | exactly this name; `,` makes a list, too | exactly this name; `.`, `:` and `/` may be in it |
//! | with `*`, but no `.*` | a glob over the whole name | a glob over the whole name |
//! | anything else | an expression of Rust's `regex`, searched in the name | an expression of Java, over the whole name |
//!
//! # Globs
//!
//! In a glob `*` is any text, `/` and line ends included; every other character is itself. A glob covers its value whole.
//!
//! For `Bash` the value is a part of the command. A line is cut at `&&`, `||`, `;`, `|` and line ends. What stands in single quotes
//! is not cut; what stands in double quotes, backticks and `$( )` is cut as well, and stays in the part around it. Where a quote
//! never ends the line is one part. This goes by the text: other spacing makes another part. Native matchers also see the commands
//! as a shell reads them (one blank between words, quotes and leading assignments gone), and cut a line in which a quote never ends
//! at every sign.
//!
//! | tool | fields that are compared |
//! |---|---|
//! | `Bash` | `command`, by its parts |
//! | `Read`, `Edit`, `Write`, `MultiEdit` | `file_path` |
//! | `Glob`, `Grep` | `pattern`, `path` |
//! | `LS` | `path` |
//! | `NotebookEdit` | `notebook_path` |
//!
//! # Fields
//!
//! An expression is searched in the value: `^` and `$` bind it. Numbers and booleans are compared by their JSON text, a list fits
//! where one of its texts, numbers or booleans does; objects, null and a field that is not there never fit. `Bash(FOO=1 make*)` reads
//! both as a glob and as a field; one that fits is enough.
//!
//! Native expressions are those of Rust's `regex` with look-around and back-references, those of AIMON are Java's. Java's `\b` ends
//! ASCII words, as it does since Java 19.
//!
//! # When a matcher is asked
//!
//! Names are looked up at once. What looks at the input is asked when the hook's turn comes, so that it sees what hooks before it
//! made of the input. `hook explain` shows every term, with the value it saw.
//!
//! # What cannot be read, and what cannot be judged
//!
//! - A native matcher that cannot be read is an error. On an event that can hold something back it fits every call, so that a
//!   typing mistake does not switch a guard off; on other events its hooks never run.
//! - A matcher of AIMON that cannot be read is taken for the name of a tool, which no tool has: its hooks never run. On an event
//!   that can hold something back that is an error. In strict mode it is unreadable; there names without parentheses hold only
//!   letters, digits, `_`, `.`, `-` and `*`, and commands are cut as for native matchers.
//! - What goes beyond a limit fits, and the run says so: commands of more than 65,536 bytes or 64 levels of nesting for globs (and of more than 1 MiB with all of their parts), values
//!   of more than 1 MiB for expressions (1,536 bytes where look-around or back-references need an engine that backtracks), and
//!   100,000 steps of that engine.
//! - Matchers are at most 4,096 bytes long and 64 levels deep; lists of names may be longer.
//!
//! # `if`
//!
//! The `if` of a native handler is a permission rule (`Bash(git *)`), or a predicate where it tests a field or joins terms:
//! `Bash(command=^git)`, `input.command~^git`, `Bash(git *) | Edit(*.ts)`. Matcher and `if` both have to hold.
//!
//! # Examples
//!
//! | matcher | tool | input | native | AIMON |
//! |---|---|---|---|---|
//! | `Bash` | `Bash` | `{}` | yes | yes |
//! | `Bash` | `BashOutput` | `{}` | no | no |
//! | `Read\|Write\|Edit` | `Write` | `{}` | yes | yes |
//! | `  Read  \|  Edit  ` | `Edit` | `{}` | yes | yes |
//! | `Edit, Write` | `Write` | `{}` | yes | no |
//! | `mcp__.*` | `mcp__github__create_issue` | `{}` | yes | yes |
//! | `mcp__*` | `mcp__github__create_issue` | `{}` | yes | yes |
//! | `*Tool` | `BashTool` | `{}` | yes | yes |
//! | `R*d*Tool` | `RedTool` | `{}` | yes | yes |
//! | `Tool.X*` | `ToolAX` | `{}` | no | no |
//! | `Rea` | `Read` | `{}` | no | no |
//! | `^Rea` | `Read` | `{}` | yes | no |
//! | `mcp__* & *delete*` | `mcp__db__delete_row` | `{}` | yes | yes |
//! | `Bash(command=^rm\s+-rf\s+/)` | `Bash` | `{"command": "rm -rf /var/lib"}` | yes | yes |
//! | `Bash(command=^rm\s+-rf\s+/)` | `Bash` | `{"command": "sudo rm -rf /"}` | no | no |
//! | `Bash(command=^git\s+push)` | `Bash` | `{"command": "git push origin main"}` | yes | yes |
//! | `Bash(command=^git\s+push)` | `Read` | `{"command": "git push"}` | no | no |
//! | `Bash & input.command~^npm` | `Bash` | `{"command": "npm install"}` | yes | yes |
//! | `Bash & input.command~^npm` | `Bash` | `{"command": "pnpm install"}` | no | no |
//! | `Bash & input.command~^npm` | `Read` | `{"file_path": "npm"}` | no | no |
//! | `input.options.force~^true$` | `mcp__db__write` | `{"options": {"force": true}}` | yes | yes |
//! | `WebFetch(url=^http:)` | `WebFetch` | `{"url": "http://example.org"}` | yes | yes |
//! | `Bash(git *)` | `Bash` | `{"command": "ls && git status"}` | yes | yes |
//! | `Bash(git *)` | `Bash` | `{"command": "echo $(git status)"}` | yes | yes |
//! | `Bash(git *)` | `Bash` | `{"command": "bash -c \"git push\""}` | yes | yes |
//! | `Bash(git *)` | `Bash` | `{"command": 42}` | no | no |
//! | `Bash(rm *)` | `Bash` | `{"command": "echo 'rm -rf /'"}` | no | no |
//! | `Bash(rm *)` | `Bash` | `{"command": "rm   -rf x"}` | yes | yes |
//! | `Bash(rm -rf*)` | `Bash` | `{"command": "rm   -rf x"}` | yes | no |
//! | `Bash(npm install)` | `Bash` | `{"command": "npm install lodash"}` | no | no |
//! | `Bash(FOO=1 make*)` | `Bash` | `{"command": "FOO=1 make all"}` | yes | yes |
//! | `Bash(git *\|grep *)` | `Bash` | `{"command": "git log \| grep fix"}` | no | no |
//! | `Edit(*.ts)` | `Edit` | `{"file_path": "src/foo.ts"}` | yes | yes |
//! | `Write(.env)` | `Write` | `{"file_path": "config/.env"}` | no | no |
//! | `Read(/etc/*)` | `Read` | `{"file_path": "/etc/ssh/sshd_config"}` | yes | yes |
//! | `Bash(git *)\|Edit(*.ts)` | `Edit` | `{"file_path": "a.ts"}` | yes | yes |
//! | `Bash(git *` | `Bash` | `{"command": "git status"}` | unreadable | no |
//! | `Bash()` | `Bash` | `{"command": "ls"}` | unreadable | no |
//! | `Bash(git *) trailing` | `Bash` | `{"command": "git status"}` | unreadable | no |
//! | `HttpFetch(https://*)` | `HttpFetch` | `{"url": "https://example.org"}` | unreadable | no |
//! | `Read\|\|Edit` | `Read` | `{}` | yes | no |
//! | `Bash(rm *)\|\|Edit` | `Edit` | `{}` | unreadable | no |
//!
//! In Rust:
//!
//! ```
//! use hook_core::Flavour;
//! use hook_matcher::Matcher;
//! use serde_json::json;
//!
//! let guard = Matcher::compile(Some(r"Bash(command=^rm\s+-rf\s+/)"), Flavour::Native).matcher;
//! assert!(guard.judge(&["Bash"], &json!({"command": "rm -rf /var/lib"})).holds);
//! assert!(!guard.judge(&["Bash"], &json!({"command": "sudo rm -rf /"})).holds);
//! ```

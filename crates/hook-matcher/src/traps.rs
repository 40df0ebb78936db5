//! What readers of another dialect take a text for.

use hook_core::Span;

use crate::flavours::{is_name, whole};
use crate::pattern::Reach;
use crate::problem::{Problem, ProblemKind};

/// `mcp__server` alone equals no tool: tools are called `mcp__server__tool`. The name stands at `start` of a list `text`.
pub(crate) fn server(name: &str, start: usize, text: &str) -> Option<Problem> {
    let bare = server_of(name)?;
    let help = if name.len() == text.trim().len() {
        "match the server's tools"
    } else {
        "match the server's tools; that makes the list a regular expression, in which the other names may need `^` and `$`"
    };
    let span = Span::new(start, start + name.len());
    Some(
        Problem::new(ProblemKind::McpServerPrefix, span, server_message(name))
            .help(help)
            .suggest(format!("{bare}__.*")),
    )
}

/// The same for a name between `^` and `$`, somewhere in `text`.
pub(crate) fn anchored_server(name: &str, text: &str) -> Option<Problem> {
    let bare = server_of(name)?;
    let problem = Problem::new(ProblemKind::McpServerPrefix, whole(text), server_message(name));
    Some(problem.help(format!("for the server's tools write `^{bare}__`")))
}

fn server_message(name: &str) -> String {
    format!("{name} is the name of a server, and no tool has it; the hook never runs for its tools")
}

/// `mcp__server`, where a name is that and no more.
fn server_of(name: &str) -> Option<&str> {
    let server = name.strip_prefix("mcp__")?;
    let server = server.strip_suffix("__").unwrap_or(server);
    let bare = !server.is_empty() && !server.contains("__") && server.chars().all(is_name);
    bare.then(|| &name[.."mcp__".len() + server.len()])
}

/// What somebody may have meant who is used to globs, to lists with commas or to permission rules.
pub(crate) fn of_readers(text: &str, reach: Reach) -> Option<Problem> {
    permission(text).or_else(|| comma(text)).or_else(|| blanks(text, reach)).or_else(|| glob(text))
}

/// A comma makes a list only among plain names.
pub(crate) fn comma(text: &str) -> Option<Problem> {
    let simple = |c: char| is_name(c) || "*.|,^$".contains(c);
    if !text.contains(',') || !text.chars().all(simple) {
        return None;
    }
    let parts: Vec<&str> = text.split([',', '|']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let message = "the comma is a plain character here, it separates nothing";
    let problem = Problem::new(ProblemKind::DialectTrap, whole(text), message).help("separate with `|`");
    Some(problem.suggest(parts.join("|")))
}

/// Amplifier compares whole names and trims nothing.
fn blanks(text: &str, reach: Reach) -> Option<Problem> {
    let simple = |c: char| is_name(c) || "*.|".contains(c);
    let padded = text.split('|').any(|part| part != part.trim());
    if reach != Reach::Whole || !padded || !text.chars().all(simple) {
        return None;
    }
    let message = "blanks around a name are part of it here, and no tool's name has them";
    let problem = Problem::new(ProblemKind::DialectTrap, whole(text), message).help("leave the blanks out");
    Some(problem.suggest(text.split('|').map(str::trim).collect::<Vec<_>>().join("|")))
}

/// A `*` right behind a name repeats the name's last letter.
fn glob(text: &str) -> Option<Problem> {
    glob_hint(text)?;
    let at = text.find('*')?;
    let letter = text[..at].chars().next_back()?;
    let message =
        format!("this `*` repeats the `{letter}` before it; a reader of globs takes it for any text");
    let problem = Problem::new(ProblemKind::DialectTrap, Span::new(at, at + 1), message);
    Some(problem.help("for any text write `.*`").suggest(".*"))
}

/// A permission rule, `Bash(git *)`, as a matcher.
fn permission(text: &str) -> Option<Problem> {
    let tool = permission_rule(text)?;
    let message =
        "this looks like a permission rule, and is a regular expression here that no tool's name fits";
    let problem = Problem::new(ProblemKind::DialectTrap, whole(text), message);
    Some(problem.help("match the tool's name, and let the hook look at its input").suggest(tool))
}

/// The tool of `Tool(…)` with something in the brackets that no name has.
pub(crate) fn permission_rule(text: &str) -> Option<&str> {
    let (tool, rest) = text.split_once('(')?;
    let rule = !tool.is_empty()
        && tool.chars().all(is_name)
        && rest.ends_with(')')
        && !rest.starts_with('?')
        && rest.contains([' ', '=', '/', ':']);
    rule.then_some(tool)
}

/// The regular expression that somebody meant who wrote a glob.
pub(crate) fn glob_hint(text: &str) -> Option<String> {
    let glob = text.chars().all(|c| is_name(c) || matches!(c, '*' | '|'));
    (glob && text.contains('*')).then(|| text.replace('*', ".*"))
}

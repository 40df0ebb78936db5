//! Globs in parentheses: over the sub-commands of a shell line, and over paths.

use hook_shell::Line;
use serde_json::Value;

use super::value::Seen;
use crate::shown::shown;
use crate::wild::Wild;

/// Longer lines are not cut into sub-commands.
const MAX_LINE: usize = 65_536;
/// Bytes of all parts of a line together that are compared with a glob: nested parts stand in those around them once more.
const MAX_COMPARED: usize = 1 << 20;

/// How a shell line is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// As text alone. A line in which a quote never ends is one piece.
    Text,
    /// As text and by the words of the shell, and at every operator where a quote never ends.
    Thorough,
}

#[derive(Debug, Clone)]
pub(super) enum Glob {
    Command(Wild, Cut),
    /// With the fields that hold a path.
    Path(Wild, &'static [&'static str]),
}

/// Tools whose globs are compared with a path, and the fields that hold it.
const PATH_TOOLS: &[(&str, &[&str])] = &[
    ("Read", &["file_path"]),
    ("Edit", &["file_path"]),
    ("Write", &["file_path"]),
    ("MultiEdit", &["file_path"]),
    ("Glob", &["pattern", "path"]),
    ("Grep", &["path", "pattern"]),
    ("LS", &["path"]),
    ("NotebookEdit", &["notebook_path"]),
];

/// Fields that a glob of this tool sees; none where a glob means nothing to it.
pub(super) fn fields(tool: &str) -> Option<&'static [&'static str]> {
    if tool == "Bash" {
        return Some(&["command"]);
    }
    PATH_TOOLS.iter().find(|(name, _)| *name == tool).map(|(_, fields)| *fields)
}

impl Glob {
    /// The glob of a tool that takes one.
    pub(super) fn new(tool: &str, text: &str, cut: Cut) -> Option<Glob> {
        let fields = fields(tool)?;
        let wild = Wild::glob(text);
        Some(if tool == "Bash" { Glob::Command(wild, cut) } else { Glob::Path(wild, fields) })
    }

    pub(super) fn test(&self, inputs: &[&Value]) -> Seen {
        // The neutral input comes first, and a field of it hides the same of the native one.
        let text = |name: &str| inputs.iter().find_map(|input| input.get(name))?.as_str();
        match self {
            Glob::Command(wild, cut) => match text("command") {
                Some(line) => command(wild, *cut, line),
                None => Seen::of(false, "there is no command"),
            },
            Glob::Path(wild, fields) => {
                let paths: Vec<&str> =
                    fields.iter().filter_map(|name| text(name)).filter(|path| !path.is_empty()).collect();
                let fits = paths.iter().find(|path| wild.matches(path));
                match fits.or(paths.first()) {
                    Some(path) => Seen::of(fits.is_some(), format!("the path is {}", shown(path))),
                    None => Seen::of(false, format!("there is no {}", fields.join(" or "))),
                }
            }
        }
    }
}

fn command(wild: &Wild, cut: Cut, line: &str) -> Seen {
    if line.len() > MAX_LINE {
        return Seen::beyond(
            format!("the command is {} bytes long", line.len()),
            format!("the command is longer than {MAX_LINE} bytes, so its sub-commands are not known"),
        );
    }
    let pieces = hook_shell::pieces(line);
    let mut texts: Vec<&str> = pieces.pieces;
    if cut == Cut::Thorough && pieces.unterminated {
        texts.extend(hook_shell::bare_pieces(line));
    }
    let mut left = MAX_COMPARED;
    let mut compare = |text: &str| {
        left = left.checked_sub(text.len())?;
        Some(wild.matches(text))
    };
    let found = |piece: &str| Seen::of(true, format!("a sub-command is {}", shown(piece)));
    let beyond = || {
        Seen::beyond(
            format!("the command is {}", shown(line)),
            "the command is nested too deeply, so its sub-commands are not known",
        )
    };
    for text in texts {
        match compare(text) {
            Some(true) => return found(text),
            Some(false) => {}
            None => return beyond(),
        }
    }
    if pieces.too_deep {
        return beyond();
    }
    if cut == Cut::Thorough {
        let read = Line::read(line);
        let mut plain = String::new();
        for command in read.commands() {
            plain.clear();
            command.push_plain_text(&mut plain);
            for text in [plain.as_str(), command.written()].into_iter().filter(|text| !text.is_empty()) {
                match compare(text) {
                    Some(true) => return found(text),
                    Some(false) => {}
                    None => return beyond(),
                }
            }
        }
    }
    Seen::of(false, format!("no sub-command of {} fits", shown(line)))
}

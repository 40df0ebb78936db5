//! Rules on shell commands: `Bash(git push *)`.
//!
//! "Claude Code hooks reference, Common fields, Bash matching table" and "Claude Code permissions reference, Bash". A rule is a
//! filter: what only a shell could tell makes it hold.

use hook_core::Verdict;
use hook_shell::{Command, Kind, Line, Quoting, Role};

use crate::shown::shown;
use crate::wild::Wild;

#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    /// The pattern in every form that a command may be compared with.
    wilds: Vec<Wild>,
    /// It says more than the name of a command, so that arguments which are not known matter.
    says_more: bool,
    /// The one name of a pattern that takes no further words.
    bare: Option<String>,
    /// It begins with an assignment, which other patterns never see.
    assigns: bool,
    /// It holds an operator, so that it can only mean the line as a whole.
    compound: bool,
}

impl CommandPattern {
    /// A pattern that is neither empty nor a lone `*`.
    pub(super) fn new(text: &str) -> CommandPattern {
        let mut wilds = Vec::new();
        for form in [text.to_owned(), plain(text)] {
            for wild in forms(&form) {
                if !wilds.contains(&wild) {
                    wilds.push(wild);
                }
            }
        }
        let (stem, open) = split(text);
        let says_more = stem.contains([' ', '\t', '\n', '*']);
        let exact = !open && !says_more;
        CommandPattern {
            wilds,
            says_more,
            bare: exact.then(|| stem.to_owned()),
            assigns: Line::read(text).words().next().is_some_and(|word| word.role() == Role::Assignment),
            compound: text.contains([';', '|', '&', '\n']),
        }
    }

    /// True where every command fits: `*`, `:*`, `* *`.
    pub(super) fn is_all(&self) -> bool {
        self.wilds.iter().any(|wild| wild.is_all() || wild.exact() == Some(""))
    }

    fn fits(&self, text: &str) -> bool {
        self.wilds.iter().any(|wild| wild.matches(text))
    }

    /// Tests a line, which is read once.
    pub(super) fn test(&self, text: &str) -> Verdict {
        let line = Line::read(text);
        if let Some((unknown, span)) = line.doubt() {
            return Verdict::holds(format!(
                "the line holds {unknown} ({}), so what it runs is not known",
                shown(&text[span.start..span.end])
            ));
        }
        let mut plain = String::new();
        for command in line.commands() {
            plain.clear();
            command.push_plain_text(&mut plain);
            if let Some(verdict) = self.command(&command, &plain) {
                return verdict;
            }
        }
        if self.compound && self.fits(text.trim()) {
            return Verdict::holds(format!("the line {} fits", shown(text)));
        }
        if let Some(span) = line.substitution().or(line.variable()).filter(|_| self.says_more) {
            return Verdict::holds(format!(
                "the line holds {}, so its arguments are not known",
                shown(&text[span.start..span.end])
            ));
        }
        Verdict::fails(format!("no sub-command of {} fits", shown(text)))
    }

    fn command(&self, command: &Command<'_>, plain: &str) -> Option<Verdict> {
        if plain.is_empty() {
            return None;
        }
        let fits = self.fits(plain)
            || {
                let written = command.written();
                written != plain && self.fits(written)
            }
            || (self.assigns && self.fits(command.whole()));
        if fits {
            return Some(Verdict::holds(format!("the sub-command {} fits", shown(plain))));
        }
        // Of all the commands that run others only `xargs` without options is looked through, as the client does.
        let inner = plain.trim_start_matches("xargs ");
        if inner.len() < plain.len() && self.fits(inner) {
            return Some(Verdict::holds(format!("{} runs a sub-command that fits", shown(plain))));
        }
        if inner.len() < plain.len() && inner.starts_with(['$', '`']) {
            return Some(Verdict::holds(format!("what {} runs is not known", shown(plain))));
        }
        // Arguments that may come to nothing leave the name alone.
        let bare = self.bare.as_deref().is_some_and(|name| plain.split(' ').next() == Some(name));
        let vanishes = |kind: Kind| matches!(kind, Kind::Variable { .. } | Kind::Substitution | Kind::Opaque);
        let empty = |command: &Command<'_>| {
            command.arguments().skip(1).all(|word| {
                word.pieces().iter().all(|piece| piece.quoting == Quoting::None && vanishes(piece.kind))
            })
        };
        (bare && empty(command))
            .then(|| Verdict::holds(format!("the arguments of {} are not known", shown(plain))))
    }
}

/// The pattern without ` *` at its end, and whether it had one. "Claude Code permissions reference, Wildcard patterns": `:*`
/// at the end is the same.
fn split(text: &str) -> (&str, bool) {
    let stem =
        text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")).or_else(|| text.strip_suffix("\t*"));
    match stem {
        Some(stem) => (stem.trim_end(), true),
        None => (text, false),
    }
}

/// A star behind a blank is the end of a word: the command may stop there or go on.
fn forms(text: &str) -> Vec<Wild> {
    match split(text) {
        (stem, true) => vec![Wild::glob(stem), Wild::glob(&format!("{stem} *"))],
        (stem, false) => vec![Wild::glob(stem)],
    }
}

/// One blank between words, and no quotes: what a command looks like when it is compared.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(['"', '\''], "")
}

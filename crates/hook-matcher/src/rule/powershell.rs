//! Rules on commands of PowerShell: letter case is ignored, and an alias means its command.
//!
//! "Claude Code permissions reference, PowerShell"; the aliases are those of "about_Aliases".

use hook_core::Verdict;

use crate::shown::shown;
use crate::wild::Wild;

/// Aliases that PowerShell comes with, and the commands they stand for.
const ALIASES: &[(&str, &str)] = &[
    ("cat", "get-content"),
    ("cd", "set-location"),
    ("chdir", "set-location"),
    ("clc", "clear-content"),
    ("clear", "clear-host"),
    ("cls", "clear-host"),
    ("copy", "copy-item"),
    ("cp", "copy-item"),
    ("cpi", "copy-item"),
    ("curl", "invoke-webrequest"),
    ("del", "remove-item"),
    ("dir", "get-childitem"),
    ("echo", "write-output"),
    ("erase", "remove-item"),
    ("gc", "get-content"),
    ("gci", "get-childitem"),
    ("gl", "get-location"),
    ("gps", "get-process"),
    ("icm", "invoke-command"),
    ("iex", "invoke-expression"),
    ("ii", "invoke-item"),
    ("irm", "invoke-restmethod"),
    ("iwr", "invoke-webrequest"),
    ("kill", "stop-process"),
    ("ls", "get-childitem"),
    ("md", "mkdir"),
    ("mi", "move-item"),
    ("move", "move-item"),
    ("mv", "move-item"),
    ("ni", "new-item"),
    ("ps", "get-process"),
    ("pwd", "get-location"),
    ("rd", "remove-item"),
    ("ren", "rename-item"),
    ("ri", "remove-item"),
    ("rm", "remove-item"),
    ("rmdir", "remove-item"),
    ("rni", "rename-item"),
    ("saps", "start-process"),
    ("sc", "set-content"),
    ("sl", "set-location"),
    ("sleep", "start-sleep"),
    ("spps", "stop-process"),
    ("start", "start-process"),
    ("tee", "tee-object"),
    ("type", "get-content"),
    ("wget", "invoke-webrequest"),
    ("write", "write-output"),
];

#[derive(Debug, Clone)]
pub(super) struct PowerShellPattern {
    wilds: Vec<Wild>,
    says_more: bool,
}

impl PowerShellPattern {
    /// A pattern that is neither empty nor a lone `*`.
    pub(super) fn new(text: &str) -> PowerShellPattern {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let stem = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
        let (stem, open) = (stem.unwrap_or(&text), stem.is_some());
        let mut wilds = Vec::new();
        for stem in [stem.to_owned(), resolved(stem)] {
            wilds.push(Wild::glob(&stem));
            if open {
                wilds.push(Wild::glob(&format!("{stem} *")));
            }
        }
        PowerShellPattern { wilds, says_more: stem.contains([' ', '*']) }
    }

    /// Tests a command.
    pub(super) fn test(&self, text: &str) -> Verdict {
        let mut unknown = None;
        for statement in statements(text) {
            let Some(statement) = statement else {
                return Verdict::holds(format!("what {} runs is not known", shown(text)));
            };
            if statement.contains(['$', '@']) {
                unknown.get_or_insert(statement.clone());
            }
            if [&statement, &resolved(&statement)]
                .into_iter()
                .any(|form| self.wilds.iter().any(|wild| wild.matches(form)))
            {
                return Verdict::holds(format!("the command {} fits", shown(&statement)));
            }
        }
        if let Some(statement) = unknown.filter(|_| self.says_more) {
            return Verdict::holds(format!("the arguments of {} are not known", shown(&statement)));
        }
        Verdict::fails(format!("no command of {} fits", shown(text)))
    }
}

/// The commands of a text, in small letters and without quotes; `None` stands for one whose name is not known.
fn statements(text: &str) -> Vec<Option<String>> {
    let mut all = Vec::new();
    let mut open = String::new();
    let mut quote = None;
    let mut unknown = false;
    let mut chars = text.chars().peekable();
    let mut end = |open: &mut String| {
        // The operators of calling and of reading a file into this shell come before the name.
        let words = open.split_whitespace().skip_while(|word| matches!(*word, "&" | "."));
        let statement = words.collect::<Vec<_>>().join(" ");
        if !statement.is_empty() {
            all.push((!statement.starts_with(['$', '@', '['])).then(|| without_end(&statement)));
        }
        open.clear();
    };
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (Some('"') | None, '`') => {
                if let Some(next) = chars.next().filter(|next| !matches!(next, '\n' | '\r')) {
                    open.extend(next.to_lowercase());
                }
            }
            (Some(_), c) => open.extend(c.to_lowercase()),
            (None, '\'' | '"') => quote = Some(c),
            (None, '#') if open.is_empty() || open.ends_with(' ') => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            (None, '@') if matches!(chars.peek(), Some('\'' | '"')) => unknown = true,
            (None, ';' | '|' | '\n' | '\r' | '{' | '}' | '(' | ')') => end(&mut open),
            (None, '&') if chars.next_if_eq(&'&').is_some() => end(&mut open),
            (None, c) if c.is_whitespace() => open.push(' '),
            (None, c) => open.extend(c.to_lowercase()),
        }
    }
    end(&mut open);
    if unknown || quote.is_some() {
        all.push(None);
    }
    all
}

/// The statement without the `.exe` of its program.
fn without_end(statement: &str) -> String {
    match statement.split_once(' ') {
        Some((name, rest)) => format!("{} {rest}", name.strip_suffix(".exe").unwrap_or(name)),
        None => statement.strip_suffix(".exe").unwrap_or(statement).to_owned(),
    }
}

/// The same with the command that an alias in its first place means.
fn resolved(text: &str) -> String {
    let name = text.split(' ').next().unwrap_or_default();
    let meant = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, meant)| meant);
    format!("{meant}{}", &text[name.len()..])
}

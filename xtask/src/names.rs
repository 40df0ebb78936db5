//! Agent names stand in dialect files and format files only.
//!
//! Names in comments are free, they cite public references. Names in code are those in string literals and identifiers; the
//! tests beside the code are free too, since they need somebody to speak of.

use std::path::Path;

use anyhow::{Result, bail};

use crate::cases::sorted;
use crate::root;

/// Names that are no ordinary words.
const AGENTS: &[&str] = &[
    "claude",
    "amplifier",
    "aimon",
    "antigravity",
    "codex",
    "copilot",
    "gemini",
    "kiro",
    "opencode",
    "qwen",
    "windsurf",
];

/// Folders whose job the names are.
const HOMES: &[&str] = &["crates/hook-mapper/src/dialects/", "crates/hook-config/src/formats/"];

/// Uses that are right where they stand: path (or start of it), the word as written (`*`: any), and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "crates/hook-core/src/dialect.rs",
        "Amplifier",
        "a matcher flavour is named after the agent whose rule it is",
    ),
    ("crates/hook-core/src/dialect.rs", "Claude", "a matcher flavour"),
    ("crates/hook-core/src/dialect.rs", "ClaudeNarrow", "a matcher flavour"),
    ("crates/hook-core/src/dialect.rs", "Aimon", "a matcher flavour"),
    ("crates/hook-core/src/dialect.rs", "AimonStrict", "a matcher flavour"),
    ("crates/hook-matcher/src/flavours.rs", "*", "compiles the flavours, each by the rule of its agent"),
    ("crates/hook-matcher/src/", "Amplifier", "a matcher flavour"),
    ("crates/hook-matcher/src/", "Claude", "a matcher flavour"),
    ("crates/hook-matcher/src/", "ClaudeNarrow", "a matcher flavour"),
    ("crates/hook-matcher/src/", "Aimon", "a matcher flavour"),
    ("crates/hook-matcher/src/predicate/", "*", "compiles the predicates of two flavours"),
    ("crates/hook-mapper/src/lib.rs", "Aimon", "hands the dialect on"),
    ("crates/hook-mapper/src/lib.rs", "Amplifier", "hands the dialect on"),
    ("crates/hook-mapper/src/lib.rs", "Claude", "hands the dialect on"),
];

/// Looks through `crates/*/src`.
///
/// # Errors
/// A name stands where it should not, or a file cannot be read.
pub fn check() -> Result<()> {
    let root = root::workspace();
    let mut faults = Vec::new();
    for name in sorted(&root.join("crates"))? {
        walk(&root, &format!("crates/{name}/src"), &mut faults)?;
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

fn walk(root: &Path, folder: &str, faults: &mut Vec<String>) -> Result<()> {
    for name in sorted(&root.join(folder))? {
        let path = format!("{folder}/{name}");
        if root.join(&path).is_dir() {
            walk(root, &path, faults)?;
        } else if path.ends_with(".rs")
            && name != "tests.rs"
            && !HOMES.iter().any(|home| path.starts_with(home))
        {
            let text = std::fs::read_to_string(root.join(&path))?;
            for (line, word) in names_in(&text) {
                let allowed = ALLOWED
                    .iter()
                    .any(|(start, known, _)| path.starts_with(start) && (*known == "*" || *known == word));
                if !allowed {
                    faults.push(format!("{path}:{line}: {word:?} names an agent"));
                }
            }
        }
    }
    Ok(())
}

/// The words of the code that hold an agent's name, with their lines.
fn names_in(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in without_comments(source).lines().enumerate() {
        if line.trim() == "#[cfg(test)]" {
            break;
        }
        for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let lower = word.to_lowercase();
            if AGENTS.iter().any(|agent| lower.contains(agent)) {
                found.push((index + 1, word.to_owned()));
            }
        }
    }
    found
}

/// The source with comments blanked and lines kept. Strings are kept: names in them count.
fn without_comments(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let taken = if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            rest = &rest[end..];
            continue;
        } else if rest.starts_with("/*") {
            let end = block_comment(rest);
            code.extend(rest[..end].chars().filter(|c| *c == '\n'));
            rest = &rest[end..];
            continue;
        } else if let Some(hashes) = raw_string(rest) {
            let close = format!("\"{}", "#".repeat(hashes));
            let open = hashes + 2;
            rest[open..].find(&close).map_or(rest.len(), |at| open + at + close.len())
        } else if first == '"' {
            string(rest)
        } else if rest.starts_with("'\"'") {
            3
        } else if let Some(escape) = rest.strip_prefix("'\\") {
            // A character like '\'' or '\u{7f}'; the letter after the backslash never ends it.
            escape.char_indices().skip(1).find(|(_, c)| *c == '\'').map_or(rest.len(), |(at, _)| at + 3)
        } else if first.is_alphanumeric() || first == '_' {
            // A whole word at once, so that the `r` at its end opens no raw string.
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        code.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    code
}

/// `r"`, `r#"` and so on: the number of hashes.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0usize);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_code_are_found_and_those_in_comments_are_not() {
        let source = "/// Claude Code hooks reference\nlet claude_home = 1; // codex\n/* gemini\n */ let a = \"see // codex\";\n\
                      let r = '\"'; let b = r#\"a \"kiro\" \"#; let c = '\\''; // qwen\nfn after<'a>(x: &'a str) {}\n\
                      #[cfg(test)]\nlet windsurf = 1;\n";
        let found: Vec<(usize, String)> = names_in(source);
        let words: Vec<(usize, &str)> = found.iter().map(|(line, word)| (*line, word.as_str())).collect();
        assert_eq!(words, [(2, "claude_home"), (4, "codex"), (5, "kiro")]);
    }
}

//! The list of known gaps: lines `id  # reason`, where an id may hold `*`.

use std::path::Path;

use anyhow::{Context, Result, bail};

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The id of a case, or a pattern over ids.
    pub pattern: String,
    /// Why it is not mended yet.
    pub reason: String,
}

/// The list.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    entries: Vec<Entry>,
}

impl Expected {
    /// Reads the list. A missing file is an empty list.
    ///
    /// # Errors
    /// The file cannot be read, or a line has no reason.
    pub fn read(path: &Path) -> Result<Expected> {
        match std::fs::read_to_string(path) {
            Ok(text) => Expected::parse(&text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Expected::default()),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// Reads the list from a text.
    ///
    /// # Errors
    /// A line has no reason.
    pub fn parse(text: &str) -> Result<Expected> {
        let mut entries = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once('#').map(|(id, reason)| (id.trim(), reason.trim())) {
                Some((id, reason)) if !reason.is_empty() => {
                    entries.push(Entry { pattern: id.to_owned(), reason: reason.to_owned() });
                }
                _ => bail!("{line:?}: a known gap needs a reason: `id  # reason`"),
            }
        }
        Ok(Expected { entries })
    }

    /// The line that lists this case.
    pub fn find(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| glob(&entry.pattern, id))
    }

    /// Lines that list none of these cases.
    pub fn without_case<'a>(&'a self, ids: &'a [String]) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(|entry| !ids.iter().any(|id| glob(&entry.pattern, id)))
    }
}

/// `*` stands for any run of characters.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => text.strip_prefix(head).is_some_and(|tail| {
            let mut starts = tail.char_indices().map(|(at, _)| at).chain([tail.len()]);
            starts.any(|at| glob(rest, &tail[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_pattern_and_a_reason() {
        let list = Expected::parse("# head\n\na-*  # not built\nb-1 # later\n").unwrap();
        assert_eq!(list.find("a-x").map(|e| e.reason.as_str()), Some("not built"));
        assert!(list.find("b-1").is_some());
        assert!(list.find("b-12").is_none());
        let ids = vec!["a-x".to_owned()];
        assert_eq!(list.without_case(&ids).map(|e| e.pattern.as_str()).collect::<Vec<_>>(), ["b-1"]);
        assert!(Expected::parse("a-1\n").is_err());
    }
}

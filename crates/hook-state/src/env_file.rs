//! The env file: lines that hooks leave for later hooks of the session.
//!
//! The rules are those of the Amplifier module ("Shell hooks module for Amplifier, Environment variables"), with names checked
//! and references filled in: a line that extends `PATH` must not ruin it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes read of an env file; hooks share it, and one of them may go wild.
const MAX_SIZE: u64 = 1024 * 1024;

/// An env file, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvFile {
    /// The variables in the order of their first line; a later line for the same name has replaced the value.
    pub vars: Vec<(String, String)>,
    /// Lines that set nothing.
    pub skipped: Vec<SkippedLine>,
}

/// A line that sets nothing, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedLine {
    /// Its number, from 1.
    pub line: usize,
    /// Why.
    pub why: &'static str,
}

impl fmt::Display for SkippedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} was skipped: {}", self.line, self.why)
    }
}

/// Reads the file at `path`; see [`parse`]. A file that is not there is empty. Lines that are no UTF-8 are skipped alone.
///
/// # Errors
/// The file cannot be read.
pub fn read(path: &Path, base: &dyn Fn(&str) -> Option<String>, protected: &[&str]) -> io::Result<EnvFile> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(EnvFile::default()),
        other => other?.take(MAX_SIZE).read_to_end(&mut bytes)?,
    };
    let mut file = EnvFile::default();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        match std::str::from_utf8(line) {
            Ok(line) => file.take_line(index + 1, line, base, protected),
            Err(_) => file.skipped.push(SkippedLine { line: index + 1, why: "it is not UTF-8" }),
        }
    }
    Ok(file)
}

/// Reads env-file text.
///
/// `base` gives the value of a variable that the file itself has not set; `protected` names cannot be set.
pub fn parse(content: &str, base: &dyn Fn(&str) -> Option<String>, protected: &[&str]) -> EnvFile {
    let mut file = EnvFile::default();
    for (index, line) in content.split('\n').enumerate() {
        file.take_line(index + 1, line, base, protected);
    }
    file
}

impl EnvFile {
    fn take_line(
        &mut self,
        number: usize,
        line: &str,
        base: &dyn Fn(&str) -> Option<String>,
        protected: &[&str],
    ) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let mut skip = |why| self.skipped.push(SkippedLine { line: number, why });
        let Some((name, value)) = line.split_once('=') else {
            return skip("it has no `=`");
        };
        let (name, value) = (name.trim(), value.trim());
        if !is_name(name) {
            return skip("what stands before `=` is no variable name");
        }
        if protected.contains(&name) {
            return skip("the variable belongs to the engine");
        }
        if value.contains('\0') {
            return skip("the value holds a NUL character");
        }
        let (text, literal) = unquote(value);
        let value = if literal { text.to_owned() } else { self.fill_in(text, base) };
        match self.vars.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.vars.push((name.to_owned(), value)),
        }
    }

    fn value(&self, name: &str, base: &dyn Fn(&str) -> Option<String>) -> String {
        let own = self.vars.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        own.or_else(|| base(name)).unwrap_or_default()
    }

    /// Replaces `$NAME` and `${NAME}`; `\$` stays a dollar.
    fn fill_in(&self, text: &str, base: &dyn Fn(&str) -> Option<String>) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            if let Some(before) = rest[..at].strip_suffix('\\') {
                out.push_str(before);
                out.push('$');
                rest = &rest[at + 1..];
                continue;
            }
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let braced = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            if let Some((name, after)) = braced.filter(|(name, _)| is_name(name)) {
                out.push_str(&self.value(name, base));
                rest = after;
                continue;
            }
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            if is_name(&rest[..end]) {
                out.push_str(&self.value(&rest[..end], base));
                rest = &rest[end..];
            } else {
                out.push('$');
            }
        }
        out.push_str(rest);
        out
    }
}

/// Removes one pair of quotes; true for single ones, whose text is literal. A lone quote is empty.
fn unquote(value: &str) -> (&str, bool) {
    for (quote, literal) in [('"', false), ('\'', true)] {
        if value.len() == 1 && value.starts_with(quote) {
            return ("", literal);
        }
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return (inner, literal);
        }
    }
    (value, false)
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vars(content: &str) -> Vec<(String, String)> {
        let base = |name: &str| (name == "PATH").then(|| "/bin".to_owned());
        parse(content, &base, &["HOOK_ENV_FILE"]).vars
    }

    #[test]
    fn lines_read_by_the_rules() {
        let table: &[(&str, &[(&str, &str)])] = &[
            ("export A=1\n", &[("A", "1")]),
            ("A=\"hello world\"\n", &[("A", "hello world")]),
            ("# A=1\n\n   # B=2\nC=yes\n", &[("C", "yes")]),
            ("A=1\nB=x\nA=2\n", &[("A", "2"), ("B", "x")]),
            ("A=--level=3\n", &[("A", "--level=3")]),
            ("A=\nB=\"\"\nC='\n", &[("A", ""), ("B", ""), ("C", "")]),
            ("A=1\r\nexport B=\"2\"\r\n", &[("A", "1"), ("B", "2")]),
            ("A='$HOME/x'\n", &[("A", "$HOME/x")]),
            ("R=/opt/x\nexport B=\"$R/bin\"\n", &[("R", "/opt/x"), ("B", "/opt/x/bin")]),
            ("PATH=${PATH}:/x\nPATH=$PATH:/y", &[("PATH", "/bin:/x:/y")]),
            ("A=\\$5 and $ and $1\nB=$NONE.", &[("A", "$5 and $ and $1"), ("B", ".")]),
            ("A = b\nexport   C = d", &[("A", "b"), ("C", "d")]),
            ("A=\"x'\nB=x # y; z\n", &[("A", "\"x'"), ("B", "x # y; z")]),
        ];
        for (content, expected) in table {
            let expected: Vec<(String, String)> =
                expected.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            assert_eq!(vars(content), expected, "{content:?}");
        }
    }

    #[test]
    fn bad_lines_are_skipped_alone_and_named() {
        let base = |_: &str| None;
        let file = parse("=x\nA B=1\nGOOD=1\nHOOK_ENV_FILE=/x\nnothing\nN=a\0b", &base, &["HOOK_ENV_FILE"]);
        assert_eq!(file.vars, [("GOOD".to_owned(), "1".to_owned())]);
        assert_eq!(file.skipped.iter().map(|line| line.line).collect::<Vec<_>>(), [1, 2, 4, 5, 6]);
    }

    #[test]
    fn a_line_that_is_not_utf8_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.env");
        std::fs::write(&path, b"A=1\nB=\xff\nC=3\n").unwrap();
        let file = read(&path, &|_| None, &[]).unwrap();
        assert_eq!(file.vars.len(), 2);
        assert_eq!(file.skipped, [SkippedLine { line: 2, why: "it is not UTF-8" }]);
        assert_eq!(read(&folder.path().join("none"), &|_| None, &[]).unwrap(), EnvFile::default());
    }

    proptest! {
        #[test]
        fn any_text_reads_to_valid_variables(content in ".{0,200}") {
            for (name, value) in vars(&content) {
                prop_assert!(is_name(&name));
                prop_assert!(!value.contains('\0'));
            }
        }
    }
}

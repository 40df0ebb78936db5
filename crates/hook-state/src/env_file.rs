//! The env file: lines that hooks leave for later hooks of the session.
//!
//! The rules are those of the Amplifier module ("Shell hooks module for Amplifier, Environment variables"), with names checked
//! and references filled in: a line that extends `PATH` must not ruin it.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Bytes read of an env file; hooks share it, and one of them may go wild.
const MAX_SIZE: usize = 1024 * 1024;

/// Bytes of `NAME=value` with its end. Linux starts no process with a longer one: every later hook would fail.
const MAX_VARIABLE: usize = 128 * 1024;

/// Bytes of all variables together: beside the inherited environment they have to fit into what a process may be given.
const MAX_TOTAL: usize = 512 * 1024;

/// Skipped lines that are named; a file of noise would name a hundred thousand.
const MAX_SKIPPED: usize = 100;

/// An env file, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvFile {
    /// The variables in the order of their first line; a later line for the same name has replaced the value.
    pub vars: Vec<(String, String)>,
    /// Lines that set nothing; the first hundred of them.
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

/// Reads the file at `path`; see [`parse`]. A file that is not there is empty. Lines that are no UTF-8 are skipped alone, and
/// what stands beyond 1 MiB is not read.
///
/// # Errors
/// The file cannot be read, or is no regular file.
pub fn read(path: &Path, base: &dyn Fn(&str) -> Option<String>, protected: &[&str]) -> io::Result<EnvFile> {
    // Opening a pipe that a hook put here would wait for a writer forever.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(EnvFile::default()),
        Ok(data) if !data.is_file() => return Err(io::Error::other("it is no regular file")),
        other => other?,
    };
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_SIZE as u64 + 1).read_to_end(&mut bytes)?;
    let cut = bytes.len() > MAX_SIZE;
    if cut {
        // Half a line is another line.
        let whole = bytes[..MAX_SIZE].iter().rposition(|byte| *byte == b'\n').unwrap_or_default();
        bytes.truncate(whole);
    }
    let mut reader = Reader::new(base, protected);
    for line in bytes.split(|byte| *byte == b'\n') {
        match std::str::from_utf8(line) {
            Ok(line) => reader.take_line(line),
            Err(_) => reader.skip_line("it is not UTF-8"),
        }
    }
    if cut {
        reader.skip_line("the file is larger than 1 MiB; from here on it is not read");
    }
    Ok(reader.file)
}

/// Reads env-file text.
///
/// `base` gives the value of a variable that the file itself has not set; `protected` names cannot be set.
pub fn parse(content: &str, base: &dyn Fn(&str) -> Option<String>, protected: &[&str]) -> EnvFile {
    let mut reader = Reader::new(base, protected);
    content.split('\n').for_each(|line| reader.take_line(line));
    reader.file
}

struct Reader<'a> {
    file: EnvFile,
    base: &'a dyn Fn(&str) -> Option<String>,
    protected: &'a [&'a str],
    /// Where in `file.vars` a name stands.
    places: HashMap<String, usize>,
    line: usize,
    total: usize,
}

impl<'a> Reader<'a> {
    fn new(base: &'a dyn Fn(&str) -> Option<String>, protected: &'a [&'a str]) -> Reader<'a> {
        Reader { file: EnvFile::default(), base, protected, places: HashMap::new(), line: 0, total: 0 }
    }

    fn skip_line(&mut self, why: &'static str) {
        self.line += 1;
        self.skip(why);
    }

    fn take_line(&mut self, line: &str) {
        self.line += 1;
        if let Err(why) = self.set(line.trim()) {
            self.skip(why);
        }
    }

    fn skip(&mut self, why: &'static str) {
        if self.file.skipped.len() < MAX_SKIPPED {
            self.file.skipped.push(SkippedLine { line: self.line, why });
        }
    }

    fn set(&mut self, line: &str) -> Result<(), &'static str> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or("it has no `=`")?;
        let (name, value) = (name.trim(), value.trim());
        if !is_name(name) {
            return Err("what stands before `=` is no variable name");
        }
        if self.protected.contains(&name) {
            return Err("the variable belongs to the engine");
        }
        if value.contains('\0') {
            return Err("the value holds a NUL character");
        }
        let room = MAX_VARIABLE.saturating_sub(name.len() + "=\0".len());
        let (text, literal) = unquote(value);
        let value = if literal { Some(text.to_owned()) } else { self.fill_in(text, room) };
        let value = value
            .filter(|value| value.len() <= room)
            .ok_or("the value is longer than a process can be given, 128 KiB")?;
        let place = self.places.get(name).copied();
        let before = place.map_or(0, |place| name.len() + self.file.vars[place].1.len());
        let total = self.total - before + name.len() + value.len();
        if total > MAX_TOTAL {
            return Err("all variables together are longer than 512 KiB");
        }
        self.total = total;
        match place {
            Some(place) => self.file.vars[place].1 = value,
            None => {
                self.places.insert(name.to_owned(), self.file.vars.len());
                self.file.vars.push((name.to_owned(), value));
            }
        }
        Ok(())
    }

    fn push_value(&self, name: &str, out: &mut String) {
        match self.places.get(name) {
            Some(place) => out.push_str(&self.file.vars[*place].1),
            None => out.push_str(&(self.base)(name).unwrap_or_default()),
        }
    }

    /// Replaces `$NAME` and `${NAME}`; `\$` stays a dollar. `None` where the result exceeds `room`: a line that doubles a
    /// variable, repeated, would fill the memory.
    fn fill_in(&self, text: &str, room: usize) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            if out.len() > room {
                return None;
            }
            if let Some(before) = rest[..at].strip_suffix('\\') {
                out.push_str(before);
                out.push('$');
                rest = &rest[at + 1..];
                continue;
            }
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            // A brace is looked for right behind the name only: a line of open ones would be searched to its end for each.
            let (braced, inner) = rest.strip_prefix('{').map_or((false, rest), |inner| (true, inner));
            let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
            let (name, after) = inner.split_at(end);
            let after = if braced { after.strip_prefix('}') } else { Some(after) };
            match after.filter(|_| is_name(name)) {
                Some(after) => {
                    self.push_value(name, &mut out);
                    rest = after;
                }
                None => out.push('$'),
            }
        }
        out.push_str(rest);
        Some(out)
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
            (
                "A=${\nB=${}x${PATH\nC=${PATH}}${1}${PA TH}",
                &[("A", "${"), ("B", "${}x${PATH"), ("C", "/bin}${1}${PA TH}")],
            ),
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

    #[test]
    fn lines_that_double_a_variable_stay_bounded() {
        let mut content = String::from("A=0123456789\n");
        content.push_str(&"A=$A$A\n".repeat(10_000));
        content.push_str(&format!("B={}\nC=after\n", "$A".repeat(100_000)));
        let file = parse(&content, &|_| None, &[]);
        assert_eq!(file.vars[0].1.len(), 10 << 13, "the last value that a process can be given stays");
        assert_eq!(file.vars.last(), Some(&("C".to_owned(), "after".to_owned())));
        assert_eq!(file.skipped.len(), MAX_SKIPPED);
    }

    #[test]
    fn all_variables_together_are_bounded() {
        let long = "x".repeat(100_000);
        let mut content: String = (0..10).map(|n| format!("V{n}={long}\n")).collect();
        content.push_str("V0=short\nLAST=$V0\n");
        let file = parse(&content, &|_| None, &[]);
        let names: Vec<&str> = file.vars.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["V0", "V1", "V2", "V3", "V4", "LAST"]);
        assert_eq!(file.skipped.iter().map(|line| line.line).collect::<Vec<_>>(), [6, 7, 8, 9, 10]);
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

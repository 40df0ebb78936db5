//! Findings about what people wrote: stable codes, spans, and what to do.

pub mod codes;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

pub use codes::Code;
use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably not what was meant.
    Warning,
    /// Something does not work.
    Error,
}

impl Severity {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A range of bytes in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// A range.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }
}

/// So far into a line, columns count characters; beyond, they count bytes.
const LONG_LINE: usize = 16 * 1024;

/// A text somebody wrote, with its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it was read.
    pub path: Arc<Path>,
    /// The text, byte for byte.
    pub text: Arc<str>,
    line_starts: Vec<usize>,
}

impl Source {
    /// A text and where it was read.
    pub fn new(path: impl Into<Arc<Path>>, text: impl Into<Arc<str>>) -> Source {
        let text: Arc<str> = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Source { path: path.into(), text, line_starts }
    }

    /// The place of a span. Offsets beyond the text mean its end.
    pub fn locate(&self, span: Span) -> Location {
        let start = span.start.min(self.text.len());
        let line = self.line_starts.partition_point(|&at| at <= start).max(1);
        let line_start = self.line_starts[line - 1];
        // A file of one endless line must not cost its length for every place in it.
        let column = match start - line_start {
            far if far > LONG_LINE => far,
            near => self.text.get(line_start..start).map_or(near, |text| text.chars().count()),
        } + 1;
        Location { file: self.path.clone(), span, line, column }
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The file.
    pub file: Arc<Path>,
    /// The bytes.
    pub span: Span,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1; in bytes where the line is longer than anybody reads.
    pub column: usize,
}

/// `file:line:col`
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// A place that a finding points at. The first label is the finding's own place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub location: Location,
    /// What is there; may be empty.
    pub text: String,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable code and slug.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// What is wrong, and with what effect.
    pub message: String,
    /// The file, also where no place in it can be named.
    pub file: Option<Arc<Path>>,
    /// JSON pointer to the value the finding is about.
    pub pointer: Option<String>,
    /// Places; the first is the finding's own.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
    /// A text that would be right in the place of what stands there.
    pub suggestion: Option<String>,
}

impl Diagnostic {
    /// A finding of the code's own severity.
    pub fn new(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: code.severity(),
            message: message.into(),
            file: None,
            pointer: None,
            labels: Vec::new(),
            help: None,
            suggestion: None,
        }
    }

    /// Sets the file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<Arc<Path>>) -> Diagnostic {
        self.file = Some(file.into());
        self
    }

    /// Points at a place; the file is set with it.
    #[must_use]
    pub fn at(mut self, location: Location, text: impl Into<String>) -> Diagnostic {
        self.file.get_or_insert_with(|| location.file.clone());
        self.labels.push(Label { location, text: text.into() });
        self
    }

    /// Sets the JSON pointer.
    #[must_use]
    pub fn pointer(mut self, pointer: impl Into<String>) -> Diagnostic {
        self.pointer = Some(pointer.into());
        self
    }

    /// Sets another severity than the code's own.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Diagnostic {
        self.severity = severity;
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Gives the right text.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Diagnostic {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// The finding's own place.
    pub fn location(&self) -> Option<&Location> {
        self.labels.first().map(|label| &label.location)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let source = Source::new(Path::new("/a.json"), "{\n  \"é\": 1\n}");
        let place = |start| {
            let location = source.locate(Span::new(start, start + 1));
            (location.line, location.column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(4), (2, 3));
        assert_eq!(place(9), (2, 7));
        assert_eq!(place(9_999), (3, 2));
        assert_eq!(source.locate(Span::new(4, 5)).to_string(), "/a.json:2:3");
    }
}

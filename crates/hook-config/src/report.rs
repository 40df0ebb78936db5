//! Findings about one file, each with its place and its JSON pointer.

use std::fmt::{Display, Write};

use hook_core::diagnostic::codes;
use hook_core::{Code, Diagnostic, Location, Severity, Source, Span};

use crate::json::Node;
use crate::suggest::nearest;

/// Findings of one file that may carry a suggestion: to find one is slow, and files may be written to be slow.
const SUGGESTIONS: usize = 200;

/// Collects the findings of one file.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) source: &'a Source,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Members for people are nothing to warn about.
    pub(crate) notes_are_fine: bool,
    /// How bad it is that a handler cannot be used; `None` leaves it to the finding.
    pub(crate) left_out: Option<Severity>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(source: &'a Source) -> Report<'a> {
        Report { source, diagnostics: Vec::new(), notes_are_fine: true, left_out: None }
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// A finding at a place; it still has to be pushed.
    pub(crate) fn at(&self, code: Code, pointer: &str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message).at(self.locate(span), "").pointer(pointer)
    }

    /// A finding that costs a handler; it still has to be pushed.
    pub(crate) fn costly(
        &self,
        code: Code,
        pointer: &str,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        let finding = self.at(code, pointer, span, message);
        match self.left_out {
            Some(severity) => finding.severity(severity),
            None => finding,
        }
    }

    /// The word that was probably meant; after many findings nobody is helped by more of them.
    pub(crate) fn nearest<'w>(
        &self,
        word: &str,
        candidates: impl IntoIterator<Item = &'w str>,
    ) -> Option<&'w str> {
        if self.diagnostics.len() >= SUGGESTIONS { None } else { nearest(word, candidates) }
    }

    pub(crate) fn locate(&self, span: Span) -> Location {
        self.source.locate(span)
    }

    /// A member has a type that its rule does not take.
    pub(crate) fn wrong_type(&mut self, pointer: &str, node: &Node, wanted: &str) {
        let name = pointer.rsplit('/').next().unwrap_or_default();
        let message = format!("{name:?} is {}, not {wanted}; it is left out", node.what());
        self.push(self.at(codes::WRONG_TYPE, pointer, node.span, message));
    }
}

/// `pointer` with one more step, escaped as JSON pointers want it.
pub(crate) fn step(pointer: &str, part: impl Display) -> String {
    let mut out = String::with_capacity(pointer.len() + 24);
    out.push_str(pointer);
    out.push('/');
    let start = out.len();
    // Writing into a string cannot fail.
    let _ = write!(out, "{part}");
    if out[start..].contains(['~', '/']) {
        let escaped = out[start..].replace('~', "~0").replace('/', "~1");
        out.truncate(start);
        out.push_str(&escaped);
    }
    out
}

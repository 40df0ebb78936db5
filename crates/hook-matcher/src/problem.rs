//! What the author of a matcher should know.

use hook_core::Span;

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text cannot be read as a matcher.
    Unreadable,
    /// The text is no pattern and is compared as it stands.
    LiteralFallback,
    /// The text cannot be read and is taken for the name of a tool.
    NameFallback,
    /// The text means something else than readers of another dialect expect.
    DialectTrap,
    /// A bare name of an MCP server, which no tool has.
    McpServerPrefix,
    /// A rule for a tool that nobody knows.
    UnknownTool,
}

/// A problem with one matcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// Bytes of the matcher's text.
    pub span: Span,
    /// What is wrong, and with what effect.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// A text that would be right in place of the span.
    pub suggestion: Option<String>,
}

impl Problem {
    pub(crate) fn new(kind: ProblemKind, span: Span, message: impl Into<String>) -> Problem {
        Problem { kind, span, message: message.into(), help: None, suggestion: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Problem {
        self.suggestion = Some(suggestion.into());
        self
    }
}

//! Findings about matchers, by the compiler that will run them.

use hook_core::diagnostic::codes;
use hook_core::{Flavour, Severity};
use hook_matcher::{Matcher, ProblemKind};

use crate::json::Node;
use crate::report::Report;

/// Compiles a matcher and reports what the compiler finds.
pub(crate) fn check(text: &str, flavour: Flavour, node: &Node, pointer: &str, report: &mut Report<'_>) {
    for problem in Matcher::compile(Some(text), flavour).problems {
        let (code, severity) = match problem.kind {
            ProblemKind::Unreadable => (codes::MATCHER_UNREADABLE, Severity::Error),
            ProblemKind::LiteralFallback => (codes::MATCHER_LITERAL_FALLBACK, Severity::Warning),
            ProblemKind::McpServerPrefix => (codes::MCP_SERVER_PREFIX, Severity::Warning),
            _ => (codes::MATCHER_DIALECT_TRAP, Severity::Warning),
        };
        let span = node.span_within(&report.source.text, problem.span);
        let mut finding = report.at(code, pointer, span, problem.message).severity(severity);
        finding.help = problem.help;
        finding.suggestion = problem.suggestion;
        report.push(finding);
    }
}

//! Findings about `if`s, by the compiler that will run them.

use hook_core::diagnostic::codes;
use hook_core::{Dialect, DialectId};
use hook_matcher::{CompiledIf, ProblemKind, known_tools};

use crate::json::Member;
use crate::report::Report;

/// Compiles the `if` of a handler and reports what the compiler finds.
pub(crate) fn check(member: &Member, dialect: &dyn Dialect, pointer: &str, report: &mut Report<'_>) {
    let Some(text) = member.value.as_str() else { return };
    let native = dialect.profile().id == DialectId::NATIVE;
    for problem in CompiledIf::compile(text, native).problems {
        let word = text.get(problem.span.start..problem.span.end).unwrap_or_default();
        let code = match problem.kind {
            ProblemKind::Unreadable => codes::CONDITION_UNREADABLE,
            // An agent's own name for a tool is one of the names that a call of it has.
            ProblemKind::UnknownTool if dialect.profile().tools.iter().any(|row| row.native == word) => {
                continue;
            }
            ProblemKind::UnknownTool => codes::CONDITION_UNKNOWN_TOOL,
            _ => codes::CONDITION_TRAP,
        };
        let span = member.value.span_within(&report.source.text, problem.span);
        let near =
            if code == codes::CONDITION_UNKNOWN_TOOL { report.nearest(word, known_tools()) } else { None };
        let near = near.map(str::to_owned);
        let mut finding = report.at(code, pointer, span, problem.message);
        finding.help = problem.help.or_else(|| near.as_ref().map(|near| format!("did you mean {near}?")));
        finding.suggestion = problem.suggestion.or(near);
        report.push(finding);
    }
}

//! Findings about matchers, by the compiler that will run them.

use hook_core::diagnostic::codes;
use hook_core::{Flavour, Severity, Span};
use hook_matcher::{Matcher, ProblemKind};

use crate::formats::Tools;
use crate::json::Node;
use crate::report::Report;

/// What is known of the event a matcher stands under.
pub(crate) struct About<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// It comes with a call of a tool. What is not known may well.
    pub(crate) has_tool: bool,
    /// Whether its hooks can hold something back; asked only where a finding depends on it.
    pub(crate) guards: &'a dyn Fn() -> bool,
    /// The tools a matcher could mean, where they are known.
    pub(crate) tools: Option<&'a Tools>,
}

/// Compiles a matcher and reports what the compiler finds.
pub(crate) fn check(
    text: &str,
    flavour: Flavour,
    event: &About<'_>,
    node: &Node,
    pointer: &str,
    report: &mut Report<'_>,
) {
    let tools = event.tools;
    let compiled = Matcher::compile(Some(text), flavour);
    if !event.has_tool && compiled.matcher.predicate().is_some() {
        let message = format!("{} comes with no call of a tool, so there is no input to look at", event.name);
        let finding = report.at(codes::MATCHER_WITHOUT_TOOL, pointer, node.span, message);
        report.push(finding.help("match what the event names, or move the hooks to an event of one tool"));
    }
    // What is wrong with the text itself is the better explanation.
    if let (Some(tools), true) = (tools, compiled.problems.is_empty()) {
        unknown_tools(&compiled.matcher, text, tools, node, pointer, report);
    }
    for problem in compiled.problems {
        let (code, severity) = match problem.kind {
            ProblemKind::Unreadable => (codes::MATCHER_UNREADABLE, Severity::Error),
            ProblemKind::NameFallback if (event.guards)() => (codes::MATCHER_NAME_FALLBACK, Severity::Error),
            ProblemKind::NameFallback => (codes::MATCHER_NAME_FALLBACK, Severity::Warning),
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

/// Names that no tool has, and patterns that no tool's name fits: a typing mistake, or a tool that came later.
fn unknown_tools(
    matcher: &Matcher,
    text: &str,
    tools: &Tools,
    node: &Node,
    pointer: &str,
    report: &mut Report<'_>,
) {
    let Some(names) = matcher.exact_names() else {
        let is_known = tools.names.iter().any(|tool| matcher.matches([*tool]));
        if !is_known && !text.contains(tools.others.trim_end_matches('_')) {
            let message = format!("no tool that is known here has a name that fits {text:?}");
            let finding = report.at(codes::UNKNOWN_TOOL, pointer, node.span, message);
            report.push(finding.severity(Severity::Info).help("upper and lower case count"));
        }
        return;
    };
    for name in names.iter().filter(|name| !name.starts_with(tools.others)) {
        if tools.names.contains(&name.as_str()) {
            continue;
        }
        let at = text.find(name.as_str()).unwrap_or_default();
        let span = node.span_within(&report.source.text, Span::new(at, at + name.len()));
        let message = format!("no tool that is known here is called {name:?}");
        let finding = report.at(codes::UNKNOWN_TOOL, pointer, span, message);
        // A tool that came later is no mistake; one whose name is nearly written is.
        report.push(match report.nearest(name, tools.names.iter().copied()) {
            Some(near) => finding.help(format!("did you mean {near:?}?")).suggest(near),
            None => finding.severity(Severity::Info),
        });
    }
}

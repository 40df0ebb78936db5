//! Diagnostics for people, with the place and a caret.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use hook_engine::core::{Diagnostic, Label, Severity, Source};

use crate::report::relative;

/// Lines longer than this are not shown, only named.
const LONGEST_LINE: usize = 400;

/// Findings of a list, by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Count {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) infos: usize,
}

impl Count {
    /// Counts.
    pub(crate) fn of(findings: &[Diagnostic]) -> Count {
        let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
        Count {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            infos: count(Severity::Info),
        }
    }
}

/// `2 errors, 1 warning`; `no findings`.
impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [(self.errors, "error"), (self.warnings, "warning"), (self.infos, "remark")];
        let mut written = false;
        for (number, word) in parts.into_iter().filter(|(number, _)| *number > 0) {
            let comma = if written { ", " } else { "" };
            write!(f, "{comma}{}", plural(number, word))?;
            written = true;
        }
        if written { Ok(()) } else { f.write_str("no findings") }
    }
}

/// `1 file`, `2 files`.
pub(crate) fn plural(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// All findings, one below the other.
pub(crate) fn render(findings: &[Diagnostic], sources: &[Source], coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for finding in findings {
        out.push_str(&renderer.render(&[group(finding, sources)]));
        out.push_str("\n\n");
    }
    out
}

fn group<'a>(finding: &'a Diagnostic, sources: &'a [Source]) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let id = format!("{} {}", finding.code.number(), finding.code.slug());
    let mut group = Group::with_title(level.primary_title(finding.message.as_str()).id(id));
    // The line may hold a key that somebody wrote where the name of its variable belongs.
    let secret = finding.pointer.as_deref().is_some_and(|pointer| pointer.starts_with("/settings/model"));
    for (index, label) in finding.labels.iter().enumerate() {
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let path = relative(&label.location.file);
        let shown = if secret { None } else { excerpt(label, sources) };
        group = match shown {
            Some((line, span)) => group.element(
                Snippet::<Annotation<'_>>::source(line)
                    .line_start(label.location.line)
                    .path(path)
                    .annotation(kind.span(span).label(label.text.as_str())),
            ),
            None => {
                group.element(Origin::path(path).line(label.location.line).char_column(label.location.column))
            }
        };
    }
    if let (true, Some(file)) = (finding.labels.is_empty(), &finding.file) {
        group = group.element(Origin::path(relative(file)));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let said = |suggestion: &str| finding.help.as_ref().is_some_and(|help| help.contains(suggestion));
    if let Some(suggestion) = finding.suggestion.as_ref().filter(|suggestion| !said(suggestion)) {
        group = group.element(Level::HELP.message(format!("did you mean {suggestion}?")));
    }
    group
}

/// The first line of a place, and the place within it. Whole objects would drown what is wrong with them.
fn excerpt<'a>(label: &Label, sources: &'a [Source]) -> Option<(&'a str, Range<usize>)> {
    let source = sources.iter().find(|source| source.path == label.location.file)?;
    let text: &str = &source.text;
    let start = label.location.span.start.min(text.len());
    let begin = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text[begin..].split('\n').next()?.trim_end_matches('\r');
    if line.len() > LONGEST_LINE {
        return None;
    }
    let from = (start - begin).min(line.len());
    let to = label.location.span.end.saturating_sub(begin).clamp(from, line.len());
    line.is_char_boundary(to).then_some((line, from..to))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hook_engine::core::Span;
    use hook_engine::core::diagnostic::codes;

    use super::*;

    fn finding(text: &str, span: Span) -> String {
        let source = Source::new(Path::new("/p/.hooks/hooks.json"), text);
        let finding = Diagnostic::new(codes::UNKNOWN_EVENT, "no such event")
            .at(source.locate(span), "here")
            .help("look it up")
            .suggest("PreToolUse");
        render(&[finding], &[source], false)
    }

    #[test]
    fn a_finding_shows_its_line_a_caret_and_what_to_do() {
        let shown = finding("{\n  \"PreTool\": []\n}", Span::new(4, 13));
        let expected = "\
warning[HK205 unknown-event]: no such event
 --> /p/.hooks/hooks.json:2:3
  |
2 |   \"PreTool\": []
  |   ^^^^^^^^^ here
  |
  = help: look it up
  = help: did you mean PreToolUse?

";
        assert_eq!(shown, expected);
    }

    #[test]
    fn odd_places_never_break_the_report() {
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(1_000_000));
        let texts = ["", "{", "é", "a\r\nb", long.as_str()];
        for text in texts {
            for span in [Span::new(0, 0), Span::new(0, 1), Span::new(1, 9), Span::new(99, 100)] {
                let shown = finding(text, span);
                assert!(shown.contains(".hooks/hooks.json:"), "{text:.20} {span:?}: {shown:.300}");
                assert!(shown.len() < 2_000);
            }
        }
    }

    #[test]
    fn counts_read_like_a_sentence() {
        assert_eq!(Count::default().to_string(), "no findings");
        let count = Count { errors: 2, warnings: 1, infos: 0 };
        assert_eq!(count.to_string(), "2 errors, 1 warning");
    }
}

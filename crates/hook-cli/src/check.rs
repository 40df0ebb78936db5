//! Checking hook files.

use std::io::IsTerminal;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use hook_engine::config::{Loaded, StdFiles, check_file, lint};
use hook_engine::core::{Diagnostic, DialectId, Severity, Source};
use hook_engine::mapper::Dialects;
use serde_json::Value;

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::{exit, json, output, report, session, world};

pub(crate) fn check(args: &CheckArgs) -> Result<u8, CliError> {
    let dialects = Dialects::standard();
    let host = world::host(session::dialect(&dialects, "native")?.profile())?;
    let mut loaded = if args.paths.is_empty() {
        session::load_files(&host, &dialects, &args.sources, None)?
    } else {
        named_files(args, &dialects)?
    };
    let scripts = lint(&loaded, &StdFiles, &host, &dialects);
    loaded.diagnostics.extend(scripts);
    let findings = &loaded.diagnostics;
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    if args.json {
        let list: Value = findings.iter().map(json::finding).collect();
        output::data(&format!("{list:#}\n"))?;
    } else {
        print(findings.iter(), &loaded.sources);
        let warnings = findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
        let hooks = loaded.hooks().count();
        let files = loaded.sources.len();
        output::data(&format!("{files} files, {hooks} hooks: {errors} errors, {warnings} warnings\n"))?;
    }
    Ok(if errors > 0 { exit::FINDINGS } else { exit::OK })
}

fn named_files(args: &CheckArgs, dialects: &Dialects) -> Result<Loaded, CliError> {
    let dialect: Option<DialectId> = match &args.dialect {
        Some(word) => Some(session::dialect(dialects, word)?.profile().id),
        None => None,
    };
    let mut all = Loaded::default();
    for path in &args.paths {
        let path = std::path::absolute(path).map_err(|error| CliError::io(path.display(), error))?;
        if !path.exists() {
            return Err(CliError::io(path.display(), std::io::ErrorKind::NotFound.into()));
        }
        let one = check_file(&path, dialect, &StdFiles, dialects);
        all.documents.extend(one.documents);
        all.diagnostics.extend(one.diagnostics);
        all.sources.extend(one.sources);
    }
    Ok(all)
}

/// Shows the errors among findings, for verbs that go on all the same.
pub(crate) fn print_errors(findings: &[Diagnostic], sources: &[Source]) {
    print(findings.iter().filter(|finding| finding.severity == Severity::Error), sources);
}

fn print<'a>(findings: impl Iterator<Item = &'a Diagnostic>, sources: &[Source]) {
    let colour =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    for finding in findings {
        output::words(&format!("{}\n\n", render(finding, sources, colour)));
    }
}

/// A finding with the lines it points at.
fn render(finding: &Diagnostic, sources: &[Source], colour: bool) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let id = format!("{} {}", finding.code.number(), finding.code.slug());
    let mut group = level
        .primary_title(finding.message.as_str())
        .id(id.as_str())
        .elements(Vec::<annotate_snippets::Element<'_>>::new());
    let source = |file: &Path| sources.iter().find(|source| &*source.path == file);
    let mut paths = Vec::new();
    for label in &finding.labels {
        paths.push(report::relative(&label.location.file));
    }
    let file_only =
        finding.labels.is_empty().then(|| finding.file.as_deref().map(report::relative)).flatten();
    for (index, label) in finding.labels.iter().enumerate() {
        let Some(source) = source(&label.location.file) else { continue };
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let end = label.location.span.end.min(source.text.len());
        let start = label.location.span.start.min(end);
        let annotation = kind.span(start..end).label(label.text.as_str());
        group =
            group.element(Snippet::source(&*source.text).path(paths[index].as_str()).annotation(annotation));
    }
    if let Some(file) = &file_only {
        group = group.element(annotate_snippets::Origin::path(file.as_str()));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let suggestion = finding.suggestion.as_ref().map(|suggestion| format!("write {suggestion}"));
    if let Some(suggestion) = &suggestion {
        group = group.element(Level::HELP.message(suggestion.as_str()));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group]).to_string()
}

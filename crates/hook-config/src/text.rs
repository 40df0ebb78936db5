//! From the bytes of a file to a tree: size, encoding, syntax, and what the dialect allows of it.

use std::path::Path;
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{Diagnostic, Files, Source, Span};

use crate::formats::{Rules, Tolerance};
use crate::json::{self, Tree};
use crate::report::Report;

/// No hook file is read beyond this size.
pub const MAX_FILE: u64 = 8 << 20;

const BOM: &str = "\u{feff}";

/// A file's text, its tree where it has one, and what was found on the way.
pub(crate) struct Opened {
    pub(crate) source: Source,
    pub(crate) tree: Option<Tree>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads a file. `Ok(None)`: there is none.
pub(crate) fn read(files: &dyn Files, path: &Path) -> Result<Option<Vec<u8>>, Box<Diagnostic>> {
    let error = match files.read(path, MAX_FILE) {
        Ok(bytes) => return Ok(Some(bytes)),
        // `NotADirectory`: a part of the path is a file, so nothing is there.
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => error,
    };
    let finding = match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            let message = format!("the file is larger than {} MiB; none of its hooks run", MAX_FILE >> 20);
            Diagnostic::new(codes::FILE_TOO_LARGE, message).help("split it, or move it away")
        }
        std::io::ErrorKind::InvalidInput | std::io::ErrorKind::IsADirectory => {
            let message = "not a regular file; none of its hooks run";
            Diagnostic::new(codes::UNREADABLE_FILE, message).help("put a regular file in its place")
        }
        std::io::ErrorKind::PermissionDenied => {
            let message = "no permission to read the file; none of its hooks run";
            Diagnostic::new(codes::UNREADABLE_FILE, message).help("make it readable for you (`chmod u+r`)")
        }
        _ => Diagnostic::new(codes::UNREADABLE_FILE, format!("cannot be read: {error}")),
    };
    Err(Box::new(finding.in_file(path)))
}

/// Decodes and parses a file's bytes.
pub(crate) fn open(bytes: &[u8], path: &Path, rules: &Rules) -> Opened {
    let path: Arc<Path> = Arc::from(path);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            let source = Source::new(path, String::from_utf8_lossy(bytes).into_owned());
            let message = format!("byte {at} is not UTF-8; none of the file's hooks run");
            let report = Report::new(&source);
            let finding =
                report.at(codes::NOT_UTF8, "", Span::new(at, at + 1), message).help("save the file as UTF-8");
            return Opened { diagnostics: vec![finding], tree: None, source };
        }
    };
    let source = Source::new(path, text);
    let mut report = Report::new(&source);
    // The parser never sees the mark; blanks in its place keep every offset true.
    let marked = text.starts_with(BOM);
    let blanked = marked.then(|| text.replacen(BOM, "   ", 1));
    if marked {
        let span = Span::new(0, BOM.len());
        let finding = match rules.bom {
            Tolerance::Silent => None,
            Tolerance::Warn => {
                Some(report.at(codes::BOM, "", span, "the file begins with a byte order mark"))
            }
            Tolerance::Refuse => {
                let message = "the file begins with a byte order mark, which its agent does not read; none of its hooks run";
                Some(report.at(codes::INVALID_JSON, "", span, message))
            }
        };
        if let Some(finding) = finding {
            report.push(finding.help("save the file as UTF-8 without a byte order mark"));
        }
        if rules.bom == Tolerance::Refuse {
            let diagnostics = report.diagnostics;
            return Opened { diagnostics, tree: None, source };
        }
    }
    if rules.ways.empty_is_fine && matches!(text.trim_start_matches(BOM).trim(), "" | "null") {
        return Opened { diagnostics: report.diagnostics, tree: None, source };
    }
    let tree = match json::parse(blanked.as_deref().unwrap_or(text)) {
        Ok(tree) => check(tree, rules, &mut report),
        Err(error) => {
            let code = if error.too_deep { codes::TOO_DEEP } else { codes::INVALID_JSON };
            let message = format!("{}; none of the file's hooks run", error.message);
            let mut finding = report.at(code, "", error.span, message);
            finding.help =
                Some(error.help.unwrap_or("mend the file here; it is JSON up to this place").to_owned());
            report.push(finding);
            None
        }
    };
    let diagnostics = report.diagnostics;
    Opened { diagnostics, tree, source }
}

/// What the dialect says to comments, trailing commas and repeated keys.
fn check(tree: Tree, rules: &Rules, report: &mut Report<'_>) -> Option<Tree> {
    if let Some((span, what)) = tree.lax {
        let help = "remove comments and trailing commas";
        match rules.lax {
            Tolerance::Silent => {}
            Tolerance::Warn => {
                let message = format!(
                    "{what} in a file that its own agent reads as strict JSON: there none of its hooks run"
                );
                let finding = report.at(codes::NOT_STRICT_JSON, "", span, message);
                report.push(finding.help(help));
            }
            Tolerance::Refuse => {
                let message = format!("{what} is not allowed in this file; none of its hooks run");
                let finding = report.at(codes::INVALID_JSON, "", span, message);
                report.push(finding.help(help));
                return None;
            }
        }
    }
    repeated(&tree, report);
    Some(tree)
}

/// Members that stand twice.
pub(crate) fn repeated(tree: &Tree, report: &mut Report<'_>) {
    for duplicate in &tree.duplicates {
        let message = format!("{:?} stands twice in one object; only the last one counts", duplicate.key);
        let finding = Diagnostic::new(codes::DUPLICATE_KEY, message)
            .pointer(tree.root.pointer_to(duplicate.last))
            .at(report.locate(duplicate.last), "this one counts")
            .at(report.locate(duplicate.first), "this one does not")
            .help("join both, or remove one");
        report.push(finding);
    }
}

//! `state.json` beside the plugins: which of them are switched off by name, without touching their files
//! ("Shell hooks module for Amplifier, Hook management").

use std::path::Path;

use hook_core::diagnostic::codes;
use hook_core::{Diagnostic, Files, Location, Source};

use crate::json::{self, Kind};
use crate::report::{Report, step};
use crate::text;

/// What a state file says.
#[derive(Default)]
pub(super) struct State {
    /// The names that are off, each with its place.
    pub(super) disabled: Vec<(String, Location)>,
    pub(super) source: Option<Source>,
    pub(super) findings: Vec<Diagnostic>,
}

/// Reads a state file that may be missing. A broken one switches nothing off.
pub(super) fn read(files: &dyn Files, path: &Path) -> State {
    let mut state = State::default();
    let broken = |message: String| {
        Diagnostic::new(codes::STATE_UNREADABLE, format!("{message}; no plugin is switched off by it"))
            .help("write `{\"disabled\": [\"name\"]}`, or remove the file")
    };
    let bytes = match files.read(path, text::MAX_FILE) {
        Ok(bytes) => bytes,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return state;
        }
        Err(error) => {
            state.findings.push(broken(format!("cannot be read: {error}")).in_file(path));
            return state;
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        state.findings.push(broken("the file is not UTF-8".to_owned()).in_file(path));
        return state;
    };
    let source = Source::new(path, text);
    let mut report = Report::new(&source);
    let mut fault = |pointer: &str, span, message: String| {
        let finding = broken(message).at(source.locate(span), "").pointer(pointer);
        report.push(finding);
    };
    match json::parse(&source.text) {
        Err(error) => fault("", error.span, error.message),
        Ok(tree) => match (&tree.root.kind, tree.root.get("disabled")) {
            (Kind::Object(_), None) => {}
            (Kind::Object(_), Some(member)) => match &member.value.kind {
                Kind::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        match item.as_str() {
                            Some(name) => {
                                state.disabled.push((name.to_owned(), source.locate(item.span)));
                            }
                            None => {
                                report.wrong_type(&step("/disabled", index), item, "the name of a plugin")
                            }
                        }
                    }
                }
                _ => {
                    let message = format!("\"disabled\" is {}, not a list of names", member.value.what());
                    fault("/disabled", member.value.span, message);
                }
            },
            _ => fault("", tree.root.span, format!("the top level is {}, not an object", tree.root.what())),
        },
    }
    state.findings = report.diagnostics;
    state.source = Some(source);
    state
}

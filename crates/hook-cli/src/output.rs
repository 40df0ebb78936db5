//! Printing: data on standard output, words on standard error.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use crate::error::CliError;

/// Prints data. Colours are kept for terminals only.
pub(crate) fn data(text: &str) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| CliError::io("standard output", error))
}

/// Prints words for people.
pub(crate) fn words(text: &str) {
    // Nobody is left to tell where standard error is closed.
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Colour on this stream: a terminal, and `NO_COLOR` not set.
pub(crate) fn coloured(stream: &impl IsTerminal) -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    stream.is_terminal() && !unwanted && !dumb
}

/// Text of hooks and files, for a terminal: its control characters cannot move the cursor or hide a line.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if harmful(c) { '\u{fffd}' } else { c }).collect())
}

//! Printing: data on standard output, words on standard error.

use std::io::Write;

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

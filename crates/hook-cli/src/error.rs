//! What can go wrong in the command, and the exit code of each.

use std::io;

use crate::exit;

/// An error on its way to the user.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CliError {
    pub(crate) code: u8,
    message: String,
    pub(crate) help: Option<String>,
    #[source]
    source: Option<io::Error>,
}

impl CliError {
    fn new(code: u8, message: impl Into<String>) -> CliError {
        CliError { code, message: message.into(), help: None, source: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> CliError {
        CliError::new(exit::USAGE, message)
    }

    /// Something that this program does not do, and a person may want to do otherwise.
    pub(crate) fn refused(message: impl Into<String>) -> CliError {
        CliError::new(exit::FINDINGS, message)
    }

    pub(crate) fn data(message: impl Into<String>) -> CliError {
        CliError::new(exit::DATA, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> CliError {
        CliError::new(exit::INTERNAL, message)
    }

    pub(crate) fn io(what: impl std::fmt::Display, error: io::Error) -> CliError {
        CliError { source: Some(error), ..CliError::new(exit::IO, String::new()) }.describe(what)
    }

    fn describe(mut self, what: impl std::fmt::Display) -> CliError {
        if let Some(source) = &self.source {
            self.message = format!("{what}: {source}");
        }
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> CliError {
        self.help = Some(help.into());
        self
    }

    /// Somebody stopped reading our output, which is their right.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.source.as_ref().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// A panic is our fault and has to look like it: the code of an abort could mean something to an agent.
pub(crate) fn exit_on_panic() {
    std::panic::set_hook(Box::new(|info| {
        crate::output::words(&format!("hook: a fault of this program: {info}\n"));
        std::process::exit(i32::from(exit::INTERNAL));
    }));
}

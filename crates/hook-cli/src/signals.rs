//! Signals by which a process is told to end.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;

/// `TERM`, `INT` and `HUP`, heard from here on.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    /// For use inside a runtime.
    pub(crate) fn listen() -> Result<Signals, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| CliError::internal(format!("cannot listen for signals: {error}")))
        };
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for one of them. Given up, it loses none.
    pub(crate) async fn come(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

//! When to stop: SIGTERM from a service manager, or Ctrl-C from a person. Not what stopping means,
//! which is [`super::Handle::shutdown`].

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// The signals that end the program, heard from the moment this exists.
#[derive(Debug)]
pub struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// Listen for the signals. Before the server starts, or an early one kills the program outright.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Wait for the next of them, and name it for the log.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

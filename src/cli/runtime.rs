//! Where the subcommands that wait do their waiting. Not the server's: that has workers of its own.

use std::future::Future;

use super::CliError;

/// Run `work` to its end.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    // One worker beside this thread: connections go on while this thread computes.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| {
        CliError::Failed(format!("Cannot start the runtime: {error}; check the limits on threads."))
    })?;
    runtime.block_on(work)
}

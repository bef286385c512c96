//! What the program does whoever asks: the audit log, disabled links and accounts, hosts, expiry and
//! cleanup.

use kurz_test_support::{Kind, TestServer};

mod aliases;
mod audit;
mod caps;
mod cleanup;
mod codes;
mod disable;
mod expiry;
mod host_proof;
mod host_urls;
mod hosts;
mod tags;

/// A server whose cleanup runs when the test calls for it.
pub(crate) async fn start_without_cleanup(kind: Kind) -> TestServer {
    let server = TestServer::builder().database(kind).from_now();
    server.setting("KURZ_THREADS", "1").setting("KURZ_CLEANUP_DELAY", "1d").start().await
}

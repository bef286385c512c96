//! The copy of events in ClickHouse, on Debian's real server: every event once, whatever fails; what is deleted in
//! the store is deleted there; and answers that equal those from blocks (`analytics/oracle.rs`).

use std::time::Duration;

use kurz::app::CopyCheck;
use kurz_test_support::TestServer;
use kurz_test_support::clickhouse::ask;
use tokio_util::sync::CancellationToken;
use url::Url;

mod copies;
mod outages;
mod privacy;
pub(crate) mod proxy;

const EVENTS: &str = "SELECT count() FROM kurz_events";

/// Let ClickHouse have what the store has of days that are over, or of those that tasks are about.
pub(crate) async fn check_copies(kurz: &TestServer, check: CopyCheck) {
    let stop = CancellationToken::new();
    assert!(kurz.app().check_copies(check, Duration::ZERO, &stop).await.unwrap());
}

/// Blocks cannot answer any more: that they exist is known, and their links.
pub(crate) async fn break_blocks(kurz: &TestServer) {
    kurz.execute("delete from event_blocks where column_number <> 32").await;
}

/// Write all clicks, make blocks of them and copy those.
async fn write_and_copy(kurz: &TestServer) {
    cut(kurz).await;
    kurz.app().copy_waiting_events().await.unwrap();
}

async fn cut(kurz: &TestServer) {
    kurz.app().flush_all().await.unwrap();
    kurz.app().cut_own_events(true).await.unwrap();
}

/// The distinct values of a column.
async fn values(clickhouse: &Url, column: &str) -> Vec<String> {
    let answer =
        ask(clickhouse, &format!("SELECT DISTINCT {column} FROM kurz_events ORDER BY {column}"))
            .await;
    answer.split('\n').map(str::to_owned).collect()
}

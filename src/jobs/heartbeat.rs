//! Writes the heartbeat of this instance: at its start, then at an interval, until it ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;

const EVERY: Duration = Duration::from_secs(15);

/// Write heartbeats until `stop`, then remove the instance.
pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        if let Err(error) = app.record_heartbeat().await {
            tracing::debug!(%error, "the heartbeat of this instance could not be written");
        }
    }
    if let Err(error) = app.end_heartbeat().await {
        tracing::debug!(%error, "this instance could not be removed from the list");
    }
}

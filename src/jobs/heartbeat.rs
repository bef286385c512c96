//! Registers this instance in the store at its start and every 15 seconds, and removes it at its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;

const EVERY: Duration = Duration::from_secs(15);

/// Send heartbeats until `stop`.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        if let Err(error) = app.note_presence().await {
            tracing::debug!(%error, "the heartbeat of this instance could not be written");
        }
    }
    if let Err(error) = app.end_presence().await {
        tracing::debug!(%error, "this instance could not be removed from the list");
    }
}

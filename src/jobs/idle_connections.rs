//! Keeps idle connections to the store open, so that after a time without requests, or after an outage
//! of the database, the next request does not wait for a new one.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;

const EVERY: Duration = Duration::from_secs(2);

/// Keep them open until `stop`.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        stop.run_until_cancelled(app.tend_store()).await;
    }
}

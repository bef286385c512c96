//! Keeps connections to the store open, so that the first request after an idle time, or after an outage
//! of the database, finds one.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;

/// How often they are looked after.
const EVERY: Duration = Duration::from_secs(2);

/// Look after them until `stop`.
pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        stop.run_until_cancelled(app.keep_store_connections()).await;
    }
}

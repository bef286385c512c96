//! Looks after events: every second the keys of visitors' hashes, misses on hosts of workspaces and the event log of this
//! instance, every minute what one instance does for all.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::{App, AppError};

const EVERY: Duration = Duration::from_secs(1);
const MAINTAIN_EVERY: Duration = Duration::from_mins(1);
/// How long no other instance maintains events after one did: less than the interval, so that it is not missed.
const LOCK_AT_LEAST: Duration = Duration::from_secs(50);

/// Look after events until `stop`.
pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    let mut maintained_at = Instant::now();
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let mut done = keep_up(&app).await;
        if done.is_ok() && maintained_at.elapsed() >= MAINTAIN_EVERY {
            maintained_at = Instant::now();
            done = app.maintain_events(LOCK_AT_LEAST, &stop).await.map(|_| ());
        }
        match done {
            Ok(()) => failing = false,
            // Logged once per outage: nothing is lost, the next run does what is left.
            Err(error) if !failing => {
                failing = true;
                tracing::warn!(%error, "events could not be looked after; it is retried");
            }
            Err(_) => {}
        }
    }
}

async fn keep_up(app: &App) -> Result<(), AppError> {
    app.keep_visitor_keys().await?;
    app.write_orphans().await?;
    app.cut_own_events(false).await
}

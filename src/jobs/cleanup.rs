//! Runs the cleanup of links: some time after the start, then at an interval.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use crate::app::{App, CleanupTimes};

/// When each instance tries; the lock decides which one does it.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Between the start and the first cleanup.
    pub delay: Duration,
    pub every: Duration,
}

/// Clean up until `stop`.
pub async fn run(app: Arc<App>, schedule: Schedule, times: CleanupTimes, stop: CancellationToken) {
    let mut ticks = interval_at(Instant::now() + schedule.delay, schedule.every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let end = match app.clean_up(times, &stop).await {
            Ok(None) => {
                failing = false;
                continue;
            }
            Ok(Some(cleaned)) => {
                failing = false;
                let (marked, purged, end) = (cleaned.marked, cleaned.purged, cleaned.end.as_str());
                if marked + purged > 0 {
                    tracing::info!(marked, purged, end, "links were cleaned up");
                }
                end
            }
            Err(error) => {
                // Logged once per outage: the next run does what is left.
                if !failing {
                    tracing::warn!(%error, "cleanup failed; it is retried at the next interval");
                }
                failing = true;
                "failed"
            }
        };
        metrics::counter!("kurz_cleanup_runs_total", "outcome" => end).increment(1);
    }
}

//! Runs the health checks of targets, every minute.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::{App, Probe};

/// How often each instance looks for due links; the lock decides which one checks them.
const EVERY: Duration = Duration::from_mins(1);

/// Check targets until `stop`.
pub(crate) async fn run(app: Arc<App>, probe: impl Probe, stop: CancellationToken) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        match app.check_targets(&probe, &stop).await {
            Ok(checked) => {
                failing = false;
                if let Some(checked) = checked.filter(|checked| *checked > 0) {
                    tracing::info!(checked, "targets were checked");
                }
            }
            // Logged once per outage: the next run does what is left.
            Err(error) if !failing => {
                failing = true;
                tracing::warn!(%error, "checking targets failed; it is retried in a minute");
            }
            Err(_) => {}
        }
    }
}

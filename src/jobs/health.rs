//! Runs the health checks of targets, every minute.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::{App, Probe};

/// How often links that are due are looked for; the lock decides which instance does it.
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
            // Said once for each outage: what was not done is done the next time.
            Err(error) if !failing => {
                failing = true;
                tracing::warn!(%error, "targets cannot be checked yet");
            }
            Err(_) => {}
        }
    }
}

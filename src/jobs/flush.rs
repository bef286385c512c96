//! Writes clicks four times a second, so that a killed process loses at most the last second.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::{App, FLUSH_EVERY};

/// A process that has written nothing for so long counts as ended, and another one applies its log. While
/// it has anything in the log, it writes several times a second.
pub const SILENT: Duration = Duration::from_secs(10);

/// Flush until `stop`. Later clicks are written by the last flush, after the last redirect.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut ticks = interval(FLUSH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    let mut last_applied = Instant::now();
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let mut flushed = app.flush().await;
        if flushed.is_ok() && last_applied.elapsed() >= SILENT {
            last_applied = Instant::now();
            flushed = app.apply_abandoned_clicks(SILENT, false).await;
        }
        match flushed {
            Ok(()) => failing = false,
            // Logged once per outage: nothing is lost, the next flush retries.
            Err(error) if !failing => {
                failing = true;
                tracing::warn!(%error, "clicks could not be written; the next flush retries");
            }
            Err(_) => {}
        }
        let (links, bytes) = app.cache_size();
        #[expect(
            clippy::cast_precision_loss,
            clippy::as_conversions,
            reason = "gauges are doubles; these are far below 2^53"
        )]
        {
            metrics::gauge!("kurz_cache_links").set(links as f64);
            metrics::gauge!("kurz_cache_bytes").set(bytes as f64);
            metrics::gauge!("kurz_clicks_pending_links").set(app.unwritten().await as f64);
        }
    }
}

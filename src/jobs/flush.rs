//! Writing redirects down, twice a second: a killed process forgets at most the last second.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;

/// How long redirects gather before they are written.
const EVERY: Duration = Duration::from_millis(500);

/// Flush until `stop`. What gathers after that is for the last flush, once nobody redirects.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        match app.flush().await {
            Ok(_) => failing = false,
            // Said once for each outage: nothing is lost, it is tried again.
            Err(error) if !failing => {
                failing = true;
                tracing::warn!(%error, "redirect counts cannot be written yet");
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
            metrics::gauge!("kurz_unwritten_links").set(app.unwritten() as f64);
        }
    }
}

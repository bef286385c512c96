//! The platform's totals. Counting all live links takes as long as there are links, so a count
//! that was slow is remembered in proportion.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::app::{App, AppError};

/// A count is good for this many times as long as it took.
const PATIENCE: u32 = 50;
/// A count that is this quick is never remembered.
const QUICK: Duration = Duration::from_millis(5);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    pub live_links: i64,
    pub redirects: i64,
    /// Their mean latency in milliseconds.
    pub mean_ms: f64,
}

/// The last count of live links, and until when it is good.
#[derive(Debug, Default)]
pub(crate) struct TotalsCache(Mutex<Option<(i64, Instant)>>);

impl App {
    pub async fn totals(&self) -> Result<Totals, AppError> {
        // The lock is held while counting: one count at a time, whoever asks.
        let mut cached = self.totals.0.lock().await;
        let live_links = match *cached {
            Some((count, good_until)) if Instant::now() < good_until => count,
            _ => {
                let start = Instant::now();
                let count = self.parts.store.count_live_links(self.parts.clock.now()).await?;
                let took = start.elapsed();
                *cached = (took > QUICK).then(|| (count, Instant::now() + took * PATIENCE));
                count
            }
        };
        drop(cached);
        let clicks = self.parts.store.total_clicks().await?;
        Ok(Totals { live_links, redirects: clicks.count, mean_ms: clicks.mean_ms })
    }
}

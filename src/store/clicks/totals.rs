//! Totals of the whole platform. They outlive the links they were counted on: a purge never
//! lowers them.

use crate::store::driver::statements;
use crate::store::value::SqlValue;
use crate::store::{Error, Store};
use kurz_core::time::Timestamp;

statements! {
    REDIRECTS = "select count, mean from totals where name = 'redirects'";
    /// Reads one index, not the links.
    COUNT_LIVE = "select (select count(*) from links where expires_at is null
            and expired_at is null and deleted_at is null and purged_at is null)
        + (select count(*) from links where expires_at > $1
            and expired_at is null and deleted_at is null and purged_at is null)";
}

/// All clicks ever, and their mean latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlatformTotals {
    pub count: i64,
    /// Mean latency in milliseconds.
    pub mean_ms: f64,
}

impl Store {
    pub async fn total_clicks(&self) -> Result<PlatformTotals, Error> {
        let row = self.db.find(REDIRECTS, &[]).await?;
        let row = row.ok_or_else(|| Error::Corrupt("the totals are missing".to_owned()))?;
        Ok(PlatformTotals { count: row.int(0)?, mean_ms: row.real(1)? })
    }

    /// How many links redirect at `now`.
    pub async fn count_live_links(&self, now: Timestamp) -> Result<i64, Error> {
        let rows = self.db.list(COUNT_LIVE, vec![SqlValue::from(now)]).await?;
        rows.first().map_or(Ok(0), |row| row.int(0))
    }
}

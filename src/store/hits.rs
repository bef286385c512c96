//! Writing redirects down: what gathered in memory since the last time is added to what is stored.
//!
//! Invariant: only sums travel, never absolute values, so nothing is lost when several instances
//! write, and means merge exactly (Chan).

use crate::clock::Timestamp;
use crate::link::{Latency, LinkId, Month};
use crate::store::driver::{Step, statements};
use crate::store::value::Value;
use crate::store::{Error, Store};

statements! {
    ADD_HITS = "insert into link_stats
            (link_id, redirect_count, avg_redirect_ms, last_redirect_at, month, month_hits)
        values ($1, $2, $3, $4, $5, $6)
        on conflict (link_id) do update set
            redirect_count = link_stats.redirect_count + excluded.redirect_count,
            avg_redirect_ms = link_stats.avg_redirect_ms
                + (excluded.avg_redirect_ms - link_stats.avg_redirect_ms)
                * excluded.redirect_count
                / (link_stats.redirect_count + excluded.redirect_count),
            last_redirect_at = case
                when excluded.last_redirect_at > link_stats.last_redirect_at
                then excluded.last_redirect_at else link_stats.last_redirect_at end,
            month_hits = case
                when excluded.month > link_stats.month then excluded.month_hits
                when excluded.month < link_stats.month then link_stats.month_hits
                else link_stats.month_hits + excluded.month_hits end,
            month = case
                when excluded.month > link_stats.month then excluded.month
                else link_stats.month end";
    ADD_TO_TOTAL = "update totals set
            mean = mean + (cast($1 as double precision) - mean) * cast($2 as bigint)
                / (count + $2),
            count = count + $2
        where name = 'redirects'";
}

/// Redirects of one link that are not written yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hits {
    /// The link.
    pub link: LinkId,
    /// How many, and their mean latency.
    pub latency: Latency,
    /// The latest of them.
    pub last_at: Timestamp,
    /// The month that `month_hits` counts.
    pub month: Month,
    /// How many of them used up quota in that month.
    pub month_hits: i64,
}

impl Store {
    /// Add redirects to what is stored, all in one transaction.
    pub async fn add_hits(&self, hits: &[Hits]) -> Result<(), Error> {
        let mut steps = Vec::with_capacity(hits.len() + 1);
        let mut total = Latency::default();
        // In the order of the keys: see `insert_links`.
        let mut order: Vec<&Hits> = hits.iter().collect();
        order.sort_by_key(|hits| hits.link);
        for hits in order {
            total.merge(hits.latency);
            steps.push(Step::new(
                ADD_HITS,
                [
                    Value::Int(hits.link.0),
                    Value::Int(count(hits.latency)),
                    Value::Real(hits.latency.mean_ms),
                    hits.last_at.into(),
                    Value::Int(hits.month.number()),
                    Value::Int(hits.month_hits),
                ],
            ));
        }
        if total.count > 0 {
            let params = [Value::Real(total.mean_ms), Value::Int(count(total))];
            steps.push(Step::new(ADD_TO_TOTAL, params));
        }
        self.db.batch(steps).await.map(|_| ())
    }
}

fn count(latency: Latency) -> i64 {
    i64::try_from(latency.count).unwrap_or(i64::MAX)
}

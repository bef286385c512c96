//! Adding clicks to the tables: by link, by hour, and in all.
//!
//! Invariant: only sums travel, never absolute values, so nothing is lost when several instances
//! write, and means merge exactly (Chan).

use crate::store::driver::{Step, statements};
use crate::store::value::SqlValue;
use kurz_core::clicks::ClickTotals;
use kurz_core::link::Latency;

statements! {
    ADD_HITS = "insert into link_stats
            (link_id, redirect_count, avg_redirect_ms, last_redirect_at, month, month_hits, others,
            list_scope)
        values ($1, $2, $3, $4, $5, $6, $7, (select list_scope from links where id = $1))
        on conflict (link_id) do update set
            redirect_count = link_stats.redirect_count + excluded.redirect_count,
            avg_redirect_ms = case when excluded.redirect_count = 0
                then link_stats.avg_redirect_ms
                else link_stats.avg_redirect_ms
                    + (excluded.avg_redirect_ms - link_stats.avg_redirect_ms)
                    * excluded.redirect_count
                    / (link_stats.redirect_count + excluded.redirect_count) end,
            last_redirect_at = case
                when excluded.last_redirect_at > link_stats.last_redirect_at
                then excluded.last_redirect_at else link_stats.last_redirect_at end,
            month_hits = case
                when excluded.month > link_stats.month then excluded.month_hits
                when excluded.month < link_stats.month then link_stats.month_hits
                else link_stats.month_hits + excluded.month_hits end,
            reserved = case
                when excluded.month > link_stats.month then 0
                when excluded.month < link_stats.month then link_stats.reserved
                when link_stats.reserved > cast($8 as bigint) then link_stats.reserved - $8
                else 0 end,
            holders = case when excluded.month > link_stats.month then 0
                else link_stats.holders end,
            writers = case when excluded.month > link_stats.month then 0
                else link_stats.writers end,
            month = case
                when excluded.month > link_stats.month then excluded.month
                else link_stats.month end,
            others = link_stats.others + excluded.others";
    ADD_HOUR = "insert into link_hours (hour, link_id, hits, others) values ($1, $2, $3, $4)
        on conflict (hour, link_id) do update set
            hits = link_hours.hits + excluded.hits,
            others = link_hours.others + excluded.others";
    ADD_TO_TOTAL = "update totals set
            mean = mean + (cast($1 as double precision) - mean) * cast($2 as bigint)
                / (count + $2),
            count = count + $2
        where name = 'redirects'";
}

/// The steps that add totals to their links and hours. They are sorted by link: see `insert_links`.
pub(super) fn add(totals: &[ClickTotals]) -> impl Iterator<Item = Step> {
    let by_link = totals.iter().map(|one| {
        let clicks = int(one.clicks);
        let latency = one.latency();
        Step::new(
            ADD_HITS,
            [
                SqlValue::Int(one.link.0),
                SqlValue::Int(clicks),
                SqlValue::Real(latency.mean_ms),
                one.last_at.into(),
                SqlValue::Int(one.hour.month().number()),
                SqlValue::Int(clicks),
                SqlValue::Int(one.others.into()),
                SqlValue::Int(int(one.reserved)),
            ],
        )
    });
    // The hour is the first column of its key.
    let mut hours: Vec<&ClickTotals> = totals.iter().collect();
    hours.sort_by_key(|one| (one.hour, one.link));
    let by_hour = hours.into_iter().map(|one| {
        Step::new(
            ADD_HOUR,
            [
                SqlValue::Int(one.hour.number().into()),
                SqlValue::Int(one.link.0),
                SqlValue::Int(int(one.clicks)),
                SqlValue::Int(one.others.into()),
            ],
        )
    });
    by_link.chain(by_hour)
}

/// The step that adds the clicks of totals to the platform's total, if there are any.
pub(super) fn add_to_total(totals: &[ClickTotals]) -> Option<Step> {
    let mut total = Latency::default();
    for one in totals {
        total.merge(one.latency());
    }
    let params = [SqlValue::Real(total.mean_ms), SqlValue::Int(int(total.count))];
    (total.count > 0).then(|| Step::new(ADD_TO_TOTAL, params))
}

fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

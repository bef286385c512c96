//! Adding clicks to the tables: by link, by hour, and in all.
//!
//! Invariant: only sums travel, never absolute values, so nothing is lost when several instances
//! write, and means merge exactly (Chan).

use std::fmt::{self, Write};

use crate::store::driver::{Sql, Step, statements};
use crate::store::value::SqlValue;
use kurz_core::clicks::ClickTotals;
use kurz_core::link::Latency;

/// The rows of a statement: a JSON array with an array of numbers for each.
macro_rules! rows {
    (sqlite) => {
        " from json_each($1) where true"
    };
    (postgres) => {
        " from json_array_elements(cast(cast($1 as text) as json)) where true"
    };
}

macro_rules! add_hits {
    ($database:ident) => {
        concat!(
            "insert into link_stats
            (link_id, redirect_count, avg_redirect_ms, last_redirect_at, month, month_hits, others, reserved,
            list_scope)
        select cast(value ->> 0 as bigint), cast(value ->> 1 as bigint),
            cast(value ->> 2 as double precision), cast(value ->> 3 as bigint),
            cast(value ->> 4 as bigint), cast(value ->> 1 as bigint), cast(value ->> 5 as bigint),
            case when exists (select 1 from link_stats where link_id = cast(value ->> 0 as bigint))
                then cast(value ->> 6 as bigint) else 0 end,
            (select list_scope from links where id = cast(value ->> 0 as bigint))",
            rows!($database),
            "
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
                when link_stats.reserved > excluded.reserved
                then link_stats.reserved - excluded.reserved
                else 0 end,
            holders = case when excluded.month > link_stats.month then 0
                else link_stats.holders end,
            writers = case when excluded.month > link_stats.month then 0
                else link_stats.writers end,
            month = case
                when excluded.month > link_stats.month then excluded.month
                else link_stats.month end,
            others = link_stats.others + excluded.others"
        )
    };
}

macro_rules! add_hours {
    ($database:ident) => {
        concat!(
            "insert into link_hours (hour, link_id, hits, others)
        select cast(value ->> 0 as bigint), cast(value ->> 1 as bigint), cast(value ->> 2 as bigint),
            cast(value ->> 3 as bigint)",
            rows!($database),
            "
        on conflict (hour, link_id) do update set
            hits = link_hours.hits + excluded.hits,
            others = link_hours.others + excluded.others"
        )
    };
}

statements! {
    ADD_HITS = add_hits!(sqlite), on_postgres add_hits!(postgres);
    ADD_HOURS = add_hours!(sqlite), on_postgres add_hours!(postgres);
    ADD_TO_TOTAL = "update totals set
            mean = mean + (cast($1 as double precision) - mean) * cast($2 as bigint)
                / (count + $2),
            count = count + $2
        where name = 'redirects'";
}

/// The steps that add totals to their links and hours, many rows in each. They are sorted by link: see
/// `insert_links`.
pub(super) fn add(totals: &[ClickTotals]) -> impl Iterator<Item = Step> {
    // A statement changes a row once, so the second hour of a link is in a statement of its own.
    let mut by_link: Vec<Rows> = Vec::new();
    let (mut last, mut nth) = (None, 0);
    for one in totals {
        nth = if last.replace(one.link) == Some(one.link) { nth + 1 } else { 0 };
        if by_link.len() <= nth {
            by_link.push(Rows::default());
        }
        let (clicks, mean_ms) = (int(one.clicks), one.latency().mean_ms);
        let (last_at, month) = (one.last_at.as_ms(), one.hour.month().number());
        if let Some(rows) = by_link.get_mut(nth) {
            let (link, others, reserved) = (one.link.0, one.others, int(one.reserved));
            rows.push(format_args!(
                "{link},{clicks},{mean_ms},{last_at},{month},{others},{reserved}"
            ));
        }
    }
    // The hour is the first column of its key.
    let mut hours: Vec<&ClickTotals> = totals.iter().collect();
    hours.sort_by_key(|one| (one.hour, one.link));
    let mut by_hour = Rows::default();
    for one in hours {
        let (hour, link, clicks) = (one.hour.number(), one.link.0, int(one.clicks));
        by_hour.push(format_args!("{hour},{link},{clicks},{}", one.others));
    }
    let by_link = by_link.into_iter().map(|rows| rows.step(ADD_HITS));
    by_link.chain((!totals.is_empty()).then(|| by_hour.step(ADD_HOURS)))
}

/// Rows of numbers, in JSON.
#[derive(Default)]
struct Rows(String);

impl Rows {
    fn push(&mut self, numbers: fmt::Arguments<'_>) {
        self.0.push(if self.0.is_empty() { '[' } else { ',' });
        // Writing to a string does not fail.
        let _ = write!(self.0, "[{numbers}]");
    }

    fn step(mut self, sql: Sql) -> Step {
        self.0.push(']');
        Step::new(sql, [SqlValue::owned(self.0)])
    }
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

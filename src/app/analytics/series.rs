//! How often a link was followed over time: by the hour, the day or the month, in UTC, with a
//! bucket for every period, the empty ones too.

use std::collections::BTreeMap;

use crate::app::{App, AppError, ShownLink};
use kurz_core::account::Caller;
use kurz_core::code::WorkspaceId;
use kurz_core::link::{Hour, LinkId, Month};
use kurz_core::time::Timestamp;

const HOUR_MS: i64 = 3_600_000;
const HOURS_A_DAY: i64 = 24;
const HOURS: i64 = 48;
const DAYS: i64 = 30;
const MONTHS: i64 = 12;
/// Days that twelve months may have.
const DAYS_OF_MONTHS: i64 = 366;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// The last 48 hours.
    Hour,
    /// The last 30 days.
    Day,
    /// The last 12 months.
    Month,
}

impl Granularity {
    /// Its name, as addresses and the API say it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Hour, Self::Day, Self::Month].into_iter().find(|span| span.as_str() == text)
    }
}

/// How often a link was followed in one period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub start: Timestamp,
    /// By people, as far as can be told.
    pub clicks: i64,
    /// Those of them that were declared bots or prefetches.
    pub others: i64,
}

/// A link, and how often it was followed.
#[derive(Clone, Debug)]
pub struct LinkAnalytics {
    pub shown: ShownLink,
    /// Requests so far that were answered but are no visits.
    pub others: i64,
    /// Its hits over time, oldest period first.
    pub periods: Vec<Bucket>,
}

impl App {
    /// A link, and how often it was followed.
    pub async fn link_analytics(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        span: Granularity,
    ) -> Result<LinkAnalytics, AppError> {
        let shown = self.show_link(caller, workspace, code).await?;
        let link = shown.link.id;
        let others = self.parts.store.count_others(link).await?;
        Ok(LinkAnalytics { shown, others, periods: self.periods(link, span).await? })
    }

    async fn periods(&self, link: LinkId, span: Granularity) -> Result<Vec<Bucket>, AppError> {
        let now = self.parts.clock.now();
        let day = now.as_ms().div_euclid(HOURS_A_DAY * HOUR_MS);
        let first_day = match span {
            Granularity::Hour => day - HOURS.div_euclid(HOURS_A_DAY),
            Granularity::Day => day - (DAYS - 1),
            Granularity::Month => day - DAYS_OF_MONTHS,
        };
        let store = &self.parts.store;
        let first = Hour::of(Timestamp::from_ms(first_day * HOURS_A_DAY * HOUR_MS));
        let end = Hour::from_number(Hour::of(now).number().saturating_add(1));
        let hours = store.list_hours(link, first, end).await?;
        let days = match span {
            Granularity::Hour => Vec::new(),
            _ => store.list_days(link, first_day, day + 1).await?,
        };
        let mut buckets = empty(span, now);
        let hours = hours.into_iter().map(|found| (found.at * HOUR_MS, found));
        let days = days.into_iter().map(|found| (found.at * HOURS_A_DAY * HOUR_MS, found));
        for (ms, found) in hours.chain(days) {
            let key = key(span, Timestamp::from_ms(ms));
            if let Some(bucket) = buckets.get_mut(&key) {
                bucket.clicks += found.clicks;
                bucket.others += found.others;
            }
        }
        Ok(buckets.into_values().collect())
    }
}

/// Which period an instant is in, as a number that grows by one.
fn key(span: Granularity, at: Timestamp) -> i64 {
    match span {
        Granularity::Hour => at.as_ms().div_euclid(HOUR_MS),
        Granularity::Day => at.as_ms().div_euclid(HOUR_MS * HOURS_A_DAY),
        Granularity::Month => Month::of(at).number(),
    }
}

fn start(span: Granularity, key: i64) -> Timestamp {
    match span {
        Granularity::Hour => Timestamp::from_ms(key * HOUR_MS),
        Granularity::Day => Timestamp::from_ms(key * HOUR_MS * HOURS_A_DAY),
        Granularity::Month => Month::from_number(key - 1).end(),
    }
}

/// Every period up to the present one, with nothing in it.
fn empty(span: Granularity, now: Timestamp) -> BTreeMap<i64, Bucket> {
    let count = match span {
        Granularity::Hour => HOURS,
        Granularity::Day => DAYS,
        Granularity::Month => MONTHS,
    };
    let last = key(span, now);
    let bucket = |key| (key, Bucket { start: start(span, key), clicks: 0, others: 0 });
    (last - count + 1..=last).map(bucket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_follow_each_other_without_a_gap_and_end_now() {
        let now = Timestamp::parse_rfc3339("2026-03-15T12:34:56Z").unwrap();
        for (span, count, first, last) in [
            (Granularity::Hour, 48, "2026-03-13T13:00:00.000Z", "2026-03-15T12:00:00.000Z"),
            (Granularity::Day, 30, "2026-02-14T00:00:00.000Z", "2026-03-15T00:00:00.000Z"),
            (Granularity::Month, 12, "2025-04-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"),
        ] {
            let buckets: Vec<Bucket> = empty(span, now).into_values().collect();
            assert_eq!(buckets.len(), count);
            assert_eq!(buckets[0].start.to_rfc3339(), first);
            assert_eq!(buckets[count - 1].start.to_rfc3339(), last);
            for bucket in buckets {
                assert_eq!(start(span, key(span, bucket.start)), bucket.start);
            }
        }
    }
}

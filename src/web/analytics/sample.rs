//! Made-up reports for the tests of the pages.

use kurz_core::analytics::{
    AnalyticsReport, Dimension, GroupReport, GroupRow, Interval, SeriesPoint, Sums, TimeRange,
};
use kurz_core::time::Timestamp;

const HOUR_MS: i64 = 3_600_000;
/// Midnight in Berlin.
const START: &str = "2026-10-31T23:00:00Z";

fn report(count: u64, interval: Interval, step: i64) -> AnalyticsReport {
    let start = Timestamp::parse_rfc3339(START).unwrap().as_ms();
    let at = |point: u64| Timestamp::from_ms(start + i64::try_from(point).unwrap() * step);
    let sums = |point: u64| {
        let clicks = 100 + point * 10;
        Sums { clicks, visitors: clicks / 2, bots: 5, qr: clicks / 10 }
    };
    let before = Sums { clicks: 50, visitors: 25, bots: 5, qr: 0 };
    let series: Vec<_> = (0..count)
        .map(|point| SeriesPoint { start: at(point), sums: sums(point), before: Some(before) })
        .collect();
    let add = |of: &dyn Fn(&SeriesPoint) -> u64| series.iter().map(of).sum::<u64>();
    AnalyticsReport {
        range: TimeRange { from: at(0), to: at(count) },
        interval,
        zone: "Europe/Berlin".to_owned(),
        visitors_basis: "day",
        detail_share: 1.0,
        exact: true,
        total: Sums {
            clicks: add(&|point| point.sums.clicks),
            visitors: add(&|point| point.sums.visitors),
            bots: add(&|point| point.sums.bots),
            qr: add(&|point| point.sums.qr),
        },
        before: Some(Sums { clicks: 50 * count, visitors: 25 * count, bots: 5 * count, qr: 0 }),
        series,
        groups: Vec::new(),
        events: 0,
    }
}

pub(super) fn report_of_days(count: u64) -> AnalyticsReport {
    report(count, Interval::Day, 24 * HOUR_MS)
}

pub(super) fn report_of_hours(count: u64) -> AnalyticsReport {
    report(count, Interval::Hour, HOUR_MS)
}

/// A group with 50 clicks of unknown and 13 of private values.
pub(super) fn group(dimension: Dimension, values: &[(&str, u64)]) -> GroupReport {
    let row = |(value, clicks): &(&str, u64)| GroupRow {
        value: (*value).to_owned(),
        clicks: *clicks,
        visitors: clicks / 2,
        share: 0.1,
        before: Some(clicks / 2),
    };
    GroupReport {
        dimension,
        rows: values.iter().map(row).collect(),
        rest_values: 0,
        rest_clicks: 0,
        unknown_clicks: 50,
        private_clicks: 13,
    }
}

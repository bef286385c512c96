//! The answer to a question about clicks, on the wire.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use kurz_core::analytics::calendar::Zone;
use kurz_core::analytics::{AnalyticsReport, Dimension, GroupReport, Interval, Sums, TextColumn};

/// What is known about clicks.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnalyticsBody {
    range: RangeBody,
    /// Visitors are told apart within a `day`, `week` or `month` (UTC), and added up over several.
    #[schema(pattern = "^(day|week|month)$")]
    visitors_basis: &'static str,
    /// The share of the clicks whose details are known.
    detail_share: f64,
    /// False where some days are known by their sums only.
    exact: bool,
    total: TotalBody,
    /// One point for each interval, oldest first.
    series: Vec<PointBody>,
    /// By the names of the groups.
    #[serde(serialize_with = "as_map")]
    #[schema(value_type = std::collections::HashMap<String, GroupBody>)]
    groups: Vec<(&'static str, GroupBody)>,
    cost: CostBody,
}

/// The range that was asked for, half-open.
#[derive(Debug, Serialize, ToSchema)]
struct RangeBody {
    from: String,
    to: String,
    zone: String,
    #[schema(pattern = "^(hour|day|week|month)$")]
    interval: &'static str,
}

/// All clicks of the range.
#[derive(Debug, Serialize, ToSchema)]
struct TotalBody {
    clicks: u64,
    visitors: u64,
    /// Clicks by bots, previews and prefetches; not part of `clicks` unless they were asked for.
    bots: u64,
    /// Those of the clicks that came from a QR code.
    qr: u64,
    /// How much more than in the time that was compared with; null without one.
    change: Option<ChangeBody>,
}

/// Growth as a share: 0.1 is a tenth more; null where there was nothing before.
#[derive(Debug, Serialize, ToSchema)]
struct ChangeBody {
    clicks: Option<f64>,
    visitors: Option<f64>,
}

/// One interval.
#[derive(Debug, Serialize, ToSchema)]
struct PointBody {
    /// When it begins, in the zone.
    start: String,
    clicks: u64,
    visitors: u64,
    bots: u64,
    /// The point at the same place of the time that was compared with; null without one.
    before: Option<BeforeBody>,
}

/// A point of the time that was compared with.
#[derive(Debug, Serialize, ToSchema)]
struct BeforeBody {
    clicks: u64,
    visitors: u64,
}

/// Clicks by value.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GroupBody {
    rows: Vec<RowBody>,
    /// Values that are not among the rows.
    rest: RestBody,
    /// Clicks whose value is not known.
    unknown: ClicksBody,
    /// Clicks of visitors who asked not to be tracked.
    private: ClicksBody,
}

/// One value.
#[derive(Debug, Serialize, ToSchema)]
struct RowBody {
    value: String,
    /// Its English name, where it has another one: of a country.
    name: Option<&'static str>,
    clicks: u64,
    visitors: u64,
    /// Of all clicks of the group.
    share: f64,
    /// Growth of its clicks as a share; null where there were none before, or nothing was compared.
    change: Option<f64>,
}

/// Values that are not shown.
#[derive(Debug, Serialize, ToSchema)]
struct RestBody {
    values: u64,
    clicks: u64,
}

/// A number of clicks.
#[derive(Debug, Serialize, ToSchema)]
struct ClicksBody {
    clicks: u64,
}

/// What the answer cost.
#[derive(Debug, Serialize, ToSchema)]
struct CostBody {
    /// Events that were read; sums of days that were remembered count as read.
    events: u64,
    ms: u64,
}

impl AnalyticsBody {
    pub(crate) fn new(report: AnalyticsReport, ms: u64) -> Self {
        let zone = Zone::find(&report.zone).unwrap_or_else(Zone::utc);
        let AnalyticsReport { total, before, .. } = report;
        let series = report.series.iter().map(|point| PointBody {
            start: zone.to_rfc3339(point.start),
            clicks: point.sums.clicks,
            visitors: point.sums.visitors,
            bots: point.sums.bots,
            before: point
                .before
                .map(|Sums { clicks, visitors, .. }| BeforeBody { clicks, visitors }),
        });
        Self {
            range: RangeBody {
                from: zone.to_rfc3339(report.range.from),
                to: zone.to_rfc3339(report.range.to),
                zone: zone.name().to_owned(),
                interval: interval_name(report.interval),
            },
            visitors_basis: report.visitors_basis,
            detail_share: rounded(report.detail_share),
            exact: report.exact,
            total: TotalBody {
                clicks: total.clicks,
                visitors: total.visitors,
                bots: total.bots,
                qr: total.qr,
                change: before.map(|before| ChangeBody {
                    clicks: change(total.clicks, before.clicks),
                    visitors: change(total.visitors, before.visitors),
                }),
            },
            series: series.collect(),
            cost: CostBody { events: report.events, ms },
            groups: report
                .groups
                .into_iter()
                .map(|group| (group.dimension.name(), GroupBody::from(group)))
                .collect(),
        }
    }
}

impl From<GroupReport> for GroupBody {
    fn from(group: GroupReport) -> Self {
        let is_country = group.dimension == Dimension::Text(TextColumn::Country);
        let rows = group.rows.into_iter().map(|row| RowBody {
            name: country_name(&row.value).filter(|_| is_country),
            value: row.value,
            clicks: row.clicks,
            visitors: row.visitors,
            share: rounded(row.share),
            change: row.before.and_then(|before| change(row.clicks, before)),
        });
        Self {
            rows: rows.collect(),
            rest: RestBody { values: group.rest_values, clicks: group.rest_clicks },
            unknown: ClicksBody { clicks: group.unknown_clicks },
            private: ClicksBody { clicks: group.private_clicks },
        }
    }
}

/// Codes and names of countries: code, English, German and Spanish name.
const COUNTRIES: &str = include_str!("../../../assets/countries.txt");

fn country_name(code: &str) -> Option<&'static str> {
    let line = COUNTRIES.lines().find(|line| line.split('\t').next() == Some(code))?;
    line.split('\t').nth(1)
}

pub(crate) const fn interval_name(interval: Interval) -> &'static str {
    match interval {
        Interval::Hour => "hour",
        Interval::Day => "day",
        Interval::Week => "week",
        Interval::Month => "month",
    }
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a share needs no 53 bits")]
fn change(now: u64, before: u64) -> Option<f64> {
    (before > 0).then(|| rounded(now as f64 / before as f64 - 1.0))
}

/// To four digits.
fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

fn as_map<S: Serializer>(
    groups: &[(&'static str, GroupBody)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(groups.len()))?;
    for (name, group) in groups {
        map.serialize_entry(name, group)?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shares_of_what_was_before() {
        assert_eq!(
            (change(110, 100), change(50, 100), change(5, 0)),
            (Some(0.1), Some(-0.5), None)
        );
        assert_eq!((country_name("DE"), country_name("XX")), (Some("Germany"), None));
    }
}

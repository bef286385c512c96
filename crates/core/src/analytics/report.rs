//! The answer to a question about clicks.

use crate::analytics::{Dimension, Interval, TimeRange};
use crate::time::Timestamp;

/// Clicks, and what is known of who made them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub clicks: u64,
    /// Distinct visitors by period, added up over the periods.
    pub visitors: u64,
    /// Clicks by bots, previews and prefetches; not part of `clicks` unless they were asked for.
    pub bots: u64,
    /// Clicks that came from a QR code.
    pub qr: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnalyticsReport {
    pub range: TimeRange,
    pub interval: Interval,
    pub zone: String,
    /// `day`, `week` or `month`.
    pub visitors_basis: &'static str,
    /// The share of the clicks whose details are known.
    pub detail_share: f64,
    /// False where some days are known by their sums only.
    pub exact: bool,
    pub total: Sums,
    /// The total of the time that was compared with.
    pub before: Option<Sums>,
    /// One point per interval, also where there are no clicks; oldest first.
    pub series: Vec<SeriesPoint>,
    /// In the order in which they were asked for.
    pub groups: Vec<GroupReport>,
    /// Events that were read.
    pub events: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesPoint {
    pub start: Timestamp,
    pub sums: Sums,
    /// The point at the same place of the time that was compared with.
    pub before: Option<Sums>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GroupReport {
    pub dimension: Dimension,
    pub rows: Vec<GroupRow>,
    /// Values that are not in `rows`, and their clicks.
    pub rest_values: u64,
    pub rest_clicks: u64,
    pub unknown_clicks: u64,
    /// Clicks of visitors who asked not to be tracked.
    pub private_clicks: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// The stored value; of a link its code.
    pub value: String,
    pub clicks: u64,
    pub visitors: u64,
    /// Of all clicks of the group.
    pub share: f64,
    /// Clicks in the time that was compared with.
    pub before: Option<u64>,
}

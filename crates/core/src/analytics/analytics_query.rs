//! A question about clicks.

use crate::analytics::{Class, Dimension};
use crate::link::LinkId;
use crate::time::Timestamp;

/// What is asked about the events of one workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyticsQuery {
    pub range: TimeRange,
    pub interval: Interval,
    /// IANA name of the time zone that days, weeks and months begin in.
    pub zone: String,
    /// Only clicks on this link.
    pub link: Option<LinkId>,
    pub groups: Vec<Dimension>,
    /// Rows in each group, and how many are skipped.
    pub limit: usize,
    pub offset: usize,
    pub order: RowOrder,
    /// All must match.
    pub filters: Vec<EventFilter>,
    pub compare: Comparison,
    /// `None`: everybody.
    pub class: Option<Class>,
}

/// From the first moment up to, not including, the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    pub from: Timestamp,
    pub to: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    Hour,
    Day,
    /// From Monday on.
    Week,
    Month,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    Clicks,
    Visitors,
    Change,
    Name,
}

/// The time that a range is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    None,
    /// The range of the same length before.
    Previous,
    /// The same range a year before.
    Year,
    Range(TimeRange),
}

/// One filter: an event matches when one of the values does, or none of them with `not`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFilter {
    pub dimension: Dimension,
    pub not: bool,
    pub values: Vec<FilterValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterValue {
    /// The empty text matches what is not known.
    Exactly(Box<str>),
    Prefix(Box<str>),
}

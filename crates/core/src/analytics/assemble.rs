//! From sums to an answer: which rows a group shows, what is left of it, shares and changes.

use std::cmp::{Ordering, Reverse};

use crate::analytics::day_partial::{RangeSums, RowKeys};
use crate::analytics::scan_plan::ScanPlan;
use crate::analytics::value_counts::{GroupCounts, ValueCounts};
use crate::analytics::{
    AnalyticsQuery, AnalyticsReport, Dimension, GroupReport, GroupRow, PRIVATE, REST, RowOrder,
    SeriesPoint, Sums, UNKNOWN,
};
use crate::link::LinkId;
use crate::time::Timestamp;

/// A row of a group before its visitors are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedRow {
    /// The text, or the id of the link.
    pub value: String,
    pub link: Option<LinkId>,
    pub clicks: u64,
    /// In the time that is compared with.
    pub before: Option<u64>,
}

/// All values of a group in the order that was asked for, and what is no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankedGroup {
    pub rows: Vec<RankedRow>,
    unknown: u64,
    private: u64,
    /// Clicks of values that sums of old days do not tell apart.
    merged: u64,
    total: u64,
}

impl RankedGroup {
    /// The visitors are not known yet: rows that are ordered by them come in the order of clicks.
    pub fn new(counts: &GroupCounts, before: Option<&GroupCounts>, order: RowOrder) -> Self {
        let mut group = Self::default();
        match counts {
            GroupCounts::Texts(counts) => group.add_texts(counts, before),
            GroupCounts::Links(counts) => {
                for (link, clicks) in counts.iter() {
                    let before = before.map(|before| match before {
                        GroupCounts::Links(before) => before.get(link),
                        GroupCounts::Texts(_) => 0,
                    });
                    let value = link.to_string();
                    group.rows.push(RankedRow { value, link: Some(link), clicks, before });
                }
                group.total = counts.total();
            }
        }
        group.rows.sort_unstable_by(|left, right| {
            let by_clicks = || right.clicks.cmp(&left.clicks);
            let by_name = || left.link.cmp(&right.link).then_with(|| left.value.cmp(&right.value));
            match order {
                RowOrder::Clicks | RowOrder::Visitors => by_clicks().then_with(by_name),
                RowOrder::Change => by_change(left, right).then_with(by_clicks).then_with(by_name),
                RowOrder::Name => by_name(),
            }
        });
        group
    }

    fn add_texts(&mut self, counts: &ValueCounts, before: Option<&GroupCounts>) {
        for (text, clicks) in counts.iter() {
            match text {
                UNKNOWN => self.unknown = clicks,
                PRIVATE => self.private = clicks,
                REST => self.merged = clicks,
                text => {
                    let before = before.map(|before| match before {
                        GroupCounts::Texts(before) => before.get(text),
                        GroupCounts::Links(_) => 0,
                    });
                    self.rows.push(RankedRow {
                        value: text.to_owned(),
                        link: None,
                        clicks,
                        before,
                    });
                }
            }
        }
        self.total = counts.total();
    }

    /// With tags, the clicks of an event count for each tag of its link: shares are of all clicks.
    #[must_use]
    pub fn of_total(self, total: u64) -> Self {
        Self { total, ..self }
    }

    /// The events that belong to the first `most` rows.
    pub fn keys(&self, skip: usize, most: usize) -> RowKeys {
        let rows = self.rows.iter().skip(skip).take(most);
        if self.rows.iter().any(|row| row.link.is_some()) {
            RowKeys::Links(rows.map(|row| row.link.into_iter().collect()).collect())
        } else {
            RowKeys::Texts(rows.map(|row| row.value.as_str().into()).collect())
        }
    }

    /// Order the first rows, whose visitors these are, by visitors. False when a row whose visitors are not
    /// known might belong among the first `most`: it has no more visitors than clicks.
    pub fn rank_by_visitors(&mut self, visitors: &mut Vec<u64>, most: usize) -> bool {
        let others = self.rows.split_off(visitors.len().min(self.rows.len()));
        let mut ranked: Vec<(u64, RankedRow)> =
            visitors.iter().copied().zip(self.rows.drain(..)).collect();
        ranked.sort_by(|(left_visitors, left), (right_visitors, right)| {
            let key = |visitors: u64, row: &RankedRow| (Reverse(visitors), Reverse(row.clicks));
            key(*left_visitors, left).cmp(&key(*right_visitors, right))
        });
        let last = ranked.get(most.saturating_sub(1)).map_or(0, |(visitors, _)| *visitors);
        let is_settled = others.first().is_none_or(|other| other.clicks < last);
        *visitors = ranked.iter().map(|(visitors, _)| *visitors).collect();
        self.rows = ranked.into_iter().map(|(_, row)| row).chain(others).collect();
        is_settled
    }

    /// The group as it is shown, with the visitors of the rows from `skip` on.
    pub fn report(
        self,
        dimension: Dimension,
        skip: usize,
        most: usize,
        visitors: impl Fn(usize) -> u64,
    ) -> GroupReport {
        let (values, clicks) =
            (self.rows.len(), self.rows.iter().map(|row| row.clicks).sum::<u64>());
        let total = self.total;
        let shown = self.rows.into_iter().skip(skip).take(most).enumerate();
        let rows: Vec<GroupRow> = shown
            .map(|(place, row)| GroupRow {
                value: row.value,
                clicks: row.clicks,
                visitors: visitors(place),
                share: share(row.clicks, total),
                before: row.before,
            })
            .collect();
        let shown = rows.iter().map(|row| row.clicks).sum::<u64>();
        GroupReport {
            dimension,
            rest_values: u64::try_from(values - rows.len()).unwrap_or(0),
            rest_clicks: clicks - shown + self.merged,
            unknown_clicks: self.unknown,
            private_clicks: self.private,
            rows,
        }
    }
}

/// The largest growth first; what was not there before has none and comes last.
fn by_change(left: &RankedRow, right: &RankedRow) -> Ordering {
    let (left_before, right_before) = (left.before.unwrap_or(0), right.before.unwrap_or(0));
    match (left_before, right_before) {
        (0, 0) => Ordering::Equal,
        (0, _) => Ordering::Greater,
        (_, 0) => Ordering::Less,
        _ => {
            let product = |clicks: u64, before: u64| u128::from(clicks) * u128::from(before);
            product(right.clicks, left_before).cmp(&product(left.clicks, right_before))
        }
    }
}

/// Clicks by tag, of clicks by link. Links without a tag have the unknown one.
pub fn by_tag(counts: &GroupCounts, tags: impl Fn(LinkId) -> Vec<String>) -> GroupCounts {
    let GroupCounts::Links(links) = counts else { return counts.clone() };
    let mut values: Vec<(String, u64)> = Vec::new();
    for (link, clicks) in links.iter() {
        let tags = tags(link);
        if tags.is_empty() {
            values.push((UNKNOWN.to_owned(), clicks));
        }
        values.extend(tags.into_iter().map(|tag| (tag, clicks)));
    }
    GroupCounts::Texts(values.iter().map(|(tag, clicks)| (tag.as_str(), *clicks)).collect())
}

/// The answer without its groups.
pub fn report(
    query: &AnalyticsQuery,
    plan: &ScanPlan,
    sums: &RangeSums,
    before: Option<&RangeSums>,
    exact: bool,
) -> AnalyticsReport {
    let total = sums.total();
    let mut points: Vec<Sums> = sums.series().collect();
    points.resize(plan.buckets.len(), Sums::default());
    let mut earlier = before.map(RangeSums::series);
    let mut before_point = || earlier.as_mut().map(|earlier| earlier.next().unwrap_or_default());
    let series = plan.buckets.iter().zip(points);
    let series = series.map(|(start, sums)| SeriesPoint {
        start: Timestamp::from_ms(*start),
        sums,
        before: before_point(),
    });
    let all = total.clicks + sums.damaged_events;
    AnalyticsReport {
        range: query.range,
        interval: query.interval,
        zone: query.zone.clone(),
        visitors_basis: plan.basis.as_str(),
        detail_share: if all == 0 {
            1.0
        } else {
            1.0 - share(sums.bare + sums.damaged_events, all)
        },
        exact,
        total,
        before: before.map(RangeSums::total),
        series: series.collect(),
        groups: Vec::new(),
        events: sums.events + before.map_or(0, |before| before.events),
    }
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a share needs no 53 bits")]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[(&str, u64)]) -> GroupCounts {
        GroupCounts::Texts(values.iter().copied().collect())
    }

    fn names(group: &RankedGroup) -> Vec<&str> {
        group.rows.iter().map(|row| row.value.as_str()).collect()
    }

    #[test]
    fn rows_come_in_the_order_that_is_asked_for() {
        let now = counts(&[("DE", 30), ("AT", 20), ("CH", 20), ("FR", 5), ("", 3), (PRIVATE, 2)]);
        let then = counts(&[("DE", 60), ("AT", 10), ("CH", 15), ("US", 9)]);
        let ranked = |order| RankedGroup::new(&now, Some(&then), order);
        assert_eq!(names(&ranked(RowOrder::Clicks)), ["DE", "AT", "CH", "FR"]);
        assert_eq!(names(&ranked(RowOrder::Name)), ["AT", "CH", "DE", "FR"]);
        assert_eq!(names(&ranked(RowOrder::Change)), ["AT", "CH", "DE", "FR"], "FR was not there");
    }

    #[test]
    fn what_is_not_shown_is_the_rest() {
        let now = counts(&[("DE", 30), ("AT", 20), ("CH", 10), ("", 3), (PRIVATE, 2), (REST, 5)]);
        let group = RankedGroup::new(&now, None, RowOrder::Clicks);
        let report = group.report(Dimension::Link, 1, 1, |row| u64::try_from(row).unwrap() + 7);
        let row = &report.rows[0];
        assert_eq!((row.value.as_str(), row.clicks, row.visitors), ("AT", 20, 7));
        assert!((row.share - 20.0 / 70.0).abs() < 1e-9);
        assert_eq!((report.rest_values, report.rest_clicks), (2, 45));
        assert_eq!((report.unknown_clicks, report.private_clicks), (3, 2));
    }

    #[test]
    fn rows_by_visitors_are_settled_when_no_other_can_have_more() {
        let now = counts(&[("a", 100), ("b", 90), ("c", 50), ("d", 10)]);
        let mut group = RankedGroup::new(&now, None, RowOrder::Visitors);
        let mut visitors = vec![5, 80];
        assert!(!group.rank_by_visitors(&mut visitors, 2), "c may have up to 50");
        assert_eq!((names(&group), &visitors), (vec!["b", "a", "c", "d"], &vec![80, 5]));
        let mut group = RankedGroup::new(&now, None, RowOrder::Visitors);
        let mut visitors = vec![5, 80, 40];
        assert!(group.rank_by_visitors(&mut visitors, 2), "d has at most 10");
        assert_eq!(names(&group), ["b", "c", "a", "d"]);
    }

    #[test]
    fn a_click_counts_for_every_tag_of_its_link() {
        let links = [(LinkId(1), 5), (LinkId(2), 3), (LinkId(3), 1)];
        let links = GroupCounts::Links(links.into_iter().collect());
        let tags = by_tag(&links, |link| match link.0 {
            1 => vec!["spring".to_owned(), "print".to_owned()],
            2 => vec!["spring".to_owned()],
            _ => Vec::new(),
        });
        assert_eq!(tags, counts(&[("spring", 8), ("print", 5), ("", 1)]));
    }
}

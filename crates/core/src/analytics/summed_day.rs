//! The sums of a day whose events are gone, or of one before events were kept, as a scan would have given them as
//! far as they are known.

use std::collections::BTreeMap;

use crate::analytics::day_partial::{DayPartial, Distinct, PartialCell, RowKeys, ShownRows};
use crate::analytics::scan_plan::{DAY_MS, QR, ScanPlan, is_bot_class, number};
use crate::analytics::value_counts::{GroupCounts, LinkCounts, ValueCounts};
use crate::analytics::{DaySums, Dimension, TextColumn, UNKNOWN, WHOLE_WORKSPACE};
use crate::link::LinkId;

/// What is left of a day: its sums by dimension, which is the number of a column.
#[derive(Clone, Debug, Default)]
pub struct SummedDay {
    dimensions: BTreeMap<u8, DaySums>,
}

/// Clicks in one hour or on one day, of which nothing else is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedPeriod {
    /// When it begins, in milliseconds.
    pub start: i64,
    /// By people.
    pub clicks: u64,
    pub bots: u64,
}

impl SummedDay {
    pub fn add(&mut self, dimension: u8, sums: DaySums) {
        self.dimensions.insert(dimension, sums);
    }

    /// The rows of a dimension that `plan` is about: of the workspace, or of the links that it allows.
    fn rows(
        &self,
        plan: &ScanPlan,
        column: TextColumn,
    ) -> impl Iterator<Item = (LinkId, &str, u64, u64)> {
        let sums = self.dimensions.get(&number(column));
        let is_asked = move |link: LinkId| {
            if plan.links.is_empty() {
                return link == WHOLE_WORKSPACE;
            }
            link != WHOLE_WORKSPACE && plan.links.iter().all(|filter| filter.allows(link))
        };
        sums.into_iter().flat_map(DaySums::rows).filter(move |(link, ..)| is_asked(*link))
    }

    /// Everything that is asked about the day, which has no hours any more: it counts where its noon is.
    pub fn partial(&self, plan: &ScanPlan, day: i64) -> DayPartial {
        let mut cell = PartialCell::default();
        let mut visitors = 0;
        for (_, class, clicks, people) in self.rows(plan, TextColumn::Class) {
            if plan.selects(class) {
                cell.clicks += clicks;
                visitors += people;
            }
            if is_bot_class(class) {
                cell.bots += clicks;
            }
        }
        let triggers = self.rows(plan, TextColumn::Trigger);
        cell.qr =
            triggers.filter(|(_, value, ..)| *value == QR).map(|(_, _, clicks, _)| clicks).sum();
        cell.visitors = Distinct::Number(visitors);
        let groups = plan.groups.iter().map(|group| match group {
            Dimension::Text(column) => {
                let rows = self.rows(plan, *column).map(|(_, value, clicks, _)| (value, clicks));
                GroupCounts::Texts(rows.collect())
            }
            Dimension::Link | Dimension::Tag => GroupCounts::Links(self.link_rows(plan).collect()),
        });
        DayPartial::of_numbers(placed(plan, day, cell), visitors, groups.collect())
    }

    /// Clicks by link.
    fn link_rows(&self, plan: &ScanPlan) -> impl Iterator<Item = (LinkId, u64)> {
        let sums = self.dimensions.get(&number(TextColumn::Class));
        let rows = sums.into_iter().flat_map(DaySums::rows);
        let is_asked = |(link, class, ..): &(LinkId, &str, u64, u64)| {
            *link != WHOLE_WORKSPACE
                && plan.selects(class)
                && plan.links.iter().all(|filter| filter.allows(*link))
        };
        rows.filter(is_asked).map(|(link, _, clicks, _)| (link, clicks))
    }

    /// The visitors of rows.
    pub fn row_visitors(&self, plan: &ScanPlan, rows: &ShownRows) -> DayPartial {
        let of_group = |(group, keys): (&Dimension, &RowKeys)| -> Vec<Distinct> {
            let mut visitors = vec![0; keys.len()];
            match (group, keys) {
                (Dimension::Text(column), RowKeys::Texts(keys)) => {
                    for (_, value, _, people) in self.rows(plan, *column) {
                        let row = keys.iter().position(|key| **key == *value);
                        if let Some(sum) = row.and_then(|row| visitors.get_mut(row)) {
                            *sum += people;
                        }
                    }
                }
                (_, RowKeys::Links(keys)) => {
                    let sums = self.dimensions.get(&number(TextColumn::Class));
                    for (link, class, _, people) in sums.into_iter().flat_map(DaySums::rows) {
                        let asked = keys.iter().zip(&mut visitors);
                        for (_, sum) in asked.filter(|(links, _)| links.contains(&link)) {
                            *sum += if plan.selects(class) { people } else { 0 };
                        }
                    }
                }
                _ => {}
            }
            visitors.into_iter().map(Distinct::Number).collect()
        };
        DayPartial::of_rows(plan.groups.iter().zip(&rows.groups).map(of_group).collect())
    }
}

/// A day of which only the clicks of some periods are known.
pub fn counted_day(plan: &ScanPlan, day: i64, periods: &[CountedPeriod]) -> DayPartial {
    let (first, cuts) = plan.cuts(day);
    let mut cells = vec![empty_cell(); cuts.len() + 1];
    let (from, to) = plan.within(day);
    let mut total = 0;
    for period in periods.iter().filter(|period| (from..to).contains(&period.start)) {
        if let Some(cell) = cells.get_mut(plan.bucket(period.start).saturating_sub(first)) {
            cell.clicks += period.clicks;
            cell.bare += period.clicks;
            cell.bots += period.bots;
            total += period.clicks;
        }
    }
    let groups = plan.groups.iter().map(|group| match group {
        Dimension::Text(_) => {
            GroupCounts::Texts(std::iter::once((UNKNOWN, total)).collect::<ValueCounts>())
        }
        Dimension::Link | Dimension::Tag => GroupCounts::Links(LinkCounts::default()),
    });
    DayPartial::of_numbers(cells, 0, groups.collect())
}

fn empty_cell() -> PartialCell {
    PartialCell { visitors: Distinct::Number(0), ..PartialCell::default() }
}

/// The cells of a day with everything in the bucket of its noon, if that is in the range.
fn placed(plan: &ScanPlan, day: i64, cell: PartialCell) -> Vec<PartialCell> {
    let (first, cuts) = plan.cuts(day);
    let mut cells = vec![empty_cell(); cuts.len() + 1];
    let noon = day.saturating_mul(DAY_MS).saturating_add(DAY_MS / 2);
    let (from, to) = plan.within(day);
    let place = plan.bucket(noon.clamp(from, to - 1)).saturating_sub(first);
    if let Some(place) = cells.get_mut(place) {
        *place = cell;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::TimeRange;
    use crate::analytics::day_partial::RangeSums;
    use crate::analytics::scan_plan::LinkSet;
    use crate::analytics::{Class, REST, VisitorPeriod};
    use crate::time::Timestamp;

    fn plan(groups: Vec<Dimension>) -> ScanPlan {
        ScanPlan {
            range: TimeRange { from: Timestamp::from_ms(0), to: Timestamp::from_ms(2 * DAY_MS) },
            buckets: vec![0, DAY_MS],
            basis: VisitorPeriod::Day,
            links: Vec::new(),
            class: Some(Class::Person),
            filters: Vec::new(),
            groups,
        }
    }

    fn day() -> SummedDay {
        let (whole, link) = (WHOLE_WORKSPACE, LinkId(5));
        let mut day = SummedDay::default();
        day.add(
            1,
            DaySums::of([(whole, "person", 50, 40), (whole, "bot", 7, 0), (link, "person", 9, 8)]),
        );
        let countries = [(whole, "DE", 30, 25), (whole, REST, 20, 15), (link, "DE", 4, 3)];
        day.add(12, DaySums::of(countries));
        day.add(21, DaySums::of([(whole, "qr", 11, 9)]));
        day
    }

    #[test]
    fn sums_of_a_day_answer_what_they_can() {
        let country = Dimension::Text(TextColumn::Country);
        let plan = plan(vec![country, Dimension::Link]);
        let mut sums = RangeSums::default();
        sums.add(&plan, 1, &day().partial(&plan, 1));
        let total = sums.total();
        assert_eq!((total.clicks, total.visitors, total.bots, total.qr), (50, 40, 7, 11));
        assert_eq!(sums.series().map(|point| point.clicks).collect::<Vec<_>>(), [0, 50]);
        let [GroupCounts::Texts(countries), GroupCounts::Links(links)] = &*sums.groups else {
            panic!("texts and links")
        };
        assert_eq!((countries.get("DE"), countries.get(REST), links.get(LinkId(5))), (30, 20, 9));
        let keys = ShownRows {
            groups: vec![
                RowKeys::Texts(vec!["DE".into(), "AT".into()]),
                RowKeys::Links(vec![vec![LinkId(5)]]),
            ],
        };
        sums.add(&plan, 1, &day().row_visitors(&plan, &keys));
        assert_eq!(
            [(0, 0), (0, 1), (1, 0)].map(|(group, row)| sums.row_visitors(group, row)),
            [25, 0, 8]
        );
    }

    #[test]
    fn sums_of_one_link_leave_the_others_out() {
        let mut plan = plan(vec![Dimension::Text(TextColumn::Country)]);
        plan.links.push(LinkSet::new(vec![LinkId(5)], false));
        let partial = day().partial(&plan, 0);
        assert_eq!(partial.cells[0].clicks, 9);
        let GroupCounts::Texts(countries) = &partial.groups[0] else { panic!("texts") };
        assert_eq!(countries.iter().collect::<Vec<_>>(), [("DE", 4)]);
    }

    #[test]
    fn clicks_that_were_only_counted_have_no_details() {
        let plan = plan(vec![Dimension::Text(TextColumn::Os)]);
        let period = |start, clicks| CountedPeriod { start, clicks, bots: 1 };
        let partial =
            counted_day(&plan, 1, &[period(0, 100), period(DAY_MS, 3), period(DAY_MS + 5, 4)]);
        let cell = &partial.cells[0];
        assert_eq!((cell.clicks, cell.bare, cell.bots), (7, 7, 2));
    }
}

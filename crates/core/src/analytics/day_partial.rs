//! The sums of one UTC day, and of a range of days. Visitors are sets while a day is scanned; of a day that
//! is a whole period only their number is kept, since visitors of different periods are added up.

use crate::analytics::scan_plan::ScanPlan;
use crate::analytics::sketch::Sketch;
use crate::analytics::value_counts::{GroupCounts, LinkCounts, ValueCounts};
use crate::analytics::{Dimension, Sums, VisitorPeriod};
use crate::link::LinkId;

/// How many distinct visitors: the set of them, or only the number.
#[derive(Clone, Debug)]
pub enum Distinct {
    Set(Sketch),
    Number(u64),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::Set(Sketch::default())
    }
}

impl Distinct {
    pub fn set_mut(&mut self) -> Option<&mut Sketch> {
        match self {
            Self::Set(set) => Some(set),
            Self::Number(_) => None,
        }
    }

    pub fn count(&self) -> u64 {
        match self {
            Self::Set(set) => set.count(),
            Self::Number(number) => *number,
        }
    }
}

/// Visitors added up over the periods.
#[derive(Clone, Debug, Default)]
struct DistinctSum {
    ended: u64,
    /// The period that is being added, and its visitors.
    open: Option<(i64, Sketch)>,
}

impl DistinctSum {
    /// Periods come in their order.
    fn add(&mut self, period: i64, visitors: &Distinct) {
        match visitors {
            Distinct::Number(number) => self.ended += number,
            Distinct::Set(set) => match &mut self.open {
                Some((open, sum)) if *open == period => sum.merge(set),
                open => {
                    let ended = open.replace((period, set.clone()));
                    self.ended += ended.map_or(0, |(_, set)| set.count());
                }
            },
        }
    }

    fn total(&self) -> u64 {
        self.ended + self.open.as_ref().map_or(0, |(_, set)| set.count())
    }
}

/// The rows whose visitors are asked for, of each group; none of a group where it has none.
#[derive(Clone, Debug, Default)]
pub struct ShownRows {
    pub groups: Vec<RowKeys>,
}

/// What events belong to each row of a group.
#[derive(Clone, Debug)]
pub enum RowKeys {
    Texts(Vec<Box<str>>),
    /// One link, or all links of a tag, in their order.
    Links(Vec<Vec<LinkId>>),
}

impl RowKeys {
    pub fn len(&self) -> usize {
        match self {
            Self::Texts(keys) => keys.len(),
            Self::Links(keys) => keys.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The clicks of one bucket of a day.
#[derive(Clone, Debug, Default)]
pub struct PartialCell {
    pub clicks: u64,
    pub bots: u64,
    pub qr: u64,
    /// Clicks whose details are not known.
    pub bare: u64,
    pub visitors: Distinct,
}

/// The sums of one day.
#[derive(Clone, Debug, Default)]
pub struct DayPartial {
    /// Events that were read.
    pub events: u64,
    /// Events in blocks that cannot be read.
    pub damaged_events: u64,
    /// Columns that cannot be read.
    pub damaged_columns: u64,
    /// By bucket within the day; none in a scan for the visitors of rows alone.
    pub cells: Vec<PartialCell>,
    /// All visitors of the day; `None` when there is one bucket, which has them.
    all: Option<Distinct>,
    pub groups: Vec<GroupCounts>,
    /// The visitors of the rows of each group.
    pub rows: Vec<Vec<Distinct>>,
}

impl DayPartial {
    /// For everything that `plan` asks about a day but the visitors of rows.
    pub fn counting(plan: &ScanPlan, day: i64) -> Self {
        let groups = plan.groups.iter().map(|group| match group {
            Dimension::Link | Dimension::Tag => GroupCounts::Links(LinkCounts::default()),
            Dimension::Text(_) => GroupCounts::Texts(ValueCounts::default()),
        });
        let cells = plan.cuts(day).1.len() + 1;
        Self {
            cells: vec![PartialCell::default(); cells],
            groups: groups.collect(),
            ..Self::default()
        }
    }

    /// For the visitors of rows.
    #[must_use]
    pub fn with_rows(self, rows: &ShownRows) -> Self {
        let empty = |keys: &RowKeys| vec![Distinct::default(); keys.len()];
        Self { rows: rows.groups.iter().map(empty).collect(), ..self }
    }

    pub(super) fn has_cells(&self) -> bool {
        !self.cells.is_empty()
    }

    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn add_clicks(
        &mut self,
        bucket: usize,
        clicks: u64,
        is_selected: bool,
        is_bot: bool,
    ) {
        let Some(cell) = self.cells.get_mut(bucket) else { return };
        if is_selected {
            cell.clicks += clicks;
        }
        if is_bot {
            cell.bots += clicks;
        }
    }

    pub(super) fn add_bare(&mut self, bucket: usize, clicks: u64) {
        if let Some(cell) = self.cells.get_mut(bucket) {
            cell.bare += clicks;
        }
    }

    pub(super) fn add_qr(&mut self, bucket: usize, clicks: u64) {
        if let Some(cell) = self.cells.get_mut(bucket) {
            cell.qr += clicks;
        }
    }

    #[inline]
    pub(super) fn visitors_mut(&mut self, bucket: usize) -> Option<&mut Sketch> {
        self.cells.get_mut(bucket)?.visitors.set_mut()
    }

    /// All events of the day were scanned: sets that no other day adds to become numbers.
    #[must_use]
    pub fn sealed(mut self, basis: VisitorPeriod) -> Self {
        if let [_, _, ..] = self.cells.as_slice() {
            let mut all = Sketch::default();
            for cell in &self.cells {
                if let Distinct::Set(set) = &cell.visitors {
                    all.merge(set);
                }
            }
            self.all = Some(Distinct::Set(all));
        }
        if basis == VisitorPeriod::Day {
            let cells = self.cells.iter_mut().map(|cell| &mut cell.visitors);
            let rows = self.rows.iter_mut().flatten();
            for visitors in cells.chain(rows).chain(&mut self.all) {
                *visitors = Distinct::Number(visitors.count());
            }
        }
        self
    }

    /// A day of which only numbers are known.
    pub fn of_numbers(cells: Vec<PartialCell>, visitors: u64, groups: Vec<GroupCounts>) -> Self {
        Self { cells, groups, all: Some(Distinct::Number(visitors)), ..Self::default() }
    }

    /// The visitors of rows, and nothing else.
    pub fn of_rows(rows: Vec<Vec<Distinct>>) -> Self {
        Self { rows, ..Self::default() }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        const SET_BYTES: usize = 8_192;
        let groups: usize = self.groups.iter().map(GroupCounts::bytes).sum();
        let rows = self.rows.iter().flatten();
        let sets = self.cells.iter().map(|cell| &cell.visitors).chain(rows).chain(&self.all);
        let sets: usize =
            sets.map(|set| {
                if matches!(set, Distinct::Set(_)) { SET_BYTES } else { size_of::<Distinct>() }
            })
            .sum();
        size_of::<Self>() + groups + sets + self.cells.len() * size_of::<PartialCell>()
    }
}

/// The sums of a range.
#[derive(Clone, Debug, Default)]
pub struct RangeSums {
    pub events: u64,
    pub damaged_events: u64,
    /// Clicks whose details are not known.
    pub bare: u64,
    series: Vec<(Sums, DistinctSum)>,
    all: DistinctSum,
    pub groups: Vec<GroupCounts>,
    rows: Vec<Vec<DistinctSum>>,
}

/// The sums of a range that somebody else counted, with visitors added up over the periods.
#[derive(Clone, Debug, Default)]
pub struct CountedRange {
    pub events: u64,
    /// Clicks whose details are not known.
    pub bare: u64,
    /// By bucket.
    pub series: Vec<Sums>,
    /// All visitors.
    pub visitors: u64,
    pub groups: Vec<GroupCounts>,
    /// The visitors of the rows of each group.
    pub rows: Vec<Vec<u64>>,
}

impl From<CountedRange> for RangeSums {
    fn from(counted: CountedRange) -> Self {
        let ended = |ended: u64| DistinctSum { ended, open: None };
        let series = counted.series.into_iter().map(|sums| (sums, ended(sums.visitors)));
        let row = |rows: Vec<u64>| rows.into_iter().map(ended).collect();
        Self {
            events: counted.events,
            damaged_events: 0,
            bare: counted.bare,
            series: series.collect(),
            all: ended(counted.visitors),
            groups: counted.groups,
            rows: counted.rows.into_iter().map(row).collect(),
        }
    }
}

impl RangeSums {
    /// Add a day. Days come in their order.
    pub fn add(&mut self, plan: &ScanPlan, day: i64, sums: &DayPartial) {
        let period = plan.period(day);
        self.events += sums.events;
        self.damaged_events += sums.damaged_events;
        self.series.resize_with(plan.buckets.len(), Default::default);
        let (first, _) = plan.cuts(day);
        for (cell, (point, visitors)) in sums.cells.iter().zip(self.series.iter_mut().skip(first)) {
            point.clicks += cell.clicks;
            point.bots += cell.bots;
            point.qr += cell.qr;
            self.bare += cell.bare;
            visitors.add(period, &cell.visitors);
        }
        if let Some(all) = sums.all.as_ref().or(sums.cells.first().map(|cell| &cell.visitors)) {
            self.all.add(period, all);
        }
        if self.groups.is_empty() {
            self.groups.clone_from(&sums.groups);
        } else {
            for (ours, theirs) in self.groups.iter_mut().zip(&sums.groups) {
                ours.merge(theirs);
            }
        }
        self.add_rows(period, &sums.rows);
    }

    /// Add the sums of other clicks, such as those of another workspace, whose visitors are others.
    pub fn absorb(&mut self, other: Self) {
        self.events += other.events;
        self.damaged_events += other.damaged_events;
        self.bare += other.bare;
        self.all.ended += other.all.total();
        self.series.resize_with(other.series.len().max(self.series.len()), Default::default);
        for ((ours, visitors), (theirs, others)) in self.series.iter_mut().zip(&other.series) {
            ours.clicks += theirs.clicks;
            ours.bots += theirs.bots;
            ours.qr += theirs.qr;
            visitors.ended += others.total();
        }
        if self.groups.is_empty() {
            self.groups = other.groups;
        } else {
            for (ours, theirs) in self.groups.iter_mut().zip(&other.groups) {
                ours.merge(theirs);
            }
        }
        let rows: Vec<Vec<Distinct>> = other
            .rows
            .iter()
            .map(|rows| rows.iter().map(|row| Distinct::Number(row.total())).collect())
            .collect();
        self.add_rows(0, &rows);
    }

    fn add_rows(&mut self, period: i64, rows: &[Vec<Distinct>]) {
        self.rows.resize_with(rows.len().max(self.rows.len()), Vec::new);
        for (ours, theirs) in self.rows.iter_mut().zip(rows) {
            ours.resize_with(theirs.len().max(ours.len()), Default::default);
            for (our, their) in ours.iter_mut().zip(theirs) {
                our.add(period, their);
            }
        }
    }

    /// The sums of each bucket.
    pub fn series(&self) -> impl Iterator<Item = Sums> {
        self.series.iter().map(|(sums, visitors)| Sums { visitors: visitors.total(), ..*sums })
    }

    pub fn total(&self) -> Sums {
        let mut total = Sums { visitors: self.all.total(), ..Sums::default() };
        for (sums, _) in &self.series {
            total.clicks += sums.clicks;
            total.bots += sums.bots;
            total.qr += sums.qr;
        }
        total
    }

    /// The visitors of a row of a group.
    pub fn row_visitors(&self, group: usize, row: usize) -> u64 {
        let row = self.rows.get(group).and_then(|rows| rows.get(row));
        row.map_or(0, DistinctSum::total)
    }
}

//! What a scan of events looks for: the range, its buckets, filters and groups, and which columns that takes.

use crate::analytics::block::{COUNT, LINK, TIME, VISITOR};
use crate::analytics::{Class, Dimension, EventFilter, TextColumn, TimeRange, VisitorPeriod};
use crate::link::LinkId;
use crate::time::Timestamp;

pub(super) const DAY_MS: i64 = 86_400_000;

/// A question about events, ready to be answered block by block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanPlan {
    pub range: TimeRange,
    /// Where the intervals of the series begin, in milliseconds, ascending.
    pub buckets: Vec<i64>,
    /// The period that visitors are told apart in.
    pub basis: VisitorPeriod,
    /// Links that all must allow.
    pub links: Vec<LinkSet>,
    /// `None`: everybody.
    pub class: Option<Class>,
    /// On columns of texts; all must match.
    pub filters: Vec<EventFilter>,
    /// Tags are counted by link.
    pub groups: Vec<Dimension>,
}

/// Which links count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSet {
    /// In their order.
    pub links: Vec<LinkId>,
    /// All others instead.
    pub not: bool,
}

impl LinkSet {
    pub fn new(mut links: Vec<LinkId>, not: bool) -> Self {
        links.sort_unstable();
        links.dedup();
        Self { links, not }
    }

    pub fn allows(&self, link: LinkId) -> bool {
        self.links.binary_search(&link).is_ok() != self.not
    }
}

/// Which clicks a group counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Redirects of the class that was asked for.
    Selected,
    /// Redirects of bots, whatever class was asked for.
    Bots,
    /// Redirects of all classes.
    Classes,
    /// All answers to the class that was asked for.
    Answers,
}

impl Counted {
    pub const fn of(group: Dimension) -> Self {
        match group {
            Dimension::Text(TextColumn::Bot) => Self::Bots,
            Dimension::Text(TextColumn::Class) => Self::Classes,
            Dimension::Text(TextColumn::Answer) => Self::Answers,
            _ => Self::Selected,
        }
    }
}

/// The value of [`TextColumn::Answer`] of a redirect.
pub const REDIRECT: &str = "30x";
/// The value of [`TextColumn::Trigger`] of a click from a QR code.
pub const QR: &str = "qr";

impl ScanPlan {
    /// The days (UTC, since 1970) that the range touches.
    pub fn days(&self) -> std::ops::RangeInclusive<i64> {
        self.range.from.as_ms().div_euclid(DAY_MS)..=(self.range.to.as_ms() - 1).div_euclid(DAY_MS)
    }

    /// What of a day is in the range, in milliseconds: from, to.
    pub(super) fn within(&self, day: i64) -> (i64, i64) {
        let start = day.saturating_mul(DAY_MS);
        let from = start.max(self.range.from.as_ms());
        (from, start.saturating_add(DAY_MS).min(self.range.to.as_ms()).max(from))
    }

    /// The period of visitors that a day is in, by when it begins.
    pub fn period(&self, day: i64) -> i64 {
        self.basis.bounds(Timestamp::from_ms(day.saturating_mul(DAY_MS))).0.as_ms()
    }

    /// The bucket of a moment in the range.
    pub fn bucket(&self, ms: i64) -> usize {
        self.buckets.partition_point(|start| *start <= ms).saturating_sub(1)
    }

    /// The first bucket of a day, and where those after it begin.
    pub fn cuts(&self, day: i64) -> (usize, &[i64]) {
        let (from, to) = self.within(day);
        let (first, last) = (self.bucket(from), self.bucket(to - 1));
        (first, self.buckets.get(first + 1..=last).unwrap_or_default())
    }

    /// Whether all of the day is in the range.
    pub fn has_whole(&self, day: i64) -> bool {
        let (from, to) = self.within(day);
        to - from == DAY_MS
    }

    /// The columns that the events of a day are answered by, as bits. The column of links is always one: every
    /// block has it.
    pub fn columns(&self, day: i64) -> u64 {
        let texts = [TextColumn::Class, TextColumn::Answer, TextColumn::Trigger];
        let grouped = self.groups.iter().filter_map(|group| match group {
            Dimension::Text(column) => Some(*column),
            Dimension::Link | Dimension::Tag => None,
        });
        let texts = texts.into_iter().chain(grouped).chain(self.filter_columns());
        let mut columns = bit(LINK) | bit(COUNT) | bit(VISITOR);
        for column in texts {
            columns |= bit(number(column));
        }
        if !self.has_whole(day) || !self.cuts(day).1.is_empty() {
            columns |= bit(TIME);
        }
        columns
    }

    pub(super) fn filter_columns(&self) -> impl Iterator<Item = TextColumn> {
        self.filters.iter().filter_map(|filter| match filter.dimension {
            Dimension::Text(column) => Some(column),
            Dimension::Link | Dimension::Tag => None,
        })
    }

    /// Whether only redirects count. A filter by answer decides for itself.
    pub fn is_about_redirects(&self) -> bool {
        self.filter_columns().all(|column| column != TextColumn::Answer)
    }

    /// Whether clicks with this text as their class are asked for. Those without a class are people's whose
    /// details were dropped.
    pub fn selects(&self, class: &str) -> bool {
        match self.class {
            None => true,
            Some(Class::Person) => class.is_empty() || class == Class::Person.name(),
            Some(wanted) => class == wanted.name(),
        }
    }
}

/// The classes of bots.
pub const BOT_CLASSES: [Class; 4] = [Class::Bot, Class::Preview, Class::Head, Class::Prefetch];

/// Whether a class is one of bots.
pub fn is_bot_class(class: &str) -> bool {
    BOT_CLASSES.into_iter().any(|bot| bot.name() == class)
}

/// Whether an answer is a redirect.
pub fn is_redirect(answer: &str) -> bool {
    answer == REDIRECT || answer.is_empty()
}

#[expect(clippy::as_conversions, reason = "the number of a column is its discriminant")]
pub(super) const fn number(column: TextColumn) -> u8 {
    column as u8
}

const fn bit(column: u8) -> u64 {
    1 << column
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(from: i64, to: i64, buckets: &[i64]) -> ScanPlan {
        ScanPlan {
            range: TimeRange { from: Timestamp::from_ms(from), to: Timestamp::from_ms(to) },
            buckets: buckets.to_vec(),
            basis: VisitorPeriod::Day,
            links: Vec::new(),
            class: None,
            filters: Vec::new(),
            groups: Vec::new(),
        }
    }

    #[test]
    fn times_are_read_only_where_a_day_is_cut() {
        let utc = plan(0, 3 * DAY_MS, &[0, DAY_MS, 2 * DAY_MS]);
        assert_eq!(utc.days(), 0..=2);
        assert_eq!((utc.cuts(1), utc.columns(1) & bit(TIME)), ((1, &[][..]), 0));
        let noon = DAY_MS / 2;
        let shifted = plan(noon, DAY_MS + noon, &[noon]);
        assert_eq!(shifted.days(), 0..=1);
        assert_ne!(shifted.columns(0) & bit(TIME), 0, "the range begins at noon");
        let cut = plan(0, 2 * DAY_MS, &[-noon, noon, DAY_MS + noon]);
        assert_eq!(cut.cuts(0), (0, &[noon][..]));
        assert_ne!(cut.columns(0) & bit(TIME), 0);
        assert!(cut.has_whole(0) && !shifted.has_whole(0));
    }
}

//! Sums the events of a day by one dimension, for the time when the events are gone: the most frequent values
//! and the rest, for the workspace and for each link.

use std::collections::HashMap;

use crate::analytics::block::MAX_EVENTS;
use crate::analytics::{Class, DaySums, EventBatch, REST, TextColumn, UNKNOWN, WHOLE_WORKSPACE};
use crate::clicks::ClickAnswer;
use crate::link::LinkId;

/// Values that are kept, for the workspace and for each link.
const MOST_VALUES: usize = 100;
/// A visitor of a group in one number: the group above, the visitor's bits below.
const VISITOR_BITS: u32 = 40;
const MOST_GROUPS: usize = 1 << (u64::BITS - VISITOR_BITS);
/// After so many visitors those that were seen twice are removed.
const COMPACT: usize = 4 << 20;

/// Adds events up, by one column of texts.
#[derive(Debug)]
pub struct SumBuilder {
    column: TextColumn,
    /// Numbers of values.
    values: HashMap<Box<str>, u32>,
    groups: HashMap<(LinkId, u32), usize>,
    sums: Vec<GroupSums>,
    /// Visitors of groups, each a number. Sorted and distinct up to `compacted`.
    visitors: Vec<u64>,
    compacted: usize,
}

#[derive(Clone, Copy, Debug)]
struct GroupSums {
    link: LinkId,
    value: u32,
    clicks: u64,
    /// Visitors that were summed before.
    visitors: u64,
}

impl SumBuilder {
    pub fn new(column: TextColumn) -> Self {
        Self {
            column,
            values: HashMap::new(),
            groups: HashMap::new(),
            sums: Vec::new(),
            visitors: Vec::new(),
            compacted: 0,
        }
    }

    /// Add the events that count for this dimension.
    pub fn add(&mut self, batch: &EventBatch) {
        let texts = batch.values(self.column);
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for event in 0..batch.len() {
            if !self.counts(batch, event) {
                continue;
            }
            let index = texts.indexes.get(event).copied().unwrap_or(u32::MAX);
            let value = *numbers.entry(index).or_insert_with(|| self.value(texts.get(event)));
            let clicks = batch.counts.get(event).copied().unwrap_or(1).into();
            let visitor = batch.visitors.get(event).copied().unwrap_or_default();
            let link = batch.links.get(event).copied().unwrap_or(WHOLE_WORKSPACE);
            for link in [WHOLE_WORKSPACE, link] {
                self.add_clicks(link, value, clicks, visitor);
            }
        }
        if self.visitors.len() - self.compacted >= COMPACT {
            self.compact();
        }
    }

    /// Add sums of the same day and dimension that were made before.
    pub fn add_sums(&mut self, sums: &DaySums) {
        for (link, value, clicks, visitors) in sums.rows() {
            let value = self.value(value);
            let group = self.group(link, value);
            if let Some(sums) = self.sums.get_mut(group) {
                sums.clicks += clicks;
                sums.visitors += visitors;
            }
        }
    }

    /// The sums, if there is anything to say.
    pub fn finish(mut self) -> Option<DaySums> {
        self.compact();
        for visitor in &self.visitors {
            let group = usize::try_from(visitor >> VISITOR_BITS).unwrap_or(usize::MAX);
            if let Some(sums) = self.sums.get_mut(group) {
                sums.visitors += 1;
            }
        }
        let mut texts: Vec<&str> = vec![UNKNOWN; self.values.len()];
        for (text, number) in &self.values {
            if let Some(place) = usize::try_from(*number).ok().and_then(|at| texts.get_mut(at)) {
                *place = text;
            }
        }
        if texts.iter().all(|text| *text == UNKNOWN) {
            return None;
        }
        let text = |value: u32| usize::try_from(value).ok().and_then(|at| texts.get(at)).copied();
        let text = |value: u32| text(value).unwrap_or(UNKNOWN);
        let mut by_link: HashMap<LinkId, Vec<GroupSums>> = HashMap::new();
        for sums in self.sums {
            by_link.entry(sums.link).or_default().push(sums);
        }
        let mut links: Vec<(u64, LinkId, Vec<GroupSums>)> = by_link
            .into_iter()
            .map(|(link, sums)| (sums.iter().map(|sums| sums.clicks).sum(), link, sums))
            .collect();
        links.sort_by_key(|(clicks, link, _)| {
            (*link != WHOLE_WORKSPACE, std::cmp::Reverse(*clicks), *link)
        });
        let mut rows = Vec::new();
        for (_, link, mut sums) in links {
            sums.sort_by_key(|sums| {
                let value = text(sums.value);
                (value == REST, std::cmp::Reverse(sums.clicks), value)
            });
            let kept = sums.iter().take_while(|sums| text(sums.value) != REST).count();
            let (top, rest) = sums.split_at(kept.min(MOST_VALUES));
            if rows.len() + top.len() + usize::from(!rest.is_empty()) > MAX_EVENTS {
                break;
            }
            rows.extend(top.iter().map(|it| (link, text(it.value), it.clicks, it.visitors)));
            if !rest.is_empty() {
                let clicks = rest.iter().map(|sums| sums.clicks).sum();
                rows.push((link, REST, clicks, rest.iter().map(|sums| sums.visitors).sum()));
            }
        }
        Some(DaySums::of(rows))
    }

    /// Whether an event is summed by this dimension: redirects of people, but everybody by class, bots by
    /// name, and every answer by answer.
    fn counts(&self, batch: &EventBatch, event: usize) -> bool {
        let class = batch.text(TextColumn::Class, event);
        let answer = batch.text(TextColumn::Answer, event);
        let is_redirect = answer == ClickAnswer::Redirect.name() || answer == UNKNOWN;
        let is_person = class == Class::Person.name();
        match self.column {
            TextColumn::Class => is_redirect,
            TextColumn::Bot => is_redirect && !is_person && class != Class::Excluded.name(),
            TextColumn::Answer => is_person,
            _ => is_redirect && is_person,
        }
    }

    fn add_clicks(&mut self, link: LinkId, value: u32, clicks: u64, visitor: u64) {
        let group = self.group(link, value);
        if let Some(sums) = self.sums.get_mut(group) {
            sums.clicks += clicks;
        }
        if visitor != 0 && group < MOST_GROUPS {
            let group = u64::try_from(group).unwrap_or_default();
            self.visitors.push(group << VISITOR_BITS | visitor & ((1 << VISITOR_BITS) - 1));
        }
    }

    fn value(&mut self, text: &str) -> u32 {
        if let Some(value) = self.values.get(text) {
            return *value;
        }
        let next = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.insert(text.into(), next);
        next
    }

    fn group(&mut self, link: LinkId, value: u32) -> usize {
        let sums = &mut self.sums;
        *self.groups.entry((link, value)).or_insert_with(|| {
            sums.push(GroupSums { link, value, clicks: 0, visitors: 0 });
            sums.len() - 1
        })
    }

    fn compact(&mut self) {
        self.visitors.sort_unstable();
        self.visitors.dedup();
        self.compacted = self.visitors.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::TextValues;
    use crate::time::Timestamp;

    /// Events: link, class, answer, country, visitor, clicks.
    type Event<'a> = (i64, &'a str, &'a str, &'a str, u64, u32);

    fn batch(events: &[Event<'_>]) -> EventBatch {
        let mut batch = EventBatch {
            links: events.iter().map(|event| LinkId(event.0)).collect(),
            times: vec![Timestamp::from_ms(0); events.len()],
            visitors: events.iter().map(|event| event.4).collect(),
            nanos: vec![0; events.len()],
            counts: events.iter().map(|event| event.5).collect(),
            ..EventBatch::default()
        };
        batch.texts[1] = TextValues::of(events.iter().map(|event| event.1));
        batch.texts[24] = TextValues::of(events.iter().map(|event| event.2));
        batch.texts[12] = TextValues::of(events.iter().map(|event| event.3));
        batch
    }

    fn rows(sums: &DaySums) -> Vec<(i64, String, u64, u64)> {
        let row = |(link, value, clicks, visitors): (LinkId, &str, u64, u64)| {
            (link.0, value.to_owned(), clicks, visitors)
        };
        sums.rows().map(row).collect()
    }

    fn row(link: i64, value: &str, clicks: u64, visitors: u64) -> (i64, String, u64, u64) {
        (link, value.to_owned(), clicks, visitors)
    }

    const EVENTS: &[Event<'_>] = &[
        (7, "person", "30x", "DE", 1, 1),
        (7, "person", "30x", "DE", 1, 1),
        (8, "person", "30x", "DE", 1, 1),
        (8, "person", "30x", "FR", 2, 1),
        (8, "bot", "30x", "US", 3, 1),
        (8, "person", "429", "FR", 2, 1),
        (7, "person", "", "", 0, 5),
    ];

    #[test]
    fn redirects_of_people_are_summed_for_the_workspace_and_for_each_link() {
        let mut builder = SumBuilder::new(TextColumn::Country);
        builder.add(&batch(&EVENTS[..3]));
        builder.add(&batch(&EVENTS[3..]));
        let sums = builder.finish().unwrap();
        assert_eq!(
            rows(&sums),
            [
                row(0, "", 5, 0),
                row(0, "DE", 3, 1),
                row(0, "FR", 1, 1),
                row(7, "", 5, 0),
                row(7, "DE", 2, 1),
                row(8, "DE", 1, 1),
                row(8, "FR", 1, 1),
            ]
        );
    }

    #[test]
    fn classes_and_answers_have_their_own_rules_and_what_nobody_knows_has_no_sums() {
        let of = |column| {
            let mut builder = SumBuilder::new(column);
            builder.add(&batch(EVENTS));
            builder
                .finish()
                .map(|sums| rows(&sums).into_iter().filter(|row| row.0 == 0).collect::<Vec<_>>())
        };
        assert_eq!(of(TextColumn::Class).unwrap(), [row(0, "person", 9, 2), row(0, "bot", 1, 1)]);
        assert_eq!(
            of(TextColumn::Answer).unwrap(),
            [row(0, "", 5, 0), row(0, "30x", 4, 2), row(0, "429", 1, 1)]
        );
        assert_eq!(of(TextColumn::City), None);
    }

    #[test]
    fn what_is_beyond_the_first_hundred_is_the_rest_and_later_sums_add_up() {
        let names: Vec<String> = (0..150).map(|number| format!("{number:03}")).collect();
        let events: Vec<Event<'_>> = names
            .iter()
            .zip(1..)
            .map(|(name, count)| (7, "person", "30x", &**name, 1, count))
            .collect();
        let mut builder = SumBuilder::new(TextColumn::Country);
        builder.add(&batch(&events));
        let first = builder.finish().unwrap();
        let workspace: Vec<_> = rows(&first).into_iter().filter(|row| row.0 == 0).collect();
        assert_eq!(workspace.len(), 101);
        assert_eq!(workspace[0], row(0, "149", 150, 1));
        assert_eq!(workspace[100], row(0, REST, (1..=50).sum(), 50));
        let mut builder = SumBuilder::new(TextColumn::Country);
        builder.add_sums(&first);
        builder
            .add(&batch(&[(7, "person", "30x", "149", 4, 1), (7, "person", "30x", "new", 4, 1)]));
        let second = builder.finish().unwrap();
        let workspace: Vec<_> = rows(&second).into_iter().filter(|row| row.0 == 0).collect();
        assert_eq!(workspace[0], row(0, "149", 151, 2));
        assert_eq!(workspace[100], row(0, REST, (1..=50).sum::<u64>() + 1, 51));
        let sum = |sums: &DaySums| sums.clicks.iter().sum::<u64>();
        assert_eq!(sum(&second), sum(&first) + 4);
    }
}

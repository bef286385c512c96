//! Puts batches of events together from parts of others: what log rows become when they are cut by workspace
//! and day, and blocks when they are merged, narrowed or thinned out.

use std::collections::HashMap;

use crate::analytics::{AnalyticsMode, Class, EventBatch, TextColumn, TextValues, UNKNOWN};
use crate::link::{Hour, LinkId};
use crate::time::Timestamp;

/// A batch that grows. Texts are found again by what they say.
#[derive(Debug, Default)]
pub struct BatchBuilder {
    batch: EventBatch,
    known: [HashMap<Box<str>, u32>; TextColumn::ALL.len()],
}

/// Clicks of which only the number is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedClicks {
    pub link: LinkId,
    pub at: Timestamp,
    pub class: Class,
    pub clicks: u64,
    /// Their mean latency in nanoseconds.
    pub nanos: u32,
}

impl BatchBuilder {
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Add all events of a batch.
    pub fn add_all(&mut self, from: &EventBatch) {
        let events: Vec<usize> = (0..from.len()).collect();
        self.add(from, &events, AnalyticsMode::Events);
    }

    /// Add the events of a batch at these indexes, as far as `mode` keeps them.
    pub fn add(&mut self, from: &EventBatch, events: &[usize], mode: AnalyticsMode) {
        if mode == AnalyticsMode::Off {
            return;
        }
        let keeps_all = mode == AnalyticsMode::Events;
        let Self { batch, known } = self;
        batch.links.extend(events.iter().filter_map(|event| from.links.get(*event)));
        let times = events.iter().filter_map(|event| from.times.get(*event).copied());
        batch.times.extend(times.map(|at| if keeps_all { at } else { Hour::of(at).start() }));
        batch.visitors.extend(pick(&from.visitors, events));
        batch.nanos.extend(pick(&from.nanos, events));
        batch
            .counts
            .extend(events.iter().map(|event| from.counts.get(*event).copied().unwrap_or(1)));
        let columns = TextColumn::ALL.into_iter().zip(&from.texts);
        for ((column, source), (into, known)) in columns.zip(batch.texts.iter_mut().zip(known)) {
            if keeps_all || column.is_kept_aggregated() {
                add_texts(into, known, source, events);
            } else {
                let unknown = intern(into, known, UNKNOWN);
                into.indexes.extend(events.iter().map(|_| unknown));
            }
        }
    }

    /// Add clicks without details: one event, or several where the number is too large for one.
    pub fn add_counted(&mut self, counted: CountedClicks) {
        let mut left = counted.clicks;
        while left > 0 {
            let count = u32::try_from(left).unwrap_or(u32::MAX);
            left -= u64::from(count);
            let Self { batch, known } = self;
            batch.links.push(counted.link);
            batch.times.push(counted.at);
            batch.visitors.push(0);
            batch.nanos.push(counted.nanos);
            batch.counts.push(count);
            let columns = TextColumn::ALL.into_iter().zip(&mut batch.texts);
            for ((column, into), known) in columns.zip(known) {
                let is_class = column == TextColumn::Class;
                let index =
                    intern(into, known, if is_class { counted.class.name() } else { UNKNOWN });
                into.indexes.push(index);
            }
        }
    }

    /// The batch, in the order of time.
    pub fn finish(self) -> EventBatch {
        let batch = self.batch;
        let mut order: Vec<usize> = (0..batch.len()).collect();
        if batch.times.is_sorted() {
            return batch;
        }
        order.sort_by_key(|event| batch.times.get(*event).copied());
        let texts = batch.texts.map(|column| {
            let indexes = pick(&column.indexes, &order).collect();
            TextValues { dictionary: column.dictionary, indexes }
        });
        EventBatch {
            links: order.iter().filter_map(|event| batch.links.get(*event).copied()).collect(),
            times: order.iter().filter_map(|event| batch.times.get(*event).copied()).collect(),
            visitors: pick(&batch.visitors, &order).collect(),
            nanos: pick(&batch.nanos, &order).collect(),
            counts: pick(&batch.counts, &order).collect(),
            texts,
        }
    }
}

fn pick<T: Copy + Default>(from: &[T], events: &[usize]) -> impl Iterator<Item = T> {
    events.iter().map(|event| from.get(*event).copied().unwrap_or_default())
}

fn add_texts(
    into: &mut TextValues,
    known: &mut HashMap<Box<str>, u32>,
    from: &TextValues,
    events: &[usize],
) {
    // The last place is that of indexes without a text.
    let mut translated: Vec<Option<u32>> = vec![None; from.dictionary.len() + 1];
    for event in events {
        let index = from.indexes.get(*event).copied().unwrap_or(u32::MAX);
        let index = usize::try_from(index).unwrap_or(usize::MAX).min(from.dictionary.len());
        let Some(place) = translated.get_mut(index) else { continue };
        let text = from.dictionary.get(index).map_or(UNKNOWN, |text| &**text);
        let number = *place.get_or_insert_with(|| intern(into, known, text));
        into.indexes.push(number);
    }
}

fn intern(into: &mut TextValues, known: &mut HashMap<Box<str>, u32>, text: &str) -> u32 {
    if let Some(number) = known.get(text) {
        return *number;
    }
    let number = u32::try_from(into.dictionary.len()).unwrap_or(u32::MAX);
    into.dictionary.push(text.into());
    known.insert(text.into(), number);
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(events: &[(i64, i64, &str)]) -> EventBatch {
        let mut batch = EventBatch {
            links: events.iter().map(|event| LinkId(event.0)).collect(),
            times: events.iter().map(|event| Timestamp::from_ms(event.1)).collect(),
            visitors: (1..).take(events.len()).collect(),
            nanos: vec![5; events.len()],
            counts: vec![1; events.len()],
            ..EventBatch::default()
        };
        for column in &mut batch.texts {
            *column = TextValues::of(events.iter().map(|event| event.2));
        }
        batch
    }

    #[test]
    fn parts_of_batches_keep_their_texts_and_come_in_the_order_of_time() {
        let one = batch(&[(1, 30, "DE"), (2, 20, "FR"), (3, 10, "DE")]);
        let two = batch(&[(4, 5, "AT"), (5, 25, "FR")]);
        let mut builder = BatchBuilder::default();
        builder.add(&one, &[0, 2], AnalyticsMode::Events);
        builder.add_all(&two);
        assert_eq!(builder.len(), 4);
        let made = builder.finish();
        assert_eq!(made.links, [4, 3, 5, 1].map(LinkId));
        assert_eq!(made.visitors, [1, 3, 2, 1]);
        let countries: Vec<&str> = (0..4).map(|at| made.text(TextColumn::Country, at)).collect();
        assert_eq!(countries, ["AT", "DE", "FR", "DE"]);
        assert_eq!(made.values(TextColumn::City).dictionary.len(), 3);
    }

    #[test]
    fn what_a_narrower_mode_does_not_keep_is_not_even_in_the_dictionaries() {
        let hour = 3_600_000;
        let one = batch(&[(1, 5 * hour + 7, "x"), (2, 6 * hour - 1, "y")]);
        let mut builder = BatchBuilder::default();
        builder.add(&one, &[0, 1], AnalyticsMode::Aggregate);
        builder.add(&one, &[0, 1], AnalyticsMode::Off);
        let made = builder.finish();
        assert_eq!(made.times, [Timestamp::from_ms(5 * hour); 2]);
        for column in TextColumn::ALL {
            let kept = made.values(column).dictionary.iter().any(|text| !text.is_empty());
            assert_eq!(kept, column.is_kept_aggregated(), "{column:?}");
            assert_eq!(made.values(column).indexes.len(), 2, "{column:?}");
        }
    }

    #[test]
    fn clicks_without_details_keep_their_number_and_class() {
        let mut builder = BatchBuilder::default();
        let at = Timestamp::from_ms(7);
        let clicks = u64::from(u32::MAX) + 3;
        let one = CountedClicks { link: LinkId(9), at, class: Class::Bot, clicks, nanos: 4 };
        builder.add_counted(one);
        builder.add_counted(CountedClicks { clicks: 0, ..one });
        let made = builder.finish();
        assert_eq!(made.counts.iter().map(|count| u64::from(*count)).sum::<u64>(), clicks);
        assert_eq!(made.text(TextColumn::Class, 1), "bot");
        assert_eq!(made.text(TextColumn::Country, 1), UNKNOWN);
        assert_eq!(made.visitors, [0, 0]);
    }
}

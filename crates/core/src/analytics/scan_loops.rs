//! What a scan does for each event: loops over indexes and weights, without a branch that depends on the event
//! where that can be.

use crate::analytics::column_format::Indexes;
use crate::analytics::scan_plan::Counted;

/// Most values of a dictionary of classes: there are seven. A power of two.
pub(super) const MAX_CLASSES: usize = 64;

/// How many clicks each event of a block stands for; 0 where it does not count.
#[derive(Debug, Default)]
pub(super) struct Weights {
    /// Redirects of any class that pass the filters.
    pub(super) redirects: Vec<u32>,
    /// Those of the class that is asked for.
    pub(super) selected: Vec<u32>,
    pub(super) bots: Vec<u32>,
    /// Any answers to the class that is asked for.
    pub(super) answers: Vec<u32>,
}

impl Weights {
    pub(super) fn of(&self, counted: Counted) -> &[u32] {
        match counted {
            Counted::Selected => &self.selected,
            Counted::Bots => &self.bots,
            Counted::Classes => &self.redirects,
            Counted::Answers => &self.answers,
        }
    }

    pub(super) fn total(&self, counted: Counted) -> u64 {
        self.of(counted).iter().copied().map(u64::from).sum()
    }
}

/// Set to 0 what is not allowed; false when nothing is.
pub(super) fn restrict(weights: &mut [u32], indexes: Indexes<'_>, allowed: &[bool]) -> bool {
    if allowed.iter().all(|allowed| *allowed) {
        return true;
    }
    if !allowed.iter().any(|allowed| *allowed) {
        weights.fill(0);
        return false;
    }
    let allows = |index: usize| u32::from(allowed.get(index).copied().unwrap_or(false));
    match indexes {
        Indexes::Same(_) => {}
        Indexes::One(bytes) => {
            let table: [u32; 256] = std::array::from_fn(allows);
            for (weight, byte) in weights.iter_mut().zip(bytes) {
                *weight *= table.get(usize::from(*byte)).copied().unwrap_or(0);
            }
        }
        Indexes::Two(low, high) => {
            for (weight, (low, high)) in weights.iter_mut().zip(low.iter().zip(high)) {
                *weight *= allows(usize::from(u16::from_le_bytes([*low, *high])));
            }
        }
    }
    true
}

/// What counts of each event when the values of a small dictionary count 0 or 1.
#[expect(clippy::indexing_slicing, reason = "the index is masked to the length of the table")]
pub(super) fn weigh(weights: &[u32], indexes: &[u16], values: &[u32], out: &mut Vec<u32>) {
    let table: [u32; MAX_CLASSES] =
        std::array::from_fn(|index| values.get(index).copied().unwrap_or(0));
    out.clear();
    let value = |index: &u16| table[usize::from(*index) & (MAX_CLASSES - 1)];
    out.extend(weights.iter().zip(indexes).map(|(weight, index)| weight * value(index)));
}

/// The clicks of each value. Neighbours are counted apart: they often have the same value, and would wait for each
/// other's sum.
pub(super) fn count(indexes: &[u16], weights: &[u32], values: usize, histogram: &mut Vec<u64>) {
    histogram.clear();
    histogram.resize(values * 2, 0);
    let (evens, odds) = histogram.split_at_mut(values);
    let (index_pairs, last_index) = indexes.as_chunks::<2>();
    let (weight_pairs, last_weight) = weights.as_chunks::<2>();
    for ([even, odd], [even_weight, odd_weight]) in index_pairs.iter().zip(weight_pairs) {
        if let Some(sum) = evens.get_mut(usize::from(*even)) {
            *sum += u64::from(*even_weight);
        }
        if let Some(sum) = odds.get_mut(usize::from(*odd)) {
            *sum += u64::from(*odd_weight);
        }
    }
    for (index, weight) in last_index.iter().zip(last_weight) {
        if let Some(sum) = evens.get_mut(usize::from(*index)) {
            *sum += u64::from(*weight);
        }
    }
    for (sum, more) in evens.iter_mut().zip(odds) {
        *sum += *more;
    }
    histogram.truncate(values);
}

/// The places of buckets and values in a histogram: all values of the first bucket, then those of the next.
pub(super) struct BucketHistogram<'a> {
    pub(super) buckets: &'a [u16],
    pub(super) values: usize,
}

impl BucketHistogram<'_> {
    /// The clicks of each value in each bucket.
    pub(super) fn count(
        &self,
        buckets: usize,
        indexes: &[u16],
        weights: &[u32],
        histogram: &mut Vec<u64>,
    ) {
        if self.buckets.is_empty() {
            count(indexes, weights, self.values, histogram);
            return;
        }
        histogram.clear();
        histogram.resize(buckets * self.values, 0);
        for ((index, weight), bucket) in indexes.iter().zip(weights).zip(self.buckets) {
            let place = usize::from(*bucket) * self.values + usize::from(*index);
            if let Some(sum) = histogram.get_mut(place) {
                *sum += u64::from(*weight);
            }
        }
    }
}

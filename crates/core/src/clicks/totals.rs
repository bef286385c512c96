//! The clicks of one link in one hour, summed up. Totals of the same link and hour can be added in any
//! order with the same result, since they consist of sums and a maximum.

use std::cmp::Ordering;

use crate::link::{Hour, Latency, LinkId};
use crate::time::Timestamp;

/// Clicks of one link in one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClickTotals {
    pub link: LinkId,
    pub hour: Hour,
    /// Clicks by others than people: declared bots and prefetches.
    pub others: u32,
    /// All clicks.
    pub clicks: u64,
    /// Clicks that used a hit which was reserved in the database.
    pub reserved: u64,
    /// The sum of the clicks' latencies, in nanoseconds.
    pub nanos: u64,
    /// The latest click.
    pub last_at: Timestamp,
}

impl ClickTotals {
    /// The sort key. Totals with the same key are added up.
    #[inline]
    pub fn key(&self) -> (LinkId, Hour) {
        (self.link, self.hour)
    }

    /// The number of clicks and their mean latency.
    pub fn latency(&self) -> Latency {
        Latency::of_sum(self.clicks, self.nanos)
    }

    /// Add totals of the same link and hour.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.others = self.others.saturating_add(other.others);
        self.clicks = self.clicks.saturating_add(other.clicks);
        self.reserved = self.reserved.saturating_add(other.reserved);
        self.nanos = self.nanos.saturating_add(other.nanos);
        self.last_at = self.last_at.max(other.last_at);
    }
}

/// Append `next` to sorted totals whose last key is not greater.
#[inline]
pub fn push(totals: &mut Vec<ClickTotals>, next: ClickTotals) {
    match totals.last_mut() {
        Some(last) if last.key() == next.key() => last.add(&next),
        _ => totals.push(next),
    }
}

/// Merge two sorted lists, in place: from the end, so that no element is overwritten before it was
/// moved.
#[expect(
    clippy::indexing_slicing,
    reason = "`left` and `right` go down to 0, `free` down to `left`"
)]
pub fn merge(into: &mut Vec<ClickTotals>, more: Vec<ClickTotals>) {
    if into.is_empty() {
        *into = more;
        return;
    }
    let Some(filler) = more.last() else { return };
    let (mut left, mut right) = (into.len(), more.len());
    let mut free = left + right;
    into.reserve_exact(right);
    into.resize(free, *filler);
    while right > 0 {
        let mut next = more[right - 1];
        let order = if left == 0 { Ordering::Less } else { into[left - 1].key().cmp(&next.key()) };
        match order {
            Ordering::Less => right -= 1,
            Ordering::Equal => {
                (left, right) = (left - 1, right - 1);
                next.add(&into[left]);
            }
            Ordering::Greater => {
                left -= 1;
                next = into[left];
            }
        }
        free -= 1;
        into[free] = next;
    }
    // Each pair with the same key leaves a gap between the elements that stayed and those that moved.
    into.copy_within(free.., left);
    into.truncate(into.len() - (free - left));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn any_totals() -> impl Strategy<Value = ClickTotals> {
        (0..6i64, 0..3u32, 0..4u32, 0..1000u64, 0..9u64, 0..9000u64, 0..50i64).prop_map(
            |(link, hour, others, clicks, reserved, nanos, last)| ClickTotals {
                link: LinkId(link),
                hour: Hour::from_number(hour),
                others,
                clicks,
                reserved,
                nanos,
                last_at: Timestamp::from_ms(last),
            },
        )
    }

    fn sorted(mut totals: Vec<ClickTotals>) -> Vec<ClickTotals> {
        totals.sort_by_key(ClickTotals::key);
        let mut out = Vec::new();
        for totals in totals {
            push(&mut out, totals);
        }
        out
    }

    proptest! {
        #[test]
        fn merging_adds_equal_keys_and_loses_nothing(
            left in prop::collection::vec(any_totals(), 0..20),
            right in prop::collection::vec(any_totals(), 0..20),
        ) {
            let mut merged = sorted(left.clone());
            merge(&mut merged, sorted(right.clone()));
            let mut expected = BTreeMap::new();
            for totals in left.into_iter().chain(right) {
                expected.entry(totals.key()).and_modify(|sum: &mut ClickTotals| sum.add(&totals))
                    .or_insert(totals);
            }
            prop_assert_eq!(merged, expected.into_values().collect::<Vec<_>>());
        }
    }
}

//! The hits of one link in the current month, counted without a lock.
//!
//! Invariant: under any number of threads, exactly as many calls of [`LocalQuota::take`] succeed in a
//! month as its limit allows. Month and count share one atomic word, so a count always belongs to the
//! month beside it.

use crate::link::Month;
use crate::sync::atomic::{AtomicU64, Ordering};

/// Bits of the count; the month has the other 16, enough until the year 5461.
const COUNT_BITS: u32 = 48;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

#[derive(Debug)]
pub struct LocalQuota(AtomicU64);

impl LocalQuota {
    /// Continue from `hits` in `month`.
    pub fn new(month: Month, hits: i64) -> Self {
        Self(AtomicU64::new(pack(month, u64::try_from(hits).unwrap_or_default())))
    }

    /// Use one hit of `month`, unless all of `limit` are used; 0 is no limit. Returns the month that it
    /// was counted in, which is a later one where the clock went back over the end of a month.
    #[inline]
    pub fn take(&self, month: Month, limit: u64) -> Option<Month> {
        let step = |word| {
            let (at, hits) = unpack(word);
            let used = if at < month { 0 } else { hits };
            (limit == 0 || used < limit).then(|| pack(at.max(month), used + 1))
        };
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).ok()?;
        Some(unpack(before).0.max(month))
    }

    /// Add hits of `month`, whatever the limit; hits of a month before the counted one are ignored.
    pub fn add(&self, month: Month, more: u64) {
        let step = |word| {
            let (at, hits) = unpack(word);
            match at.cmp(&month) {
                std::cmp::Ordering::Less => Some(pack(month, more)),
                std::cmp::Ordering::Equal => Some(pack(month, hits + more)),
                std::cmp::Ordering::Greater => None,
            }
        };
        // An error means that the month is over.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, step);
    }

    /// Give back a hit that was counted in `month` and not used.
    pub fn give_back(&self, month: Month) {
        let step = |word| {
            let (at, hits) = unpack(word);
            (at == month).then(|| pack(month, hits.saturating_sub(1)))
        };
        // An error means that the month is over.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, step);
    }

    /// Whether [`LocalQuota::take`] would succeed.
    #[inline]
    pub fn has_room(&self, month: Month, limit: u64) -> bool {
        let (at, hits) = self.used();
        limit == 0 || at < month || hits < limit
    }

    /// The counted month, and its hits so far.
    #[inline]
    pub fn used(&self) -> (Month, u64) {
        unpack(self.0.load(Ordering::Acquire))
    }
}

#[inline]
fn pack(month: Month, hits: u64) -> u64 {
    let month = u64::try_from(month.number()).unwrap_or_default();
    (month << COUNT_BITS) | hits.min(COUNT_MASK)
}

#[inline]
fn unpack(word: u64) -> (Month, u64) {
    let month = i64::try_from(word >> COUNT_BITS).unwrap_or_default();
    (Month::from_number(month), word & COUNT_MASK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    const JUNE: Month = Month::from_number(24_000);
    const JULY: Month = Month::from_number(24_001);

    #[test]
    fn exactly_the_limit_is_served_by_many_threads() {
        for limit in [1, 2, 1000] {
            let quota = LocalQuota::new(JUNE, 0);
            let served = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for _ in 0..limit {
                            if quota.take(JUNE, limit).is_some() {
                                served.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    });
                }
            });
            assert_eq!(u64::try_from(served.into_inner()).unwrap(), limit);
            assert_eq!(quota.used(), (JUNE, limit));
        }
    }

    #[test]
    fn a_new_month_starts_at_zero_and_an_old_one_never_returns() {
        let quota = LocalQuota::new(JUNE, 1);
        assert_eq!(quota.take(JUNE, 1), None);
        assert_eq!(quota.take(JULY, 1), Some(JULY));
        assert_eq!(quota.take(JULY, 1), None);
        assert_eq!(quota.take(JUNE, 1), None, "the clock went back");
        assert_eq!(quota.take(JUNE, 2), Some(JULY));
        assert_eq!(quota.used(), (JULY, 2));
    }

    #[test]
    fn what_is_added_counts_in_its_month() {
        let quota = LocalQuota::new(JUNE, 5);
        quota.add(JUNE, 2);
        assert_eq!(quota.used(), (JUNE, 7));
        quota.add(JULY, 3);
        quota.add(JUNE, 1);
        assert_eq!(quota.used(), (JULY, 3));
    }

    #[test]
    fn what_is_given_back_can_be_taken_again_in_its_month() {
        let quota = LocalQuota::new(JUNE, 4);
        assert_eq!(quota.take(JUNE, 5), Some(JUNE));
        assert_eq!(quota.take(JUNE, 5), None);
        quota.give_back(JUNE);
        assert_eq!(quota.take(JUNE, 5), Some(JUNE));
        assert_eq!(quota.take(JULY, 5), Some(JULY));
        quota.give_back(JUNE);
        assert_eq!(quota.used(), (JULY, 1), "the month is over");
    }

    #[test]
    fn zero_is_no_limit() {
        let quota = LocalQuota::new(JUNE, 5);
        assert_eq!(quota.take(JUNE, 0), Some(JUNE));
        assert_eq!(quota.used(), (JUNE, 6));
    }
}

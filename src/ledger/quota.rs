//! One link's hits in the current month, counted without a lock.
//!
//! Invariant: under any number of threads, exactly as many calls of [`Quota::take`] succeed in a
//! month as its limit allows. Month and count share one word, so a month's first hit cannot be
//! taken for the last month's.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::link::Month;

/// Bits of the count; the month has the other 16, enough until the year 5461.
const COUNT_BITS: u32 = 48;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// Hits used in a month.
#[derive(Debug)]
pub struct Quota(AtomicU64);

impl Quota {
    /// Go on from `hits` in `month`.
    pub fn new(month: Month, hits: i64) -> Self {
        Self(AtomicU64::new(pack(month, u64::try_from(hits).unwrap_or_default())))
    }

    /// Use one hit of `month`, unless all of `limit` are used; 0 is no limit.
    pub fn take(&self, month: Month, limit: u64) -> bool {
        let step = |word| {
            let (at, hits) = unpack(word);
            if at > month {
                // The clock went back over the end of a month: stay in the later one.
                (limit == 0 || hits < limit).then(|| pack(at, hits + 1))
            } else {
                let used = if at == month { hits } else { 0 };
                (limit == 0 || used < limit).then(|| pack(month, used + 1))
            }
        };
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).is_ok()
    }

    /// Whether [`Quota::take`] would succeed; uses nothing.
    pub fn has_room(&self, month: Month, limit: u64) -> bool {
        let (at, hits) = self.used();
        limit == 0 || at < month || hits < limit
    }

    /// The month that is being counted, and its hits so far.
    pub fn used(&self) -> (Month, u64) {
        unpack(self.0.load(Ordering::Acquire))
    }
}

fn pack(month: Month, hits: u64) -> u64 {
    let month = u64::try_from(month.number()).unwrap_or_default();
    (month << COUNT_BITS) | hits.min(COUNT_MASK)
}

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
            let quota = Quota::new(JUNE, 0);
            let served = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for _ in 0..limit {
                            if quota.take(JUNE, limit) {
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
    fn a_new_month_starts_anew_and_an_old_one_never_returns() {
        let quota = Quota::new(JUNE, 1);
        assert!(!quota.take(JUNE, 1));
        assert!(quota.take(JULY, 1));
        assert!(!quota.take(JULY, 1));
        assert!(!quota.take(JUNE, 1), "the clock went back");
        assert_eq!(quota.used(), (JULY, 1));
    }

    #[test]
    fn zero_is_no_limit() {
        let quota = Quota::new(JUNE, 5);
        assert!(quota.take(JUNE, 0));
        assert_eq!(quota.used(), (JUNE, 6));
    }
}

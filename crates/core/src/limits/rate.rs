//! A rate limit (the generic cell rate algorithm), as a function of one stored time and the current time.
//!
//! Invariant: within any time of length `t` at most `most + t / interval` are allowed. A call for several
//! is allowed as long as one is free, and is charged in full.

use std::time::Duration;

/// `most` per window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    most: u32,
    /// Nanoseconds until one more is allowed.
    interval: u64,
}

/// How long until one more is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait(pub Duration);

impl Wait {
    /// The value of `Retry-After`: whole seconds, at least one, rounded up.
    pub fn seconds(self) -> u32 {
        let seconds = self.0.as_nanos().div_ceil(1_000_000_000);
        u32::try_from(seconds).unwrap_or(u32::MAX).max(1)
    }
}

impl Rate {
    /// `most` per `window`: so many at once, then one after each `window / most`. `None` for 0, which is
    /// no limit.
    pub(super) fn new(most: u32, window: Duration) -> Option<Self> {
        let window = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        (most > 0).then(|| Self { most, interval: window.div_ceil(u64::from(most)) })
    }

    /// Take `count` at `now`. `free_at` is when all are free again, in nanoseconds like `now`. Returns the
    /// new `free_at`, or how long to wait.
    pub(super) fn take(self, free_at: u64, count: u32, now: u64) -> Result<u64, Wait> {
        let free_at = free_at.max(now);
        let room = self.interval.saturating_mul(u64::from(self.most));
        let needed = free_at.saturating_add(self.interval);
        let wait = needed.saturating_sub(now.saturating_add(room));
        if wait > 0 {
            return Err(Wait(Duration::from_nanos(wait)));
        }
        Ok(free_at.saturating_add(self.interval.saturating_mul(u64::from(count))))
    }

    /// Undo a take of `count`.
    pub(super) fn give_back(self, free_at: u64, count: u32) -> u64 {
        free_at.saturating_sub(self.interval.saturating_mul(u64::from(count)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn rate(most: u32, seconds: u64) -> Rate {
        Rate::new(most, Duration::from_secs(seconds)).unwrap()
    }

    #[test]
    fn the_limit_is_allowed_at_once_then_one_at_a_time() {
        let rate = rate(5, 60);
        let mut free_at = 0;
        for _ in 0..5 {
            free_at = rate.take(free_at, 1, SECOND).unwrap();
        }
        let wait = rate.take(free_at, 1, SECOND).unwrap_err();
        assert_eq!((wait.0, wait.seconds()), (Duration::from_secs(12), 12));
        assert!(rate.take(free_at, 1, 13 * SECOND - 1).is_err());
        free_at = rate.take(free_at, 1, 13 * SECOND).unwrap();
        assert_eq!(rate.take(free_at, 1, 13 * SECOND).unwrap_err().seconds(), 12);
        // After a minute without a call all are free again.
        for _ in 0..5 {
            free_at = rate.take(free_at, 1, 100 * SECOND).unwrap();
        }
        assert!(rate.take(free_at, 1, 100 * SECOND).is_err());
    }

    #[test]
    fn a_batch_is_charged_in_full() {
        let rate = rate(60, 60);
        let free_at = rate.take(0, 100, 0).unwrap();
        assert_eq!(rate.take(free_at, 1, 0).unwrap_err().seconds(), 41);
        assert!(rate.take(free_at, 1, 41 * SECOND).is_ok());
        let free_at = rate.give_back(free_at, 100);
        assert!(rate.take(free_at, 1, 0).is_ok());
    }

    #[test]
    fn zero_is_no_limit_and_a_wait_is_rounded_up() {
        assert_eq!(Rate::new(0, Duration::from_mins(1)), None);
        assert_eq!(Wait(Duration::from_nanos(1)).seconds(), 1);
        assert_eq!(Wait(Duration::from_millis(1_001)).seconds(), 2);
        assert_eq!(Wait(Duration::MAX).seconds(), u32::MAX);
    }

    proptest! {
        #[test]
        fn no_more_than_the_limit_plus_the_refill_is_allowed(
            most in 1..2_000_u32,
            window in 1..100_000_u64,
            gaps in prop::collection::vec(0..20 * SECOND, 1..300),
        ) {
            let rate = rate(most, window);
            let (mut now, mut free_at) = (0, 0);
            let mut taken: Vec<u64> = Vec::new();
            for gap in gaps {
                now += gap;
                match rate.take(free_at, 1, now) {
                    Ok(later) => {
                        free_at = later;
                        taken.push(now);
                    }
                    Err(Wait(wait)) => {
                        // The wait is exact: a moment before it is too early, after it is not.
                        let at = now + u64::try_from(wait.as_nanos()).unwrap();
                        prop_assert!(rate.take(free_at, 1, at - 1).is_err());
                        prop_assert!(rate.take(free_at, 1, at).is_ok());
                    }
                }
            }
            for (at, first) in taken.iter().enumerate() {
                for (count, last) in taken[at..].iter().enumerate() {
                    let refilled = (last - first) / rate.interval;
                    let allowed = u64::from(most) + refilled;
                    prop_assert!(u64::try_from(count).unwrap() < allowed);
                }
            }
        }
    }
}

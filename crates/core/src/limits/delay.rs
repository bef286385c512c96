//! Exponential backoff: a few attempts are free, then each has to wait twice as long as the one before,
//! up to a quarter of an hour.
//!
//! Invariant: an attempt that comes too early is refused and changes nothing, so that further attempts
//! do not prolong the wait.

use std::time::Duration;

use super::rate::Wait;

/// The longest delay; after so long without an attempt the count is reset.
pub const LONGEST: Duration = Duration::from_mins(15);
const FIRST: Duration = Duration::from_mins(1);

/// The rule, with the number of free attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delay {
    free: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tries {
    pub(super) count: u32,
    /// When the count is reset, in nanoseconds.
    pub(super) until: u64,
}

impl Tries {
    /// Without the last one, whose result is unknown.
    pub(super) fn undo(self) -> Self {
        Self { count: self.count.saturating_sub(1), ..self }
    }
}

impl Delay {
    /// `free` attempts without a delay; `None` for 0, which is no limit.
    pub(super) fn new(free: u32) -> Option<Self> {
        (free > 0).then_some(Self { free })
    }

    /// Count an attempt at `now`, or return how long to wait.
    pub(super) fn next(self, tries: Tries, now: u64) -> Result<Tries, Wait> {
        let tries = if tries.until <= now { Tries::default() } else { tries };
        let allowed_at = tries.until.saturating_sub(nanos(LONGEST));
        if tries.count >= self.free && now < allowed_at {
            return Err(Wait(Duration::from_nanos(allowed_at - now)));
        }
        let count = tries.count.saturating_add(1);
        let remembered = nanos(self.after(count)).saturating_add(nanos(LONGEST));
        Ok(Tries { count, until: now.saturating_add(remembered) })
    }

    /// How long to wait after attempt number `count`.
    fn after(self, count: u32) -> Duration {
        match count.checked_sub(self.free) {
            None => Duration::ZERO,
            Some(over) => FIRST.saturating_mul(1_u32 << over.min(8)).min(LONGEST),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_delay_doubles_up_to_a_quarter_of_an_hour() {
        let delay = Delay::new(5).unwrap();
        let (mut tries, mut now) = (Tries::default(), SECOND);
        for _ in 0..5 {
            tries = delay.next(tries, now).unwrap();
        }
        for minutes in [1, 2, 4, 8, 15, 15, 15] {
            let wait = delay.next(tries, now).unwrap_err();
            assert_eq!(wait.0, Duration::from_mins(minutes));
            now += nanos(wait.0);
            assert!(delay.next(tries, now - 1).is_err());
            tries = delay.next(tries, now).unwrap();
        }
        // After the last delay and another quarter of an hour the count is reset.
        now += nanos(LONGEST) * 2;
        for _ in 0..5 {
            tries = delay.next(tries, now).unwrap();
        }
        assert_eq!(delay.next(tries, now).unwrap_err().0, FIRST);
    }

    #[test]
    fn an_attempt_without_a_result_does_not_count() {
        let delay = Delay::new(2).unwrap();
        let mut tries = delay.next(Tries::default(), 0).unwrap();
        for _ in 0..10 {
            tries = delay.next(tries, 0).unwrap().undo();
        }
        tries = delay.next(tries, 0).unwrap();
        assert!(delay.next(tries, 0).is_err());
        assert_eq!(Delay::new(0), None);
    }

    proptest! {
        #[test]
        fn no_wait_exceeds_the_longest_delay(
            free in 1..10_u32,
            gaps in prop::collection::vec(0..600 * SECOND, 1..200),
        ) {
            let delay = Delay::new(free).unwrap();
            let (mut tries, mut now) = (Tries::default(), 0);
            let mut allowed: Vec<u64> = Vec::new();
            for gap in gaps {
                now += gap;
                match delay.next(tries, now) {
                    Ok(next) => {
                        tries = next;
                        allowed.push(now);
                    }
                    Err(Wait(wait)) => prop_assert!(wait <= LONGEST),
                }
            }
            // Never more than the free attempts within a minute.
            for window in allowed.windows(usize::try_from(free).unwrap() + 1) {
                prop_assert!(window[window.len() - 1] - window[0] >= nanos(FIRST));
            }
        }
    }
}

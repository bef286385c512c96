//! A circuit breaker: opens after several failures in a row that are spread over some time, since one
//! short pause of a machine fails many calls at once. Heartbeats keep trying, and the first success
//! closes it. The time is a parameter.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

/// Failures in a row that open the breaker,
const MOST_FAILURES: u32 = 5;
/// if they are spread over at least this time.
const LONG_ENOUGH: Duration = Duration::from_millis(300);

#[derive(Debug)]
pub(super) struct Breaker {
    failures: AtomicU32,
    /// When the first of them was, in milliseconds.
    since: AtomicI64,
    open: AtomicBool,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { failures: AtomicU32::new(0), since: AtomicI64::new(0), open: AtomicBool::new(true) }
    }
}

impl Breaker {
    /// Whether calls should not be made.
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    pub(super) fn succeeded(&self) {
        // Plain reads first: success is the common case and changes nothing.
        if self.failures.load(Ordering::Acquire) != 0 {
            self.failures.store(0, Ordering::Release);
        }
        if self.is_open() {
            self.open.store(false, Ordering::Release);
        }
    }

    /// A call failed at `at` milliseconds; `true` when this opened the breaker.
    pub(super) fn failed(&self, at: i64) -> bool {
        let before = self.failures.fetch_add(1, Ordering::AcqRel);
        if before == 0 {
            self.since.store(at, Ordering::Release);
        }
        let lasted = at.saturating_sub(self.since.load(Ordering::Acquire));
        let long_enough = i64::try_from(LONG_ENOUGH.as_millis()).unwrap_or(i64::MAX);
        let enough = before.saturating_add(1) >= MOST_FAILURES && lasted >= long_enough;
        enough && self.open()
    }

    /// Open immediately, since the connection is gone; `true` when it was closed before.
    pub(super) fn open(&self) -> bool {
        !self.open.swap(true, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_over_some_time_open_it_and_one_success_closes_it() {
        let breaker = Breaker::default();
        assert!(breaker.is_open(), "nothing has worked yet");
        breaker.succeeded();
        for round in 0..3 {
            for failure in 1..i64::from(MOST_FAILURES) {
                assert!(!breaker.failed(round * 10_000 + 1000 * failure));
                assert!(!breaker.is_open());
            }
            breaker.succeeded();
        }
        let opened: Vec<bool> = (0..7).map(|at| breaker.failed(90_000 + 100 * at)).collect();
        assert_eq!(opened, [false, false, false, false, true, false, false]);
        assert!(breaker.is_open());
        breaker.succeeded();
        assert!(!breaker.is_open());
        assert!(breaker.open() && !breaker.open());
    }

    #[test]
    fn many_failures_in_one_moment_are_not_an_outage() {
        let breaker = Breaker::default();
        breaker.succeeded();
        for _ in 0..1000 {
            assert!(!breaker.failed(5_000));
        }
        assert!(!breaker.is_open());
        assert!(breaker.failed(5_300), "but when it lasts it is one");
    }
}

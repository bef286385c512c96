//! When to stop asking: after a few failures in a row. It knows no time: whoever keeps the connection
//! alive tries again and again, and its first success closes the breaker.

use std::sync::atomic::{AtomicU32, Ordering};

/// Failures in a row after which nobody else has to wait for the next one.
const MOST_FAILURES: u32 = 5;

/// Counts failures in a row.
#[derive(Debug)]
pub struct Breaker(AtomicU32);

impl Default for Breaker {
    /// Open, until something has worked.
    fn default() -> Self {
        Self(AtomicU32::new(MOST_FAILURES))
    }
}

impl Breaker {
    /// Whether nobody should ask.
    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire) >= MOST_FAILURES
    }

    /// It answered.
    pub fn succeeded(&self) {
        // A plain read first: that it works is nearly always no news.
        if self.0.load(Ordering::Acquire) != 0 {
            self.0.store(0, Ordering::Release);
        }
    }

    /// It did not answer, or not in time; `true` when this one opened it.
    pub fn failed(&self) -> bool {
        let more = |failures: u32| Some(failures.saturating_add(1).min(MOST_FAILURES));
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, more) == Ok(MOST_FAILURES - 1)
    }

    /// There is nothing to ask any more; `true` when it was closed before.
    pub fn open(&self) -> bool {
        self.0.swap(MOST_FAILURES, Ordering::AcqRel) < MOST_FAILURES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_in_a_row_open_it_and_one_success_closes_it() {
        let breaker = Breaker::default();
        assert!(breaker.is_open(), "nothing has worked yet");
        breaker.succeeded();
        for _ in 0..3 {
            for _ in 1..MOST_FAILURES {
                assert!(!breaker.failed());
                assert!(!breaker.is_open());
            }
            breaker.succeeded();
        }
        let opened: Vec<bool> = (0..7).map(|_| breaker.failed()).collect();
        assert_eq!(opened, [false, false, false, false, true, false, false]);
        assert!(breaker.is_open());
        breaker.succeeded();
        assert!(!breaker.is_open());
        assert!(breaker.open() && !breaker.open());
    }
}

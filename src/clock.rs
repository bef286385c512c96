//! Time: the only module that reads it. Everybody else takes a [`Clock`] as a parameter, so that a
//! test can move it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// An instant: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the epoch.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// This instant moved by `by`, held at the largest instant there is.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Some time earlier.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// RFC 3339 in UTC, to the millisecond.
    pub fn to_rfc3339(self) -> String {
        let time = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        format!("{time:.3}")
    }

    /// Read RFC 3339 with any offset; `None` when the text is something else.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|time| Self(time.as_millisecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// Tells the time: the system's, or one that a test moves by hand.
#[derive(Clone, Debug)]
pub struct Clock {
    manual: Option<Arc<AtomicI64>>,
    latest: Arc<AtomicI64>,
}

impl Clock {
    /// The system's wall clock.
    pub fn system() -> Self {
        Self { manual: None, latest: Arc::new(AtomicI64::new(i64::MIN)) }
    }

    /// A clock that stands at `start` until [`Clock::set`] or [`Clock::advance`].
    pub fn manual(start: Timestamp) -> Self {
        Self { manual: Some(Arc::new(AtomicI64::new(start.as_ms()))), ..Self::system() }
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        let Some(manual) = &self.manual else {
            #[expect(clippy::disallowed_methods, reason = "this module is where the time enters")]
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            return Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        };
        Timestamp(manual.load(Ordering::Acquire))
    }

    /// The latest time that was told here: `now`, unless the clock has been set back since. What
    /// was over at a time stays over.
    pub fn latest(&self, now: Timestamp) -> Timestamp {
        let latest = self.latest.load(Ordering::Relaxed);
        if latest < now.as_ms() {
            // Only then is the shared line written: at most once a millisecond for each thread.
            self.latest.fetch_max(now.as_ms(), Ordering::Relaxed);
        }
        Timestamp(latest.max(now.as_ms()))
    }

    /// Move a manual clock to `to`; the system's clock stays as it is.
    pub fn set(&self, to: Timestamp) {
        if let Some(manual) = &self.manual {
            manual.store(to.as_ms(), Ordering::Release);
        }
    }

    /// Move a manual clock forward.
    pub fn advance(&self, by: Duration) {
        self.set(self.now().plus(by));
    }
}

/// Measures how long something takes; wall-clock jumps do not touch it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Start measuring.
    pub fn start() -> Self {
        #[expect(clippy::disallowed_methods, reason = "this module is where the time enters")]
        let now = Instant::now();
        Self(now)
    }

    /// How long since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_comes_and_goes_to_the_millisecond() {
        let at = Timestamp::from_ms(1_736_899_200_123);
        assert_eq!(at.to_rfc3339(), "2025-01-15T00:00:00.123Z");
        assert_eq!(Timestamp::parse_rfc3339("2025-01-15T01:00:00.123+01:00"), Some(at));
        assert_eq!(Timestamp::parse_rfc3339("yesterday"), None);
    }

    #[test]
    fn a_manual_clock_moves_only_by_hand() {
        let clock = Clock::manual(Timestamp::from_ms(5));
        assert_eq!(clock.now().as_ms(), 5);
        clock.clone().advance(Duration::from_millis(7));
        assert_eq!(clock.now().as_ms(), 12);
    }

    #[test]
    fn the_latest_time_does_not_go_back() {
        let clock = Clock::manual(Timestamp::from_ms(50));
        assert_eq!(clock.latest(clock.now()).as_ms(), 50);
        clock.set(Timestamp::from_ms(10));
        assert_eq!(clock.clone().latest(clock.now()).as_ms(), 50);
        clock.set(Timestamp::from_ms(60));
        assert_eq!(clock.latest(clock.now()).as_ms(), 60);
        assert_eq!(clock.now().as_ms(), 60);
    }
}

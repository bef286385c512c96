//! Points in time as values. Reading the clock is not done here: the current time is always an argument.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the epoch.
    #[inline]
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// From nanoseconds since the epoch, rounded down to a millisecond.
    #[inline]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos.div_euclid(1_000_000))
    }

    /// Milliseconds since the epoch.
    #[inline]
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// Later by `by`; saturates.
    #[must_use]
    #[inline]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Earlier by `by`; saturates.
    #[must_use]
    #[inline]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// RFC 3339 in UTC, with milliseconds.
    pub fn to_rfc3339(self) -> String {
        let time = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        format!("{time:.3}")
    }

    /// The format of HTTP date headers (RFC 9110, IMF-fixdate), in whole seconds.
    pub fn to_http_date(self) -> String {
        let time = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }

    /// Parse RFC 3339 with any offset.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|time| Self(time.as_millisecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// The latest time that was observed. It does not go back when the wall clock is set back, so that an expired link
/// stays expired.
#[derive(Debug)]
pub struct LatestTime(AtomicI64);

impl Default for LatestTime {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }
}

impl LatestTime {
    /// The latest of `now` and all times observed before.
    #[inline]
    pub fn observe(&self, now: Timestamp) -> Timestamp {
        let latest = self.0.load(Ordering::Relaxed);
        if latest < now.as_ms() {
            // The shared cache line is written only then: at most once a millisecond for each thread.
            self.0.fetch_max(now.as_ms(), Ordering::Relaxed);
        }
        Timestamp(latest.max(now.as_ms()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_time_does_not_go_back() {
        let latest = LatestTime::default();
        let observed = [50, 10, 60].map(|ms| latest.observe(Timestamp::from_ms(ms)).as_ms());
        assert_eq!(observed, [50, 50, 60]);
    }

    #[test]
    fn rfc_3339_is_parsed_and_written_to_the_millisecond() {
        let at = Timestamp::from_ms(1_736_899_200_123);
        assert_eq!(at.to_rfc3339(), "2025-01-15T00:00:00.123Z");
        assert_eq!(Timestamp::parse_rfc3339("2025-01-15T01:00:00.123+01:00"), Some(at));
        assert_eq!(Timestamp::parse_rfc3339("yesterday"), None);
    }
}

//! The periods within which a visitor is recognised: UTC days, weeks or months.

use crate::link::Month;
use crate::time::Timestamp;

const DAY_MS: i64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitorPeriod {
    Day,
    /// From Monday on.
    Week,
    Month,
}

impl VisitorPeriod {
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// The first moment of the period that contains `at`, and the first after it.
    pub fn bounds(self, at: Timestamp) -> (Timestamp, Timestamp) {
        let day = day_of(at);
        let days = |first: i64, days: i64| {
            (Timestamp::from_ms(first * DAY_MS), Timestamp::from_ms((first + days) * DAY_MS))
        };
        match self {
            Self::Day => days(day, 1),
            // 1970-01-01 was a Thursday.
            Self::Week => days(day - (day + 3).rem_euclid(7), 7),
            Self::Month => {
                let month = Month::of(at);
                (month.start(), month.end())
            }
        }
    }
}

/// The UTC day of a moment, in days since 1970-01-01.
pub fn day_of(at: Timestamp) -> i64 {
    at.as_ms().div_euclid(DAY_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_begins_at_midnight_on_mondays_and_on_the_first() {
        let at = |text: &str| Timestamp::parse_rfc3339(text).unwrap();
        for (period, moment, start, end) in [
            (
                VisitorPeriod::Day,
                "2026-11-16T18:00:00Z",
                "2026-11-16T00:00:00Z",
                "2026-11-17T00:00:00Z",
            ),
            (
                VisitorPeriod::Day,
                "2026-11-16T00:00:00Z",
                "2026-11-16T00:00:00Z",
                "2026-11-17T00:00:00Z",
            ),
            (
                VisitorPeriod::Week,
                "2026-11-16T00:00:00Z",
                "2026-11-16T00:00:00Z",
                "2026-11-23T00:00:00Z",
            ),
            (
                VisitorPeriod::Week,
                "2026-11-15T23:59:59Z",
                "2026-11-09T00:00:00Z",
                "2026-11-16T00:00:00Z",
            ),
            (
                VisitorPeriod::Week,
                "1969-12-31T00:00:00Z",
                "1969-12-29T00:00:00Z",
                "1970-01-05T00:00:00Z",
            ),
            (
                VisitorPeriod::Month,
                "2028-02-29T12:00:00Z",
                "2028-02-01T00:00:00Z",
                "2028-03-01T00:00:00Z",
            ),
        ] {
            assert_eq!(period.bounds(at(moment)), (at(start), at(end)), "{period:?} {moment}");
        }
    }
}

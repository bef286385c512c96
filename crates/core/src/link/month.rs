//! UTC calendar months: the period of the hit limit.

use std::fmt;

use crate::time::Timestamp;

/// A UTC calendar month, as the number of months since year 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(i64);

impl Month {
    /// The month that contains `at`.
    #[inline]
    pub fn of(at: Timestamp) -> Self {
        let (year, month, _) = civil_from_days(at.as_ms().div_euclid(86_400_000));
        Self(year * 12 + month - 1)
    }

    /// From [`Month::number`].
    #[inline]
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// A number that grows by one each month.
    #[inline]
    pub const fn number(self) -> i64 {
        self.0
    }

    /// Its first millisecond.
    pub fn start(self) -> Timestamp {
        Self(self.0 - 1).end()
    }

    /// The first millisecond of the next month.
    pub fn end(self) -> Timestamp {
        let next = self.0 + 1;
        let days = days_from_civil(next.div_euclid(12), next.rem_euclid(12) + 1);
        Timestamp::from_ms(days.saturating_mul(86_400_000))
    }

    /// Whole seconds from `now` to the end of its month, rounded up: the value of `Retry-After`.
    pub fn seconds_left(now: Timestamp) -> i64 {
        let left = Self::of(now).end().as_ms() - now.as_ms();
        left.div_euclid(1000) + i64::from(left.rem_euclid(1000) != 0)
    }
}

impl fmt::Display for Month {
    /// `YYYY-MM`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }
}

/// Year, month and day of a day number since 1970-01-01 in the proleptic Gregorian calendar.
/// Not a calendar library, because every redirect computes the month.
#[inline]
const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(719_468);
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// The day number of the first of a month.
const fn days_from_civil(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    #[test]
    fn the_last_millisecond_still_belongs_to_its_month() {
        let last = at("2025-12-31T23:59:59.999Z");
        assert_eq!(Month::of(last).to_string(), "2025-12");
        assert_eq!(Month::seconds_left(last), 1);
        let first = at("2026-01-01T00:00:00Z");
        assert_eq!(Month::of(first).to_string(), "2026-01");
        assert_eq!(Month::of(last).number() + 1, Month::of(first).number());
    }

    proptest! {
        #[test]
        fn agrees_with_the_calendar_library(ms in -62_135_596_800_000i64..253_402_300_799_999) {
            let now = Timestamp::from_ms(ms);
            let zoned = jiff::Timestamp::from_millisecond(ms).unwrap()
                .to_zoned(jiff::tz::TimeZone::UTC);
            prop_assert_eq!(Month::of(now).to_string(), zoned.strftime("%Y-%m").to_string());
            let end = Month::of(now).end();
            prop_assert!(end > now);
            prop_assert_eq!(Month::of(end).number(), Month::of(now).number() + 1);
            prop_assert_eq!(Month::of(Timestamp::from_ms(end.as_ms() - 1)), Month::of(now));
        }
    }
}

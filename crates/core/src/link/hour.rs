//! UTC hours, by which clicks are summed up.

use crate::link::Month;
use crate::time::Timestamp;

const MS: i64 = 3_600_000;

/// A whole hour, as the number of hours since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hour(u32);

impl Hour {
    /// The hour that contains `at`; saturates at 0 and at 32 bits.
    #[inline]
    pub fn of(at: Timestamp) -> Self {
        let hours = at.as_ms().div_euclid(MS);
        Self(u32::try_from(hours.max(0)).unwrap_or(u32::MAX))
    }

    /// From [`Hour::number`].
    #[inline]
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// A number that grows by one each hour.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub fn start(self) -> Timestamp {
        Timestamp::from_ms(i64::from(self.0) * MS)
    }

    #[inline]
    pub fn month(self) -> Month {
        Month::of(self.start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_begins_with_its_first_millisecond() {
        let at = |text| Timestamp::parse_rfc3339(text).unwrap();
        let hour = Hour::of(at("2026-02-28T23:59:59.999Z"));
        assert_eq!(hour.start(), at("2026-02-28T23:00:00Z"));
        assert_eq!(hour.month().to_string(), "2026-02");
        let next = Hour::of(at("2026-03-01T00:00:00Z"));
        assert_eq!(next.number(), hour.number() + 1);
        assert_eq!(next.month().to_string(), "2026-03");
        assert_eq!(Hour::of(Timestamp::from_ms(-1)).number(), 0);
    }
}

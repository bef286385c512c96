//! What a clock on the wall and a calendar show in a time zone.

use crate::analytics::Interval;
use crate::analytics::calendar::Zone;
use crate::time::Timestamp;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalTime {
    pub year: u16,
    /// From 1 on.
    pub month: u8,
    pub day: u8,
    pub hour: u8,
    pub minute: u8,
    /// 0 is Monday.
    pub weekday: u8,
}

impl Zone {
    pub fn local(&self, at: Timestamp) -> LocalTime {
        let text = self.to_rfc3339(at);
        let mut numbers = text.split(['-', 'T', ':', '+']).map(str::parse::<u16>);
        let mut next = || numbers.next().and_then(Result::ok).unwrap_or_default();
        let year = next();
        let mut small = || u8::try_from(next()).unwrap_or_default();
        let (month, day, hour, minute) = (small(), small(), small(), small());
        let weekday = u8::try_from(self.weekday_and_hour(at).0).unwrap_or_default();
        LocalTime { year, month, day, hour, minute, weekday }
    }

    /// The first moment of a day that is written `2026-11-16`, and that of the day after it.
    pub fn day(&self, date: &str) -> Option<(Timestamp, Timestamp)> {
        const LONGER_THAN_A_DAY_MS: i64 = 36 * 3_600_000;
        let is_date = date.len() == 10 && date.bytes().filter(|byte| *byte == b'-').count() == 2;
        let start = self.parse_moment(date).filter(|_| is_date)?;
        let next = Timestamp::from_ms(start.as_ms().saturating_add(LONGER_THAN_A_DAY_MS));
        Some((start, self.start_of(next, Interval::Day)))
    }
}

impl LocalTime {
    /// `2026-11-16`
    pub fn date(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    #[test]
    fn a_clock_shows_the_time_of_its_zone() {
        let berlin = Zone::find("Europe/Berlin").unwrap();
        let winter = berlin.local(at("2026-11-15T23:30:00Z"));
        let expected =
            LocalTime { year: 2026, month: 11, day: 16, hour: 0, minute: 30, weekday: 0 };
        assert_eq!(winter, expected);
        assert_eq!(berlin.local(at("2026-07-15T22:30:00Z")).hour, 0);
        assert_eq!(winter.date(), "2026-11-16");
        assert_eq!(Zone::utc().local(at("1969-12-31T23:59:59Z")).weekday, 2);
        assert_eq!(Zone::utc().local(at("2026-01-02T03:04:05Z")).minute, 4);
    }

    #[test]
    fn days_begin_at_midnight_of_the_zone_also_when_clocks_change() {
        let berlin = Zone::find("Europe/Berlin").unwrap();
        let day = berlin.day("2026-10-25").unwrap();
        assert_eq!(day, (at("2026-10-24T22:00:00Z"), at("2026-10-25T23:00:00Z")));
        let spring = berlin.day("2026-03-29").unwrap();
        assert_eq!(spring.1.as_ms() - spring.0.as_ms(), 23 * 3_600_000);
        // At midnight clocks went forward: the day began at one.
        let havana = Zone::find("America/Havana").unwrap();
        assert_eq!(havana.day("2026-03-08").unwrap().0, at("2026-03-08T05:00:00Z"));
        for bad in ["", "2026-02-30", "yesterday", "2026-11-16T00:00:00Z", "2026-11-1"] {
            assert_eq!(berlin.day(bad), None, "{bad}");
        }
    }
}

//! Days and hours in a time zone. The changes of its clocks are worked out when a plan is compiled, so that a
//! redirect only compares numbers.

use jiff::tz::TimeZone;

use super::test_key::{Day, Hours};
use crate::time::Timestamp;

const MINUTE_MS: i64 = 60_000;
const DAY_MINUTES: i64 = 24 * 60;
/// For how long changes of clocks are known ahead; beyond that the zone's rules are asked each time.
const AHEAD_MS: i64 = 5 * 366 * DAY_MINUTES * MINUTE_MS;

/// The offsets of a zone from the time of its making on.
#[derive(Clone, Debug)]
pub(super) struct ZoneOffsets {
    zone: TimeZone,
    /// From when on which offset in milliseconds applies, in order.
    offsets: Box<[(i64, i64)]>,
    /// The first moment that is not covered.
    end: i64,
}

impl ZoneOffsets {
    pub(super) fn new(name: &str, now: Timestamp) -> Option<Self> {
        let zone = TimeZone::get(name).ok().filter(|zone| !zone.is_unknown())?;
        let start = instant(now.as_ms());
        let end = now.as_ms().saturating_add(AHEAD_MS);
        let mut offsets = vec![(now.as_ms(), offset_ms(&zone, now.as_ms()))];
        for change in zone.following(start) {
            let at = change.timestamp().as_millisecond();
            if at >= end {
                break;
            }
            offsets.push((at, i64::from(change.offset().seconds()) * 1_000));
        }
        Some(Self { zone, offsets: offsets.into(), end })
    }

    /// Milliseconds to add to UTC.
    #[inline]
    fn at(&self, now: i64) -> i64 {
        if now < self.end {
            let known = self.offsets.iter().rev().find(|(from, _)| *from <= now);
            if let Some((_, offset)) = known {
                return *offset;
            }
        }
        offset_ms(&self.zone, now)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.offsets)
    }
}

#[cold]
fn offset_ms(zone: &TimeZone, at: i64) -> i64 {
    i64::from(zone.to_offset(instant(at)).seconds()) * 1_000
}

fn instant(ms: i64) -> jiff::Timestamp {
    let (least, most) =
        (jiff::Timestamp::MIN.as_millisecond(), jiff::Timestamp::MAX.as_millisecond());
    jiff::Timestamp::from_millisecond(ms.clamp(least, most)).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// Days and hours. Hours over midnight belong to the day on which they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DaySchedule {
    /// A bit for each day, Monday first.
    days: u8,
    from: u16,
    to: u16,
}

impl DaySchedule {
    /// `days` empty: every day. `hours` missing: the whole day.
    pub(super) fn new(days: &[Day], hours: Option<Hours>) -> Self {
        let bit = |day: &Day| 1_u8 << Day::ALL.iter().position(|it| it == day).unwrap_or_default();
        let days =
            if days.is_empty() { 0x7F } else { days.iter().fold(0, |all, day| all | bit(day)) };
        let hours = hours.unwrap_or(Hours { from: 0, to: 24 * 60 });
        Self { days, from: hours.from, to: hours.to }
    }

    #[inline]
    pub(super) fn holds(self, now: Timestamp, zone: &ZoneOffsets) -> bool {
        let minutes = now.as_ms().saturating_add(zone.at(now.as_ms())).div_euclid(MINUTE_MS);
        let (day, minute) = (minutes.div_euclid(DAY_MINUTES), minutes.rem_euclid(DAY_MINUTES));
        // The first day of 1970 was a Thursday.
        let has = |day: i64| self.days >> (day + 3).rem_euclid(7) & 1 == 1;
        let (from, to) = (i64::from(self.from), i64::from(self.to));
        if from < to {
            has(day) && (from..to).contains(&minute)
        } else {
            minute >= from && has(day) || minute < to && has(day - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    fn holds(days: &[Day], hours: &str, zone: &str, now: &str) -> bool {
        let hours = (!hours.is_empty()).then(|| Hours::parse(hours).unwrap());
        let schedule = DaySchedule::new(days, hours);
        let results = ["2020-01-01T00:00:00Z", "2025-12-31T23:00:00Z", "2030-01-01T00:00:00Z"];
        let results =
            results.map(|made| schedule.holds(at(now), &ZoneOffsets::new(zone, at(made)).unwrap()));
        let [first, second, third] = results;
        assert_eq!((first, first), (second, third), "whenever it was compiled");
        first
    }

    #[test]
    fn hours_are_those_of_the_zone_over_both_changes_of_summer_time() {
        let office = |now| holds(&[], "09:00-17:30", "Europe/Berlin", now);
        // Winter: one hour ahead of UTC.
        assert!(!office("2026-01-15T07:59:59.999Z") && office("2026-01-15T08:00:00Z"));
        assert!(office("2026-01-15T16:29:59.999Z") && !office("2026-01-15T16:30:00Z"));
        // The day clocks go forward, and the day they go back.
        assert!(!office("2026-03-29T06:59:00Z") && office("2026-03-29T07:00:00Z"));
        assert!(!office("2026-10-25T07:59:00Z") && office("2026-10-25T08:00:00Z"));
        let night = |now| holds(&[], "02:00-03:00", "Europe/Berlin", now);
        // 2:00 to 3:00 does not exist in spring, and is there twice in autumn.
        assert!(!night("2026-03-29T00:59:59Z") && !night("2026-03-29T01:00:00Z"));
        assert!(night("2026-10-25T00:30:00Z") && night("2026-10-25T01:30:00Z"));
        assert!(!night("2026-10-25T02:00:00Z"));
        // Half an hour of summer time, and an offset of 45 minutes.
        assert!(holds(&[], "12:00-12:01", "Australia/Lord_Howe", "2026-01-10T01:00:00Z"));
        assert!(holds(&[], "12:00-12:01", "Australia/Lord_Howe", "2026-07-10T01:30:00Z"));
        assert!(holds(&[], "12:00-12:01", "Asia/Kathmandu", "2026-07-10T06:15:00Z"));
    }

    #[test]
    fn hours_over_midnight_belong_to_the_day_on_which_they_begin() {
        let party = |now| holds(&[Day::Friday], "22:00-02:00", "Europe/Berlin", now);
        // Friday, 20 November 2026.
        assert!(!party("2026-11-20T20:59:59Z") && party("2026-11-20T21:00:00Z"));
        assert!(party("2026-11-21T00:59:59Z") && !party("2026-11-21T01:00:00Z"));
        assert!(!party("2026-11-20T00:30:00Z"), "the night to Friday");
        let sunday = |now| holds(&[Day::Sunday], "23:00-01:00", "UTC", now);
        assert!(sunday("2026-11-23T00:30:00Z"), "Monday, of the week after");
        assert!(holds(&[], "00:00-24:00", "UTC", "2026-11-23T23:59:59Z"));
    }

    #[test]
    fn days_are_those_of_the_zone() {
        let monday = |zone, now| holds(&[Day::Monday], "", zone, now);
        // 23 November 2026 is a Monday.
        assert!(monday("Asia/Tokyo", "2026-11-22T15:00:00Z"));
        assert!(!monday("UTC", "2026-11-22T15:00:00Z"));
        assert!(monday("Pacific/Pago_Pago", "2026-11-24T10:59:59Z"));
        assert!(monday("UTC", "1969-12-29T12:00:00Z"), "before 1970");
        assert!(ZoneOffsets::new("Mars/Olympus", at("2026-01-01T00:00:00Z")).is_none());
    }
}

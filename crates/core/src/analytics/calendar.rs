//! Days, weeks and months of a time zone: where they begin, ranges by name, and ranges to compare with. The data
//! of the zones is compiled in.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use crate::analytics::{Comparison, Interval, TimeRange};
use crate::time::Timestamp;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const MINUTE_MS: i64 = 60_000;

/// Ranges that have a name.
pub const RANGE_NAMES: [&str; 10] =
    ["today", "yesterday", "24h", "7d", "30d", "90d", "12mo", "month", "year", "all"];

/// A time zone with a name of the IANA database.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Zone {
    pub fn find(name: &str) -> Option<Self> {
        let zone = TimeZone::get(name).ok()?;
        (!zone.is_unknown() && zone.iana_name().is_some()).then_some(Self(zone))
    }

    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// As the database spells it.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// RFC 3339 with the zone's offset, in whole seconds.
    pub fn to_rfc3339(&self, at: Timestamp) -> String {
        let at = instant(at).to_zoned(self.0.clone());
        at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// The day of the week (Monday is 0) and the hour.
    pub fn weekday_and_hour(&self, at: Timestamp) -> (usize, usize) {
        let local = self.0.to_datetime(instant(at));
        let day = usize::try_from(local.weekday().to_monday_zero_offset()).unwrap_or(0);
        (day, usize::try_from(local.hour()).unwrap_or(0))
    }

    fn date(&self, at: Timestamp) -> Date {
        self.0.to_datetime(instant(at)).date()
    }

    /// The first moment of a day: midnight, or when clocks skip it the moment after.
    fn start(&self, date: Date) -> Timestamp {
        let start = date.to_zoned(self.0.clone()).map(|start| start.timestamp().as_millisecond());
        Timestamp::from_ms(start.unwrap_or(i64::MAX))
    }

    /// When the hour, day, week or month of `at` begins.
    pub fn start_of(&self, at: Timestamp, interval: Interval) -> Timestamp {
        let date = self.date(at);
        match interval {
            Interval::Hour => {
                let local = self.0.to_datetime(instant(at));
                let minutes = i64::from(local.minute()) * MINUTE_MS;
                let rest = at.as_ms().rem_euclid(MINUTE_MS);
                Timestamp::from_ms(at.as_ms() - minutes - rest)
            }
            Interval::Day => self.start(date),
            Interval::Week => {
                let days = date.weekday().since(Weekday::Monday);
                self.start(date.saturating_sub(i64::from(days).days()))
            }
            Interval::Month => self.start(date.first_of_month()),
        }
    }

    /// When the interval after that of `start`, which begins one, begins.
    fn next(&self, start: Timestamp, interval: Interval) -> Timestamp {
        let step = match interval {
            Interval::Hour => {
                let next = start.as_ms() + HOUR_MS;
                let minute = self.0.to_datetime(instant(Timestamp::from_ms(next))).minute();
                // Where clocks change by half an hour, one hour of the day is longer.
                let rest = if minute == 0 { 0 } else { 60 - i64::from(minute) };
                return Timestamp::from_ms(next + rest * MINUTE_MS);
            }
            Interval::Day => 1.day(),
            Interval::Week => 1.week(),
            Interval::Month => 1.month(),
        };
        self.start(self.date(start).saturating_add(step))
    }

    /// The starts of all intervals that the range touches; `None` when there are more than `most`.
    pub fn buckets(
        &self,
        range: TimeRange,
        interval: Interval,
        most: usize,
    ) -> Option<Vec<Timestamp>> {
        let mut starts = Vec::new();
        let mut start = self.start_of(range.from, interval);
        while start < range.to {
            if starts.len() == most {
                return None;
            }
            starts.push(start);
            let next = self.next(start, interval);
            start = next.max(Timestamp::from_ms(start.as_ms() + 1));
        }
        Some(starts)
    }

    /// A moment as text: RFC 3339, or a date, which is its first moment in the zone.
    pub fn parse_moment(&self, text: &str) -> Option<Timestamp> {
        let date = || text.parse::<Date>().ok().filter(|_| text.len() == 10);
        Timestamp::parse_rfc3339(text).or_else(|| date().map(|date| self.start(date)))
    }

    /// One of [`RANGE_NAMES`]. All but `24h` and `yesterday` end with today; `all` begins at `since`.
    pub fn named_range(&self, name: &str, now: Timestamp, since: Timestamp) -> Option<TimeRange> {
        let today = self.date(now);
        let days = |count: i64| today.saturating_sub((count - 1).days());
        let from = match name {
            "today" => today,
            "yesterday" => {
                let from = self.start(days(2));
                return Some(TimeRange { from, to: self.start(today) });
            }
            "24h" => {
                let to = self.next(self.start_of(now, Interval::Hour), Interval::Hour);
                return Some(TimeRange { from: Timestamp::from_ms(to.as_ms() - DAY_MS), to });
            }
            "7d" => days(7),
            "30d" => days(30),
            "90d" => days(90),
            "12mo" => today.first_of_month().saturating_sub(11.months()),
            "month" => today.first_of_month(),
            "year" => today.first_of_year(),
            "all" => self.date(since.min(now)),
            _ => return None,
        };
        let to = self.start(today.saturating_add(1.day()));
        Some(TimeRange { from: self.start(from), to })
    }

    /// The range that `range` is compared with. Whole days are compared with whole days.
    pub fn compared(&self, range: TimeRange, with: Comparison) -> Option<TimeRange> {
        match with {
            Comparison::None => None,
            Comparison::Range(other) => Some(other),
            Comparison::Year => Some(TimeRange {
                from: self.earlier(range.from, 1.year()),
                to: self.earlier(range.to, 1.year()),
            }),
            Comparison::Previous => {
                let (first, end) = (self.date(range.from), self.date(range.to));
                let is_whole = self.start(first) == range.from && self.start(end) == range.to;
                let from = if is_whole {
                    let days = end.since(first).map_or(0, |span| span.get_days());
                    self.start(first.saturating_sub(i64::from(days).days()))
                } else {
                    Timestamp::from_ms(range.from.as_ms() - (range.to.as_ms() - range.from.as_ms()))
                };
                Some(TimeRange { from, to: range.from })
            }
        }
    }

    /// The same local time, earlier by `by`.
    fn earlier(&self, at: Timestamp, by: Span) -> Timestamp {
        let local = self.0.to_datetime(instant(at));
        let earlier = local.checked_sub(by).and_then(|earlier| self.0.to_timestamp(earlier));
        Timestamp::from_ms(earlier.map_or(at.as_ms(), jiff::Timestamp::as_millisecond))
    }
}

/// The interval that suits a range when none is asked for.
pub fn automatic_interval(range: TimeRange) -> Interval {
    let days = (range.to.as_ms() - range.from.as_ms()) / DAY_MS;
    match days {
        i64::MIN..=2 => Interval::Hour,
        3..=92 => Interval::Day,
        93..=731 => Interval::Week,
        732.. => Interval::Month,
    }
}

fn instant(at: Timestamp) -> jiff::Timestamp {
    let bounded = at.as_ms().clamp(
        jiff::Timestamp::MIN.as_millisecond() + 2 * DAY_MS,
        jiff::Timestamp::MAX.as_millisecond() - 2 * DAY_MS,
    );
    jiff::Timestamp::from_millisecond(bounded).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When clocks change: the month, which Sunday of it (0: the last), and the minutes after 0:00 UTC of that
    /// Sunday.
    type Change = (i64, i64, i64);

    /// Offsets in minutes: in winter, in summer, and when summer time begins and ends.
    type OffsetRow = (&'static str, i64, i64, Option<(Change, Change)>);

    /// Facts of the law of each place, for 2020 to 2030.
    const OFFSETS: [OffsetRow; 12] = [
        ("UTC", 0, 0, None),
        ("Europe/Berlin", 60, 120, Some(((3, 0, 60), (10, 0, 60)))),
        ("Europe/London", 0, 60, Some(((3, 0, 60), (10, 0, 60)))),
        ("America/New_York", -300, -240, Some(((3, 2, 420), (11, 1, 360)))),
        ("America/Los_Angeles", -480, -420, Some(((3, 2, 600), (11, 1, 540)))),
        ("America/St_Johns", -210, -150, Some(((3, 2, 330), (11, 1, 270)))),
        ("Asia/Kolkata", 330, 330, None),
        ("Asia/Kathmandu", 345, 345, None),
        ("Asia/Tokyo", 540, 540, None),
        ("Australia/Sydney", 600, 660, Some(((10, 1, -480), (4, 1, -480)))),
        ("Australia/Lord_Howe", 630, 660, Some(((10, 1, -510), (4, 1, -540)))),
        ("Pacific/Auckland", 720, 780, Some(((9, 0, -600), (4, 1, -600)))),
    ];

    /// Days since 1970 of a date.
    fn day_number(year: i64, month: i64, day: i64) -> i64 {
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + day - 1 - 719_468
    }

    fn change_ms(year: i64, (month, sunday, minutes): Change) -> i64 {
        let sunday_from = |day: i64| day + (3 - day).rem_euclid(7);
        let day = if sunday == 0 {
            sunday_from(day_number(year, month + 1, 1)) - 7
        } else {
            sunday_from(day_number(year, month, 1)) + 7 * (sunday - 1)
        };
        day * DAY_MS + minutes * MINUTE_MS
    }

    /// The offset in minutes at a moment.
    fn offset(zone: (i64, i64, Option<(Change, Change)>), year: i64, ms: i64) -> i64 {
        let (winter, summer, changes) = zone;
        let Some((begin, end)) = changes else { return winter };
        let (begin, end) = (change_ms(year, begin), change_ms(year, end));
        let is_summer =
            if begin < end { (begin..end).contains(&ms) } else { ms >= begin || ms < end };
        if is_summer { summer } else { winter }
    }

    #[test]
    fn days_of_ten_years_begin_where_the_table_of_offsets_says() {
        for (name, winter, summer, changes) in OFFSETS {
            let zone = Zone::find(name).unwrap();
            let rule = (winter, summer, changes);
            let mut expected = Vec::new();
            let years = (2020..=2030).flat_map(|year| (0..366).map(move |day| (year, day)));
            for (year, day) in years {
                let midnight = day_number(year, 1, 1) + day;
                if midnight >= day_number(year + 1, 1, 1) {
                    continue;
                }
                // No zone of the table changes its clocks at midnight, so the offset an hour later is the same.
                let guess = midnight * DAY_MS - winter * MINUTE_MS;
                let start = midnight * DAY_MS - offset(rule, year, guess) * MINUTE_MS;
                expected.push(start);
            }
            let (from, to) =
                (expected[0], day_number(2031, 1, 1) * DAY_MS - offset_of(rule) * MINUTE_MS);
            let range = TimeRange { from: Timestamp::from_ms(from), to: Timestamp::from_ms(to) };
            let days = zone.buckets(range, Interval::Day, 5_000).unwrap();
            let days: Vec<i64> = days.into_iter().map(Timestamp::as_ms).collect();
            assert_eq!(days, expected, "{name}");
            check_hours(&zone, &days, to);
        }
    }

    /// The offset on New Year's day of 2031.
    fn offset_of(rule: (i64, i64, Option<(Change, Change)>)) -> i64 {
        offset(rule, 2030, day_number(2030, 12, 31) * DAY_MS)
    }

    /// The hours of a day lie within it and begin at minute 0; days have 23 to 25.
    fn check_hours(zone: &Zone, days: &[i64], end: i64) {
        for (place, from) in days.iter().enumerate() {
            let to = *days.get(place + 1).unwrap_or(&end);
            let range = TimeRange { from: Timestamp::from_ms(*from), to: Timestamp::from_ms(to) };
            let hours = zone.buckets(range, Interval::Hour, 30).unwrap();
            // Where clocks change by half an hour, an hour of the day is longer.
            let expected = usize::try_from((to - from) / HOUR_MS).unwrap();
            let is_half = (to - from) % HOUR_MS != 0;
            let expected = if is_half && to - from < DAY_MS { 23 } else { expected };
            assert_eq!(hours.len(), expected, "{} {}", zone.name(), zone.to_rfc3339(range.from));
            assert_eq!(hours[0], range.from);
            for hour in hours {
                assert_eq!(&zone.to_rfc3339(hour)[14..19], "00:00");
                assert_eq!(zone.start_of(hour, Interval::Hour), hour);
                assert_eq!(zone.start_of(hour, Interval::Day), range.from);
            }
        }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    fn range(from: &str, to: &str) -> TimeRange {
        TimeRange { from: at(from), to: at(to) }
    }

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        let berlin = Zone::find("Europe/Berlin").unwrap();
        let starts = |interval, from, to| -> Vec<String> {
            let starts = berlin.buckets(range(from, to), interval, 100).unwrap();
            starts.into_iter().map(|start| berlin.to_rfc3339(start)).collect()
        };
        let weeks = starts(Interval::Week, "2026-10-21T12:00:00Z", "2026-11-02T00:00:00Z");
        let expected =
            ["2026-10-19T00:00:00+02:00", "2026-10-26T00:00:00+01:00", "2026-11-02T00:00:00+01:00"];
        assert_eq!(weeks, expected, "the last range ends at one o'clock on Monday");
        let months = starts(Interval::Month, "2026-01-31T23:30:00Z", "2026-03-31T22:00:00Z");
        assert_eq!(months, ["2026-02-01T00:00:00+01:00", "2026-03-01T00:00:00+01:00"]);
    }

    #[test]
    fn ranges_have_names() {
        let berlin = Zone::find("europe/berlin").unwrap();
        assert_eq!(berlin.name(), "Europe/Berlin");
        // In Berlin it is Sunday, 25 October, after clocks went back.
        let now = at("2026-10-25T12:34:56Z");
        let since = at("2024-05-17T10:00:00Z");
        for (name, from, to) in [
            ("today", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
            ("yesterday", "2026-10-23T22:00:00Z", "2026-10-24T22:00:00Z"),
            ("24h", "2026-10-24T13:00:00Z", "2026-10-25T13:00:00Z"),
            ("7d", "2026-10-18T22:00:00Z", "2026-10-25T23:00:00Z"),
            ("30d", "2026-09-25T22:00:00Z", "2026-10-25T23:00:00Z"),
            ("90d", "2026-07-27T22:00:00Z", "2026-10-25T23:00:00Z"),
            ("12mo", "2025-10-31T23:00:00Z", "2026-10-25T23:00:00Z"),
            ("month", "2026-09-30T22:00:00Z", "2026-10-25T23:00:00Z"),
            ("year", "2025-12-31T23:00:00Z", "2026-10-25T23:00:00Z"),
            ("all", "2024-05-16T22:00:00Z", "2026-10-25T23:00:00Z"),
        ] {
            assert_eq!(berlin.named_range(name, now, since), Some(range(from, to)), "{name}");
            assert!(RANGE_NAMES.contains(&name));
        }
        assert_eq!(berlin.named_range("fortnight", now, since), None);
        assert!(Zone::find("Mars/Olympus").is_none() && Zone::find("").is_none());
    }

    #[test]
    fn a_range_is_compared_with_the_one_before_or_that_of_the_year_before() {
        let berlin = Zone::find("Europe/Berlin").unwrap();
        let week = range("2026-10-19T22:00:00Z", "2026-10-26T23:00:00Z");
        let before = range("2026-10-12T22:00:00Z", "2026-10-19T22:00:00Z");
        assert_eq!(berlin.compared(week, Comparison::Previous), Some(before), "seven days");
        let year = range("2025-10-19T22:00:00Z", "2025-10-26T23:00:00Z");
        assert_eq!(berlin.compared(week, Comparison::Year), Some(year));
        let hours = range("2026-10-25T10:30:00Z", "2026-10-25T12:30:00Z");
        let before = range("2026-10-25T08:30:00Z", "2026-10-25T10:30:00Z");
        assert_eq!(berlin.compared(hours, Comparison::Previous), Some(before));
        assert_eq!(berlin.compared(hours, Comparison::Range(year)), Some(year));
        assert_eq!(berlin.compared(hours, Comparison::None), None);
        let leap = range("2024-02-29T12:00:00Z", "2024-03-01T12:00:00Z");
        let year = range("2023-02-28T12:00:00Z", "2023-03-01T12:00:00Z");
        assert_eq!(Zone::utc().compared(leap, Comparison::Year), Some(year));
    }

    #[test]
    fn a_moment_is_a_time_or_a_date() {
        let tokyo = Zone::find("Asia/Tokyo").unwrap();
        assert_eq!(tokyo.parse_moment("2026-11-01"), Some(at("2026-10-31T15:00:00Z")));
        let moment = at("2026-11-01T01:00:00Z");
        assert_eq!(tokyo.parse_moment("2026-11-01T02:00:00+01:00"), Some(moment));
        assert_eq!(tokyo.weekday_and_hour(moment), (6, 10));
        for bad in ["", "2026-13-01", "yesterday", "2026-11-1", "2026-11-01T00:00:00"] {
            assert_eq!(tokyo.parse_moment(bad), None, "{bad}");
        }
    }

    #[test]
    fn too_many_points_are_refused_and_extreme_times_end() {
        let day = range("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
        assert_eq!(Zone::utc().buckets(day, Interval::Hour, 23), None);
        let end =
            TimeRange { from: Timestamp::from_ms(i64::MAX - 1), to: Timestamp::from_ms(i64::MAX) };
        let _ = Zone::utc().buckets(end, Interval::Day, 10);
    }
}

//! A question about clicks from the parameters of a request. The API, the pages and shares read them here.

use crate::app::{AppError, FieldError};
use kurz_core::analytics::calendar::{RANGE_NAMES, Zone, automatic_interval};
use kurz_core::analytics::filter::{MAX_FILTERS, names};
use kurz_core::analytics::{
    AnalyticsQuery, Class, Comparison, Dimension, EventFilter, Interval, RowOrder, TimeRange,
};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// The parameters of a question. Callers leave out others.
pub const QUESTION_PARAMETERS: [&str; 11] = [
    "from", "to", "zone", "interval", "group", "limit", "offset", "order", "filter", "compare",
    "class",
];

const MAX_GROUPS: usize = 16;
const MAX_ROWS: usize = 1_000;
const DEFAULT_ROWS: usize = 10;
/// Most rows that can be skipped.
const MAX_OFFSET: usize = 1_000_000;
const MAX_POINTS: usize = 1_000;
const DAY_MS: i64 = 24 * 3_600_000;
const MAX_RANGE_MS: i64 = 3_660 * DAY_MS;
const MAX_HOURS_MS: i64 = 31 * DAY_MS + DAY_MS / 12;
const DEFAULT_RANGE: &str = "30d";

/// What a question is asked about, apart from its parameters.
#[derive(Clone, Copy, Debug)]
pub struct QuestionContext {
    pub now: Timestamp,
    /// Where the range `all` begins.
    pub since: Timestamp,
    /// Only clicks on this link.
    pub link: Option<LinkId>,
}

/// The question that the parameters ask.
pub fn read_question<'a>(
    parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
    context: &QuestionContext,
) -> Result<AnalyticsQuery, AppError> {
    let mut given = Given::default();
    for (name, value) in parameters {
        given.add(name, value)?;
    }
    let zone = match given.zone {
        None | Some("") => Zone::utc(),
        Some(name) => Zone::find(name).ok_or_else(|| {
            FieldError::new(
                "zone",
                "zone-unknown",
                "a zone has an IANA name, such as Europe/Berlin",
            )
        })?,
    };
    let range = read_range(&given, &zone, context)?;
    let interval = read_interval(given.interval, range)?;
    if zone.buckets(range, interval, MAX_POINTS).is_none() {
        let detail =
            "a range has at most 1,000 points: ask for a longer interval or a shorter range";
        return Err(FieldError::new("interval", "range-invalid", detail).into());
    }
    let compare = read_comparison(given.compare, &zone)?;
    let offset = read_number("offset", given.offset, 0, 0..=MAX_OFFSET)?;
    if offset > 0 && given.groups.len() != 1 {
        let detail = "rows can be skipped in one group only: ask for one group";
        return Err(FieldError::new("offset", "analytics-invalid", detail).into());
    }
    Ok(AnalyticsQuery {
        range,
        interval,
        zone: zone.name().to_owned(),
        link: context.link,
        groups: given.groups,
        limit: read_number("limit", given.limit, DEFAULT_ROWS, 1..=MAX_ROWS)?,
        offset,
        order: read_order(given.order)?,
        filters: given.filters,
        compare,
        class: read_class(given.class)?,
    })
}

/// The parameters as they were given, each at most once but for groups and filters.
#[derive(Default)]
struct Given<'a> {
    from: Option<&'a str>,
    to: Option<&'a str>,
    zone: Option<&'a str>,
    interval: Option<&'a str>,
    groups: Vec<Dimension>,
    limit: Option<&'a str>,
    offset: Option<&'a str>,
    order: Option<&'a str>,
    filters: Vec<EventFilter>,
    compare: Option<&'a str>,
    class: Option<&'a str>,
}

impl<'a> Given<'a> {
    fn add(&mut self, name: &str, value: &'a str) -> Result<(), AppError> {
        let place = match name {
            "from" => &mut self.from,
            "to" => &mut self.to,
            "zone" => &mut self.zone,
            "interval" => &mut self.interval,
            "limit" => &mut self.limit,
            "offset" => &mut self.offset,
            "order" => &mut self.order,
            "compare" => &mut self.compare,
            "class" => &mut self.class,
            "group" => return self.add_groups(value),
            "filter" => return self.add_filter(value),
            _ => {
                let detail = "the query has a parameter that does not exist here";
                return Err(FieldError::new("query", "query-invalid", detail).into());
            }
        };
        if place.replace(value).is_some() {
            let detail = format!("the parameter {name} can be given once only");
            return Err(FieldError::new("query", "query-invalid", detail).into());
        }
        Ok(())
    }

    /// One name, or several with commas between them.
    fn add_groups(&mut self, value: &str) -> Result<(), AppError> {
        for name in value.split(',') {
            let Some(dimension) = Dimension::parse(name) else {
                return Err(invalid("group", format!("a group is one of {}", names())));
            };
            if !self.groups.contains(&dimension) {
                self.groups.push(dimension);
            }
            if self.groups.len() > MAX_GROUPS {
                return Err(invalid(
                    "group",
                    format!("at most {MAX_GROUPS} groups can be asked for"),
                ));
            }
        }
        Ok(())
    }

    fn add_filter(&mut self, value: &str) -> Result<(), AppError> {
        let refused = |detail: String| FieldError::new("filter", "filter-invalid", detail);
        if self.filters.len() == MAX_FILTERS {
            return Err(refused(format!("at most {MAX_FILTERS} filters can be set")).into());
        }
        self.filters.push(EventFilter::parse(value).map_err(|error| refused(error.to_string()))?);
        Ok(())
    }
}

fn invalid(parameter: &'static str, detail: String) -> AppError {
    FieldError::new(parameter, "analytics-invalid", detail).into()
}

fn read_range(
    given: &Given<'_>,
    zone: &Zone,
    context: &QuestionContext,
) -> Result<TimeRange, AppError> {
    let refused =
        |field, detail: &str| AppError::from(FieldError::new(field, "range-invalid", detail));
    let moment = |field, text: &str| {
        let detail = || {
            let names = RANGE_NAMES.join(", ");
            format!(
                "a time is written 2026-11-01T00:00:00Z or 2026-11-01; `from` may be one of {names}"
            )
        };
        zone.parse_moment(text).ok_or_else(|| refused(field, &detail()))
    };
    let tomorrow = || zone.named_range("today", context.now, context.since).map(|today| today.to);
    let range = match (given.from.filter(|from| !from.is_empty()), given.to) {
        (None, None | Some("")) => zone.named_range(DEFAULT_RANGE, context.now, context.since),
        (Some(name), None | Some("")) if RANGE_NAMES.contains(&name) => {
            zone.named_range(name, context.now, context.since)
        }
        (Some(from), None | Some("")) => {
            let from = moment("from", from)?;
            tomorrow().map(|to| TimeRange { from, to })
        }
        (Some(from), Some(to)) => {
            Some(TimeRange { from: moment("from", from)?, to: moment("to", to)? })
        }
        (None, Some(_)) => return Err(refused("from", "`to` needs a `from`")),
    };
    let range = range.ok_or_else(|| refused("from", "there is no such range"))?;
    check_range(range).map_err(|detail| refused("from", detail))?;
    Ok(range)
}

fn check_range(range: TimeRange) -> Result<(), &'static str> {
    let length = range.to.as_ms().saturating_sub(range.from.as_ms());
    match length {
        ..=0 => Err("`from` must be before `to`"),
        MAX_RANGE_MS.. => Err("a range has at most 10 years"),
        _ => Ok(()),
    }
}

fn read_interval(text: Option<&str>, range: TimeRange) -> Result<Interval, AppError> {
    let interval = match text {
        None | Some("auto" | "") => automatic_interval(range),
        Some("hour") => Interval::Hour,
        Some("day") => Interval::Day,
        Some("week") => Interval::Week,
        Some("month") => Interval::Month,
        Some(_) => {
            let detail = "an interval is hour, day, week, month or auto".to_owned();
            return Err(invalid("interval", detail));
        }
    };
    if interval == Interval::Hour && range.to.as_ms() - range.from.as_ms() > MAX_HOURS_MS {
        let detail = "hours can be asked for up to 31 days: ask for days";
        return Err(FieldError::new("interval", "range-invalid", detail).into());
    }
    Ok(interval)
}

/// A name, or two moments with a slash between them.
fn read_comparison(text: Option<&str>, zone: &Zone) -> Result<Comparison, AppError> {
    let refused =
        |detail: &str| AppError::from(FieldError::new("compare", "range-invalid", detail));
    match text {
        None | Some("none" | "") => Ok(Comparison::None),
        Some("previous") => Ok(Comparison::Previous),
        Some("year") => Ok(Comparison::Year),
        Some(text) => {
            let Some((from, to)) = text.split_once('/') else {
                let detail =
                    "a comparison is none, previous, year, or two times with a slash between them";
                return Err(invalid("compare", detail.to_owned()));
            };
            let moments = zone.parse_moment(from).zip(zone.parse_moment(to));
            let (from, to) = moments
                .ok_or_else(|| refused("a time is written 2026-11-01T00:00:00Z or 2026-11-01"))?;
            let range = TimeRange { from, to };
            check_range(range).map_err(refused)?;
            Ok(Comparison::Range(range))
        }
    }
}

fn read_number(
    parameter: &'static str,
    text: Option<&str>,
    otherwise: usize,
    allowed: std::ops::RangeInclusive<usize>,
) -> Result<usize, AppError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(otherwise) };
    let number = text.parse().ok().filter(|number| allowed.contains(number));
    number.ok_or_else(|| {
        let (least, most) = (allowed.start(), allowed.end());
        invalid(parameter, format!("`{parameter}` is a number from {least} to {most}"))
    })
}

fn read_order(text: Option<&str>) -> Result<RowOrder, AppError> {
    match text {
        None | Some("clicks" | "") => Ok(RowOrder::Clicks),
        Some("visitors") => Ok(RowOrder::Visitors),
        Some("change") => Ok(RowOrder::Change),
        Some("name") => Ok(RowOrder::Name),
        Some(_) => Err(invalid("order", "an order is clicks, visitors, change or name".to_owned())),
    }
}

fn read_class(text: Option<&str>) -> Result<Option<Class>, AppError> {
    match text {
        None | Some("") => Ok(Some(Class::Person)),
        Some("all") => Ok(None),
        Some(name) => {
            let class = Class::ALL.into_iter().find(|class| class.name() == name);
            class.map(Some).ok_or_else(|| {
                let names = Class::ALL.map(Class::name).join(", ");
                invalid("class", format!("a class is all, {names}"))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: QuestionContext = QuestionContext {
        now: Timestamp::from_ms(1_794_830_400_000),
        since: Timestamp::from_ms(1_700_000_000_000),
        link: Some(LinkId(7)),
    };

    fn read(query: &str) -> Result<AnalyticsQuery, AppError> {
        let pairs: Vec<(String, String)> =
            url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        read_question(pairs.iter().map(|(name, value)| (&**name, &**value)), &CONTEXT)
    }

    #[test]
    fn a_question_without_parameters_is_about_people_in_the_last_30_days() {
        let query = read("").unwrap();
        assert_eq!(query.range.to.as_ms() - query.range.from.as_ms(), 30 * DAY_MS);
        assert_eq!((query.interval, query.class), (Interval::Day, Some(Class::Person)));
        assert_eq!((query.limit, query.offset, query.link), (10, 0, Some(LinkId(7))));
        assert_eq!((query.zone.as_str(), query.compare), ("UTC", Comparison::None));
        let forms = read("from=&zone=&interval=&limit=&order=&compare=&class=");
        assert_eq!(forms.unwrap(), query, "as forms send");
    }

    #[test]
    fn all_parameters_are_read() {
        let query = read(
            "from=2026-10-01&to=2026-11-01&zone=europe/berlin&interval=week&group=country,os&group=link\
             &limit=1000&order=change&filter=country:DE,AT&filter=-referrer:t.co&compare=year&class=all",
        );
        let query = query.unwrap();
        assert_eq!(query.range.from.to_rfc3339(), "2026-09-30T22:00:00.000Z");
        assert_eq!(query.range.to.to_rfc3339(), "2026-10-31T23:00:00.000Z");
        assert_eq!(query.zone, "Europe/Berlin");
        assert_eq!(
            query.groups.iter().map(|it| it.name()).collect::<Vec<_>>(),
            ["country", "os", "link"]
        );
        assert_eq!(query.filters.len(), 2);
        assert_eq!((query.order, query.class), (RowOrder::Change, None));
        let query =
            read("from=12mo&interval=month&compare=2026-01-01/2026-01-31T00:00:00Z").unwrap();
        assert!(matches!(query.compare, Comparison::Range(_)));
        assert_eq!(read("from=all").unwrap().interval, Interval::Month);
        assert_eq!(read("group=country&offset=20").unwrap().offset, 20);
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_its_parameter() {
        for (query, field, code) in [
            ("group=planet", "group", "analytics-invalid"),
            ("interval=minute", "interval", "analytics-invalid"),
            ("class=alien", "class", "analytics-invalid"),
            ("order=size", "order", "analytics-invalid"),
            ("limit=0", "limit", "analytics-invalid"),
            ("limit=1001", "limit", "analytics-invalid"),
            ("offset=-1", "offset", "analytics-invalid"),
            ("offset=5&group=os,country", "offset", "analytics-invalid"),
            ("compare=before", "compare", "analytics-invalid"),
            ("compare=a/b", "compare", "range-invalid"),
            ("compare=2026-02-01/2026-01-01", "compare", "range-invalid"),
            ("from=2026-02-01&to=2026-02-01", "from", "range-invalid"),
            ("from=2026-02-01&to=2026-01-01", "from", "range-invalid"),
            ("from=2016-01-01&to=2026-12-01", "from", "range-invalid"),
            ("from=sometimes", "from", "range-invalid"),
            ("to=2026-02-01", "from", "range-invalid"),
            ("from=30d&to=2026-02-01", "from", "range-invalid"),
            ("from=12mo&interval=hour", "interval", "range-invalid"),
            ("from=2020-01-01&to=2025-01-01&interval=day", "interval", "range-invalid"),
            ("zone=Mars/Olympus", "zone", "zone-unknown"),
            ("filter=country", "filter", "filter-invalid"),
            ("filter=planet:Mars", "filter", "filter-invalid"),
            ("page=2", "query", "query-invalid"),
            ("limit=5&limit=6", "query", "query-invalid"),
        ] {
            let Err(AppError::Invalid(fields)) = read(query) else { panic!("{query} is accepted") };
            assert_eq!((&*fields[0].field, fields[0].code), (field, code), "{query}");
        }
        let many = "filter=os:a&".repeat(33);
        assert!(read(&many).is_err() && read(&many[..12 * 32]).is_ok());
    }
}

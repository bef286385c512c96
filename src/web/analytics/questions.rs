//! What the pages ask: from an address to questions, and the answers of all that a dashboard shows. Questions go one
//! after the other, since an account has one scan at a time.

use crate::app::{App, AppError};
use crate::web::analytics::cards::{CardSpec, RARE, ROWS};
use crate::web::analytics::dashboard::DashboardReports;
use crate::web::analytics::filters::{Asked, Measure};
use crate::web::analytics::subject::PageSubject;
use crate::web::analytics::{news, orphans};
use kurz_core::analytics::{
    AnalyticsQuery, AnalyticsReport, Class, Comparison, Dimension, EventFilter, FilterValue,
    Interval, RowOrder, TextColumn, TimeRange, Zone,
};
use kurz_core::time::Timestamp;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The hours of a week are shown of at most the last four weeks.
const HEATMAP_DAYS: i64 = 28;
/// Rows of a day that is looked through for news, and of those that it is compared with.
const NEWS_ROWS: usize = 50;
const USUAL_ROWS: usize = 500;

/// The parameters of the question of a page, without groups.
fn parameters(asked: &Asked) -> Vec<(String, String)> {
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut pairs = vec![
        own("from", &asked.from),
        own("zone", &asked.zone),
        own("class", &asked.class),
        own("compare", &asked.compare),
    ];
    if !asked.is_preset() {
        // The page names the last day, the question the end of it.
        let last = if asked.until.is_empty() { &asked.from } else { &asked.until };
        let day = Zone::find(&asked.zone).and_then(|zone| zone.day(last));
        let end = day.map(|(_, end)| end.to_rfc3339());
        pairs.push(own("to", end.as_ref().unwrap_or(last)));
    }
    pairs.extend(asked.filters.iter().map(|filter| own("filter", filter)));
    pairs
}

/// The question of a page, without groups.
pub(super) async fn question(
    app: &App,
    subject: &PageSubject,
    asked: &Asked,
) -> Result<AnalyticsQuery, AppError> {
    let mut query = subject.question(app, &parameters(asked)).await?;
    query.interval = interval(&query.range);
    query.order =
        if asked.measure == Measure::Visitors { RowOrder::Visitors } else { RowOrder::Clicks };
    Ok(query)
}

/// As fine as a chart can show it.
const fn interval(range: &TimeRange) -> Interval {
    match range.to.as_ms().saturating_sub(range.from.as_ms()) / DAY_MS {
        ..=2 => Interval::Hour,
        3..=93 => Interval::Day,
        94..=745 => Interval::Week,
        _ => Interval::Month,
    }
}

/// Everybody who is no person and was not left out on purpose.
fn bots_only() -> EventFilter {
    let people =
        [Class::Person, Class::Excluded].map(|class| FilterValue::Exactly(class.name().into()));
    EventFilter { dimension: Dimension::Text(TextColumn::Class), not: true, values: people.into() }
}

fn qr_only() -> EventFilter {
    let values = vec![FilterValue::Exactly("qr".into())];
    EventFilter { dimension: Dimension::Text(TextColumn::Trigger), not: false, values }
}

/// All that a dashboard is made of. What is beside the point is left out when it cannot be had.
pub(super) async fn reports(
    app: &App,
    subject: &PageSubject,
    asked: &Asked,
    specs: &[CardSpec],
) -> Result<DashboardReports, AppError> {
    let now = app.now();
    let base = question(app, subject, asked).await?;
    let groups = |everybody: bool| -> Vec<Dimension> {
        let cards = specs.iter().filter(|card| card.everybody == everybody);
        cards.filter_map(|card| asked.shown(&card.dimensions)).collect()
    };
    let narrower = match asked.measure {
        Measure::Qr => Some((qr_only(), base.class)),
        Measure::Bots => Some((bots_only(), None)),
        Measure::Clicks | Measure::Visitors | Measure::Ratio => None,
    };
    // These count everybody and every answer, whatever else is asked for.
    let shown = groups(false);
    let mut main_groups = groups(true);
    let rare = RARE.into_iter().filter(|one| specs.iter().any(|it| it.dimensions.contains(one)));
    main_groups.extend(rare.filter(|one| !asked.show.contains(one)));
    if narrower.is_none() {
        main_groups.extend(&shown);
    }
    let mut main = AnalyticsQuery { groups: main_groups, limit: ROWS, ..base.clone() };
    let report = subject.ask(app, &main).await?;
    main.compare = Comparison::None;
    let cards = match narrower {
        Some((filter, class)) => {
            let mut query = AnalyticsQuery { groups: shown, class, ..main.clone() };
            query.filters.push(filter);
            Some(subject.ask(app, &query).await?)
        }
        None => None,
    };
    main.groups.clear();
    let hours = subject.ask(app, &by_hours(&main)).await.ok();
    let days = if has_news(asked) { days(app, subject, &base, now).await } else { Vec::new() };
    let orphans = orphans::of_dashboard(app, subject, &base).await?;
    Ok(DashboardReports { main: report, cards, hours, days, orphans })
}

fn by_hours(query: &AnalyticsQuery) -> AnalyticsQuery {
    let to = query.range.to;
    let from = to.as_ms().saturating_sub(HEATMAP_DAYS * DAY_MS).max(query.range.from.as_ms());
    let range = TimeRange { from: Timestamp::from_ms(from), to };
    AnalyticsQuery { range, interval: Interval::Hour, ..query.clone() }
}

/// Whether the page is about today, and about everything.
fn has_news(asked: &Asked) -> bool {
    asked.is_preset()
        && asked.from != "yesterday"
        && asked.filters.is_empty()
        && asked.class == "person"
        && asked.measure == Measure::Clicks
}

/// Today and the same weekdays of the weeks before; nothing unless all are known.
async fn days(
    app: &App,
    subject: &PageSubject,
    base: &AnalyticsQuery,
    now: Timestamp,
) -> Vec<AnalyticsReport> {
    let Some(zone) = Zone::find(&base.zone) else { return Vec::new() };
    let mut reports = Vec::new();
    for week in (0..).take(news::WEEKS + 1) {
        let date = zone.local(Timestamp::from_ms(now.as_ms() - week * 7 * DAY_MS)).date();
        let Some((from, end)) = zone.day(&date) else { return Vec::new() };
        let query = AnalyticsQuery {
            range: TimeRange { from, to: end },
            interval: Interval::Day,
            groups: subject.allowed(&news::DIMENSIONS),
            limit: if week == 0 { NEWS_ROWS } else { USUAL_ROWS },
            compare: Comparison::None,
            order: RowOrder::Clicks,
            ..base.clone()
        };
        let Ok(report) = subject.ask(app, &query).await else { return Vec::new() };
        let is_quiet = report.total.clicks == 0;
        reports.push(report);
        if week == 0 && is_quiet {
            return Vec::new();
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{QuestionContext, read_question};
    use crate::web::form::FormData;

    fn read(asked: &Asked) -> Result<AnalyticsQuery, AppError> {
        let now = Timestamp::parse_rfc3339("2026-11-16T12:00:00Z").unwrap();
        let context = QuestionContext { now, since: now, link: None };
        let pairs = parameters(asked);
        read_question(pairs.iter().map(|(name, value)| (&**name, &**value)), &context)
    }

    #[test]
    fn days_of_ones_own_begin_and_end_at_midnight_of_the_zone() {
        let asked = Asked::usual().days("2026-10-24", "2026-10-25");
        let asked = asked.with(|asked| asked.zone = "Europe/Berlin".to_owned());
        let query = read(&asked).unwrap();
        assert_eq!(query.range.from.to_rfc3339(), "2026-10-23T22:00:00.000Z");
        // Clocks were set back in between.
        assert_eq!(query.range.to.to_rfc3339(), "2026-10-25T23:00:00.000Z");
        assert_eq!(interval(&query.range), Interval::Hour);
        let day = read(&Asked::usual().days("2026-10-24", "")).unwrap();
        assert_eq!(day.range.to.to_rfc3339(), "2026-10-25T00:00:00.000Z");
    }

    #[test]
    fn a_chart_never_has_more_points_than_it_can_show() {
        let points = |days: i64| {
            let range =
                TimeRange { from: Timestamp::from_ms(0), to: Timestamp::from_ms(days * DAY_MS) };
            match interval(&range) {
                Interval::Hour => days * 24,
                Interval::Day => days,
                Interval::Week => days / 7,
                Interval::Month => days / 30,
            }
        };
        for days in [1, 2, 3, 30, 90, 93, 94, 366, 745, 746, 3650] {
            assert!((3..=125).contains(&points(days)), "{days}: {}", points(days));
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for bad in ["from=gestern", "zone=Mars%2FPhobos", "class=cat", "compare=never", "filter=x"]
        {
            let uri = format!("/?{bad}").parse().unwrap();
            assert!(read(&Asked::read(&FormData::of_query(&uri))).is_err(), "{bad}");
        }
    }
}

//! The chart over time: an SVG without a script, bars for few points and a line for many, the time before dashed.
//! Widths are percentages and heights are pixels, so that it fits every screen and its labels are never scaled.

use crate::language::Language;
use crate::web::analytics::filters::{Asked, Measure};
use crate::web::i18n::formats;
use kurz_core::analytics::{AnalyticsReport, Interval, LocalTime, SeriesPoint, Sums, Zone};

/// More points than this are a line.
pub(super) const MOST_BARS: usize = 48;
const LABELS: usize = 5;
/// Heights in pixels; the style sheet gives the chart its whole height.
const TOP: u64 = 14;
const TALL: u64 = 196;
/// The plane of lines, which is stretched to the width of the chart.
const PLANE: u64 = 1000;

#[derive(Debug)]
pub(super) struct ChartView {
    pub(super) is_line: bool,
    pub(super) grid: Vec<GridLine>,
    pub(super) points: Vec<PointView>,
    /// Points of the line, if it is one, and of the time before.
    pub(super) line: String,
    pub(super) area: String,
    pub(super) before: Option<String>,
    pub(super) labels: Vec<AxisLabel>,
    pub(super) top: u64,
    pub(super) tall: u64,
    pub(super) base: u64,
}

#[derive(Debug)]
pub(super) struct GridLine {
    pub(super) y: u64,
    pub(super) text: String,
}

#[derive(Debug)]
pub(super) struct AxisLabel {
    pub(super) x: String,
    pub(super) anchor: &'static str,
    pub(super) text: String,
}

/// A point: a bar, or the space that shows its figures when it is pointed at.
#[derive(Debug)]
pub(super) struct PointView {
    pub(super) x: String,
    pub(super) step: String,
    pub(super) bar_x: String,
    pub(super) bar_width: String,
    pub(super) y: u64,
    pub(super) height: u64,
    pub(super) title: String,
    pub(super) name: String,
    pub(super) value: String,
    pub(super) value_before: Option<String>,
    /// The same page for its day alone; `None` where it is that already.
    pub(super) href: Option<String>,
}

/// What a measure is of some sums, in the unit that is drawn: hundredths of a click per visitor, else one.
pub(super) fn measured(measure: Measure, sums: &Sums) -> u64 {
    match measure {
        Measure::Clicks => sums.clicks,
        Measure::Visitors => sums.visitors,
        Measure::Ratio => (sums.clicks.saturating_mul(100)).checked_div(sums.visitors).unwrap_or(0),
        Measure::Qr => sums.qr,
        Measure::Bots => sums.bots,
    }
}

/// The same as a text.
pub(super) fn measured_text(language: Language, measure: Measure, sums: &Sums) -> String {
    let value = measured(measure, sums);
    match measure {
        Measure::Ratio => formats::decimal(language, value),
        _ => formats::number(language, value),
    }
}

/// What the chart is drawn for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawing<'a> {
    pub(super) asked: &'a Asked,
    pub(super) zone: &'a Zone,
    pub(super) language: Language,
    /// What is counted, and the word for the time before.
    pub(super) unit: &'a str,
    pub(super) before: &'a str,
    /// Whether no other time may be chosen.
    pub(super) is_fixed: bool,
}

impl ChartView {
    pub(super) fn draw(report: &AnalyticsReport, how: &Drawing<'_>) -> Self {
        let measure = how.asked.measure;
        let series = &report.series;
        let before = |point: &SeriesPoint| point.before.map(|sums| measured(measure, &sums));
        let highest = series.iter().map(|point| measured(measure, &point.sums)).max().unwrap_or(0);
        let highest = series.iter().filter_map(before).max().unwrap_or(0).max(highest);
        let ceiling = ceiling(highest, measure == Measure::Ratio);
        let count = u64::try_from(series.len()).unwrap_or(1).max(1);
        let points = series.iter().enumerate().map(|(at, point)| {
            let at = u64::try_from(at).unwrap_or(0);
            let height = scaled(measured(measure, &point.sums), TALL, ceiling);
            point_view(report.interval, point, how, (at, count, height))
        });
        let middle = |at: usize| (2 * u64::try_from(at).unwrap_or(0) + 1) * PLANE / (2 * count);
        let path = |values: &mut dyn Iterator<Item = (usize, u64)>| {
            let points = values.map(|(at, value)| {
                format!("{},{}", middle(at), TALL - scaled(value, TALL, ceiling))
            });
            points.collect::<Vec<_>>().join(" ")
        };
        let is_line = series.len() > MOST_BARS;
        let line = if is_line {
            let values = series.iter().map(|point| measured(measure, &point.sums));
            path(&mut values.enumerate())
        } else {
            String::new()
        };
        let compared = series.iter().filter_map(before).collect::<Vec<_>>();
        // A line along the ground says no more than none.
        let is_compared = compared.iter().any(|value| *value > 0);
        let before = is_compared.then(|| path(&mut compared.into_iter().enumerate()));
        let last = middle(series.len().saturating_sub(1));
        Self {
            is_line,
            grid: grid(how.language, measure, ceiling),
            points: points.collect(),
            area: if is_line {
                format!("{},{TALL} {line} {last},{TALL}", middle(0))
            } else {
                String::new()
            },
            line,
            before,
            labels: labels(report, how),
            top: TOP,
            tall: TALL,
            base: TOP + TALL,
        }
    }
}

fn point_view(
    interval: Interval,
    point: &SeriesPoint,
    how: &Drawing<'_>,
    (at, count, height): (u64, u64, u64),
) -> PointView {
    let Drawing { asked, zone, language, unit, before, .. } = *how;
    let local = zone.local(point.start);
    let name = long_name(interval, local, language);
    let value = measured_text(language, asked.measure, &point.sums);
    let value_before = point.before.map(|sums| measured_text(language, asked.measure, &sums));
    let mut title = format!("{name}: {value} {unit}");
    if let Some(text) = &value_before {
        title = format!("{title} ({before}: {text})");
    }
    let gap = if count > 20 { 15 } else { 20 };
    let step = 100_000 / count;
    PointView {
        x: thousandths(at * 100_000 / count),
        step: thousandths(step),
        bar_x: thousandths(at * 100_000 / count + step * gap / 200),
        bar_width: thousandths(step * (100 - gap) / 100),
        y: TOP + TALL - height,
        height,
        title,
        name,
        value,
        value_before,
        href: day_link(interval, local, point, how).filter(|_| !how.is_fixed),
    }
}

/// The page of a point's day, week or month.
fn day_link(
    interval: Interval,
    local: LocalTime,
    point: &SeriesPoint,
    how: &Drawing<'_>,
) -> Option<String> {
    let Drawing { asked, zone, .. } = *how;
    let first = local.date();
    let days = match interval {
        Interval::Hour => {
            let is_that_day = asked.from == first && asked.until == first;
            return (!is_that_day && !["today", "yesterday"].contains(&asked.from.as_str()))
                .then(|| asked.days(&first, &first).href());
        }
        Interval::Day => 0,
        Interval::Week => 6,
        Interval::Month => i64::from(days_of_month(local)) - 1,
    };
    // At noon of the last day, whatever clocks do in between.
    let last = point.start.as_ms() + days * 86_400_000 + 43_200_000;
    let last = zone.local(kurz_core::time::Timestamp::from_ms(last)).date();
    Some(asked.days(&first, &last).href())
}

const fn days_of_month(at: LocalTime) -> u8 {
    let year = at.year;
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match at.month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    }
}

fn long_name(interval: Interval, at: LocalTime, language: Language) -> String {
    match interval {
        Interval::Hour => format!("{} {}", formats::day(language, at), formats::time_of_day(at)),
        Interval::Day | Interval::Week => formats::full_day(language, at),
        Interval::Month => formats::month(language, at),
    }
}

/// Names below the chart: few enough to stand beside each other on a phone.
fn labels(report: &AnalyticsReport, how: &Drawing<'_>) -> Vec<AxisLabel> {
    let series = &report.series;
    let count = series.len();
    let every = count.div_ceil(LABELS).max(1);
    let hours_of_one_day = report.interval == Interval::Hour && count <= 25;
    let label = |(at, point): (usize, &SeriesPoint)| {
        let local = how.zone.local(point.start);
        let text = match report.interval {
            Interval::Hour if hours_of_one_day => formats::time_of_day(local),
            Interval::Month => formats::month(how.language, local),
            _ => formats::day(how.language, local),
        };
        let middle = u64::try_from(2 * at + 1).unwrap_or(0) * 100_000
            / (2 * u64::try_from(count).unwrap_or(1));
        let (x, anchor) = if at == 0 { (0, "start") } else { (middle, "middle") };
        AxisLabel { x: thousandths(x), anchor, text }
    };
    // The last one would be cut off at the edge.
    let fits = |at: &(usize, &SeriesPoint)| count < 4 || at.0 * 12 <= count * 11;
    series.iter().enumerate().step_by(every).filter(fits).map(label).collect()
}

fn grid(language: Language, measure: Measure, ceiling: u64) -> Vec<GridLine> {
    let line = |part: u64| {
        let value = scaled(part, ceiling, 2);
        let text = match measure {
            Measure::Ratio => formats::decimal(language, value),
            _ => formats::number(language, value),
        };
        GridLine { y: TOP + TALL - TALL * part / 2, text }
    };
    // Nothing is written at the bottom, which is 0.
    (1..=2).map(line).collect()
}

/// The next even number that people like: 2, 4, 6, 8, 10, 20, 40, 60, 80, 100 …
fn ceiling(highest: u64, hundredths: bool) -> u64 {
    let least = if hundredths { 200 } else { 2 };
    let mut power = 1_u64;
    loop {
        for step in [2, 4, 6, 8, 10] {
            let round = power.saturating_mul(step);
            if round >= highest.max(least) {
                return round;
            }
        }
        power = power.saturating_mul(10);
    }
}

pub(super) fn scaled(value: u64, most: u64, ceiling: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(most) / u128::from(ceiling.max(1));
    u64::try_from(scaled).unwrap_or(most)
}

/// Thousandths of a percent as SVG takes them.
pub(super) fn thousandths(value: u64) -> String {
    let text = format!("{}.{:03}", value / 1000, value % 1000);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::analytics::sample::{report_of_days, report_of_hours};

    fn draw(report: &AnalyticsReport, asked: &Asked) -> ChartView {
        let zone = Zone::find("Europe/Berlin").unwrap();
        let how = Drawing {
            asked,
            zone: &zone,
            language: Language::English,
            unit: "clicks",
            before: "before",
            is_fixed: false,
        };
        ChartView::draw(report, &how)
    }

    #[test]
    fn few_points_are_bars_that_lead_to_their_day() {
        let chart = draw(&report_of_days(30), &Asked::usual());
        assert!(!chart.is_line);
        assert_eq!(chart.points.len(), 30);
        let first = &chart.points[0];
        assert_eq!(first.title, "Sun, Nov 1, 2026: 100 clicks (before: 50)");
        assert_eq!(first.href.as_deref(), Some("?from=2026-11-01&until=2026-11-01"));
        assert_eq!((first.x.as_str(), first.step.as_str()), ("0%", "3.333%"));
        assert_eq!(chart.grid[1].text, "400");
        assert!(chart.before.unwrap().split(' ').count() == 30);
        assert!(chart.labels.len() <= LABELS);
        assert_eq!(chart.labels[0].text, "Nov 1");
    }

    #[test]
    fn many_points_are_a_line_and_hours_lead_to_the_day() {
        let chart = draw(&report_of_hours(49), &Asked::usual());
        assert!(chart.is_line && chart.line.split(' ').count() == 49);
        assert_eq!(chart.points[0].href.as_deref(), Some("?from=2026-11-01&until=2026-11-01"));
        let day = Asked::usual().days("2026-11-01", "2026-11-01");
        assert_eq!(draw(&report_of_hours(24), &day).points[0].href, None);
    }

    #[test]
    fn nothing_and_very_much_are_drawn_as_well() {
        let mut report = report_of_days(1);
        report.series.clear();
        assert_eq!(draw(&report, &Asked::usual()).points.len(), 0);
        let mut report = report_of_days(2);
        report.series[0].sums.clicks = u64::MAX;
        let chart = draw(&report, &Asked::usual());
        assert_eq!(chart.points[0].height, TALL);
        assert_eq!([0, 1, 3, 5, 10, 11, 101].map(|n| ceiling(n, false)), [2, 2, 4, 6, 10, 20, 200]);
    }
}

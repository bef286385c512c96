//! `kurz stats`: analytics of a workspace or a link in the terminal, over the API.

use std::fmt::Write;

use serde_json::Value;

use super::CliError;
use super::arguments::LinkOrWorkspace;
use super::client::ApiClient;
use super::lines::{print_line, print_text};
use super::runtime::block_on;
use kurz_core::visible_text::visible;

const EXAMPLES: &str = "\
Examples:
  kurz stats
  kurz stats promo --range 7d
  kurz stats --workspace acme --group country --group referrer
  kurz stats --workspace acme --filter country:DE,AT --filter=-referrer:t.co --zone Europe/Berlin
  kurz stats promo --group browser --csv > browsers.csv

A filter is a name, a colon and values: several values mean any of them, several filters all of them; - in
front leaves out, * at the end is any ending, and no value is what is not known.";

const RANGE: &str = "today, yesterday, 24h, 7d, 30d, 90d, 12mo, month, year, all, or the first day \
                     (2026-11-01)";
const GROUP: &str = "Clicks by country, city, referrer, channel, link, tag, browser, os, device, language, \
                     utm_campaign, …; can be given several times";

/// Width where the output is no terminal, and the least and most that bars are fitted to.
const USUAL_WIDTH: usize = 80;
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=160;
const LONGEST_NAME: usize = 32;
const SHORTEST_BAR: usize = 8;

/// Show how often links were followed, by time or by what is known of the clicks
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    what: LinkOrWorkspace,
    #[arg(long, value_name = "R", default_value = "30d", help = RANGE)]
    range: String,
    /// The last day, with a first one
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    #[arg(long, value_name = "NAME", help = GROUP)]
    group: Vec<String>,
    /// Only clicks that match, such as country:DE
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    filter: Vec<String>,
    /// Rows of each group
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: u32,
    /// The time zone that days begin in
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    zone: String,
    /// Whose clicks: person, bot, all
    #[arg(long, value_name = "CLASS", default_value = "person")]
    class: String,
    /// Print the answer as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the first group, or the times, as CSV
    #[arg(long)]
    csv: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let mut path = args.what.path(&client)?;
    path.push("analytics".to_owned());
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let report = block_on(client.get_with(&path, &query(args)))?;
    if args.json {
        return print_line(&report.to_string());
    }
    if args.csv {
        return print_text(&csv(&report, args.group.first().map(String::as_str)));
    }
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = terminal.unwrap_or(USUAL_WIDTH).clamp(*WIDTHS.start(), *WIDTHS.end());
    print_text(&text(&report, width))
}

fn query(args: &Args) -> Vec<(&'static str, String)> {
    let mut query = vec![
        ("from", args.range.clone()),
        ("zone", args.zone.clone()),
        ("class", args.class.clone()),
        ("limit", args.limit.to_string()),
        ("compare", "previous".to_owned()),
    ];
    query.extend(args.until.iter().map(|until| ("to", until.clone())));
    query.extend(args.group.iter().map(|group| ("group", group.clone())));
    query.extend(args.filter.iter().map(|filter| ("filter", filter.clone())));
    query
}

/// A line with a bar.
struct BarLine {
    name: String,
    value: u64,
    /// After the value.
    note: String,
}

/// The whole answer, for people.
fn text(report: &Value, width: usize) -> String {
    let mut text = head(report);
    let groups = report.get("groups").and_then(Value::as_object);
    let groups = groups.filter(|groups| !groups.is_empty());
    let Some(groups) = groups else {
        text.push('\n');
        text.push_str(&bars(&points(report), width));
        return text;
    };
    for (name, group) in groups {
        let _ = write!(text, "\n{name}\n");
        text.push_str(&bars(&rows(group), width));
        let rest = group.get("rest").map_or(0, |rest| number(rest, "clicks"));
        if rest > 0 {
            let values = group.get("rest").map_or(0, |rest| number(rest, "values"));
            let _ = writeln!(text, "{values} more: {}", grouped(rest));
        }
    }
    text
}

fn head(report: &Value) -> String {
    let nothing = Value::Null;
    let total = report.get("total").unwrap_or(&nothing);
    let change = |name: &str| {
        let change = total.get("change").and_then(|change| change.get(name)?.as_f64());
        change.map(|change| format!(" ({:+.0} %)", change * 100.0)).unwrap_or_default()
    };
    let figure = |name: &str| format!("{} {name}{}", grouped(number(total, name)), change(name));
    let range = report.get("range").unwrap_or(&nothing);
    let day = |name: &str| {
        let text = range.get(name).and_then(Value::as_str).unwrap_or_default();
        text.get(..10).unwrap_or(text).to_owned()
    };
    let zone = range.get("zone").and_then(Value::as_str).unwrap_or_default();
    let basis = report.get("visitors_basis").and_then(Value::as_str).unwrap_or("day");
    format!(
        "{}, {}, {}\nfrom {} to {} ({zone}); visitors by {basis}, added up\n",
        figure("clicks"),
        figure("visitors"),
        figure("bots"),
        day("from"),
        day("to"),
    )
}

fn points(report: &Value) -> Vec<BarLine> {
    let interval = report.get("range").and_then(|range| range.get("interval")?.as_str());
    let end = match interval {
        Some("hour") => 16,
        Some("month") => 7,
        _ => 10,
    };
    let point = |point: &Value| {
        let start = point.get("start").and_then(Value::as_str).unwrap_or_default();
        let name = start.get(..end).unwrap_or(start).replace('T', " ");
        BarLine { name, value: number(point, "clicks"), note: String::new() }
    };
    report.get("series").and_then(Value::as_array).into_iter().flatten().map(point).collect()
}

fn rows(group: &Value) -> Vec<BarLine> {
    let row = |row: &Value| {
        let value = row.get("value").and_then(Value::as_str).unwrap_or_default();
        let name = row.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let share = row.get("share").and_then(Value::as_f64).unwrap_or(0.0);
        BarLine {
            name: visible(name.unwrap_or(value)).into_owned(),
            value: number(row, "clicks"),
            note: format!("{:.1} %", share * 100.0),
        }
    };
    let mut rows: Vec<_> =
        group.get("rows").and_then(Value::as_array).into_iter().flatten().map(row).collect();
    for (field, name) in [("unknown", "(unknown)"), ("private", "(asked not to be tracked)")] {
        let clicks = group.get(field).map_or(0, |odd| number(odd, "clicks"));
        if clicks > 0 {
            rows.push(BarLine { name: name.to_owned(), value: clicks, note: String::new() });
        }
    }
    rows
}

/// Names, bars and values in columns that fit into `width`.
fn bars(lines: &[BarLine], width: usize) -> String {
    if lines.is_empty() {
        return "no clicks\n".to_owned();
    }
    let widest = |of: &dyn Fn(&BarLine) -> usize| lines.iter().map(of).max().unwrap_or(0);
    let name_width = widest(&|line| line.name.chars().count()).min(LONGEST_NAME.min(width / 3));
    let value_width = widest(&|line| grouped(line.value).len());
    let note_width = widest(&|line| line.note.len());
    let gaps = if note_width > 0 { 6 } else { 4 };
    let room = width.saturating_sub(name_width + value_width + note_width + gaps).max(SHORTEST_BAR);
    let highest = widest(&|line| usize::try_from(line.value).unwrap_or(usize::MAX)).max(1);
    let mut text = String::new();
    for line in lines {
        let name = shortened(&line.name, name_width);
        let bar = bar(line.value, highest, room);
        let value = grouped(line.value);
        let row = format!(
            "{name:name_width$}  {bar:room$}  {value:>value_width$}  {:>note_width$}",
            line.note
        );
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// A bar in eighths of a character.
fn bar(value: u64, highest: usize, room: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = u128::from(value) * u128::try_from(room * 8).unwrap_or(0)
        / u128::try_from(highest).unwrap_or(1).max(1);
    let eighths = usize::try_from(eighths).unwrap_or(usize::MAX).min(room * 8);
    // What is not nothing is seen.
    let eighths = if value > 0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), PARTS.get(eighths % 8).unwrap_or(&""))
}

fn shortened(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    name.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// The first group, or the times, with the values as they are stored.
fn csv(report: &Value, group: Option<&str>) -> String {
    let cell = crate::web::cell;
    let Some(group) = group else {
        let mut text = "start,clicks,visitors,bots\r\n".to_owned();
        let points = report.get("series").and_then(Value::as_array);
        for point in points.into_iter().flatten() {
            let start = point.get("start").and_then(Value::as_str).unwrap_or_default();
            let [clicks, visitors, bots] =
                ["clicks", "visitors", "bots"].map(|name| number(point, name));
            let _ = write!(text, "{start},{clicks},{visitors},{bots}\r\n");
        }
        return text;
    };
    let name = group.split(',').next().unwrap_or(group);
    let mut text = format!("{name},clicks,visitors\r\n");
    let found = report.get("groups").and_then(|groups| groups.get(name)?.get("rows")?.as_array());
    for row in found.into_iter().flatten() {
        let value = row.get("value").and_then(Value::as_str).unwrap_or_default();
        let (clicks, visitors) = (number(row, "clicks"), number(row, "visitors"));
        let _ = write!(text, "{},{clicks},{visitors}\r\n", cell(value));
    }
    text
}

fn number(object: &Value, name: &str) -> u64 {
    object.get(name).and_then(Value::as_u64).unwrap_or(0)
}

/// With a comma between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report() -> Value {
        json!({
            "range": { "from": "2026-11-01T00:00:00+01:00", "to": "2026-11-03T00:00:00+01:00",
                "zone": "Europe/Berlin", "interval": "day" },
            "visitors_basis": "day",
            "total": { "clicks": 3000, "visitors": 1200, "bots": 7,
                "change": { "clicks": 0.12, "visitors": -0.091 } },
            "series": [
                { "start": "2026-11-01T00:00:00+01:00", "clicks": 2000, "visitors": 900, "bots": 7 },
                { "start": "2026-11-02T00:00:00+01:00", "clicks": 1000, "visitors": 300, "bots": 0 },
            ],
            "groups": {},
        })
    }

    #[test]
    fn times_are_bars_that_fit_the_terminal() {
        let text = text(&report(), 40);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "3,000 clicks (+12 %), 1,200 visitors (-9 %), 7 bots");
        assert_eq!(
            lines[1],
            "from 2026-11-01 to 2026-11-03 (Europe/Berlin); visitors by day, added up"
        );
        assert_eq!(lines[3], format!("2026-11-01  {}  2,000", "█".repeat(21)));
        assert_eq!(lines[4], format!("2026-11-02  {}▌{}  1,000", "█".repeat(10), " ".repeat(10)));
        for line in text.lines().skip(3) {
            assert!(line.chars().count() <= 40, "{line}");
        }
    }

    #[test]
    fn groups_have_names_shares_and_what_is_left() {
        let mut report = report();
        report["groups"] = json!({ "country": {
            "rows": [
                { "value": "DE", "name": "Germany", "clicks": 2000, "visitors": 9, "share": 0.667 },
                { "value": "=1+1\u{1b}[31m", "clicks": 1, "visitors": 1, "share": 0.0 },
            ],
            "rest": { "values": 61, "clicks": 812 },
            "unknown": { "clicks": 31 },
            "private": { "clicks": 0 },
        }});
        let text = text(&report, 80);
        for piece in ["country\n", "Germany", "66.7 %", "(unknown)", "61 more: 812"] {
            assert!(text.contains(piece), "no {piece} in {text}");
        }
        assert!(!text.contains('\u{1b}') && !text.contains("not to be tracked"), "{text}");
        let csv = csv(&report, Some("country"));
        assert!(csv.starts_with("country,clicks,visitors\r\n\"DE\",2000,9\r\n\"'=1+1"), "{csv}");
    }

    #[test]
    fn what_is_not_nothing_is_seen_and_nothing_is_not() {
        assert_eq!(bar(0, 100, 10), "");
        assert_eq!(bar(1, 1_000_000, 10), "▏");
        assert_eq!(bar(100, 100, 10), "█".repeat(10));
        assert_eq!(bar(u64::MAX, 1, 10), "█".repeat(10));
        assert_eq!(bars(&[], 80), "no clicks\n");
        assert_eq!(shortened("a-very-long-name", 6), "a-ver…");
    }
}

//! The line above a dashboard: time, comparison, zone, whose clicks; and the chips of the filters below it.

use crate::language::Language;
use crate::web::analytics::filters::{Asked, UTC};
use crate::web::analytics::names::{dimension_name, value_name};
use crate::web::i18n::{AnalyticsWords, Words, fill};
use kurz_core::analytics::calendar::RANGE_NAMES;
use kurz_core::analytics::{EventFilter, FilterValue};

/// Times that stand on the page itself; the others are among the options.
const SHOWN_RANGES: [&str; 7] = ["today", "24h", "7d", "30d", "90d", "12mo", "all"];

/// Zones to choose from: one or more for each offset that many people live in. Any other IANA name works in the
/// address.
const ZONES: [&str; 40] = [
    "UTC",
    "Africa/Cairo",
    "Africa/Johannesburg",
    "Africa/Lagos",
    "Africa/Nairobi",
    "America/Argentina/Buenos_Aires",
    "America/Bogota",
    "America/Chicago",
    "America/Denver",
    "America/Halifax",
    "America/Los_Angeles",
    "America/Mexico_City",
    "America/New_York",
    "America/Santiago",
    "America/Sao_Paulo",
    "Asia/Bangkok",
    "Asia/Dhaka",
    "Asia/Dubai",
    "Asia/Hong_Kong",
    "Asia/Jakarta",
    "Asia/Karachi",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Seoul",
    "Asia/Shanghai",
    "Asia/Singapore",
    "Asia/Tehran",
    "Asia/Tokyo",
    "Atlantic/Azores",
    "Australia/Adelaide",
    "Australia/Perth",
    "Australia/Sydney",
    "Europe/Athens",
    "Europe/Berlin",
    "Europe/Istanbul",
    "Europe/London",
    "Europe/Madrid",
    "Europe/Moscow",
    "Pacific/Auckland",
    "Pacific/Honolulu",
];

#[derive(Debug)]
pub(super) struct Controls {
    pub(super) ranges: Vec<Choice>,
    pub(super) classes: Vec<Choice>,
    pub(super) all_ranges: Vec<SelectOption>,
    pub(super) compares: Vec<SelectOption>,
    pub(super) zones: Vec<SelectOption>,
    /// The days of a time of one's own.
    pub(super) first: String,
    pub(super) last: String,
    pub(super) hidden: Vec<(&'static str, String)>,
    pub(super) is_open: bool,
}

/// A link that chooses something.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) is_current: bool,
}

#[derive(Debug)]
pub(super) struct SelectOption {
    pub(super) value: &'static str,
    pub(super) name: String,
    pub(super) is_current: bool,
}

/// A filter, and the page without it.
#[derive(Debug)]
pub(super) struct Chip {
    pub(super) text: String,
    pub(super) href: String,
    pub(super) label: String,
}

fn range_name(w: &AnalyticsWords, range: &str) -> &'static str {
    match range {
        "today" => w.today,
        "yesterday" => w.yesterday,
        "24h" => w.last_24h,
        "7d" => w.last_7d,
        "30d" => w.last_30d,
        "90d" => w.last_90d,
        "12mo" => w.last_12mo,
        "month" => w.this_month,
        "year" => w.this_year,
        _ => w.all_time,
    }
}

impl Controls {
    /// `days` are the first and the last day that are shown.
    pub(super) fn new(asked: &Asked, w: &AnalyticsWords, days: (String, String)) -> Self {
        let range = |range: &&str| Choice {
            name: range_name(w, range).to_owned(),
            href: asked.days(range, "").href(),
            is_current: asked.from == **range,
        };
        let class = |(class, name): (&str, &'static str)| Choice {
            name: name.to_owned(),
            href: asked.with(|asked| class.clone_into(&mut asked.class)).href(),
            is_current: asked.class == class,
        };
        let option = |value: &'static str, name: &str, chosen: &str| SelectOption {
            value,
            name: name.to_owned(),
            is_current: value == chosen,
        };
        let compares =
            [("previous", w.compare_previous), ("year", w.compare_year), ("none", w.compare_none)];
        let changed = ["from", "until", "zone", "compare"];
        Self {
            ranges: SHOWN_RANGES.iter().map(range).collect(),
            classes: [("person", w.people), ("bot", w.bots), ("all", w.everybody)]
                .map(class)
                .into(),
            all_ranges: RANGE_NAMES.map(|one| option(one, range_name(w, one), &asked.from)).into(),
            compares: compares.map(|(one, name)| option(one, name, &asked.compare)).into(),
            zones: ZONES.map(|zone| option(zone, &zone.replace('_', " "), &asked.zone)).into(),
            first: days.0,
            last: days.1,
            hidden: asked.hidden_fields(&changed),
            is_open: !SHOWN_RANGES.contains(&asked.from.as_str()) || asked.zone != UTC,
        }
    }

    /// The same for the list of a dimension, whose own fields are carried along.
    pub(super) fn stay_in_list(&mut self, more: &[(&'static str, &str)]) {
        for choice in self.ranges.iter_mut().chain(&mut self.classes) {
            choice.href = with_fields(&choice.href, more);
        }
        self.hidden.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
    }

    /// Whether the zone is one of the list.
    pub(super) fn has_zone(&self) -> bool {
        self.zones.iter().any(|zone| zone.is_current)
    }
}

impl Chip {
    /// The same for the list of a dimension.
    pub(super) fn stay_in_list(mut self, more: &[(&str, &str)]) -> Self {
        self.href = with_fields(&self.href, more);
        self
    }
}

/// An address with more fields, whose values need no escaping.
fn with_fields(href: &str, more: &[(&str, &str)]) -> String {
    let more: Vec<_> = more.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mark = if href.ends_with('?') { "" } else { "&" };
    format!("{href}{mark}{}", more.join("&"))
}

/// A chip for each filter. One that cannot be read is shown as it is.
pub(super) fn chips(asked: &Asked, language: Language, words: &Words) -> Vec<Chip> {
    let w = &words.analytics;
    let chip = |(at, filter): (usize, &String)| {
        let text = match EventFilter::parse(filter) {
            Ok(EventFilter { dimension, not, values }) => {
                let names = values.iter().map(|value| match value {
                    FilterValue::Exactly(text) => value_name(dimension, text, language, words),
                    FilterValue::Prefix(start) => format!("{start}…"),
                });
                let not = if not { format!("{} ", w.not) } else { String::new() };
                let names = names.collect::<Vec<_>>().join(", ");
                format!("{}: {not}{names}", dimension_name(w, dimension))
            }
            Err(_) => filter.clone(),
        };
        let label = fill(w.remove_filter, &text);
        Chip { label, text, href: asked.without_filter(at).href() }
    };
    asked.filters.iter().enumerate().map(chip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::analytics::Zone;

    #[test]
    fn every_zone_that_is_offered_exists() {
        for zone in ZONES {
            assert!(Zone::find(zone).is_some(), "{zone}");
        }
    }

    #[test]
    fn chips_say_the_filter_and_lead_to_the_page_without_it() {
        let words = Words::of(Language::German);
        let asked = Asked::usual().with(|asked| {
            asked.filters =
                ["country:DE,AT", "-referrer:t.co", "nonsense"].map(str::to_owned).into();
        });
        let chips = chips(&asked, Language::German, words);
        let texts: Vec<_> = chips.iter().map(|chip| chip.text.as_str()).collect();
        assert_eq!(texts, ["Länder: Deutschland, Österreich", "Verweise: nicht t.co", "nonsense"]);
        assert_eq!(chips[2].href, "?filter=country%3ADE%2CAT&filter=-referrer%3At.co");
        let controls = Controls::new(&asked, &words.analytics, (String::new(), String::new()));
        assert!(!controls.is_open && controls.has_zone());
        assert_eq!(
            controls.ranges[2].href,
            "?from=7d&filter=country%3ADE%2CAT&filter=-referrer%3At.co&filter=nonsense"
        );
        assert_eq!(controls.hidden.len(), 3);
    }
}

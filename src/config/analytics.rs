//! What is kept about clicks, and about whom nothing is kept.
//!
//! Invariant: without a setting, visitors who ask not to be tracked are not.

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderName;
use ipnet::IpNet;
use kurz_core::analytics::{AnalyticsMode, VisitorPeriod};

use super::clickhouse_url::{self, ClickHouseUrl};
use super::setting::settings;
use super::value_parser::{ValueForm, ValueParser, choice, networks, path, span};

const DAY: Duration = Duration::from_hours(24);
const LONGEST: Duration = DAY.saturating_mul(36_500);

/// Which requests of browsers not to be tracked are honoured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Honour {
    /// `Sec-GPC: 1`
    pub(crate) gpc: bool,
    /// `DNT: 1`
    pub(crate) dnt: bool,
}

settings! {
    /// Analytics and the privacy of visitors.
    pub(crate) struct Analytics {
        /// How much is kept about clicks: counts only, sums by day with the events of two days, or events.
        /// A workspace or a link may keep less.
        "analytics" => mode: AnalyticsMode = choice([
            ("off", AnalyticsMode::Off),
            ("aggregate", AnalyticsMode::Aggregate),
            ("events", AnalyticsMode::Events),
        ]).or("events"),
        /// How long events are kept; then they become sums by day.
        "events_keep" => events_keep: Option<Duration> =
            span(Duration::ZERO..=LONGEST).zero_is_none("0 = as with analytics = aggregate").or("90d"),
        /// How long sums by day are kept.
        "sums_keep" => sums_keep: Duration = span(DAY..=LONGEST).or("730d"),
        /// How long a visitor is recognised: within a UTC day, week or month. Then the key of their hashes
        /// is destroyed.
        "visitor_period" => visitor_period: VisitorPeriod = choice([
            ("day", VisitorPeriod::Day),
            ("week", VisitorPeriod::Week),
            ("month", VisitorPeriod::Month),
        ]).or("day"),
        /// The requests of browsers not to be tracked that are honoured: Global Privacy Control and Do
        /// Not Track. Of such a visitor nothing is kept but the click.
        "honour" => honour: Honour = honour().or("gpc,dnt"),
        /// Networks whose clicks stand apart in analytics, such as one's own office.
        "exclude" => exclude: Option<Vec<IpNet>> = networks().or_none("none"),
        /// The query parameter of a click that is not to be tracked, as in `/code?notrack`; empty: none.
        "no_track_param" => no_track_param: Option<String> = parameter().or("notrack"),
        /// The field in which a trusted proxy sends the country of the visitor, such as `cf-ipcountry`.
        "geo_header" => geo_header: Option<HeaderName> =
            field_name().or_none("none: the country comes from the address"),
        /// The MMDB file that says in which country, region and city an address is. It is read again when
        /// it changes.
        "geo_file" => geo_file: Option<PathBuf> =
            path().or_none("none: countries come from data that are part of kurz"),
        /// A file that adds hosts of referrers to channels or moves them: lines of a channel and hosts, such
        /// as `social intranet.example`.
        "channels" => channels: Option<PathBuf> = path().or_none("none"),
        /// A ClickHouse server that gets a copy of all events and answers questions about them. All
        /// instances need the same.
        "clickhouse" => clickhouse: Option<ClickHouseUrl> = clickhouse_url::declaration(),
    }
}

fn honour() -> ValueParser<Honour> {
    let accepts = "gpc, dnt, both with a comma between, or none";
    ValueParser::new(ValueForm::Text, accepts, |text| {
        if text == "none" {
            return Some(Honour::default());
        }
        text.split(',').try_fold(Honour::default(), |honour, word| match word.trim() {
            "gpc" => Some(Honour { gpc: true, ..honour }),
            "dnt" => Some(Honour { dnt: true, ..honour }),
            _ => None,
        })
    })
}

fn parameter() -> ValueParser<Option<String>> {
    let accepts = "up to 32 letters, digits, - and _";
    ValueParser::new(ValueForm::Text, accepts, |text| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_name = text.len() <= 32 && text.bytes().all(is_plain);
        is_name.then(|| Some(text.to_owned()).filter(|name| !name.is_empty()))
    })
}

fn field_name() -> ValueParser<HeaderName> {
    ValueParser::new(ValueForm::Text, "the name of an HTTP field", |text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honour_is_a_list_of_what_is_known() {
        let both = Honour { gpc: true, dnt: true };
        for (text, expected) in [
            ("gpc,dnt", Some(both)),
            ("dnt, gpc", Some(both)),
            ("gpc", Some(Honour { gpc: true, dnt: false })),
            ("dnt", Some(Honour { gpc: false, dnt: true })),
            ("none", Some(Honour::default())),
            ("", None),
            ("gpc,", None),
            ("GPC", None),
            ("none,gpc", None),
        ] {
            assert_eq!((honour().parse)(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_parameter_is_a_plain_name_or_none() {
        let read = |text: &str| (parameter().parse)(text);
        assert_eq!(read("notrack"), Some(Some("notrack".to_owned())));
        assert_eq!(read(""), Some(None));
        for bad in ["no track", "a=b", "a&b", "ü", &"a".repeat(33)] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_field_name_is_read_in_any_case() {
        let read = |text: &str| (field_name().parse)(text);
        assert_eq!(read("CF-IPCountry"), Some(HeaderName::from_static("cf-ipcountry")));
        assert_eq!((read("")).or(read("a b")).or(read("a:")), None);
    }
}

//! The tests that a rule can have, as the pages show them: which control each has, and what its values are called.
//! Keys that belong together (a period, a time of the week) are one test here and several keys of `when`.

use crate::language::Language;
use crate::web::analytics::names;
use crate::web::i18n::{RuleWords, Words, formats};

/// The control of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Some of a few values.
    Boxes(&'static [&'static str]),
    /// Values that are typed.
    Texts(Typed),
    /// One of two values.
    Switch(&'static [&'static str; 2]),
    Query,
    /// `from` and `to_time`.
    Period,
    /// `days`, `hours` and `zone`.
    Clock,
}

/// What is typed into a field of several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Country,
    Language,
    Plain,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RuleTest {
    /// Its key in `when`; the first one, where there are several.
    pub(super) key: &'static str,
    pub(super) shape: Shape,
}

pub(super) const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const DEVICES: &[&str] = &["phone", "tablet", "desktop", "tv", "console", "wearable"];
const SYSTEMS: &[&str] = &["ios", "android", "windows", "macos", "linux", "chromeos", "other"];
const BROWSERS: &[&str] = &["chrome", "safari", "firefox", "edge", "samsung", "opera", "other"];
const APPS: &[&str] = &[
    "true",
    "instagram",
    "facebook",
    "tiktok",
    "linkedin",
    "x",
    "snapchat",
    "telegram",
    "wechat",
    "other",
];
const CONTINENTS: &[&str] = &["AF", "AN", "AS", "EU", "NA", "OC", "SA"];
const YES_NO: &[&str; 2] = &["true", "false"];

const fn kind(key: &'static str, shape: Shape) -> RuleTest {
    RuleTest { key, shape }
}

/// All tests, in the order of the editor and of the sentences.
pub(super) const KINDS: [RuleTest; 16] = [
    kind("device", Shape::Boxes(DEVICES)),
    kind("os", Shape::Boxes(SYSTEMS)),
    kind("browser", Shape::Boxes(BROWSERS)),
    kind("in_app", Shape::Boxes(APPS)),
    kind("language", Shape::Texts(Typed::Language)),
    kind("country", Shape::Texts(Typed::Country)),
    kind("region", Shape::Texts(Typed::Plain)),
    kind("continent", Shape::Boxes(CONTINENTS)),
    kind("eu", Shape::Switch(YES_NO)),
    kind("network", Shape::Texts(Typed::Plain)),
    kind("query", Shape::Query),
    kind("referrer", Shape::Texts(Typed::Plain)),
    kind("from", Shape::Period),
    kind("days", Shape::Clock),
    kind("visitor", Shape::Switch(&["first", "returning"])),
    kind("qr", Shape::Switch(YES_NO)),
];

impl RuleTest {
    /// The kind with this key.
    pub(super) fn find(key: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.keys().contains(&key))
    }

    /// Its keys in `when`.
    pub(super) const fn keys(&self) -> &'static [&'static str] {
        match self.shape {
            Shape::Period => &["from", "to_time"],
            Shape::Clock => &["days", "hours", "zone"],
            _ => match self.key.as_bytes() {
                b"device" => &["device"],
                b"os" => &["os"],
                b"browser" => &["browser"],
                b"in_app" => &["in_app"],
                b"language" => &["language"],
                b"country" => &["country"],
                b"region" => &["region"],
                b"continent" => &["continent"],
                b"eu" => &["eu"],
                b"network" => &["network"],
                b"query" => &["query"],
                b"referrer" => &["referrer"],
                b"visitor" => &["visitor"],
                _ => &["qr"],
            },
        }
    }

    /// What it is called.
    pub(super) const fn label(&self, w: &RuleWords) -> &'static str {
        match self.key.as_bytes() {
            b"device" => w.t_device,
            b"os" => w.t_os,
            b"browser" => w.t_browser,
            b"in_app" => w.t_in_app,
            b"language" => w.t_language,
            b"country" => w.t_country,
            b"region" => w.t_region,
            b"continent" => w.t_continent,
            b"eu" => w.t_eu,
            b"network" => w.t_network,
            b"query" => w.t_query,
            b"referrer" => w.t_referrer,
            b"from" => w.t_from,
            b"days" => w.t_days,
            b"visitor" => w.t_visitor,
            _ => w.t_qr,
        }
    }

    /// What to enter, where that is not plain to see.
    pub(super) const fn hint(&self, w: &RuleWords) -> Option<&'static str> {
        match self.key.as_bytes() {
            b"language" => Some(w.h_language),
            b"country" => Some(w.h_country),
            b"region" => Some(w.h_region),
            b"network" => Some(w.h_network),
            b"referrer" => Some(w.h_referrer),
            b"visitor" => Some(w.h_visitor),
            _ => None,
        }
    }

    /// What one of its values is called, standing alone.
    pub(super) fn value(&self, value: &str, language: Language) -> String {
        let words = Words::of(language);
        let w = &words.rules;
        let known = match (self.key, value) {
            ("device", _) => names::device(&words.analytics, value),
            ("os", "other") => Some(w.other_os),
            ("browser", "other") => Some(w.other_browser),
            ("in_app", "other") => Some(w.other_app),
            ("in_app", "true") => Some(w.any_app),
            ("os" | "browser" | "in_app", _) => brand(value),
            ("continent", _) => continent(w, value),
            ("country", _) => names::country(value, language),
            ("days", _) => return weekday(value, language).unwrap_or(value).to_owned(),
            ("eu", "true") => Some(w.is_in_eu),
            ("eu", "false") => Some(w.outside_eu),
            ("qr", "true") => Some(w.by_qr),
            ("qr", "false") => Some(w.not_by_qr),
            ("visitor", "first") => Some(w.first_visit),
            ("visitor", "returning") => Some(w.returning_visit),
            ("referrer", _) => {
                let channel = value.strip_prefix("channel:");
                channel.and_then(|channel| names::channel(&words.analytics, channel))
            }
            ("language", _) => {
                return names::language_name(value, language).unwrap_or_else(|| value.to_owned());
            }
            _ => None,
        };
        known.unwrap_or(value).to_owned()
    }
}

fn weekday(value: &str, language: Language) -> Option<&'static str> {
    let at = DAYS.iter().position(|day| *day == value)?;
    Some(formats::weekday(language, u8::try_from(at).ok()?))
}

const fn continent(w: &RuleWords, code: &str) -> Option<&'static str> {
    Some(match code.as_bytes() {
        b"AF" => w.africa,
        b"AN" => w.antarctica,
        b"AS" => w.asia,
        b"EU" => w.europe,
        b"NA" => w.north_america,
        b"OC" => w.oceania,
        b"SA" => w.south_america,
        _ => return None,
    })
}

/// The names of systems, browsers and apps, which are the same in every language.
const fn brand(value: &str) -> Option<&'static str> {
    Some(match value.as_bytes() {
        b"ios" => "iOS",
        b"android" => "Android",
        b"windows" => "Windows",
        b"macos" => "macOS",
        b"linux" => "Linux",
        b"chromeos" => "ChromeOS",
        b"chrome" => "Chrome",
        b"safari" => "Safari",
        b"firefox" => "Firefox",
        b"edge" => "Edge",
        b"samsung" => "Samsung Internet",
        b"opera" => "Opera",
        b"instagram" => "Instagram",
        b"facebook" => "Facebook",
        b"tiktok" => "TikTok",
        b"linkedin" => "LinkedIn",
        b"x" => "X",
        b"snapchat" => "Snapchat",
        b"telegram" => "Telegram",
        b"wechat" => "WeChat",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_box_has_a_name_in_every_language() {
        for kind in KINDS {
            let values: &[&str] = match kind.shape {
                Shape::Boxes(values) => values,
                Shape::Switch(values) => values,
                Shape::Clock => &DAYS,
                _ => &[],
            };
            for (value, language) in values.iter().flat_map(|v| Language::ALL.map(|l| (*v, l))) {
                assert_ne!(kind.value(value, language), value, "{} {value}", kind.key);
            }
            assert!(kind.keys().contains(&kind.key));
        }
        assert!(RuleTest::find("zone").is_some_and(|kind| kind.key == "days"));
        assert!(RuleTest::find("weather").is_none());
    }
}

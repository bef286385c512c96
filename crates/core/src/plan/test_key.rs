//! What a rule can go by, and the values of each: which are known, and how they are spelt in a stored plan.

use std::net::{IpAddr, Ipv6Addr};

use super::agent_class::{Browser, Device, InApp, Os};
use super::language_tag::LanguageRange;
use super::names::{names, nearest};
use super::places::{Region, continents, countries};
use crate::analytics::calendar::Zone;
use crate::clicks::Channel;
use crate::time::Timestamp;

names! {
    /// A key of `when`, in the order in which a plan is stored.
    TestKey {
        Device = "device",
        Os = "os",
        Browser = "browser",
        InApp = "in_app",
        Language = "language",
        Country = "country",
        Region = "region",
        Continent = "continent",
        Eu = "eu",
        Network = "network",
        Query = "query",
        Referrer = "referrer",
        From = "from",
        ToTime = "to_time",
        Days = "days",
        Hours = "hours",
        Zone = "zone",
        Visitor = "visitor",
        Qr = "qr",
    }
}

names! {
    Day {
        Monday = "mon",
        Tuesday = "tue",
        Wednesday = "wed",
        Thursday = "thu",
        Friday = "fri",
        Saturday = "sat",
        Sunday = "sun",
    }
}

names! {
    /// Whether a visitor was seen on the link before, in the same visitor period.
    Visitor {
        First = "first",
        Returning = "returning",
    }
}

/// The JSON that a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueShape {
    /// A list of texts, of which one must match.
    List,
    /// One text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A list of texts, or `true`.
    ListOrTrue,
    /// An object of names and values, all of which must match.
    Pairs,
}

/// The channels that a host can have.
pub const CHANNELS: [Channel; 9] = [
    Channel::Direct,
    Channel::Search,
    Channel::Social,
    Channel::Ai,
    Channel::Messenger,
    Channel::Email,
    Channel::Video,
    Channel::Referral,
    Channel::Internal,
];

/// The most bytes of a host, and of a name or value of a query.
const LONGEST_TEXT: usize = 253;

impl TestKey {
    pub const fn shape(self) -> ValueShape {
        match self {
            Self::InApp => ValueShape::ListOrTrue,
            Self::Eu | Self::Qr => ValueShape::Bool,
            Self::Query => ValueShape::Pairs,
            Self::From | Self::ToTime | Self::Hours | Self::Zone | Self::Visitor => {
                ValueShape::Text
            }
            _ => ValueShape::List,
        }
    }

    /// The values that it can have, if they are few.
    pub fn known_values(self) -> Vec<&'static str> {
        match self {
            Self::Device => Device::ALL.iter().map(|it| it.name()).collect(),
            Self::Os => Os::ALL.iter().map(|it| it.name()).collect(),
            Self::Browser => Browser::ALL.iter().map(|it| it.name()).collect(),
            Self::InApp => InApp::ALL.iter().map(|it| it.name()).collect(),
            Self::Country => countries().collect(),
            Self::Continent => continents().collect(),
            Self::Days => Day::ALL.iter().map(|it| it.name()).collect(),
            Self::Visitor => Visitor::ALL.iter().map(|it| it.name()).collect(),
            _ => Vec::new(),
        }
    }

    /// One value in the spelling that is stored; else a sentence that says what would be right.
    pub fn canonical_value(self, text: &str) -> Result<String, String> {
        match self {
            Self::Device | Self::Os | Self::Browser | Self::InApp | Self::Days | Self::Visitor => {
                known(text.to_ascii_lowercase(), text, &self.known_values())
            }
            Self::Country => canonical_country(text),
            Self::Continent => known(text.to_ascii_uppercase(), text, &self.known_values()),
            Self::Region => canonical_region(text),
            Self::Language => LanguageRange::parse(text).map(LanguageRange::text).ok_or_else(|| {
                "a language is a tag of language, script and region, such as de, de-AT or zh-Hant".into()
            }),
            Self::Network => Network::parse(text).map(|_| text.to_ascii_lowercase()).ok_or_else(|| {
                "a network is an address with a length, such as 192.0.2.0/24 or 2001:db8::/32".into()
            }),
            Self::Referrer => canonical_referrer(text),
            Self::From | Self::ToTime => Timestamp::parse_rfc3339(text)
                .map(Timestamp::to_rfc3339)
                .ok_or_else(|| "a time is written as in RFC 3339: 2026-11-18T12:00:00Z".into()),
            Self::Hours => Hours::parse(text).map(|_| text.to_owned()).ok_or_else(|| {
                "hours are written 09:00-17:30; the second may be earlier than the first (over midnight), not \
                 the same"
                    .into()
            }),
            Self::Zone => canonical_zone(text),
            Self::Eu | Self::Qr => known(text.to_owned(), text, &["true", "false"]),
            Self::Query => QueryTest::parse(text).map(|_| text.to_owned()).ok_or_else(|| {
                format!(
                    "a parameter has a name of 1 to {LONGEST_TEXT} bytes without = and &, and a value of at most \
                     {LONGEST_TEXT}"
                )
            }),
        }
    }
}

fn known(value: String, given: &str, known: &[&str]) -> Result<String, String> {
    if known.contains(&value.as_str()) {
        return Ok(value);
    }
    let near = nearest(given, known.iter().copied()).unwrap_or_default();
    Err(format!("it is not known; the nearest known value is {near}"))
}

fn canonical_country(text: &str) -> Result<String, String> {
    let upper = text.to_ascii_uppercase();
    let usual = match upper.as_str() {
        // Often taken for codes of these countries.
        "UK" => Some("GB"),
        "EL" => Some("GR"),
        _ => None,
    };
    match usual {
        Some(code) => {
            Err(format!("it is not a code of ISO 3166-1; the nearest known value is {code}"))
        }
        None => known(upper, text, &TestKey::Country.known_values()),
    }
}

fn canonical_region(text: &str) -> Result<String, String> {
    let region = Region::from_text(text);
    let country = text.get(..2).unwrap_or_default();
    match canonical_country(country) {
        Ok(_) if region.is_known() => Ok(region.text()),
        Ok(code) => Err(format!("a region is a code of ISO 3166-2, such as {code}-1 or {code}-AB")),
        Err(_) => {
            let near = nearest(country, countries()).unwrap_or_default();
            Err(format!("its country is not known; the nearest known value is {near}"))
        }
    }
}

fn canonical_zone(text: &str) -> Result<String, String> {
    if let Some(zone) = Zone::find(text) {
        return Ok(zone.name().to_owned());
    }
    let names: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    let near = nearest(text, names.iter().map(String::as_str)).unwrap_or_default();
    Err(format!("it is no time zone of the IANA database; the nearest known value is {near}"))
}

/// A host, `.suffix` or `channel:name`.
fn canonical_referrer(text: &str) -> Result<String, String> {
    if let Some(name) = text.strip_prefix("channel:") {
        let names: Vec<&str> = CHANNELS.iter().map(|channel| channel.name()).collect();
        return known(name.to_owned(), name, &names).map(|name| format!("channel:{name}"));
    }
    let lower = text.to_ascii_lowercase();
    let host = lower.strip_prefix('.').unwrap_or(&lower);
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_ok = !host.is_empty()
        && host.len() <= LONGEST_TEXT
        && host.bytes().all(is_host)
        && !host.starts_with('.')
        && !host.ends_with('.');
    if is_ok {
        // The host of a `Referer` is compared without it.
        let is_exact = host.len() == lower.len();
        Ok(if is_exact { host.strip_prefix("www.").unwrap_or(host).to_owned() } else { lower })
    } else {
        Err("a referrer is a host (news.example), a suffix (.example) or a channel (channel:search); a host \
             that is not ASCII is written in punycode"
            .into())
    }
}

/// `name=value`, `name=pre*`, `name` (any value) or `name=` (there, without a value).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueryTest<'a> {
    pub name: &'a str,
    pub value: QueryValue<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryValue<'a> {
    Is(&'a str),
    StartsWith(&'a str),
    Any,
    None,
}

impl<'a> QueryTest<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (name, value) = match text.split_once('=') {
            None => (text, QueryValue::Any),
            Some((name, "")) => (name, QueryValue::None),
            Some((name, value)) => match value.strip_suffix('*') {
                Some(start) => (name, QueryValue::StartsWith(start)),
                None => (name, QueryValue::Is(value)),
            },
        };
        let has_length = !name.is_empty() && name.len() <= LONGEST_TEXT;
        let rest = text.len().saturating_sub(name.len());
        (has_length && rest <= LONGEST_TEXT + 1 && !name.contains('&'))
            .then_some(Self { name, value })
    }
}

/// All addresses from the first to the last, IPv4 as mapped into IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Network {
    pub first: u128,
    pub last: u128,
}

impl Network {
    /// `192.0.2.0/24`, `2001:db8::/32`, or a single address. Bits behind the length do not matter.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let (bits, most) = match address {
            IpAddr::V4(address) => (address_bits(address.to_ipv6_mapped()), 32),
            IpAddr::V6(address) => (address_bits(address), 128),
        };
        let length = match length {
            None => most,
            Some(length) if !length.starts_with('+') => {
                length.parse::<u32>().ok().filter(|length| *length <= most)?
            }
            Some(_) => return None,
        };
        let free = most - length;
        let mask = u128::MAX.checked_shl(free).unwrap_or(0);
        Some(Self { first: bits & mask, last: bits | !mask })
    }
}

/// An address as a number, IPv4 as mapped into IPv6.
#[inline]
pub(super) const fn address_bits(address: Ipv6Addr) -> u128 {
    address.to_bits()
}

/// Minutes of a day, half-open; `from` is later than `to` when midnight lies within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hours {
    pub from: u16,
    pub to: u16,
}

impl Hours {
    /// `HH:MM-HH:MM`; the second may be `24:00`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        let (from, to) = (minutes(from)?, minutes(to)?);
        (from != to && from < 24 * 60).then_some(Self { from, to })
    }
}

fn minutes(text: &str) -> Option<u16> {
    let [h1, h2, b':', m1, m2] = text.as_bytes() else { return None };
    let digits = [h1, h2, m1, m2];
    if !digits.iter().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let number = |tens: u8, ones: u8| u16::from(tens - b'0') * 10 + u16::from(ones - b'0');
    let (hour, minute) = (number(*h1, *h2), number(*m1, *m2));
    let is_time = hour < 24 && minute < 60 || hour == 24 && minute == 0;
    is_time.then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_stored_in_one_spelling() {
        for (key, given, expected) in [
            (TestKey::Device, "Phone", "phone"),
            (TestKey::Country, "de", "DE"),
            (TestKey::Region, "de-by", "DE-BY"),
            (TestKey::Continent, "eu", "EU"),
            (TestKey::Language, "DE-at", "de-AT"),
            (TestKey::Network, "2001:DB8::/32", "2001:db8::/32"),
            (TestKey::Referrer, "WWW.News.Example", "news.example"),
            (TestKey::Referrer, ".Example", ".example"),
            (TestKey::Referrer, "channel:social", "channel:social"),
            (TestKey::From, "2026-11-18T13:00:00+01:00", "2026-11-18T12:00:00.000Z"),
            (TestKey::Zone, "europe/berlin", "Europe/Berlin"),
            (TestKey::Days, "Mon", "mon"),
            (TestKey::Hours, "22:00-02:00", "22:00-02:00"),
            (TestKey::Query, "ab=1", "ab=1"),
        ] {
            assert_eq!(key.canonical_value(given).as_deref(), Ok(expected), "{given}");
            assert_eq!(key.canonical_value(expected).as_deref(), Ok(expected), "{expected}");
        }
    }

    #[test]
    fn an_unknown_value_is_refused_with_the_nearest_known_one() {
        for (key, given, near) in [
            (TestKey::Device, "phones", "phone"),
            (TestKey::Os, "iphone", "ios"),
            (TestKey::Country, "UK", "GB"),
            (TestKey::Region, "QE-BY", "country is not known"),
            (TestKey::Continent, "EUR", "EU"),
            (TestKey::Zone, "Europe/Berln", "Europe/Berlin"),
            (TestKey::Referrer, "channel:searching", "search"),
        ] {
            let message = key.canonical_value(given).unwrap_err();
            assert!(message.contains("nearest known value"), "{message}");
            assert!(message.contains(near), "{given}: {message}");
        }
        for (key, given) in [
            (TestKey::Language, "german"),
            (TestKey::Network, "192.0.2.0/33"),
            (TestKey::Network, "192.0.2.0/+3"),
            (TestKey::Network, "example.com"),
            (TestKey::Hours, "9:00-17:00"),
            (TestKey::Hours, "09:00-09:00"),
            (TestKey::Hours, "24:00-01:00"),
            (TestKey::Hours, "09:60-10:00"),
            (TestKey::Referrer, "https://a.example/"),
            (TestKey::Referrer, "bücher.example"),
            (TestKey::Referrer, ""),
            (TestKey::Query, "=1"),
            (TestKey::From, "tomorrow"),
            (TestKey::Region, "DE-"),
        ] {
            assert!(key.canonical_value(given).is_err(), "{given}");
        }
    }

    #[test]
    fn networks_hold_their_addresses() {
        let v4 = Network::parse("192.0.2.77/24").unwrap();
        let at = |text: &str| match text.parse().unwrap() {
            IpAddr::V4(address) => address_bits(address.to_ipv6_mapped()),
            IpAddr::V6(address) => address_bits(address),
        };
        assert_eq!((v4.first, v4.last), (at("192.0.2.0"), at("192.0.2.255")));
        let all = Network::parse("0.0.0.0/0").unwrap();
        assert_eq!((all.first, all.last), (at("0.0.0.0"), at("255.255.255.255")));
        let all = Network::parse("::/0").unwrap();
        assert_eq!((all.first, all.last), (0, u128::MAX));
        let one = Network::parse("2001:db8::1").unwrap();
        assert_eq!((one.first, one.last), (at("2001:db8::1"), at("2001:db8::1")));
    }

    #[test]
    fn a_parameter_has_a_value_a_prefix_any_or_none() {
        for (text, value) in [
            ("a=1", QueryValue::Is("1")),
            ("a=1=2", QueryValue::Is("1=2")),
            ("a=pre*", QueryValue::StartsWith("pre")),
            ("a=*", QueryValue::StartsWith("")),
            ("a", QueryValue::Any),
            ("a=", QueryValue::None),
        ] {
            assert_eq!(QueryTest::parse(text), Some(QueryTest { name: "a", value }), "{text}");
        }
        assert_eq!(QueryTest::parse("a&b=1"), None);
    }
}

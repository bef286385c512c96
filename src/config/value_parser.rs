//! What a setting accepts: a parser together with its description. A parser knows neither the setting's
//! name nor where a value came from.
//!
//! Invariant: `accepts` describes exactly what `parse` accepts, since both are made from the same
//! bounds.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use super::error::ConfigError;
use super::secret::Secret;
use super::{duration, size};
use kurz_core::code::canonicalise;

/// Which TOML types the value may have. The environment and the command line only have text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    Text,
    Number,
    /// A string or an integer: sizes, durations, numbers beyond TOML's 63 bits.
    TextOrNumber,
    /// A boolean or a string.
    Switch,
}

/// Parses text; `None` when it is not accepted.
type ParseFn<T> = Box<dyn Fn(&str) -> Option<T>>;

pub(super) struct ValueParser<T> {
    pub(super) accepts: String,
    pub(super) form: ValueForm,
    /// Whether an error must show this rejected value as `[hidden]`.
    pub(super) redact: fn(&str) -> bool,
    /// Whether a value may hold a secret, and so may come from a file of its own.
    pub(super) is_secret: bool,
    pub(super) parse: ParseFn<T>,
}

impl<T: 'static> ValueParser<T> {
    pub(super) fn new(
        form: ValueForm,
        accepts: impl Into<String>,
        parse: impl Fn(&str) -> Option<T> + 'static,
    ) -> Self {
        let (accepts, parse) = (accepts.into(), Box::new(parse));
        Self { accepts, form, redact: |_| false, is_secret: false, parse }
    }

    /// Show rejected values as `[hidden]` where `redact` returns true.
    pub(super) fn redact_if(self, redact: fn(&str) -> bool) -> Self {
        Self { redact, ..self }
    }

    /// A value may hold a secret: show rejected ones as `[hidden]` where `redact` returns true, and
    /// take the value from a file of its own as well.
    pub(super) fn holding_secret(self, redact: fn(&str) -> bool) -> Self {
        Self { redact, is_secret: true, ..self }
    }

    pub(super) fn map<U>(self, into: impl Fn(T) -> U + 'static) -> ValueParser<U> {
        let parse = self.parse;
        ValueParser {
            accepts: self.accepts,
            form: self.form,
            redact: self.redact,
            is_secret: self.is_secret,
            parse: Box::new(move |text| parse(text).map(&into)),
        }
    }

    /// Add a condition, with its description.
    pub(super) fn require(
        self,
        description: &str,
        condition: impl Fn(&T) -> bool + 'static,
    ) -> Self {
        let parse = self.parse;
        Self {
            accepts: format!("{}, {description}", self.accepts),
            parse: Box::new(move |text| parse(text).filter(&condition)),
            ..self
        }
    }
}

impl<T> ValueParser<T> {
    /// Parse a value that is not a setting, such as a flag of one subcommand.
    pub(super) fn read(&self, name: &str, text: &str) -> Result<T, ConfigError> {
        (self.parse)(text).ok_or_else(|| ConfigError::Refused {
            setting: name.to_owned(),
            value: if (self.redact)(text) { "[hidden]".to_owned() } else { format!("{text:?}") },
            accepts: self.accepts.clone(),
        })
    }
}

impl<T: Default + PartialEq + 'static> ValueParser<T> {
    /// Turn zero into `None`; `description` says what that means.
    pub(super) fn zero_is_none(self, description: &str) -> ValueParser<Option<T>> {
        let parser = Self { accepts: format!("{} ({description})", self.accepts), ..self };
        parser.map(|value| (value != T::default()).then_some(value))
    }
}

pub(super) fn number<T>(bounds: RangeInclusive<T>) -> ValueParser<T>
where
    T: TryFrom<u64> + PartialOrd + Display + 'static,
{
    let accepts = format!("a whole number from {} to {}", bounds.start(), bounds.end());
    ValueParser::new(ValueForm::Number, accepts, move |text| {
        // Digits only: `parse` would also accept a plus sign.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)?;
        let value = T::try_from(digits.parse::<u64>().ok()?).ok()?;
        bounds.contains(&value).then_some(value)
    })
}

pub(super) fn span(bounds: RangeInclusive<Duration>) -> ValueParser<Duration> {
    let (min, max) = (duration::print(*bounds.start()), duration::print(*bounds.end()));
    let accepts = format!("a duration from {min} to {max} (units ms, s, m, h, d)");
    ValueParser::new(ValueForm::TextOrNumber, accepts, move |text| {
        duration::parse(text).filter(|value| bounds.contains(value))
    })
}

pub(super) fn bytes(bounds: RangeInclusive<u64>) -> ValueParser<u64> {
    let (min, max) = (size::print(*bounds.start()), size::print(*bounds.end()));
    let accepts = format!("a size from {min} to {max}, in bytes or such as 64MiB");
    ValueParser::new(ValueForm::TextOrNumber, accepts, move |text| {
        size::parse(text).filter(|value| bounds.contains(value))
    })
}

pub(super) fn switch() -> ValueParser<bool> {
    ValueParser::new(ValueForm::Switch, "on or off (or true or false)", |text| match text {
        "on" | "true" => Some(true),
        "off" | "false" => Some(false),
        _ => None,
    })
}

pub(super) fn choice<T: Copy + 'static, const N: usize>(
    words: [(&'static str, T); N],
) -> ValueParser<T> {
    let accepts = words.map(|(word, _)| word).join(" or ");
    ValueParser::new(ValueForm::Text, accepts, move |text| {
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
    })
}

const ADDRESS_FORMS: &str = "an IP address with a port, such as 127.0.0.1:8080 or [::]:8080, \
                             localhost:8080, a port alone (8080, on this machine only), or :8080 (on \
                             every address of this machine)";

pub(super) fn address() -> ValueParser<SocketAddr> {
    ValueParser::new(ValueForm::TextOrNumber, ADDRESS_FORMS, parse_address)
}

pub(super) fn address_or_off() -> ValueParser<Option<SocketAddr>> {
    ValueParser::new(ValueForm::TextOrNumber, format!("{ADDRESS_FORMS}; or off"), |text| {
        if text == "off" { Some(None) } else { parse_address(text).map(Some) }
    })
}

/// An address to listen on, in the forms that people write.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let port = |digits: &str| {
        let digits = digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)?;
        digits.parse::<u16>().ok()
    };
    let at = |ip: Ipv4Addr, digits: &str| Some(SocketAddr::from((ip, port(digits)?)));
    if let Some(digits) = text.strip_prefix("localhost:") {
        return at(Ipv4Addr::LOCALHOST, digits);
    }
    if let Some(digits) = text.strip_prefix(':') {
        return at(Ipv4Addr::UNSPECIFIED, digits);
    }
    text.parse().ok().or_else(|| at(Ipv4Addr::LOCALHOST, text))
}

const MAX_NETWORKS: usize = 256;

pub(super) fn networks() -> ValueParser<Vec<IpNet>> {
    let accepts = "IP addresses and networks separated by commas, such as 10.0.0.0/8,fd00::1";
    let network = |text: &str| {
        let text = text.trim();
        text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
    };
    ValueParser::new(ValueForm::Text, accepts, move |text| {
        let list: Option<Vec<IpNet>> = text.split(',').map(network).collect();
        list.filter(|list| list.len() <= MAX_NETWORKS)
    })
    .require("none of them /0", |list| list.iter().all(|one| one.prefix_len() > 0))
}

pub(super) fn path() -> ValueParser<PathBuf> {
    ValueParser::new(ValueForm::Text, "the path of a file", |text| {
        (!text.is_empty() && !text.contains('\0')).then(|| PathBuf::from(text))
    })
}

/// What could be a link's target.
pub(super) fn web_url() -> ValueParser<String> {
    ValueParser::new(ValueForm::Text, "an http or https URL", |text| {
        canonicalise(text).is_ok().then(|| text.to_owned())
    })
}

/// A secret; `length` is in bytes.
pub(super) fn secret(length: RangeInclusive<usize>) -> ValueParser<Secret> {
    let accepts = format!("text of {} to {} bytes", length.start(), length.end());
    ValueParser::new(ValueForm::Text, accepts, move |text| {
        length.contains(&text.len()).then(|| Secret::new(text))
    })
    .holding_secret(|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_within_its_bounds() {
        let parser = number(1..=1000_u32);
        assert_eq!(parser.accepts, "a whole number from 1 to 1000");
        for (text, value) in [("1", Some(1)), ("1000", Some(1000)), ("007", Some(7))] {
            assert_eq!((parser.parse)(text), value, "{text}");
        }
        for text in ["", "0", "1001", "+5", "-5", "5.0", "five", "5 ", "99999999999999999999"] {
            assert_eq!((parser.parse)(text), None, "{text:?}");
        }
    }

    #[test]
    fn durations_and_sizes_state_and_enforce_their_bounds() {
        let parser = span(Duration::from_millis(100)..=Duration::from_mins(10));
        assert!(parser.accepts.starts_with("a duration from 100ms to 10m"), "{}", parser.accepts);
        assert_eq!((parser.parse)("10m"), Some(Duration::from_mins(10)));
        assert_eq!((parser.parse)("99ms"), None);
        assert_eq!((parser.parse)("11m"), None);

        let parser = bytes(1 << 20..=1 << 40);
        assert!(parser.accepts.starts_with("a size from 1MiB to 1024GiB"), "{}", parser.accepts);
        assert_eq!((parser.parse)("1MiB"), Some(1 << 20));
        assert_eq!((parser.parse)("1048575"), None);
    }

    #[test]
    fn one_invalid_network_or_a_prefix_of_zero_refuses_the_list() {
        let parser = networks();
        let read = |text: &str| {
            let list = (parser.parse)(text)?;
            Some(list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(read("127.0.0.1"), Some("127.0.0.1/32".to_owned()));
        assert_eq!(read("10.0.0.0/8, fd00::/8"), Some("10.0.0.0/8 fd00::/8".to_owned()));
        for bad in ["", "10.0.0.0/33", "localhost", "10.0.0.0/8,", "0.0.0.0/0", "::/0", "10/8"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(&vec!["10.0.0.1"; MAX_NETWORKS + 1].join(",")), None);
    }

    #[test]
    fn an_address_is_understood_in_the_forms_that_people_write() {
        let read = |text: &str| parse_address(text).map(|address| address.to_string());
        let table = [
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[::1]:0", "[::1]:0"),
            ("8080", "127.0.0.1:8080"),
            (":8080", "0.0.0.0:8080"),
            ("localhost:8081", "127.0.0.1:8081"),
        ];
        for (text, address) in table {
            assert_eq!(read(text).as_deref(), Some(address), "{text}");
        }
        for bad in ["", ":", "localhost", "localhost:", "+80", "65536", ":-1", "kurz.example:80"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn zero_can_mean_none() {
        let parser = number(0..=9_u64).zero_is_none("0 = off");
        assert_eq!(parser.accepts, "a whole number from 0 to 9 (0 = off)");
        assert_eq!((parser.parse)("0"), Some(None));
        assert_eq!((parser.parse)("9"), Some(Some(9)));
    }

    #[test]
    fn a_secret_is_measured_in_bytes_and_hidden() {
        let parser = secret(1..=4);
        assert!((parser.parse)("").is_none());
        assert!((parser.parse)("ab").is_some());
        assert!((parser.parse)("ääx").is_none(), "five bytes");
        assert!((parser.redact)("ab"));
    }
}

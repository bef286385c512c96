//! Rules: what one setting accepts, as a parser and the words for it. A rule knows neither the
//! setting's name nor where a value came from.
//!
//! Invariant: the words in `accepts` describe exactly what `parse` lets through, since both are
//! made here from the same bounds.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use super::error::ConfigError;
use super::secret::Secret;
use super::{duration, size};

/// Which TOML types may carry the value. The environment and the command line only have text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    /// A string.
    Text,
    /// An integer.
    Number,
    /// A string or an integer: sizes, spans, numbers beyond TOML's 63 bits.
    TextOrNumber,
    /// A boolean or a string.
    Switch,
}

/// Reads a value from text; `None` when the text is not acceptable.
type Parse<T> = Box<dyn Fn(&str) -> Option<T>>;

/// What a setting accepts.
pub(super) struct Rule<T> {
    pub(super) accepts: String,
    pub(super) form: ValueForm,
    /// Whether this bad value must not be repeated in an error.
    pub(super) hides: fn(&str) -> bool,
    pub(super) parse: Parse<T>,
}

impl<T: 'static> Rule<T> {
    /// A rule from its parser and the words for it.
    pub(super) fn new(
        form: ValueForm,
        accepts: impl Into<String>,
        parse: impl Fn(&str) -> Option<T> + 'static,
    ) -> Self {
        Self { accepts: accepts.into(), form, hides: |_| false, parse: Box::new(parse) }
    }

    /// The same rule, keeping out of errors the values for which `hides` holds.
    pub(super) fn hiding(self, hides: fn(&str) -> bool) -> Self {
        Self { hides, ..self }
    }

    /// The same rule with another result.
    pub(super) fn map<U>(self, into: impl Fn(T) -> U + 'static) -> Rule<U> {
        let parse = self.parse;
        Rule {
            accepts: self.accepts,
            form: self.form,
            hides: self.hides,
            parse: Box::new(move |text| parse(text).map(&into)),
        }
    }

    /// The same rule with one more condition, named in `words`.
    pub(super) fn only(self, words: &str, holds: impl Fn(&T) -> bool + 'static) -> Self {
        let parse = self.parse;
        Self {
            accepts: format!("{}, {words}", self.accepts),
            parse: Box::new(move |text| parse(text).filter(&holds)),
            ..self
        }
    }
}

impl<T> Rule<T> {
    /// Read the value of something that is no setting, such as a flag of one subcommand.
    pub(super) fn read(&self, name: &str, text: &str) -> Result<T, ConfigError> {
        (self.parse)(text).ok_or_else(|| ConfigError::Refused {
            setting: name.to_owned(),
            value: if (self.hides)(text) { "[hidden]".to_owned() } else { format!("{text:?}") },
            accepts: self.accepts.clone(),
        })
    }
}

impl<T: Default + PartialEq + 'static> Rule<T> {
    /// The same rule, where zero means none, as `words` say.
    pub(super) fn zero_is_none(self, words: &str) -> Rule<Option<T>> {
        let rule = Self { accepts: format!("{} ({words})", self.accepts), ..self };
        rule.map(|value| (value != T::default()).then_some(value))
    }
}

/// A whole number within bounds.
pub(super) fn number<T>(bounds: RangeInclusive<T>) -> Rule<T>
where
    T: TryFrom<u64> + PartialOrd + Display + 'static,
{
    let accepts = format!("a whole number from {} to {}", bounds.start(), bounds.end());
    Rule::new(ValueForm::Number, accepts, move |text| {
        // Digits alone: `parse` would take a plus sign as well.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)?;
        let value = T::try_from(digits.parse::<u64>().ok()?).ok()?;
        bounds.contains(&value).then_some(value)
    })
}

/// A duration within bounds.
pub(super) fn span(bounds: RangeInclusive<Duration>) -> Rule<Duration> {
    let (least, most) = (duration::print(*bounds.start()), duration::print(*bounds.end()));
    let accepts = format!("a duration from {least} to {most} (units ms, s, m, h, d)");
    Rule::new(ValueForm::TextOrNumber, accepts, move |text| {
        duration::parse(text).filter(|value| bounds.contains(value))
    })
}

/// A size in bytes within bounds.
pub(super) fn bytes(bounds: RangeInclusive<u64>) -> Rule<u64> {
    let (least, most) = (size::print(*bounds.start()), size::print(*bounds.end()));
    let accepts = format!("a size from {least} to {most}, in bytes or such as 64MiB");
    Rule::new(ValueForm::TextOrNumber, accepts, move |text| {
        size::parse(text).filter(|value| bounds.contains(value))
    })
}

/// On or off.
pub(super) fn switch() -> Rule<bool> {
    Rule::new(ValueForm::Switch, "on or off (or true or false)", |text| match text {
        "on" | "true" => Some(true),
        "off" | "false" => Some(false),
        _ => None,
    })
}

/// One of a few words.
pub(super) fn choice<T: Copy + 'static, const N: usize>(words: [(&'static str, T); N]) -> Rule<T> {
    let accepts = words.map(|(word, _)| word).join(" or ");
    Rule::new(ValueForm::Text, accepts, move |text| {
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
    })
}

/// An IP address with a port.
pub(super) fn address() -> Rule<SocketAddr> {
    let accepts = "an IP address with a port, such as 127.0.0.1:8080 or [::]:8080";
    Rule::new(ValueForm::Text, accepts, |text| text.parse().ok())
}

/// An IP address with a port, or `off`.
pub(super) fn address_or_off() -> Rule<Option<SocketAddr>> {
    let accepts = "an IP address with a port, such as 127.0.0.1:9090, or off";
    Rule::new(ValueForm::Text, accepts, |text| {
        if text == "off" { Some(None) } else { text.parse().ok().map(Some) }
    })
}

/// Most networks in a list.
const MOST_NETWORKS: usize = 256;

/// IP addresses and networks with commas between.
pub(super) fn networks() -> Rule<Vec<IpNet>> {
    let accepts = "IP addresses and networks separated by commas, such as 10.0.0.0/8,fd00::1";
    let network = |text: &str| {
        let text = text.trim();
        text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
    };
    Rule::new(ValueForm::Text, accepts, move |text| {
        let list: Option<Vec<IpNet>> = text.split(',').map(network).collect();
        list.filter(|list| list.len() <= MOST_NETWORKS)
    })
    .only("none of them /0", |list| list.iter().all(|one| one.prefix_len() > 0))
}

/// The path of a file.
pub(super) fn path() -> Rule<PathBuf> {
    Rule::new(ValueForm::Text, "the path of a file", |text| {
        (!text.is_empty() && !text.contains('\0')).then(|| PathBuf::from(text))
    })
}

/// A secret, by its length in bytes.
pub(super) fn secret(length: RangeInclusive<usize>) -> Rule<Secret> {
    let accepts = format!("text of {} to {} bytes", length.start(), length.end());
    Rule::new(ValueForm::Text, accepts, move |text| {
        length.contains(&text.len()).then(|| Secret::new(text))
    })
    .hiding(|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_within_its_bounds() {
        let rule = number(1..=1000_u32);
        assert_eq!(rule.accepts, "a whole number from 1 to 1000");
        for (text, value) in [("1", Some(1)), ("1000", Some(1000)), ("007", Some(7))] {
            assert_eq!((rule.parse)(text), value, "{text}");
        }
        for text in ["", "0", "1001", "+5", "-5", "5.0", "five", "5 ", "99999999999999999999"] {
            assert_eq!((rule.parse)(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_span_and_a_size_name_and_keep_their_bounds() {
        let rule = span(Duration::from_millis(100)..=Duration::from_mins(10));
        assert!(rule.accepts.starts_with("a duration from 100ms to 10m"), "{}", rule.accepts);
        assert_eq!((rule.parse)("10m"), Some(Duration::from_mins(10)));
        assert_eq!((rule.parse)("99ms"), None);
        assert_eq!((rule.parse)("11m"), None);

        let rule = bytes(1 << 20..=1 << 40);
        assert!(rule.accepts.starts_with("a size from 1MiB to 1024GiB"), "{}", rule.accepts);
        assert_eq!((rule.parse)("1MiB"), Some(1 << 20));
        assert_eq!((rule.parse)("1048575"), None);
    }

    #[test]
    fn a_list_of_networks_has_no_bad_one_and_not_everybody() {
        let rule = networks();
        let read = |text: &str| {
            let list = (rule.parse)(text)?;
            Some(list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(read("127.0.0.1"), Some("127.0.0.1/32".to_owned()));
        assert_eq!(read("10.0.0.0/8, fd00::/8"), Some("10.0.0.0/8 fd00::/8".to_owned()));
        for bad in ["", "10.0.0.0/33", "localhost", "10.0.0.0/8,", "0.0.0.0/0", "::/0", "10/8"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(&vec!["10.0.0.1"; MOST_NETWORKS + 1].join(",")), None);
    }

    #[test]
    fn zero_can_mean_none() {
        let rule = number(0..=9_u64).zero_is_none("0 = off");
        assert_eq!(rule.accepts, "a whole number from 0 to 9 (0 = off)");
        assert_eq!((rule.parse)("0"), Some(None));
        assert_eq!((rule.parse)("9"), Some(Some(9)));
    }

    #[test]
    fn a_secret_is_measured_in_bytes_and_hidden() {
        let rule = secret(1..=4);
        assert!((rule.parse)("").is_none());
        assert!((rule.parse)("ab").is_some());
        assert!((rule.parse)("ääx").is_none(), "five bytes");
        assert!((rule.hides)("ab"));
    }
}

//! Filters as text: `country:DE,AT`, `-referrer:t.co`, `utm_campaign:spring*`, `city:` (not known). A backslash
//! before a comma, a star or a backslash takes its meaning away.

use std::fmt::{self, Display};

use thiserror::Error;

use crate::analytics::FilterValue;
use crate::analytics::{Dimension, EventFilter};

pub const MAX_FILTERS: usize = 32;
pub const MAX_VALUES: usize = 64;
pub const MAX_VALUE_BYTES: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FilterError {
    #[error("a filter is a name, a colon and values, such as country:DE,AT")]
    Colon,
    #[error("there is no dimension of this name to filter by: {}", names())]
    Dimension,
    #[error("a filter has at most {MAX_VALUES} values")]
    Values,
    #[error("a value of a filter has at most {MAX_VALUE_BYTES} bytes")]
    Long,
}

/// The names of all dimensions.
pub fn names() -> String {
    let texts = crate::analytics::TextColumn::ALL.into_iter().map(Dimension::Text);
    let all = [Dimension::Link, Dimension::Tag].into_iter().chain(texts);
    all.map(Dimension::name).collect::<Vec<_>>().join(", ")
}

impl EventFilter {
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let (name, values) = text.split_once(':').ok_or(FilterError::Colon)?;
        let (not, name) = name.strip_prefix('-').map_or((false, name), |name| (true, name));
        let dimension = Dimension::parse(name).ok_or(FilterError::Dimension)?;
        let values = parse_values(values)?;
        Ok(Self { dimension, not, values })
    }

    /// Whether an event with this value passes.
    pub fn allows(&self, text: &str) -> bool {
        self.values.iter().any(|value| value.matches(text)) != self.not
    }
}

impl FilterValue {
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exactly(value) => **value == *text,
            Self::Prefix(start) => text.starts_with(&**start),
        }
    }
}

fn parse_values(text: &str) -> Result<Vec<FilterValue>, FilterError> {
    let mut values = Vec::new();
    let mut value = String::new();
    let mut is_prefix = false;
    let mut letters = text.chars();
    loop {
        let letter = letters.next();
        if matches!(letter, None | Some(',')) {
            if values.len() == MAX_VALUES {
                return Err(FilterError::Values);
            }
            let value = std::mem::take(&mut value).into_boxed_str();
            let is_prefix = std::mem::take(&mut is_prefix);
            values.push(if is_prefix {
                FilterValue::Prefix(value)
            } else {
                FilterValue::Exactly(value)
            });
            if letter.is_none() {
                return Ok(values);
            }
            continue;
        }
        // A star that is not the last one was an ordinary letter.
        if std::mem::take(&mut is_prefix) {
            value.push('*');
        }
        match letter {
            Some('*') => is_prefix = true,
            Some('\\') => value.push(letters.next().unwrap_or('\\')),
            other => value.extend(other),
        }
        if value.len() > MAX_VALUE_BYTES {
            return Err(FilterError::Long);
        }
    }
}

/// As [`EventFilter::parse`] reads it.
impl Display for EventFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.not { "-" } else { "" };
        write!(f, "{not}{}:", self.dimension.name())?;
        for (place, value) in self.values.iter().enumerate() {
            let (text, star) = match value {
                FilterValue::Exactly(text) => (text, ""),
                FilterValue::Prefix(text) => (text, "*"),
            };
            f.write_str(if place == 0 { "" } else { "," })?;
            for letter in text.chars() {
                if matches!(letter, ',' | '*' | '\\') {
                    f.write_str("\\")?;
                }
                write!(f, "{letter}")?;
            }
            f.write_str(star)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::TextColumn;

    fn exactly(text: &str) -> FilterValue {
        FilterValue::Exactly(text.into())
    }

    #[test]
    fn filters_are_read_and_written() {
        let text = |column, not, values: &[FilterValue]| EventFilter {
            dimension: Dimension::Text(column),
            not,
            values: values.to_vec(),
        };
        let spring = FilterValue::Prefix("spring".into());
        for (filter, read) in [
            ("country:DE,AT", text(TextColumn::Country, false, &[exactly("DE"), exactly("AT")])),
            ("-referrer:t.co", text(TextColumn::Referrer, true, &[exactly("t.co")])),
            ("utm_campaign:spring*", text(TextColumn::UtmCampaign, false, &[spring])),
            ("city:", text(TextColumn::City, false, &[exactly("")])),
            ("city:,Ulm", text(TextColumn::City, false, &[exactly(""), exactly("Ulm")])),
            (
                "ref:a\\,b\\*,c\\\\",
                text(TextColumn::Ref, false, &[exactly("a,b*"), exactly("c\\")]),
            ),
            ("ref:a:b", text(TextColumn::Ref, false, &[exactly("a:b")])),
            ("ref:*", text(TextColumn::Ref, false, &[FilterValue::Prefix("".into())])),
        ] {
            assert_eq!(EventFilter::parse(filter), Ok(read.clone()), "{filter}");
            assert_eq!(read.to_string(), filter);
        }
        let star = text(TextColumn::Ref, false, &[exactly("a*b")]);
        assert_eq!(EventFilter::parse("ref:a*b"), Ok(star.clone()));
        assert_eq!(EventFilter::parse(&star.to_string()), Ok(star));
    }

    #[test]
    fn filters_that_cannot_be_read_are_refused() {
        for (filter, error) in [
            ("country", FilterError::Colon),
            ("", FilterError::Colon),
            ("planet:Mars", FilterError::Dimension),
            ("--country:DE", FilterError::Dimension),
            (&format!("country:{}", ",".repeat(64)), FilterError::Values),
            (&format!("city:{}", "x".repeat(257)), FilterError::Long),
        ] {
            assert_eq!(EventFilter::parse(filter), Err(error), "{filter}");
        }
        assert!(EventFilter::parse(&format!("country:{}", ",".repeat(63))).is_ok());
        assert!(EventFilter::parse(&format!("city:{}", "x".repeat(256))).is_ok());
    }

    #[test]
    fn values_are_alternatives_and_not_excludes_all_of_them() {
        let filter = EventFilter::parse("country:DE,A*").unwrap();
        let allowed =
            |filter: &EventFilter| ["DE", "AT", "D", "", "de"].map(|it| filter.allows(it));
        assert_eq!(allowed(&filter), [true, true, false, false, false]);
        let filter = EventFilter { not: true, ..filter };
        assert_eq!(allowed(&filter), [false, false, true, true, true]);
        assert!(EventFilter::parse("country:").unwrap().allows(""));
    }
}

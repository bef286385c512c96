//! The text of a link's fields in a form: times as `datetime-local` inputs write them, in UTC; tags with
//! commas between.

use crate::link::fields::ArchivedAt;
use crate::time::Timestamp;

/// What was expected where a text could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    Number,
    Time,
}

/// A value that has a text in forms.
pub(super) trait FieldText {
    /// What a request gives for it.
    type Given;

    fn read(text: &str) -> Result<Option<Self::Given>, Unreadable>;

    fn write(&self) -> String;
}

impl FieldText for Option<String> {
    type Given = String;

    fn read(text: &str) -> Result<Option<String>, Unreadable> {
        Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
    }

    fn write(&self) -> String {
        self.clone().unwrap_or_default()
    }
}

impl FieldText for Vec<String> {
    type Given = Self;

    fn read(text: &str) -> Result<Option<Self>, Unreadable> {
        Ok(Some(read_tags(text)))
    }

    fn write(&self) -> String {
        self.join(", ")
    }
}

impl FieldText for Option<i64> {
    type Given = i64;

    fn read(text: &str) -> Result<Option<i64>, Unreadable> {
        read_number(text)
    }

    fn write(&self) -> String {
        self.map(|number| number.to_string()).unwrap_or_default()
    }
}

impl FieldText for u16 {
    type Given = Self;

    fn read(text: &str) -> Result<Option<Self>, Unreadable> {
        read_number(text)
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl FieldText for Option<Timestamp> {
    type Given = Timestamp;

    fn read(text: &str) -> Result<Option<Timestamp>, Unreadable> {
        read_time(text)
    }

    fn write(&self) -> String {
        self.map(|at| at.to_rfc3339().get(..16).unwrap_or_default().to_owned()).unwrap_or_default()
    }
}

/// A checkbox: `true`, or nothing.
impl FieldText for ArchivedAt {
    type Given = bool;

    fn read(text: &str) -> Result<Option<bool>, Unreadable> {
        Ok(Some(!text.is_empty()))
    }

    fn write(&self) -> String {
        self.0.map(|_| "true".to_owned()).unwrap_or_default()
    }
}

fn read_number<T: std::str::FromStr>(text: &str) -> Result<Option<T>, Unreadable> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| Unreadable::Number)
}

pub fn read_tags(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// What a `datetime-local` input sends, taken as UTC.
pub fn read_time(text: &str) -> Result<Option<Timestamp>, Unreadable> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let seconds = if text.len() == "2026-01-01T00:00".len() { ":00Z" } else { "Z" };
    let time = Timestamp::parse_rfc3339(&format!("{text}{seconds}"));
    time.map(Some).ok_or(Unreadable::Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_forms_are_utc() {
        let noon = Timestamp::from_ms(1_773_576_000_000);
        assert_eq!(read_time(" 2026-03-15T12:00 "), Ok(Some(noon)));
        assert_eq!(read_time("2026-03-15T12:00:00"), Ok(Some(noon)));
        assert_eq!(read_time(&FieldText::write(&Some(noon))), Ok(Some(noon)));
        assert_eq!(read_time(""), Ok(None));
        for bad in ["tomorrow", "2026-03-15", "2026-13-15T12:00", "2026-03-15T12:00+01:00"] {
            assert_eq!(read_time(bad), Err(Unreadable::Time), "{bad}");
        }
    }

    #[test]
    fn tags_stand_between_commas() {
        assert_eq!(read_tags(" a, b c ,,d"), ["a", "b c", "d"]);
        assert!(read_tags(" , ").is_empty());
    }
}

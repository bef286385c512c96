//! Numbers and dates as people write them in each language.

use crate::language::Language;
use kurz_core::analytics::LocalTime;

const MONTHS: [[&str; 3]; 12] = [
    ["Jan", "Jan.", "ene"],
    ["Feb", "Feb.", "feb"],
    ["Mar", "März", "mar"],
    ["Apr", "Apr.", "abr"],
    ["May", "Mai", "may"],
    ["Jun", "Juni", "jun"],
    ["Jul", "Juli", "jul"],
    ["Aug", "Aug.", "ago"],
    ["Sep", "Sept.", "sept"],
    ["Oct", "Okt.", "oct"],
    ["Nov", "Nov.", "nov"],
    ["Dec", "Dez.", "dic"],
];

const WEEKDAYS: [[&str; 3]; 7] = [
    ["Mon", "Mo", "lun"],
    ["Tue", "Di", "mar"],
    ["Wed", "Mi", "mié"],
    ["Thu", "Do", "jue"],
    ["Fri", "Fr", "vie"],
    ["Sat", "Sa", "sáb"],
    ["Sun", "So", "dom"],
];

const fn column(language: Language) -> usize {
    match language {
        Language::English => 0,
        Language::German => 1,
        Language::Spanish => 2,
    }
}

fn word(table: &[[&'static str; 3]], row: u8, language: Language) -> &'static str {
    let row = table.get(usize::from(row));
    row.and_then(|row| row.get(column(language))).copied().unwrap_or_default()
}

/// A whole number with a mark between thousands.
pub(in crate::web) fn number(language: Language, number: u64) -> String {
    let digits = number.to_string();
    let (mark, least) = match language {
        Language::English => (',', 4),
        Language::German => ('.', 4),
        // Spanish leaves numbers of four digits whole.
        Language::Spanish => ('.', 5),
    };
    if digits.len() < least {
        return digits;
    }
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(mark);
        }
        text.push(digit);
    }
    text
}

/// A number of hundredths with two decimals.
pub(in crate::web) fn decimal(language: Language, hundredths: u64) -> String {
    let point = if language == Language::English { '.' } else { ',' };
    format!("{}{point}{:02}", number(language, hundredths / 100), hundredths % 100)
}

/// Thousandths as a percentage: with one decimal below ten.
pub(in crate::web) fn percent(language: Language, thousandths: u64) -> String {
    let space = if language == Language::English { "" } else { "\u{a0}" };
    let text = if thousandths == 0 || thousandths >= 100 {
        number(language, (thousandths + 5) / 10)
    } else {
        let point = if language == Language::English { '.' } else { ',' };
        format!("{}{point}{}", thousandths / 10, thousandths % 10)
    };
    format!("{text}{space}%")
}

/// `Nov 16`
pub(in crate::web) fn day(language: Language, at: LocalTime) -> String {
    let month = word(&MONTHS, at.month.saturating_sub(1), language);
    match language {
        Language::English => format!("{month} {}", at.day),
        Language::German => format!("{}. {month}", at.day),
        Language::Spanish => format!("{} {month}", at.day),
    }
}

/// `Mon, Nov 16, 2026`
pub(in crate::web) fn full_day(language: Language, at: LocalTime) -> String {
    let (day, weekday) = (day(language, at), word(&WEEKDAYS, at.weekday, language));
    match language {
        Language::English => format!("{weekday}, {day}, {}", at.year),
        Language::German | Language::Spanish => format!("{weekday}, {day} {}", at.year),
    }
}

/// `Nov 2026`
pub(in crate::web) fn month(language: Language, at: LocalTime) -> String {
    format!("{} {}", word(&MONTHS, at.month.saturating_sub(1), language), at.year)
}

/// `14:00`
pub(in crate::web) fn time_of_day(at: LocalTime) -> String {
    format!("{:02}:{:02}", at.hour, at.minute)
}

/// The short name of a weekday; 0 is Monday.
pub(in crate::web) fn weekday(language: Language, weekday: u8) -> &'static str {
    word(&WEEKDAYS, weekday, language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Language::{English, German, Spanish};

    #[test]
    fn numbers_are_written_as_in_the_language() {
        assert_eq!(
            [English, German, Spanish].map(|one| number(one, 81_231)),
            ["81,231", "81.231", "81.231"]
        );
        assert_eq!(
            [English, German, Spanish].map(|one| number(one, 1_234)),
            ["1,234", "1.234", "1234"]
        );
        assert_eq!(number(English, 999), "999");
        assert_eq!(number(English, u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!([English, German].map(|one| decimal(one, 135)), ["1.35", "1,35"]);
        assert_eq!([English, German].map(|one| percent(one, 371)), ["37%", "37\u{a0}%"]);
        assert_eq!([English, Spanish].map(|one| percent(one, 84)), ["8.4%", "8,4\u{a0}%"]);
        assert_eq!(percent(English, 0), "0%");
    }

    #[test]
    fn dates_are_written_as_in_the_language() {
        let at = LocalTime { year: 2026, month: 11, day: 16, hour: 9, minute: 5, weekday: 0 };
        assert_eq!(full_day(English, at), "Mon, Nov 16, 2026");
        assert_eq!(full_day(German, at), "Mo, 16. Nov. 2026");
        assert_eq!(full_day(Spanish, at), "lun, 16 nov 2026");
        assert_eq!(month(German, at), "Nov. 2026");
        assert_eq!(time_of_day(at), "09:05");
    }
}

//! The text form of durations: a whole number and one unit, `500ms`, `2s`, `15m`, `8h`, `365d`,
//! or a bare `0`. A day is 24 hours; there are no months.
//!
//! Invariant: [`parse`] reverses [`print`].

use std::time::Duration;

/// Units from the largest to the smallest, with their length in milliseconds.
const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// `None` for other text, and for a duration that overflows.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (_, unit_ms) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let count: u64 = digits.parse().ok()?;
    count.checked_mul(*unit_ms).map(Duration::from_millis)
}

/// Uses the largest unit that divides the duration, which is truncated to milliseconds.
pub(crate) fn print(duration: Duration) -> String {
    let ms = duration.as_millis();
    let whole = |unit_ms: u64| ms.is_multiple_of(u128::from(unit_ms));
    match UNITS.iter().find(|(_, unit_ms)| whole(*unit_ms)) {
        Some((unit, unit_ms)) if ms > 0 => format!("{}{unit}", ms / u128::from(*unit_ms)),
        _ => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_unit_is_read_and_printed_back() {
        let table = [
            ("500ms", 500),
            ("2s", 2_000),
            ("15m", 900_000),
            ("8h", 28_800_000),
            ("365d", 31_536_000_000),
            ("90s", 90_000),
            ("0", 0),
        ];
        for (text, ms) in table {
            assert_eq!(parse(text), Some(Duration::from_millis(ms)), "{text}");
            assert_eq!(print(Duration::from_millis(ms)), text);
        }
    }

    #[test]
    fn anything_but_one_whole_number_and_one_unit_is_refused() {
        let table = ["", "5", "s", "1.5s", "-1s", "+1s", "1 s", " 1s", "1s ", "1h30m", "1S", "1w"];
        for text in table {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse("99999999999999999999s"), None, "more digits than fit");
        assert_eq!(parse("18446744073709551615d"), None, "overflow in the multiplication");
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_the_same(ms: u64) {
            let duration = Duration::from_millis(ms);
            prop_assert_eq!(parse(&print(duration)), Some(duration));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text: String) {
            let _ = parse(&text);
        }
    }
}

//! The text form of sizes: bytes, or a whole number of `KiB`, `MiB`, `GiB`. `MB` is refused, because it
//! is ambiguous.
//!
//! Invariant: [`parse`] reverses [`print`].

/// Units from the largest to the smallest, with their length in bytes.
const UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)];

/// `None` for other text, and for a size that overflows.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let (_, unit_bytes) = UNITS.iter().find(|(name, _)| *name == unit)?;
    digits.parse::<u64>().ok()?.checked_mul(*unit_bytes)
}

/// Uses the largest unit that divides the size.
pub(crate) fn print(bytes: u64) -> String {
    match UNITS.iter().find(|(_, unit_bytes)| bytes.is_multiple_of(*unit_bytes)) {
        Some((unit, unit_bytes)) if bytes > 0 => format!("{}{unit}", bytes / unit_bytes),
        _ => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_bytes_and_binary_units_are_read() {
        let table = [
            ("0", 0),
            ("1025", 1025),
            ("1KiB", 1024),
            ("64MiB", 67_108_864),
            ("2GiB", 2_147_483_648),
        ];
        for (text, bytes) in table {
            assert_eq!(parse(text), Some(bytes), "{text}");
            assert_eq!(print(bytes), text);
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for text in ["", "MiB", "64MB", "64mib", "64M", "-1", "1.5GiB", "64 MiB", "99999999999GiB"]
        {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_the_same(bytes: u64) {
            prop_assert_eq!(parse(&print(bytes)), Some(bytes));
        }
    }
}

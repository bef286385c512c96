//! One cell of a CSV file: text, to every spreadsheet, whatever it begins with.

/// A cell in quotes, which a spreadsheet takes for text.
pub fn cell(text: &str) -> String {
    let formula = text.starts_with([
        '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ]);
    let guard = if formula { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // threats: H13
        #[test]
        fn no_cell_is_a_formula_and_none_ends_early(text in "[=+@\\-\t\r\n',\"a-z]{0,20}|\\PC{0,20}") {
            let cell = cell(&text);
            let inner = cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap();
            prop_assert!(!inner.starts_with(['=', '+', '-', '@', '\t', '\r']));
            prop_assert!(!inner.replace("\"\"", "").contains('"'));
            let read = inner.replace("\"\"", "\"");
            prop_assert!(read == text || read.strip_prefix('\'') == Some(&text));
        }
    }
}

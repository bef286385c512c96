//! Byte classes and percent-escapes (C7a, C7b), shared by path and query.
//!
//! Knows neither segments nor pieces. Invariant: what [`push`] writes, it writes again unchanged.

/// Never escaped: `A-Z a-z 0-9 - . _ ~`.
const UNRESERVED: u8 = 1;
/// Stays as it is in a path.
pub(super) const PATH: u8 = 2;
/// Stays as it is in a query.
pub(super) const QUERY: u8 = 4;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    set(&mut classes, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", UNRESERVED);
    set(&mut classes, b"0123456789-._~", UNRESERVED);
    set(&mut classes, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", PATH | QUERY);
    set(&mut classes, b"0123456789-._~!$&'()*+,;=:@/", PATH | QUERY);
    set(&mut classes, b"?", QUERY);
    classes
};

#[expect(clippy::indexing_slicing, clippy::as_conversions, reason = "const: checked when compiled")]
const fn set(classes: &mut [u8; 256], bytes: &[u8], class: u8) {
    let mut i = 0;
    while i < bytes.len() {
        classes[bytes[i] as usize] |= class;
        i += 1;
    }
}

/// Whether `byte` is of one of the classes in `class`.
pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|of| of & class != 0)
}

/// Writes `text` with its escapes normalised and every byte outside `class` escaped.
pub(super) fn push(out: &mut Vec<u8>, text: &[u8], class: u8) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| !is(byte, class)) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        rest = push_special(out, special);
    }
    out.extend_from_slice(rest);
}

/// Writes the first byte or escape of `text`, gives back what follows.
fn push_special<'a>(out: &mut Vec<u8>, text: &'a [u8]) -> &'a [u8] {
    if let [b'%', high, low, rest @ ..] = text
        && let (Some(high), Some(low)) = (hex_value(*high), hex_value(*low))
    {
        let byte = high << 4 | low;
        // Decoded once only: `%2541` is an escaped percent sign, then `41`.
        if is(byte, UNRESERVED) {
            out.push(byte);
        } else {
            push_escape(out, byte);
        }
        return rest;
    }
    // A percent sign without two digits is data, and escaped like other data.
    let Some((&byte, rest)) = text.split_first() else { return text };
    push_escape(out, byte);
    rest
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(&[b'%', hex_digit(byte >> 4), hex_digit(byte & 15)]);
}

const fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// The digit of a value below 16.
const fn hex_digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'A' + (value & 15) - 10 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(text: &str, class: u8) -> String {
        let mut out = Vec::new();
        push(&mut out, text.as_bytes(), class);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes_are_decoded_once_upper_cased_or_made() {
        for (input, expected) in [
            ("", ""),
            ("%41%7e%2D", "A~-"),
            ("%2f%3F", "%2F%3F"),
            ("%", "%25"),
            ("%4", "%254"),
            ("%zz", "%25zz"),
            ("%%41", "%25A"),
            ("%4%31", "%2541"),
            ("%2541", "%2541"),
            ("é", "%C3%A9"),
            ("%é", "%25%C3%A9"),
            ("a b", "a%20b"),
            ("%00", "%00"),
            ("%ff", "%FF"),
        ] {
            assert_eq!(normalised(input, PATH), expected, "{input:?}");
            assert_eq!(normalised(expected, PATH), expected, "{expected:?} again");
        }
    }

    #[test]
    fn each_part_keeps_its_own_characters() {
        let printable: String = ('!'..='~').filter(|&c| c != '%').collect();
        let kept = |class| -> String {
            printable.chars().filter(|&c| normalised(&c.to_string(), class).len() == 1).collect()
        };
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
        assert_eq!(kept(PATH), format!("!$&'()*+,-./0123456789:;=@{letters}"));
        assert_eq!(kept(QUERY), format!("!$&'()*+,-./0123456789:;=?@{letters}"));
    }
}

//! The language that a visitor prefers, as a number that fits into a click.
//!
//! Three letters of five bits for the language, then the region: two letters of five bits, or, with
//! [`NUMBERED`] set, a number (`es-419`). 0: unknown.

use std::fmt::Write;

/// Set when the region is a number.
const NUMBERED: u32 = 1 << 30;
/// The most bytes of the field that are read.
const MOST: usize = 512;

/// The preferred language of an `Accept-Language` field, with its region; 0 when there is none.
#[inline]
pub fn pack_language(field: &[u8]) -> u32 {
    // Browsers send the preferred language first, without a weight.
    match field.iter().take(MOST).position(|byte| matches!(byte, b',' | b';')) {
        Some(end) if field.get(end) == Some(&b';') => pack_weighted(field),
        Some(end) => match pack_tag(field.get(..end).unwrap_or_default()) {
            0 => pack_weighted(field),
            code => code,
        },
        None => pack_tag(field.get(..MOST).unwrap_or(field)),
    }
}

/// The first language of those with the largest weight.
#[cold]
fn pack_weighted(field: &[u8]) -> u32 {
    let field = field.get(..MOST).unwrap_or(field);
    let mut best = (0, 0);
    for part in field.split(|byte| *byte == b',') {
        let (tag, weight) = match part.iter().position(|byte| *byte == b';') {
            Some(end) => {
                let (tag, parameter) = part.split_at_checked(end).unwrap_or((part, b""));
                (tag, weight_of(parameter))
            }
            None => (part, 1_000),
        };
        let code = pack_tag(tag);
        if code != 0 && weight > best.0 {
            best = (weight, code);
        }
    }
    best.1
}

/// The weight in `;q=0.8`, in thousandths; 0 when it cannot be read.
fn weight_of(parameter: &[u8]) -> u32 {
    let mut digits = parameter.iter().copied().filter(|byte| !matches!(byte, b' ' | b'\t'));
    let start = [digits.next(), digits.next(), digits.next()];
    if !matches!(start, [Some(b';'), Some(b'q' | b'Q'), Some(b'=')]) {
        return 0;
    }
    let whole = match digits.next() {
        Some(b'0') => 0,
        Some(b'1') => 1_000,
        _ => return 0,
    };
    let mut weight = whole;
    if digits.next() == Some(b'.') {
        for (digit, worth) in digits.zip([100, 10, 1]) {
            if !digit.is_ascii_digit() {
                return 0;
            }
            weight += u32::from(digit - b'0') * worth;
        }
    }
    weight.min(1_000)
}

/// The code of one language tag, such as `de`, `de-AT` or `zh-Hans-CN`.
#[inline]
fn pack_tag(tag: &[u8]) -> u32 {
    let mut parts = tag.trim_ascii().split(|byte| matches!(byte, b'-' | b'_'));
    let language = parts.next().unwrap_or_default();
    if !(2..=3).contains(&language.len()) {
        return 0;
    }
    let Some(letters) = pack_letters(language) else { return 0 };
    let code = if language.len() == 2 { letters << 20 } else { letters << 15 };
    for part in parts {
        match part.len() {
            // A single letter or digit begins an extension.
            0 | 1 => break,
            2 => return code | pack_letters(part).unwrap_or(0),
            3 if part.iter().all(u8::is_ascii_digit) => {
                let number = part.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
                return code | NUMBERED | number;
            }
            // A script, an extended language or a variant.
            _ => {}
        }
    }
    code
}

/// Letters of five bits each, `a` is 1.
#[inline]
fn pack_letters(letters: &[u8]) -> Option<u32> {
    letters.iter().try_fold(0, |code, letter| {
        letter.is_ascii_alphabetic().then_some(code << 5 | u32::from(letter & 31))
    })
}

/// The tag of a packed language, such as `de` or `de-AT`; empty when it is unknown or no such number is
/// made by [`pack_language`].
pub fn language_text(code: u32) -> String {
    let mut text = String::with_capacity(7);
    let letters = [code >> 25, code >> 20, code >> 15].map(|letter| letter & 31);
    let [first, second, third] = letters;
    if code >> 31 != 0 || !is_letter(first) || !is_letter(second) || third > 26 {
        return text;
    }
    text.extend([first, second, third].into_iter().filter_map(|letter| letter_of(letter, b'a')));
    let region = code & 0x7fff;
    if code & NUMBERED != 0 {
        if region < 1_000 {
            // Writing to a string does not fail.
            let _ = write!(text, "-{region:03}");
        }
    } else if is_letter(region >> 5) && is_letter(region & 31) {
        text.push('-');
        text.extend([region >> 5, region & 31].into_iter().filter_map(|it| letter_of(it, b'A')));
    }
    text
}

const fn is_letter(code: u32) -> bool {
    matches!(code, 1..=26)
}

fn letter_of(code: u32, first: u8) -> Option<char> {
    let offset = u8::try_from(code).ok()?.checked_sub(1)?;
    Some(char::from(first + offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_preferred_language_and_its_region_are_kept() {
        let long = format!("de-AT,{}", "x".repeat(16_384));
        let cases: &[(&str, &str)] = &[
            ("de", "de"),
            ("de-AT", "de-AT"),
            ("de-at,de;q=0.9,en;q=0.8", "de-AT"),
            ("DE_ch", "de-CH"),
            ("  fr-CA , fr;q=0.5", "fr-CA"),
            ("en;q=0.5, de", "de"),
            ("en;q=0.5, de;q=0.7, fr;q=0.7", "de"),
            ("en;q=0, de;q=0.001", "de"),
            ("en;q=0", ""),
            ("en;q=x", ""),
            ("en;level=1", ""),
            ("es-419,es;q=0.9", "es-419"),
            ("zh-Hans-CN", "zh-CN"),
            ("zh-Hant", "zh"),
            ("zh-cmn-TW", "zh-TW"),
            ("en-u-ca-gregory", "en"),
            ("ast-ES", "ast-ES"),
            ("*", ""),
            ("*,nl", "nl"),
            ("", ""),
            (",,,", ""),
            ("-", ""),
            ("e", ""),
            ("i-klingon", ""),
            ("english", ""),
            ("d3", ""),
            ("de-A7", "de"),
            (&long, "de-AT"),
        ];
        for (field, text) in cases {
            assert_eq!(language_text(pack_language(field.as_bytes())), *text, "{field:.40}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_no_language() {
        assert_eq!(pack_language(b"\xff\xfe,\x00"), 0);
        assert_eq!(pack_language(&[b'a'; 16_384]), 0);
        assert_eq!(pack_language(&[b','; 16_384]), 0);
        assert_eq!(language_text(pack_language(b"\xff\xff;q=1,pt-BR;q=0.3")), "pt-BR");
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_code_that_survives_a_round_trip(field in ".{0,80}") {
            let code = pack_language(field.as_bytes());
            let text = language_text(code);
            prop_assert_eq!(text.is_empty(), code == 0);
            prop_assert_eq!(pack_language(text.as_bytes()), code);
        }

        #[test]
        fn any_number_gives_a_tag_or_nothing(code: u32) {
            let text = language_text(code);
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            prop_assert!(text.len() <= 7 && text.bytes().all(is_part));
        }
    }
}

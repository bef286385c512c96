//! Languages as rules go by them: the preferred tag of an `Accept-Language` field, and ranges that match it.
//! Language, script and region of a tag are 15, 20 and 16 bits of one number, so that a range matches by one
//! comparison.

use std::fmt::Write;

const LANGUAGE_SHIFT: u32 = 36;
const SCRIPT_SHIFT: u32 = 16;
/// Set when the region is a number (`es-419`).
const NUMBERED: u64 = 1 << 15;
/// The most bytes of the field that are read.
const MOST: usize = 512;
/// The most characters of a range.
pub(super) const RANGE_CHARS: usize = 35;

/// The parts of a tag that are told apart; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageTag(u64);

impl LanguageTag {
    pub const UNKNOWN: Self = Self(0);

    /// The tag of highest quality in an `Accept-Language` field, the first of several.
    pub fn preferred(field: &[u8]) -> Self {
        let field = field.get(..MOST).unwrap_or(field);
        let mut best = (0, Self::UNKNOWN);
        for part in field.split(|byte| *byte == b',') {
            let end = part.iter().position(|byte| *byte == b';');
            let (tag, parameter) =
                part.split_at_checked(end.unwrap_or(part.len())).unwrap_or((part, b""));
            let weight = if end.is_some() { weight_of(parameter) } else { 1_000 };
            if weight <= best.0 {
                continue;
            }
            let tag = Self::parse(tag, false).unwrap_or(Self::UNKNOWN);
            if tag.is_known() {
                best = (weight, tag);
                if weight == 1_000 {
                    break;
                }
            }
        }
        best.1
    }

    #[inline]
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }

    /// `strict`: nothing but language, script and region may stand in it.
    fn parse(tag: &[u8], strict: bool) -> Option<Self> {
        let mut parts = tag.trim_ascii().split(|byte| matches!(byte, b'-' | b'_'));
        let language = parts.next()?;
        if !(2..=3).contains(&language.len()) {
            return None;
        }
        let letters = pack_letters(language)?;
        let language = if language.len() == 2 { letters << 5 } else { letters };
        let mut bits = language << LANGUAGE_SHIFT;
        let (mut has_script, mut has_region) = (false, false);
        for part in parts {
            match part.len() {
                4 if !has_script && !has_region && pack_letters(part).is_some() => {
                    bits |= pack_letters(part)? << SCRIPT_SHIFT;
                    has_script = true;
                }
                2 if !has_region && pack_letters(part).is_some() => {
                    bits |= pack_letters(part)?;
                    has_region = true;
                }
                3 if !has_region && part.iter().all(u8::is_ascii_digit) => {
                    let number =
                        part.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
                    bits |= NUMBERED | number;
                    has_region = true;
                }
                _ if strict => return None,
                // A single letter or digit begins an extension.
                0 | 1 => break,
                // An extended language or a variant.
                _ => {}
            }
        }
        Some(Self(bits))
    }

    /// `de`, `de-AT`, `zh-Hant-TW`; empty if it is unknown.
    pub fn text(self) -> String {
        let mut text = String::new();
        let letters = |bits: u64, count: u32, first: u8| {
            (0..count).rev().filter_map(move |at| {
                let letter = u8::try_from(bits >> (5 * at) & 31).ok()?;
                (1..=26).contains(&letter).then(|| char::from(first + letter - 1))
            })
        };
        text.extend(letters(self.0 >> LANGUAGE_SHIFT, 3, b'a'));
        let script = self.0 >> SCRIPT_SHIFT & 0xF_FFFF;
        if script != 0 {
            text.push('-');
            for (place, letter) in letters(script, 4, b'a').enumerate() {
                text.push(if place == 0 { letter.to_ascii_uppercase() } else { letter });
            }
        }
        let region = self.0 & 0xFFFF;
        if region & NUMBERED != 0 {
            // Writing to a string does not fail.
            let _ = write!(text, "-{:03}", region & !NUMBERED);
        } else if region != 0 {
            text.push('-');
            text.extend(letters(region, 2, b'A'));
        }
        text
    }
}

/// A range that tags match: `de` matches `de-AT`, not the reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageRange {
    bits: u64,
    mask: u64,
}

impl LanguageRange {
    /// From a text of language, script and region; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > RANGE_CHARS {
            return None;
        }
        let LanguageTag(bits) = LanguageTag::parse(text.as_bytes(), true)?;
        let part = |mask: u64| if bits & mask == 0 { 0 } else { mask };
        let mask = 0x7FFF << LANGUAGE_SHIFT | part(0xF_FFFF << SCRIPT_SHIFT) | part(0xFFFF);
        Some(Self { bits, mask })
    }

    #[inline]
    pub const fn matches(self, tag: LanguageTag) -> bool {
        tag.0 & self.mask == self.bits
    }

    /// In the usual spelling.
    pub fn text(self) -> String {
        LanguageTag(self.bits).text()
    }
}

fn pack_letters(letters: &[u8]) -> Option<u64> {
    letters.iter().try_fold(0, |code, letter| {
        letter.is_ascii_alphabetic().then_some(code << 5 | u64::from(letter & 31))
    })
}

/// The weight in `;q=0.8`, in thousandths; 0 when it cannot be read.
fn weight_of(parameter: &[u8]) -> u32 {
    let mut bytes = parameter.iter().copied().filter(|byte| !matches!(byte, b' ' | b'\t'));
    let start = [bytes.next(), bytes.next(), bytes.next()];
    if !matches!(start, [Some(b';'), Some(b'q' | b'Q'), Some(b'=')]) {
        return 0;
    }
    let mut weight = match bytes.next() {
        Some(b'0') => 0,
        Some(b'1') => 1_000,
        _ => return 0,
    };
    if bytes.next() == Some(b'.') {
        for (digit, worth) in bytes.zip([100, 10, 1]) {
            if !digit.is_ascii_digit() {
                return 0;
            }
            weight += u32::from(digit - b'0') * worth;
        }
    }
    weight.min(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_tag_of_highest_quality_is_preferred() {
        for (field, expected) in [
            ("de-AT,de;q=0.9,en;q=0.8", "de-AT"),
            ("en;q=0.5, de", "de"),
            ("en;q=0.5, de;q=0.7, fr;q=0.7", "de"),
            ("zh-hant-tw", "zh-Hant-TW"),
            ("zh-Hant", "zh-Hant"),
            ("es-419", "es-419"),
            ("ast_es", "ast-ES"),
            ("zh-cmn-TW-u-ca-roc", "zh-TW"),
            ("*,nl;q=0.1", "nl"),
            ("en;q=0", ""),
            ("en;q=x", ""),
            ("", ""),
            ("*", ""),
            ("\u{fc}", ""),
        ] {
            assert_eq!(LanguageTag::preferred(field.as_bytes()).text(), expected, "{field}");
        }
    }

    #[test]
    fn a_range_matches_what_is_narrower() {
        for (range, field, expected) in [
            ("de", "de", true),
            ("de", "de-AT", true),
            ("de-AT", "de", false),
            ("DE-at", "de-AT", true),
            ("zh-Hant", "zh-Hant-TW", true),
            ("zh-TW", "zh-Hant-TW", true),
            ("zh-Hans", "zh-Hant", false),
            ("es-419", "es-419", true),
            ("es-419", "es-MX", false),
            ("fr", "de", false),
            ("de", "", false),
            ("deu", "de", false),
        ] {
            let range = LanguageRange::parse(range).unwrap();
            let tag = LanguageTag::preferred(field.as_bytes());
            assert_eq!(range.matches(tag), expected, "{range:?} {field}");
        }
        for bad in ["", "d", "german", "de-", "de-AT-1996", "de-u-co-phonebk", "*", "de AT"] {
            assert!(LanguageRange::parse(bad).is_none(), "{bad}");
        }
        assert_eq!(LanguageRange::parse("ZH-hANT-tw").unwrap().text(), "zh-Hant-TW");
    }

    proptest! {
        #[test]
        fn any_field_gives_a_tag_whose_text_is_the_same_tag(field in ".{0,60}|[a-z-]{2,12}(;q=0\\.[0-9])?") {
            let tag = LanguageTag::preferred(field.as_bytes());
            prop_assert_eq!(LanguageTag::preferred(tag.text().as_bytes()), tag);
            prop_assert_eq!(tag.text().is_empty(), !tag.is_known());
        }
    }
}

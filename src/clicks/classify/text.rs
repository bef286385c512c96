//! Texts of visitors as they are kept: UTF-8 with replacements, without control characters, short.

use compact_str::CompactString;

/// The most bytes of a value that visitors choose.
pub(super) const MOST: usize = 64;

/// The beginning of `text`, at most [`MOST`] bytes, cut between characters.
pub(super) fn cut(text: &str) -> &str {
    cut_to(text, MOST)
}

pub(super) fn cut_to(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// Bytes of a visitor as a text of at most `most` bytes.
pub(super) fn clean(bytes: &[u8], most: usize) -> CompactString {
    let text = String::from_utf8_lossy(bytes);
    let mut kept = CompactString::default();
    for letter in text.trim().chars().filter(|letter| !letter.is_control()) {
        if kept.len() + letter.len_utf8() > most {
            break;
        }
        kept.push(letter);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_become_a_short_text_without_control_characters() {
        assert_eq!(clean(b" a\x00b\x1fc\x7f ", 64), "abc");
        assert_eq!(clean(b"\x01", 64), "");
        assert_eq!(clean(b"\xff\xfe", 64), "\u{fffd}\u{fffd}");
        assert_eq!(clean("äöü".as_bytes(), 5), "äö");
        assert_eq!(clean(&[b'x'; 16_384], 64).len(), 64);
        assert_eq!(cut("äöü"), "äöü");
        assert_eq!(cut_to("äöü", 5), "äö");
        assert_eq!(cut_to("ä", 0), "");
    }
}

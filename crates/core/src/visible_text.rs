//! Text of users as it is safe to be printed: characters that move a terminal's cursor, reorder the text beside
//! them or cannot be seen are written as `\u202e`, the way JSON writes them. So the result is also right inside of
//! a JSON string.
//!
//! Not for data: what is stored and what an API answers with stays as it was sent.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every hidden character written out, line ends included.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

/// The same for a text of several lines: line feeds and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// Whether a character is a control character, directs the order of text (bidi), or has no width.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Marks, embeddings, overrides and isolates of bidirectional text.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Separators of lines and paragraphs; spaces and joiners without width, apart from those that
            // scripts and emoji need.
            | '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            // Annotations and tags.
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn escape(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_written_out_and_others_stay() {
        let table = [
            ("plain, größe, שלום, 👩\u{200d}💻", "plain, größe, שלום, 👩\u{200d}💻"),
            ("a\u{202e}gpj.exe", "a\\u202egpj.exe"),
            ("\u{1b}[31mred\u{9b}2J\u{7f}", "\\u001b[31mred\\u009b2J\\u007f"),
            ("\u{2066}x\u{2069}\u{200f}\u{61c}", "\\u2066x\\u2069\\u200f\\u061c"),
            ("a\u{200b}b\u{feff}", "a\\u200bb\\ufeff"),
            ("\u{e0041}", "\\udb40\\udc41"),
            ("a\nb\tc", "a\\u000ab\\u0009c"),
        ];
        for (text, expected) in table {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(visible_lines("a\nb\tc\r\u{202e}"), "a\nb\tc\\u000d\\u202e");
        assert!(matches!(visible("https://example.com/"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_written_out_inside_of_json_reads_as_it_was() {
        let json = "{\"a\":\"\u{202e}\u{e0041}\u{7f}\"}";
        assert!(visible(json).is_ascii());
        assert_eq!(visible(json), "{\"a\":\"\\u202e\\udb40\\udc41\\u007f\"}");
    }
}

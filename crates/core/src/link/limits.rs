//! The fields of a link that a caller may set besides its target, and their bounds.

use thiserror::Error;

/// The longest title, in characters.
pub const TITLE_CHARS: usize = 200;
/// The most tags of a link.
pub const TAGS: usize = 20;
/// The longest tag, in characters.
pub const TAG_CHARS: usize = 50;
/// The largest monthly hit limit.
pub const HIT_LIMIT: i64 = 1_000_000_000_000;

/// Why a field is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PieceError {
    /// The title is too long or not plain text.
    #[error("a title is at most {TITLE_CHARS} characters of text without control characters")]
    Title,
    /// Too many tags.
    #[error("a link has at most {TAGS} tags")]
    TooManyTags,
    /// A tag is empty, too long or not plain text.
    #[error("a tag is 1 to {TAG_CHARS} characters of text without control characters")]
    Tag,
    /// A hit limit below 0 or above the largest.
    #[error("a hit limit is a whole number from 0 (no limit) to {HIT_LIMIT}")]
    HitLimit,
    /// Not a redirect status.
    #[error("a redirect status is 301, 302, 307 or 308")]
    RedirectStatus,
}

impl PieceError {
    /// The stable name of the error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Title => "title-invalid",
            Self::TooManyTags => "tags-too-many",
            Self::Tag => "tag-invalid",
            Self::HitLimit => "hit-limit-invalid",
            Self::RedirectStatus => "redirect-status-invalid",
        }
    }
}

/// A trimmed title; an empty one is none.
pub fn title(text: &str) -> Result<Option<String>, PieceError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if !is_plain(text, TITLE_CHARS) {
        return Err(PieceError::Title);
    }
    Ok(Some(text.to_owned()))
}

/// Trimmed tags, each once, in the order given.
pub fn tags(given: &[String]) -> Result<Vec<String>, PieceError> {
    if given.len() > TAGS {
        return Err(PieceError::TooManyTags);
    }
    let mut tags: Vec<String> = Vec::with_capacity(given.len());
    for tag in given {
        let tag = tag.trim();
        if tag.is_empty() || !is_plain(tag, TAG_CHARS) {
            return Err(PieceError::Tag);
        }
        if !tags.iter().any(|seen| seen == tag) {
            tags.push(tag.to_owned());
        }
    }
    Ok(tags)
}

/// A monthly hit limit; 0 means none.
pub fn hit_limit(limit: i64) -> Result<i64, PieceError> {
    if (0..=HIT_LIMIT).contains(&limit) { Ok(limit) } else { Err(PieceError::HitLimit) }
}

/// An allowed status of a redirect.
pub fn redirect_status(status: u16) -> Result<u16, PieceError> {
    if matches!(status, 301 | 302 | 307 | 308) {
        Ok(status)
    } else {
        Err(PieceError::RedirectStatus)
    }
}

fn is_plain(text: &str, most_chars: usize) -> bool {
    text.chars().count() <= most_chars && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_trimmed_and_bounded() {
        assert_eq!(title("  A  "), Ok(Some("A".to_owned())));
        assert_eq!(title(" "), Ok(None));
        assert_eq!(title(&"ü".repeat(TITLE_CHARS)).map(|t| t.is_some()), Ok(true));
        assert_eq!(title(&"ü".repeat(TITLE_CHARS + 1)), Err(PieceError::Title));
        assert_eq!(title("a\u{7}b"), Err(PieceError::Title));
    }

    #[test]
    fn tags_come_once_and_in_order() {
        let given = ["b", " a", "b "].map(str::to_owned);
        assert_eq!(tags(&given), Ok(vec!["b".to_owned(), "a".to_owned()]));
        assert_eq!(tags(&[String::new()]), Err(PieceError::Tag));
        assert_eq!(tags(&vec!["x".to_owned(); TAGS + 1]), Err(PieceError::TooManyTags));
    }

    #[test]
    fn limits_and_statuses_have_bounds() {
        assert_eq!(hit_limit(0), Ok(0));
        assert_eq!(hit_limit(-1), Err(PieceError::HitLimit));
        assert_eq!(redirect_status(307), Ok(307));
        assert_eq!(redirect_status(303), Err(PieceError::RedirectStatus));
    }
}

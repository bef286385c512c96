//! The fields of a link that a caller can set beside its target and code, listed once: each with its type,
//! its default, and the check that a request's value goes through, whichever edge it came from.
//!
//! To add one, see "Adding a field to a link" in `CONTRIBUTING.md`.

use thiserror::Error;

use crate::link::Change;
use crate::link::field_text::{FieldText, Unreadable};
use crate::time::Timestamp;

pub const TITLE_CHARS: usize = 512;
pub const NOTE_CHARS: usize = 2048;
pub const TAGS: usize = 100;
pub const TAG_CHARS: usize = 255;
/// The largest monthly limit that can be asked for.
pub const HIT_LIMIT: i64 = 1_000_000_000_000;
/// The redirect status of a link that names none.
const REDIRECT_STATUS: u16 = 302;

/// Declare the fields: the name on every wire and in the store, the type that is kept, the type that a
/// request gives, and the check that makes the one from the other; `None` asks for the default.
macro_rules! link_fields {
    ($($(#[$doc:meta])* $name:ident: $kept:ty, from $given:ty, $check:ident;)+) => {
        /// What was set on a link.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct LinkFields {
            $($(#[$doc])* pub $name: $kept,)+
        }

        /// What a request says about each field.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct LinkFieldChanges {
            $($(#[$doc])* pub $name: Change<Option<$given>>,)+
        }

        impl LinkFields {
            pub const NAMES: &[&str] = &[$(stringify!($name)),+];

            /// Make the changes that pass their check; those that do not.
            pub fn apply(&mut self, changes: &LinkFieldChanges, now: Timestamp) -> Vec<RefusedField> {
                let mut refused = Vec::new();
                $(if let Change::To(given) = &changes.$name {
                    match $check(given.as_ref(), now) {
                        Ok(value) => self.$name = value,
                        Err(error) => refused.push(RefusedField { field: stringify!($name), error }),
                    }
                })+
                refused
            }

            /// The names of the fields that differ.
            pub fn differing(&self, other: &Self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if self.$name != other.$name {
                    names.push(stringify!($name));
                })+
                names
            }

            /// A field as a form shows it; empty for an unknown name.
            pub fn text(&self, name: &str) -> String {
                match name {
                    $(stringify!($name) => FieldText::write(&self.$name),)+
                    _ => String::new(),
                }
            }
        }

        impl LinkFieldChanges {
            /// Set a field to what was written into a form; empty text asks for the default.
            pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), Unreadable> {
                match name {
                    $(stringify!($name) => self.$name = Change::To(<$kept as FieldText>::read(text)?),)+
                    _ => {}
                }
                Ok(())
            }
        }
    };
}

link_fields! {
    title: Option<String>, from String, check_title;
    /// For those who manage it; visitors never see it.
    note: Option<String>, from String, check_note;
    /// Words to find it by, in the order given.
    tags: Vec<String>, from Vec<String>, check_tags;
    /// From when on it is gone.
    expires_at: Option<Timestamp>, from Timestamp, check_expires_at;
    /// Hits allowed in a month; 0: any number; `None`: what the workspace or the server says.
    hit_limit: Option<i64>, from i64, check_hit_limit;
    /// 301, 302, 307 or 308.
    redirect_status: u16, from u16, check_redirect_status;
    /// Since when it is left out of lists, if it is. It redirects all the same.
    archived_at: ArchivedAt, from bool, check_archived;
}

/// When a link was archived, if it is. A request says only whether.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchivedAt(pub Option<Timestamp>);

impl Default for LinkFields {
    fn default() -> Self {
        Self {
            title: None,
            note: None,
            tags: Vec::new(),
            expires_at: None,
            hit_limit: None,
            redirect_status: REDIRECT_STATUS,
            archived_at: ArchivedAt(None),
        }
    }
}

/// A field whose value was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedField {
    pub field: &'static str,
    pub error: LinkFieldError,
}

/// Why a field's value was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LinkFieldError {
    /// The title is too long or not plain text.
    #[error("a title is at most {TITLE_CHARS} characters of text without control characters")]
    Title,
    /// The note is too long or not plain text.
    #[error(
        "a note is at most {NOTE_CHARS} characters of text; of control characters it has line ends and tabs alone"
    )]
    Note,
    #[error("a link has at most {TAGS} tags")]
    TooManyTags,
    /// A tag is empty, too long or not plain text.
    #[error("a tag is 1 to {TAG_CHARS} characters of text without control characters")]
    Tag,
    /// An end that is not in the future.
    #[error("expires_at must be in the future")]
    ExpiresAtPast,
    /// A hit limit below 0 or above the largest.
    #[error("a hit limit is a whole number from 0 (no limit) to {HIT_LIMIT}")]
    HitLimit,
    #[error("a redirect status is 301, 302, 307 or 308")]
    RedirectStatus,
}

impl LinkFieldError {
    /// The stable name of the error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Title => "title-invalid",
            Self::Note => "note-invalid",
            Self::TooManyTags => "tags-too-many",
            Self::Tag => "tag-invalid",
            Self::ExpiresAtPast => "expires-at-past",
            Self::HitLimit => "hit-limit-invalid",
            Self::RedirectStatus => "redirect-status-invalid",
        }
    }
}

/// A title without the space around it; an empty one is none.
fn check_title(given: Option<&String>, _: Timestamp) -> Result<Option<String>, LinkFieldError> {
    match given.map(|text| text.trim()) {
        None | Some("") => Ok(None),
        Some(text) if is_plain(text, TITLE_CHARS) => Ok(Some(text.to_owned())),
        Some(_) => Err(LinkFieldError::Title),
    }
}

/// A note of one or more lines, without the space around it; an empty one is none.
fn check_note(given: Option<&String>, _: Timestamp) -> Result<Option<String>, LinkFieldError> {
    let note = given.map(|text| text.trim().replace("\r\n", "\n")).unwrap_or_default();
    let is_text = |letter: char| matches!(letter, '\n' | '\t') || !letter.is_control();
    if note.chars().count() > NOTE_CHARS || !note.chars().all(is_text) {
        return Err(LinkFieldError::Note);
    }
    Ok((!note.is_empty()).then_some(note))
}

/// Tags without the space around them, each once, in the order given.
fn check_tags(given: Option<&Vec<String>>, _: Timestamp) -> Result<Vec<String>, LinkFieldError> {
    let given = given.map(Vec::as_slice).unwrap_or_default();
    if given.len() > TAGS {
        return Err(LinkFieldError::TooManyTags);
    }
    let mut tags: Vec<String> = Vec::with_capacity(given.len());
    for tag in given {
        let tag = tag_text(tag)?;
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}

/// A tag without the space around it.
pub fn tag_text(given: &str) -> Result<String, LinkFieldError> {
    let tag = given.trim();
    if tag.is_empty() || !is_plain(tag, TAG_CHARS) {
        return Err(LinkFieldError::Tag);
    }
    Ok(tag.to_owned())
}

fn check_expires_at(
    given: Option<&Timestamp>,
    now: Timestamp,
) -> Result<Option<Timestamp>, LinkFieldError> {
    match given {
        Some(end) if *end <= now => Err(LinkFieldError::ExpiresAtPast),
        other => Ok(other.copied()),
    }
}

fn check_hit_limit(given: Option<&i64>, _: Timestamp) -> Result<Option<i64>, LinkFieldError> {
    given.copied().map(hit_limit).transpose()
}

/// A monthly hit limit, of a link or of a workspace's links; 0 means none.
pub fn hit_limit(limit: i64) -> Result<i64, LinkFieldError> {
    if (0..=HIT_LIMIT).contains(&limit) { Ok(limit) } else { Err(LinkFieldError::HitLimit) }
}

fn check_redirect_status(given: Option<&u16>, _: Timestamp) -> Result<u16, LinkFieldError> {
    match given.copied().unwrap_or(REDIRECT_STATUS) {
        status @ (301 | 302 | 307 | 308) => Ok(status),
        _ => Err(LinkFieldError::RedirectStatus),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "all checks have one shape")]
fn check_archived(given: Option<&bool>, now: Timestamp) -> Result<ArchivedAt, LinkFieldError> {
    Ok(ArchivedAt(given.copied().unwrap_or_default().then_some(now)))
}

fn is_plain(text: &str, most_chars: usize) -> bool {
    text.chars().count() <= most_chars && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_000);

    fn title(text: &str) -> Result<Option<String>, LinkFieldError> {
        check_title(Some(&text.to_owned()), NOW)
    }

    #[test]
    fn titles_are_trimmed_and_bounded() {
        assert_eq!(title("  A  "), Ok(Some("A".to_owned())));
        assert_eq!(title(" "), Ok(None));
        assert_eq!(title(&"ü".repeat(TITLE_CHARS)).map(|t| t.is_some()), Ok(true));
        assert_eq!(title(&"ü".repeat(TITLE_CHARS + 1)), Err(LinkFieldError::Title));
        assert_eq!(title("a\u{7}b"), Err(LinkFieldError::Title));
    }

    #[test]
    fn notes_have_lines_and_are_bounded() {
        let note = |text: &str| check_note(Some(&text.to_owned()), NOW);
        assert_eq!(note(" a\r\n\tb\n"), Ok(Some("a\n\tb".to_owned())));
        assert_eq!(note(" \n"), Ok(None));
        assert_eq!(note(&"ü".repeat(NOTE_CHARS)).map(|n| n.is_some()), Ok(true));
        for bad in [&"ü".repeat(NOTE_CHARS + 1), "a\0b", "a\rb", "a\u{1b}b", "a\u{85}b"] {
            assert_eq!(note(bad), Err(LinkFieldError::Note), "{bad:?}");
        }
    }

    #[test]
    fn tags_come_once_and_in_order() {
        let tags = |given: Vec<String>| check_tags(Some(&given), NOW);
        let given = ["b", " a", "b "].map(str::to_owned).to_vec();
        assert_eq!(tags(given), Ok(vec!["b".to_owned(), "a".to_owned()]));
        assert_eq!(tags(vec![String::new()]), Err(LinkFieldError::Tag));
        assert_eq!(tags(vec!["x".to_owned(); TAGS + 1]), Err(LinkFieldError::TooManyTags));
    }

    #[test]
    fn limits_statuses_and_ends_have_bounds() {
        assert_eq!(hit_limit(0), Ok(0));
        assert_eq!(hit_limit(-1), Err(LinkFieldError::HitLimit));
        assert_eq!(check_redirect_status(Some(&307), NOW), Ok(307));
        assert_eq!(check_redirect_status(Some(&303), NOW), Err(LinkFieldError::RedirectStatus));
        assert_eq!(check_expires_at(Some(&NOW), NOW), Err(LinkFieldError::ExpiresAtPast));
    }

    #[test]
    fn a_change_leaves_the_other_fields_and_null_asks_for_the_default() {
        let mut fields =
            LinkFields { redirect_status: 301, hit_limit: Some(5), ..LinkFields::default() };
        let before = fields.clone();
        let changes = LinkFieldChanges {
            redirect_status: Change::To(None),
            title: Change::To(Some("A".to_owned())),
            ..LinkFieldChanges::default()
        };
        assert_eq!(fields.apply(&changes, NOW), []);
        assert_eq!((fields.redirect_status, fields.hit_limit), (302, Some(5)));
        assert_eq!(fields.differing(&before), ["title", "redirect_status"]);
    }

    #[test]
    fn every_refused_field_is_named() {
        let changes = LinkFieldChanges {
            hit_limit: Change::To(Some(-1)),
            expires_at: Change::To(Some(NOW)),
            ..LinkFieldChanges::default()
        };
        let refused = LinkFields::default().apply(&changes, NOW);
        let names: Vec<_> = refused.iter().map(|one| (one.field, one.error.code())).collect();
        assert_eq!(names, [("expires_at", "expires-at-past"), ("hit_limit", "hit-limit-invalid")]);
    }

    #[test]
    fn every_field_is_read_from_its_own_text() {
        let other = LinkFields {
            title: Some("A".to_owned()),
            note: Some("one\ntwo".to_owned()),
            tags: vec!["a".to_owned(), "b c".to_owned()],
            expires_at: Some(Timestamp::from_ms(1_773_576_000_000)),
            hit_limit: Some(7),
            redirect_status: 308,
            archived_at: ArchivedAt(Some(NOW)),
        };
        for fields in [LinkFields::default(), other] {
            let mut changes = LinkFieldChanges::default();
            for name in LinkFields::NAMES {
                changes.set_text(name, &fields.text(name)).unwrap();
            }
            let mut read = LinkFields::default();
            assert_eq!(read.apply(&changes, NOW), []);
            assert_eq!(read, fields);
        }
    }
}

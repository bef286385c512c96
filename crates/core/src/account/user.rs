//! The id of an account, which never changes, and the email address used for login.

use std::fmt;

use thiserror::Error;

/// The longest address, in bytes, that mail servers accept.
const EMAIL_BYTES: usize = 254;
/// The longest part before the `@`.
const LOCAL_BYTES: usize = 64;
/// The longest name of an account or a key, in characters.
const NAME_CHARS: usize = 100;

/// The id of an account; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserId(pub i64);

/// The id of an API key; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub i64);

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A normalised email address: trimmed, in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Email(String);

/// Why a name or an address is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PersonError {
    #[error(
        "an email address is at most {EMAIL_BYTES} bytes, with one @, something before and after \
         it, and no spaces or control characters"
    )]
    Email,
    #[error("a name is at most {NAME_CHARS} characters of text without control characters")]
    Name,
}

impl PersonError {
    /// The stable name of the error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Email => "email-invalid",
            Self::Name => "name-invalid",
        }
    }
}

impl Email {
    /// Parse an address. Whether it exists is not checked.
    pub fn parse(text: &str) -> Result<Self, PersonError> {
        let text = text.trim();
        let (local, domain) = text.split_once('@').ok_or(PersonError::Email)?;
        let sound = !local.is_empty()
            && local.len() <= LOCAL_BYTES
            && !domain.is_empty()
            && !domain.contains('@')
            && text.len() <= EMAIL_BYTES
            && !text.chars().any(|c| c.is_whitespace() || c.is_control());
        // Lower case may lengthen the text.
        let lower = text.to_lowercase();
        if sound && lower.len() <= EMAIL_BYTES { Ok(Self(lower)) } else { Err(PersonError::Email) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The trimmed name of an account or a key; it may be empty.
pub fn name(text: &str) -> Result<String, PersonError> {
    let text = text.trim();
    if text.chars().count() > NAME_CHARS || text.chars().any(char::is_control) {
        return Err(PersonError::Name);
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_spelling() {
        let table = [
            (" Ada@Example.COM ", "ada@example.com"),
            ("ÄDA@example.com", "äda@example.com"),
            ("a@b", "a@b"),
            ("o'neil+x@example.com", "o'neil+x@example.com"),
        ];
        for (text, spelling) in table {
            assert_eq!(Email::parse(text).unwrap().as_str(), spelling);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = format!("{}@example.com", "a".repeat(65));
        let longer = format!("a@{}", "b".repeat(253));
        for text in ["", "@", "a@", "@b", "a", "a@b@c", "a b@c", "a@b\0", "a@b\nc", &long, &longer]
        {
            assert_eq!(Email::parse(text), Err(PersonError::Email), "{text:?}");
        }
    }

    #[test]
    fn a_name_is_short_plain_text() {
        assert_eq!(name(" Ada ").unwrap(), "Ada");
        assert_eq!(name("").unwrap(), "");
        assert_eq!(name(&"ä".repeat(101)), Err(PersonError::Name));
        assert_eq!(name("a\u{1b}[31m"), Err(PersonError::Name));
    }
}

//! Which passwords are allowed. Hashing takes a third of a second and is therefore not done here.
//!
//! Invariant: what bcrypt gets is never longer than its input, which would be truncated.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The fewest characters, in whatever script.
pub const LEAST_CHARACTERS: usize = 8;
/// The most characters.
pub const MOST_CHARACTERS: usize = 71;
/// The most bytes that bcrypt gets as they are: one less than its input, which ends with a NUL.
const MOST_BYTES: usize = 71;
/// Hashed before a password of more bytes, so that the result is no hash that others compute.
const LONG: &[u8] = b"kurz: a password of more than 71 bytes\0";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PasswordError {
    #[error("a password has {LEAST_CHARACTERS} to {MOST_CHARACTERS} characters")]
    Length,
    #[error("a password has no NUL character")]
    Characters,
}

impl PasswordError {
    /// The stable name of the error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Length => "password-length",
            Self::Characters => "password-characters",
        }
    }
}

/// A password that may be hashed. It prints as `[hidden]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Check a password that is to be set against the rules.
    pub fn parse(text: &str) -> Result<Self, PasswordError> {
        let password = Self::given(text)?;
        if text.chars().count() < LEAST_CHARACTERS {
            return Err(PasswordError::Length);
        }
        Ok(password)
    }

    /// A password that somebody shows. It may be shorter than one that is set now: the fewest used to be
    /// counted in bytes.
    pub fn given(text: &str) -> Result<Self, PasswordError> {
        if text.contains('\0') {
            Err(PasswordError::Characters)
        } else if text.is_empty() || text.chars().nth(MOST_CHARACTERS).is_some() {
            Err(PasswordError::Length)
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// What bcrypt gets: the password, or the hash of one that is too long for it in bytes.
    pub fn bcrypt_input(&self) -> Cow<'_, str> {
        if self.0.len() <= MOST_BYTES {
            return Cow::Borrowed(&self.0);
        }
        let hash = Sha256::new().chain_update(LONG).chain_update(self.0.as_bytes()).finalize();
        Cow::Owned(STANDARD_NO_PAD.encode(hash))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // threats: C7, C8
    #[test]
    fn a_password_is_measured_in_characters() {
        let table = [
            ("1234567", Err(PasswordError::Length)),
            ("12345678", Ok(())),
            ("äääääää", Err(PasswordError::Length)),
            ("ääääääää", Ok(())),
            ("密码密码密码密码", Ok(())),
            ("12345678\0", Err(PasswordError::Characters)),
            ("\0", Err(PasswordError::Characters)),
        ];
        for (text, result) in table {
            assert_eq!(Password::parse(text).map(|_| ()), result, "{text:?}");
        }
        for letter in ["x", "ä", "码", "\u{1f512}"] {
            assert!(Password::parse(&letter.repeat(71)).is_ok());
            assert_eq!(Password::parse(&letter.repeat(72)), Err(PasswordError::Length));
            assert_eq!(Password::given(&letter.repeat(72)), Err(PasswordError::Length));
        }
    }

    #[test]
    fn a_short_password_that_was_set_in_bytes_can_still_be_shown() {
        assert!(Password::given("ääää").is_ok());
        assert_eq!(Password::given(""), Err(PasswordError::Length));
    }

    // threats: C7
    #[test]
    fn what_bcrypt_gets_is_never_longer_than_its_input_and_differs_in_the_last_letter() {
        let input = |text: &str| Password::parse(text).unwrap().bcrypt_input().into_owned();
        assert_eq!(input(&"x".repeat(71)), "x".repeat(71));
        assert_eq!(input("ääääääää"), "ääääääää");
        let (one, other) = ("ä".repeat(71), format!("{}ö", "ä".repeat(70)));
        for text in [&one, &other] {
            assert!(input(text).len() <= 71, "{text}");
        }
        assert_ne!(input(&one), input(&other));
    }

    // threats: H12
    #[test]
    fn a_password_prints_hidden() {
        assert_eq!(format!("{:?}", Password::parse("correct horse").unwrap()), "[hidden]");
    }
}

//! Which passwords are allowed. Hashing takes a third of a second and is therefore not done here.
//!
//! Invariant: no password is longer than bcrypt's input, which would be truncated.

use std::fmt;

use thiserror::Error;

/// The fewest bytes.
pub const LEAST_BYTES: usize = 8;
/// The most bytes: one less than the input of bcrypt, which appends a NUL.
pub const MOST_BYTES: usize = 71;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PasswordError {
    #[error(
        "a password has {LEAST_BYTES} to {MOST_BYTES} characters; letters outside ASCII count as two to four"
    )]
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
    /// Check a password against the rules.
    pub fn parse(text: &str) -> Result<Self, PasswordError> {
        if text.contains('\0') {
            Err(PasswordError::Characters)
        } else if (LEAST_BYTES..=MOST_BYTES).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(PasswordError::Length)
        }
    }

    pub fn expose(&self) -> &str {
        &self.0
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
    fn a_password_is_measured_in_bytes() {
        let table = [
            ("1234567", Err(PasswordError::Length)),
            ("12345678", Ok(())),
            ("ääää", Ok(())),
            ("äää", Err(PasswordError::Length)),
            ("12345678\0", Err(PasswordError::Characters)),
            ("\0", Err(PasswordError::Characters)),
        ];
        for (text, result) in table {
            assert_eq!(Password::parse(text).map(|_| ()), result, "{text:?}");
        }
        assert!(Password::parse(&"x".repeat(71)).is_ok());
        assert_eq!(Password::parse(&"x".repeat(72)), Err(PasswordError::Length));
    }

    // threats: H12
    #[test]
    fn a_password_prints_hidden() {
        assert_eq!(format!("{:?}", Password::parse("correct horse").unwrap()), "[hidden]");
    }
}

//! Codes: the short part of a link, and every way to make or read one.
//!
//! Every function here is total (no input makes it panic) and takes time linear in its input, except
//! for sorting the parameters of a query. Whether a code is taken, its owner and its target are in the store.
//!
//! | file | holds |
//! |---|---|
//! | [`canonical`] | the canonical form of a URL: the key for "same URL" |
//! | [`deterministic`] | same URL, same workspace: same code |
//! | [`counter`] | a scrambled counter (the keyed scrambler is in `feistel`) |
//! | [`random`] | unbiased random codes |
//! | [`custom`] | codes that people choose, and the words they may not choose |
//! | [`path`] | the path of a request, parsed as the address of a link |
//! | [`workspace`] | the id of a workspace |
//! | `base` | Base58 and Base62 |
//!
//! Invariant: a [`Code`] is `[A-Za-z0-9_-]{1,64}`, however it was made, so that it can be
//! used in a path, a header or a file name without escaping.

pub mod canonical;
pub mod counter;
pub mod custom;
pub mod deterministic;
pub mod offensive;
pub mod short_path;
pub mod random;
pub mod workspace;
mod base;
mod feistel;
#[cfg(test)]
mod test_random;

use std::fmt;

pub use canonical::{Canonical, UrlError, canonicalise, scheme_of};
pub use custom::{CodeError, Reserved};
pub use workspace::WorkspaceId;

/// The most characters that a code or a workspace id has.
pub const MAX_LENGTH: usize = 64;

/// A short code: `[A-Za-z0-9_-]{1,64}`, case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(String);

impl Code {
    pub fn parse(text: &str) -> Option<Self> {
        Self::is_valid(text).then(|| Self(text.to_owned()))
    }

    /// Whether a text can be a code.
    pub fn is_valid(text: &str) -> bool {
        is_name(text)
    }

    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether `text` is `[A-Za-z0-9_-]{1,64}`: what codes and workspace ids are made of.
#[inline]
fn is_name(text: &str) -> bool {
    (1..=MAX_LENGTH).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_one_to_sixty_four_letters_digits_dashes_and_underscores() {
        let longest = "a".repeat(64);
        for good in ["a", "Z9", "-", "_", "aB3-_", &longest] {
            assert_eq!(Code::parse(good).unwrap().as_str(), good);
        }
        let too_long = "a".repeat(65);
        for bad in ["", " ", "a b", "a/b", "a+", "a.b", "ä", "%61", "a\0", &too_long] {
            assert_eq!(Code::parse(bad), None, "{bad:?}");
        }
    }

    // threats: B3
    #[test]
    fn codes_that_differ_in_case_are_different_codes() {
        assert_ne!(Code::parse("Abc"), Code::parse("abc"));
    }
}

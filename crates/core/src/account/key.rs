//! API keys: credentials of an account, perhaps with fewer rights. 256 random bits need no slow hash:
//! SHA-256 of the whole key is stored and looked up.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The prefix of every key, so that people and secret scanners recognise it.
pub const START: &str = "kurz_";
/// Random bytes in a key.
const BYTES: usize = 32;
/// Characters of a whole key: [`START`] and its bytes in base64.
const LENGTH: usize = 48;
/// How many characters of a key are stored, to tell keys apart.
const PREFIX: usize = 10;

/// A permission of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Read.
    Read,
    /// Create links.
    Create,
    /// Everything else.
    Manage,
}

impl Scope {
    /// All of them, in the order they are written in.
    pub const ALL: [Self; 3] = [Self::Read, Self::Create, Self::Manage];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Manage => "manage",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Create => 2,
            Self::Manage => 4,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(())
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes(u8);

impl Scopes {
    /// Every scope, as after a login.
    pub const ALL: Self = Self(7);

    /// Whether it holds `scope`.
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Whether it holds nothing.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What it holds.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl fmt::Display for Scopes {
    /// Names with spaces between.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Scope::as_str).collect();
        f.write_str(&names.join(" "))
    }
}

impl FromStr for Scopes {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.split_whitespace().map(str::parse).collect()
    }
}

/// A new key, from random bytes of `fill`.
pub fn fresh(fill: &mut dyn FnMut(&mut [u8])) -> String {
    let mut bytes = [0; BYTES];
    fill(&mut bytes);
    format!("{START}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The stored hash of a key; `None` when the text is not a key.
pub fn hash(key: &str) -> Option<[u8; 32]> {
    let looks_right = key.len() == LENGTH && key.starts_with(START);
    looks_right.then(|| Sha256::digest(key.as_bytes()).into())
}

/// The part of a key that is stored readably.
pub fn prefix(key: &str) -> &str {
    key.get(..PREFIX).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_start_and_length() {
        let key = fresh(&mut |bytes| bytes.fill(255));
        assert_eq!(key.len(), LENGTH);
        assert!(key.starts_with("kurz_") && prefix(&key).len() == PREFIX);
        assert!(hash(&key).is_some());
        assert_eq!(hash(&key[..47]), None);
        assert_eq!(hash(&format!("{key}x")), None);
        assert_eq!(hash(&key.replacen("kurz_", "kurx_", 1)), None);
        assert_ne!(hash(&key), hash(&fresh(&mut |bytes| bytes.fill(254))));
    }

    #[test]
    fn scopes_are_a_set_with_one_spelling() {
        let scopes: Scopes = "manage read read".parse().unwrap();
        assert_eq!(scopes.to_string(), "read manage");
        assert!(scopes.has(Scope::Read) && !scopes.has(Scope::Create));
        assert_eq!("read create manage".parse(), Ok(Scopes::ALL));
        assert_eq!("read write".parse::<Scopes>(), Err(()));
        assert!("".parse::<Scopes>().unwrap().is_empty());
    }
}

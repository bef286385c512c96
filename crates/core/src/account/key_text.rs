//! The text of an API key. 256 random bits need no slow hash: SHA-256 of the whole key is stored and
//! looked up.

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
}

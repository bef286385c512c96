//! Claim tokens: with one, an account becomes the owner of a link that was created without an account. The
//! creator of the link gets the token; the store has only its hash.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Random bytes in a token: 128 bits.
const BYTES: usize = 16;

/// A new token, from random bytes of `fill`.
pub fn fresh(fill: &mut dyn FnMut(&mut [u8])) -> String {
    let mut bytes = [0; BYTES];
    fill(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The stored hash of a token; `None` when the text is not a token.
pub fn hash(token: &str) -> Option<[u8; 32]> {
    // Of the bytes, not of the text, since base64 has several spellings of the same bytes.
    let bytes = URL_SAFE_NO_PAD.decode(token).ok().filter(|bytes| bytes.len() == BYTES)?;
    Some(Sha256::digest(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    // threats: D6
    #[test]
    fn a_token_is_found_by_its_hash_and_nothing_else_is() {
        let token = fresh(&mut |bytes| bytes.fill(7));
        assert_eq!(token.len(), 22);
        let stored = hash(&token).unwrap();
        assert_ne!(hash(&fresh(&mut |bytes| bytes.fill(8))).unwrap(), stored);
        for text in ["", "x", &token[..21], &format!("{token}A"), "!!!!!!!!!!!!!!!!!!!!!!"] {
            assert_eq!(hash(text), None, "{text}");
        }
    }
}

//! The keyed scrambler: a format-preserving permutation of `0..size`.
//!
//! A Feistel network over pairs (left, right) of `0..a` × `0..b`, with a and b near the square root
//! of the size, and SHA-256 over key, round and one half as its round function. As a·b is a little
//! more than the size, a result outside is permuted again until it is inside (cycle walking): this
//! ends, because the cycle through the start comes back to the start, and is hardly ever needed,
//! because fewer than one number in √size is outside.
//!
//! It is not meant for encrypting data. Invariant: for a key and a size it is a bijection that never
//! changes, since published codes depend on it.

use sha2::{Digest, Sha256};

/// FF1, the standard for such permutations, has ten as well.
const ROUNDS: u8 = 10;

/// A keyed permutation of `0..size`.
pub(super) struct Feistel {
    key: [u8; 32],
    size: u128,
    left_size: u128,
    right_size: u128,
}

impl Feistel {
    /// For 62^length = `size`, which is below 2^126.
    pub(super) fn new(salt: &str, length: u8, size: u128) -> Self {
        let mut key = Sha256::new();
        // The length is part of the key, so that codes of one length reveal nothing about those of another.
        key.update(b"kurz counter feistel 1");
        key.update([length]);
        key.update(salt);
        let root = size.isqrt();
        let left_size = if root * root == size { root } else { root + 1 };
        let right_size = size.div_ceil(left_size);
        Self { key: key.finalize().into(), size, left_size, right_size }
    }

    /// The image of `number`, which is below the size.
    pub(super) fn permute(&self, number: u128) -> u128 {
        let mut number = number;
        loop {
            number = self.permute_pairs(number);
            if number < self.size {
                return number;
            }
        }
    }

    fn permute_pairs(&self, number: u128) -> u128 {
        let mut left = number / self.right_size;
        let mut right = number % self.right_size;
        for round in 0..ROUNDS {
            // Each half in turn is shifted by a function of the other, which can be undone.
            if round % 2 == 0 {
                left = (left + self.shift(round, right) % self.left_size) % self.left_size;
            } else {
                right = (right + self.shift(round, left) % self.right_size) % self.right_size;
            }
        }
        left * self.right_size + right
    }

    /// The round function: 128 bits, so that the remainder by a half (below 2^64) is practically
    /// uniform.
    fn shift(&self, round: u8, half: u128) -> u128 {
        // Always 49 bytes: one block, and inputs are unambiguous.
        let mut input = Sha256::new();
        input.update(self.key);
        input.update([round]);
        input.update(half.to_be_bytes());
        let hash: [u8; 32] = input.finalize().into();
        u128::from_be_bytes(hash.first_chunk().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_cover_the_size_and_little_more() {
        for length in 1..=21_u8 {
            let size = 62_u128.pow(u32::from(length));
            let feistel = Feistel::new("salt", length, size);
            let pairs = feistel.left_size * feistel.right_size;
            assert!(pairs >= size, "{length}");
            assert!(pairs - size <= feistel.left_size, "{length}");
        }
    }

    #[test]
    fn walking_a_cycle_comes_back_inside() {
        // 62 = 8 · 8 - 2: the two pairs outside are met by the exhaustive walk.
        let feistel = Feistel::new("salt", 1, 62);
        let mut met: Vec<u128> = (0..62).map(|number| feistel.permute(number)).collect();
        met.sort_unstable();
        assert_eq!(met, (0..62).collect::<Vec<u128>>());
    }
}

//! Counter codes: an increasing counter, scrambled so that codes do not look sequential.
//!
//! The counter itself is kept in the store. There are two scramblers:
//!
//! - `affine` hides nothing. Consecutive codes are a constant distance apart (`mult`, public by
//!   default), so anybody with one code can compute all the others without a miss. Choose it for codes
//!   that may be listed.
//! - `feistel` is a permutation keyed by the salt: without the salt, a code reveals neither its
//!   number nor its neighbours. The salt must be kept secret. It does not make codes longer: a random
//!   guess still finds a link with probability links / 62^length.
//!
//! Invariant: for one salt, multiplier and length, different counters below 62^length have
//! different codes. Counters from 62^length on repeat codes; the caller's collision check handles that.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use xxhash_rust::xxh64::xxh64;

use super::Code;
use super::base::base62;
use super::feistel::Feistel;

/// The multiplier unless another is set.
pub const DEFAULT_MULT: u128 = 1_315_423_911;

/// Characters of a code unless another length is set.
pub const LENGTH: u8 = 7;

/// The longest codes: 62^21 is the largest power within 128 bits.
pub const MAX_LENGTH: u8 = 21;

/// The shortest and the longest codes that a server may be set to make.
pub const SERVER_LENGTHS: std::ops::RangeInclusive<u8> = LENGTH..=20;

/// Salts from examples, which are public; compared without case.
const KNOWN_SALTS: [&str; 18] = [
    "change-me",
    "change_me",
    "changeme",
    "counter_salt",
    "default",
    "default_salt",
    "example",
    "kurz",
    "my-secret",
    "my_salt",
    "my_secret",
    "mysecret",
    "password",
    "pepper",
    "salt",
    "secret",
    "your-secret",
    "your_secret",
];

/// Whether `salt` may scramble the codes of a server: not empty, and not one from an example.
pub fn is_sound_salt(salt: &str) -> bool {
    !salt.is_empty() && !KNOWN_SALTS.contains(&salt.to_lowercase().as_str())
}

/// What tells two salts apart without showing either: 8 bytes of a hash, in hexadecimal digits.
pub fn salt_fingerprint(salt: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"kurz counter salt 1");
    hash.update(salt);
    let hash: [u8; 32] = hash.finalize().into();
    format!("{:016x}", u64::from_be_bytes(hash.first_chunk().copied().unwrap_or_default()))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scramble {
    /// `counter * mult + offset`: fast, but codes can be enumerated.
    #[default]
    Affine,
    /// A permutation keyed by the salt.
    Feistel,
}

impl FromStr for Scramble {
    type Err = CounterError;

    fn from_str(text: &str) -> Result<Self, CounterError> {
        match text {
            "affine" => Ok(Self::Affine),
            "feistel" => Ok(Self::Feistel),
            _ => Err(CounterError::Scramble),
        }
    }
}

impl fmt::Display for Scramble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Affine => "affine",
            Self::Feistel => "feistel",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CounterError {
    /// Not the name of a scrambler.
    #[error("The counter scrambler is unknown: write affine or feistel.")]
    Scramble,
    #[error("The counter salt is empty: set one, or leave it out to have one made.")]
    SaltEmpty,
    /// A multiplier that maps two counters to one code.
    #[error(
        "The counter multiplier is a multiple of 2 or 31, so codes would repeat: choose another."
    )]
    MultNotCoprime,
    /// Length 0, or more codes than 128 bits can count.
    #[error("The counter code length is not from 1 to {MAX_LENGTH}: choose one in between.")]
    LengthOutOfBounds,
}

impl CounterError {
    /// The stable kebab-case code of this error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Scramble => "counter-scramble-unknown",
            Self::SaltEmpty => "counter-salt-empty",
            Self::MultNotCoprime => "counter-mult-not-coprime",
            Self::LengthOutOfBounds => "counter-length-out-of-bounds",
        }
    }
}

/// Turns counters into codes, one to one.
pub struct Scrambler {
    length: u8,
    size: u128,
    kind: ScrambleKind,
}

enum ScrambleKind {
    Affine { mult: u128, offset: u128 },
    Feistel(Feistel),
}

impl Scrambler {
    /// A scrambler for codes of `length` characters. The multiplier is checked even when it is not
    /// used, so that a later change of scrambler does not stop the server.
    pub fn new(
        scramble: Scramble,
        salt: &str,
        mult: u128,
        length: u8,
    ) -> Result<Self, CounterError> {
        if !(1..=MAX_LENGTH).contains(&length) {
            return Err(CounterError::LengthOutOfBounds);
        }
        if salt.is_empty() {
            return Err(CounterError::SaltEmpty);
        }
        // gcd(mult, 62^length) = 1, as 62 = 2 · 31.
        if mult.is_multiple_of(2) || mult.is_multiple_of(31) {
            return Err(CounterError::MultNotCoprime);
        }
        let size = 62_u128.pow(u32::from(length));
        let kind = match scramble {
            Scramble::Affine => {
                let offset = u128::from(xxh64(salt.as_bytes(), 0)) % size;
                ScrambleKind::Affine { mult: mult % size, offset }
            }
            Scramble::Feistel => ScrambleKind::Feistel(Feistel::new(salt, length, size)),
        };
        Ok(Self { length, size, kind })
    }

    pub fn code(&self, counter: u128) -> Code {
        let counter = counter % self.size;
        let number = match &self.kind {
            // Both terms are below 62^21 < 2^126: the sum does not overflow.
            ScrambleKind::Affine { mult, offset } => {
                (multiply(counter, *mult, self.size) + offset) % self.size
            }
            ScrambleKind::Feistel(feistel) => feistel.permute(counter),
        };
        Code(base62(number, self.length))
    }
}

impl fmt::Debug for Scrambler {
    /// Without the salt and the values derived from it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ScrambleKind::Affine { .. } => Scramble::Affine,
            ScrambleKind::Feistel(_) => Scramble::Feistel,
        };
        write!(f, "Scrambler({kind}, {})", self.length)
    }
}

/// `a * b mod size`, for a and b below `size` < 2^126.
fn multiply(a: u128, b: u128, size: u128) -> u128 {
    if let Some(product) = a.checked_mul(b) {
        return product % size;
    }
    // Only for lengths above 10: bit by bit, since a doubled remainder still fits in 128 bits.
    let (mut sum, mut addend, mut bits) = (0, a, b);
    while bits > 0 {
        if bits & 1 == 1 {
            sum = (sum + addend) % size;
        }
        addend = (addend + addend) % size;
        bits >>= 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn scrambler(scramble: Scramble, length: u8) -> Scrambler {
        Scrambler::new(scramble, "unit_test_salt", DEFAULT_MULT, length).unwrap()
    }

    #[test]
    fn every_counter_of_a_short_length_has_a_code_of_its_own() {
        for scramble in [Scramble::Affine, Scramble::Feistel] {
            for length in 1..=3 {
                let scrambler = scrambler(scramble, length);
                let size = 62_u128.pow(u32::from(length));
                let codes: HashSet<Code> = (0..size).map(|n| scrambler.code(n)).collect();
                assert_eq!(u128::try_from(codes.len()).unwrap(), size, "{scrambler:?}");
            }
        }
    }

    #[test]
    fn feistel_codes_never_change() {
        // Computed by a second implementation, in another language.
        let scrambler = scrambler(Scramble::Feistel, LENGTH);
        let codes: Vec<String> = [0, 1, 2, 3, 62_u128.pow(7) - 1]
            .map(|counter| scrambler.code(counter).to_string())
            .to_vec();
        assert_eq!(codes, ["RBm782u", "KtHn6jI", "dzPUrlY", "jwHch4p", "MqjidTK"]);
    }

    // threats: B5
    #[test]
    fn affine_neighbours_stay_a_constant_distance_apart_and_feistel_ones_do_not() {
        let distances = |scramble| -> HashSet<u128> {
            let scrambler = scrambler(scramble, LENGTH);
            let size = 62_u128.pow(7);
            let number = |counter| {
                scrambler.code(counter).as_str().bytes().fold(0, |number, byte| {
                    let digit = super::super::base::BASE62.iter().position(|&b| b == byte);
                    number * 62 + u128::try_from(digit.unwrap()).unwrap()
                })
            };
            (1..1000).map(|n| (number(n + 1) + size - number(n)) % size).collect()
        };
        assert_eq!(distances(Scramble::Affine), HashSet::from([DEFAULT_MULT]));
        assert_eq!(distances(Scramble::Feistel).len(), 999);
    }

    #[test]
    fn settings_that_would_repeat_codes_are_refused() {
        let refused = |salt, mult, length| {
            [Scramble::Affine, Scramble::Feistel]
                .map(|scramble| Scrambler::new(scramble, salt, mult, length).err())
        };
        assert_eq!(refused("", 3, 7), [Some(CounterError::SaltEmpty); 2]);
        for mult in [0, 2, 31, 62, 3844, 1_315_423_912] {
            assert_eq!(refused("s", mult, 7), [Some(CounterError::MultNotCoprime); 2], "{mult}");
        }
        for length in [0, 22, 255] {
            assert_eq!(refused("s", 3, length), [Some(CounterError::LengthOutOfBounds); 2]);
        }
        assert_eq!("Affine".parse::<Scramble>(), Err(CounterError::Scramble));
        assert_eq!("feistel".parse(), Ok(Scramble::Feistel));
    }

    #[test]
    fn salts_from_examples_are_refused_and_fingerprints_tell_salts_apart() {
        for known in ["my_secret", "MY_SECRET", "salt", "changeme", ""] {
            assert!(!is_sound_salt(known), "{known}");
        }
        assert!(is_sound_salt("q8fjw0-my_secret"));
        assert!(KNOWN_SALTS.is_sorted());
        assert_eq!(salt_fingerprint("a").len(), 16);
        assert_ne!(salt_fingerprint("a"), salt_fingerprint("b"));
    }

    #[test]
    fn every_length_of_a_server_has_a_code_of_its_own_for_each_counter() {
        for scramble in [Scramble::Affine, Scramble::Feistel] {
            for length in SERVER_LENGTHS {
                let scrambler = scrambler(scramble, length);
                let size = 62_u128.pow(u32::from(length));
                let ends = (0..3000).chain(size - 3000..size);
                let codes: HashSet<Code> = ends.map(|n| scrambler.code(n)).collect();
                assert_eq!(codes.len(), 6000, "{scrambler:?}");
                assert!(codes.iter().all(|code| code.as_str().len() == usize::from(length)));
            }
        }
    }

    #[test]
    fn the_salt_is_not_printed() {
        let scrambler = Scrambler::new(Scramble::Feistel, "hush", 3, 7).unwrap();
        assert_eq!(format!("{scrambler:?}"), "Scrambler(feistel, 7)");
    }

    proptest! {
        #[test]
        fn two_counters_have_two_codes(salt in ".{1,20}", a in 0..62_u128.pow(7), b in 0..62_u128.pow(7)) {
            for scramble in [Scramble::Affine, Scramble::Feistel] {
                let scrambler = Scrambler::new(scramble, &salt, DEFAULT_MULT, LENGTH).unwrap();
                prop_assert_eq!(a == b, scrambler.code(a) == scrambler.code(b));
            }
        }

        #[test]
        fn any_counter_has_a_code_of_the_length(counter: u128, mult: u128, length in 1_u8..=MAX_LENGTH) {
            for scramble in [Scramble::Affine, Scramble::Feistel] {
                if let Ok(scrambler) = Scrambler::new(scramble, "s", mult, length) {
                    let code = scrambler.code(counter);
                    prop_assert_eq!(code.as_str().len(), usize::from(length));
                    prop_assert_eq!(Code::parse(code.as_str()), Some(code));
                }
            }
        }

        #[test]
        fn wide_products_are_the_same_bit_by_bit(a: u64, b: u64, c in 1_u128..=u128::MAX >> 2) {
            // (a·c) + (b·c) = (a + b)·c, whichever way each product is taken.
            let [a, b] = [a, b].map(|n| u128::from(n) % c);
            let whole = multiply((a + b) % c, c - 1, c);
            prop_assert_eq!((multiply(a, c - 1, c) + multiply(b, c - 1, c)) % c, whole);
        }
    }
}

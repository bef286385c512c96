//! Random codes: Base62 characters, seven unless another length is set, each equally likely.
//!
//! The source of random bytes is an argument; for links it is the operating system's. When a code is
//! taken, the caller tries again, at most [`ATTEMPTS`] times. Invariant: all characters are equally
//! likely; a byte that would favour some of them is discarded.

use super::Code;
use super::base::BASE62;

/// How many codes are tried before giving up.
pub const ATTEMPTS: u32 = 5;

/// The lengths that a request may ask for.
pub const LENGTHS: std::ops::RangeInclusive<u8> = 4..=64;

/// The most draws of sixteen bytes. About one of 10^9 codes of seven characters needs two, and one of
/// twenty needs two or three. More than eight are needed only with a broken source; then the missing
/// characters are `a`, and the attempts run out.
const DRAWS: usize = 8;

/// A code of `length` characters from the bytes that `fill` writes.
pub fn code(length: u8, fill: &mut dyn FnMut(&mut [u8])) -> Code {
    let length = usize::from(length);
    let mut text = String::with_capacity(length);
    for _ in 0..DRAWS {
        let mut bytes = [0; 16];
        fill(&mut bytes);
        // Six bits a character; 62 and 63 are discarded, since a remainder would favour `a` and `b`.
        let letters = bytes.iter().filter_map(|byte| BASE62.get(usize::from(byte & 63)));
        text.extend(letters.take(length - text.len()).map(|&letter| char::from(letter)));
        if text.len() == length {
            return Code(text);
        }
    }
    text.extend(std::iter::repeat_n('a', length.saturating_sub(text.len())));
    Code(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::test_random::fill;

    const LENGTH: u8 = 7;

    #[test]
    fn a_code_is_as_many_letters_from_the_source_as_are_asked_for() {
        let source = &mut |bytes: &mut [u8]| {
            for (i, byte) in (0..).zip(bytes) {
                *byte = [63, 0, 25, 62, 26, 51, 52, 61, 255, 64][i % 10];
            }
        };
        assert_eq!(code(LENGTH, source).as_str(), "azAZ09a");
        assert_eq!(code(20, source).as_str(), "azAZ09aazAZazAZ09aaz");
        assert_eq!(code(8, source).as_str(), "azAZ09aa");
        for length in LENGTHS {
            assert_eq!(code(length, &mut fill(7)).as_str().len(), usize::from(length));
        }
    }

    #[test]
    fn a_broken_source_ends_in_a_code_and_not_in_a_loop() {
        assert_eq!(code(LENGTH, &mut |bytes| bytes.fill(255)).as_str(), "aaaaaaa");
        assert_eq!(code(LENGTH, &mut |_| ()).as_str(), "aaaaaaa");
    }

    #[test]
    fn every_letter_is_equally_likely() {
        let mut fill = fill(1);
        let mut counts = [0_u32; 62];
        for _ in 0..62_000 {
            for byte in code(LENGTH, &mut fill).as_str().bytes() {
                counts[BASE62.iter().position(|&letter| letter == byte).unwrap()] += 1;
            }
        }
        // Seven thousand of each are expected; chi-squared with 61 degrees of freedom passes 150
        // once in 10^9 runs, while a remainder in place of a rejection would give some 3,000.
        let chi_squared: f64 =
            counts.iter().map(|&count| (f64::from(count) - 7000.0).powi(2) / 7000.0).sum();
        assert!(chi_squared < 150.0, "{chi_squared}: {counts:?}");
    }

    #[test]
    fn codes_do_not_repeat() {
        let mut fill = fill(1);
        let codes: std::collections::HashSet<Code> =
            (0..1000).map(|_| code(LENGTH, &mut fill)).collect();
        assert_eq!(codes.len(), 1000);
    }
}

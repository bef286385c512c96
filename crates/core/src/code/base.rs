//! Base58 and Base62: numbers as short text.
//!
//! Not an encoding of byte strings. Invariant: both write the most
//! significant digit first, and Base62 always writes exactly the length that is requested.

/// Bitcoin's alphabet: no `0`, `O`, `I`, `l`.
const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The alphabet of counter and random codes.
pub(super) const BASE62: &[u8; 62] =
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Digits a chunk: 58^10 and 62^10 are the largest such powers that leave room in 64 bits.
const CHUNK: usize = 10;

/// Digits for any 128-bit number: 22 are needed in either base.
const DIGITS: usize = 3 * CHUNK;

/// `number` without leading zeros, left-padded with `1` to `length`, cut to the first `length`.
pub(super) fn base58(number: u128, length: u8) -> String {
    let digits = digits::<58>(number);
    let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
    let length = usize::from(length);
    let padding = length.saturating_sub(DIGITS - zeros);
    let mut text = String::with_capacity(length);
    text.extend(std::iter::repeat_n('1', padding));
    text.extend(
        digits.iter().skip(zeros).take(length - padding).map(|&digit| letter(BASE58, digit)),
    );
    text
}

/// `number` as exactly `length` digits; the caller keeps it below 62^length.
pub(super) fn base62(number: u128, length: u8) -> String {
    let digits = digits::<62>(number);
    let skipped = DIGITS.saturating_sub(usize::from(length));
    digits.iter().skip(skipped).map(|&digit| letter(BASE62, digit)).collect()
}

fn letter<const BASE: usize>(alphabet: &[u8; BASE], digit: u8) -> char {
    char::from(alphabet.get(usize::from(digit)).copied().unwrap_or_default())
}

/// The digits of `number`, most significant first, with leading zeros.
///
/// In chunks, because a division of 128-bit numbers costs ten times one of 64-bit numbers.
fn digits<const BASE: u64>(number: u128) -> [u8; DIGITS] {
    let chunk = BASE.pow(10);
    let mut digits = [0; DIGITS];
    let mut rest = number;
    for part in digits.rchunks_exact_mut(CHUNK) {
        if rest == 0 {
            break;
        }
        let mut low = if let Ok(small) = u64::try_from(rest) {
            rest = u128::from(small / chunk);
            small % chunk
        } else {
            let low = rest % u128::from(chunk);
            rest /= u128::from(chunk);
            u64::try_from(low).unwrap_or_default()
        };
        for digit in part.iter_mut().rev() {
            *digit = u8::try_from(low % BASE).unwrap_or_default();
            low /= BASE;
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(alphabet: &[u8], text: &str) -> u128 {
        let base = u128::try_from(alphabet.len()).unwrap();
        text.bytes().fold(0, |number, byte| {
            let digit = alphabet.iter().position(|&letter| letter == byte).unwrap();
            number * base + u128::try_from(digit).unwrap()
        })
    }

    #[test]
    fn base58_pads_on_the_left_and_cuts_on_the_right() {
        for (number, length, expected) in [
            (0, 4, "1111"),
            (57, 4, "111z"),
            (58, 4, "1121"),
            (58_u128.pow(4) - 1, 4, "zzzz"),
            (58_u128.pow(4), 4, "2111"),
            (u128::MAX, 22, "YcVfxkQb6JRzqk5kF2tNLv"),
            (u128::MAX, 24, "11YcVfxkQb6JRzqk5kF2tNLv"),
            (u128::MAX, 3, "YcV"),
            (5, 0, ""),
        ] {
            assert_eq!(base58(number, length), expected, "{number} in {length}");
        }
    }

    #[test]
    fn base62_writes_exactly_its_length() {
        for (number, length, expected) in [
            (0, 1, "a"),
            (25, 1, "z"),
            (26, 1, "A"),
            (52, 1, "0"),
            (61, 1, "9"),
            (62, 7, "aaaaaba"),
            (62_u128.pow(7) - 1, 7, "9999999"),
            (62_u128.pow(21) - 1, 21, "999999999999999999999"),
        ] {
            assert_eq!(base62(number, length), expected, "{number} in {length}");
        }
    }

    proptest! {
        #[test]
        fn base58_round_trips(number: u128) {
            prop_assert_eq!(decode(BASE58, &base58(number, 22)), number);
        }

        #[test]
        fn base62_round_trips(length in 1_u8..=21, number: u128) {
            let number = number % 62_u128.pow(u32::from(length));
            let text = base62(number, length);
            prop_assert_eq!(text.len(), usize::from(length));
            prop_assert_eq!(decode(BASE62, &text), number);
        }
    }
}

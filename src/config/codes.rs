//! The length of generated codes, and the key of the counter strategy; the store generates a salt if none
//! is set.
//!
//! Invariant: `Scrambler::new` accepts these settings, and no salt is one from an example.

use super::secret::Secret;
use super::setting::settings;
use super::value_parser::{ValueForm, ValueParser, choice, number, secret};
use kurz_core::code::counter::{LENGTH, SERVER_LENGTHS, Scramble, Scrambler, is_sound_salt};

settings! {
    /// The length of codes, and the counter strategy's key.
    pub struct Codes {
        /// Characters of the codes that the strategies counter and random make. Older links keep
        /// theirs.
        "code_length" => code_length: u8 = number(SERVER_LENGTHS).or("7"),
        /// The secret for scrambling counter codes; all instances share it.
        "counter_salt" => counter_salt: Option<Secret> =
            salt().or_none("generated at first start and kept in the store"),
        /// The factor of the affine scramble.
        "counter_mult" => counter_mult: u64 = multiplier().or("1315423911"),
        /// How counters are scrambled: affine hides nothing, anybody with one code can compute all
        /// others; feistel hides order and number as long as the salt is secret. Choose feistel for
        /// public servers.
        "counter_scramble" => counter_scramble: Scramble =
            choice([("affine", Scramble::Affine), ("feistel", Scramble::Feistel)]).or("affine"),
    }
}

/// Salts from examples are public.
fn salt() -> ValueParser<Secret> {
    secret(1..=1024)
        .require("not one from an example", |salt: &Secret| is_sound_salt(salt.expose()))
}

/// The scrambler itself checks that a factor maps different counters to different codes.
fn multiplier() -> ValueParser<u64> {
    let coprime =
        |mult: &u64| Scrambler::new(Scramble::Affine, "any", u128::from(*mult), LENGTH).is_ok();
    let parser = number(1..=u64::MAX).require("odd and not a multiple of 31", coprime);
    ValueParser { form: ValueForm::TextOrNumber, ..parser }
}

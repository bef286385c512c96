//! The key of the counter strategy. The other strategies have no settings; the store generates a salt
//! if none is set.
//!
//! Invariant: `Scrambler::new` accepts these settings.

use super::secret::Secret;
use super::setting::settings;
use super::value_parser::{ValueForm, ValueParser, choice, number, secret};
use kurz_core::code::counter::{LENGTH, Scramble, Scrambler};

settings! {
    /// The counter strategy's key.
    pub struct Codes {
        /// The secret for scrambling counter codes; all instances share it.
        "counter_salt" => counter_salt: Option<Secret> =
            secret(1..=1024).or_none("generated at first start and kept in the store"),
        /// The factor of the affine scramble.
        "counter_mult" => counter_mult: u64 = multiplier().or("1315423911"),
        /// How counters are scrambled: with affine, neighbours are a constant distance apart, so
        /// codes can be enumerated; feistel hides order and number.
        "counter_scramble" => counter_scramble: Scramble =
            choice([("affine", Scramble::Affine), ("feistel", Scramble::Feistel)]).or("affine"),
    }
}

/// The scrambler itself checks that a factor maps different counters to different codes.
fn multiplier() -> ValueParser<u64> {
    let coprime =
        |mult: &u64| Scrambler::new(Scramble::Affine, "any", u128::from(*mult), LENGTH).is_ok();
    let parser = number(1..=u64::MAX).require("odd and not a multiple of 31", coprime);
    ValueParser { form: ValueForm::TextOrNumber, ..parser }
}

//! Codes: the key of the counter strategy. The other strategies have nothing to set, and whether a
//! salt is generated is the store's part.
//!
//! Invariant: these settings always make a scrambler.

use super::rule::{Rule, ValueForm, choice, number, secret};
use super::secret::Secret;
use super::setting::settings;
use kurz_core::code::counter::{LENGTH, Scramble, Scrambler};

settings! {
    /// The key of the counter strategy.
    pub struct Codes {
        /// The secret that counter codes are scrambled with; all instances share it.
        "counter_salt" => counter_salt: Option<Secret> =
            secret(1..=1024).or_none("generated at first start and kept in the store"),
        /// The factor of the affine scramble.
        "counter_mult" => counter_mult: u64 = multiplier().or("1315423911"),
        /// How counters are scrambled: affine keeps neighbours a constant distance apart, which
        /// lets anybody walk from code to code; feistel hides order and number.
        "counter_scramble" => counter_scramble: Scramble =
            choice([("affine", Scramble::Affine), ("feistel", Scramble::Feistel)]).or("affine"),
    }
}

/// Whether a factor keeps codes apart is for the scrambler to say: the same judge as at start.
fn multiplier() -> Rule<u64> {
    let coprime =
        |mult: &u64| Scrambler::new(Scramble::Affine, "any", u128::from(*mult), LENGTH).is_ok();
    let rule = number(1..=u64::MAX).only("odd and not a multiple of 31", coprime);
    Rule { form: ValueForm::TextOrNumber, ..rule }
}

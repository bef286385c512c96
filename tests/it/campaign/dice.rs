//! Chance that a seed decides: the same seed gives the same choices in the same order. Not for secrets.

/// A row of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A row of its own for somebody who draws beside others, so that nobody's pace changes another's
    /// choices.
    pub(crate) fn apart(&self, number: u64) -> Self {
        let mut dice = Self(self.0 ^ number.wrapping_mul(0xd605_1cd9_3b8f_5a63));
        dice.next();
        dice
    }

    /// Splitmix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of `0..count`.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    /// One of `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A place in something of this length, which is not empty.
    pub(crate) fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(u64::try_from(length).unwrap())).unwrap()
    }
}

#[test]
fn a_seed_decides_everything() {
    let draw = |seed: u64, apart: u64| {
        let mut dice = Dice::new(seed).apart(apart);
        (0..100).map(|_| dice.below(1000)).collect::<Vec<_>>()
    };
    assert_eq!(draw(7, 1), draw(7, 1));
    assert_ne!(draw(7, 1), draw(7, 2));
    assert_ne!(draw(7, 1), draw(8, 1));
}

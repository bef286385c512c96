//! A seeded random number generator: the same seed gives the same numbers in the same order. Not for
//! secrets.

#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator of its own for a task that runs beside others, so that the pace of one does not
    /// change the choices of another.
    pub fn fork(&self, number: u64) -> Self {
        let mut rng = Self(self.0 ^ number.wrapping_mul(0xd605_1cd9_3b8f_5a63));
        rng.next_u64();
        rng
    }

    /// Splitmix64.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of `0..count`.
    pub fn below(&mut self, count: u64) -> u64 {
        self.next_u64() % count
    }

    /// One of `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// An index into something of this length, which is not empty.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(u64::try_from(length).unwrap())).unwrap()
    }
}

#[test]
fn a_seed_decides_everything() {
    let draw = |seed: u64, apart: u64| {
        let mut rng = Rng::new(seed).fork(apart);
        (0..100).map(|_| rng.below(1000)).collect::<Vec<_>>()
    };
    assert_eq!(draw(7, 1), draw(7, 1));
    assert_ne!(draw(7, 1), draw(7, 2));
    assert_ne!(draw(7, 1), draw(8, 1));
}

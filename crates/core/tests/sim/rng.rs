//! A seeded random number generator, and the trace of a run: every event is added to a hash, so that
//! two runs can be compared.

/// A pseudorandom number generator (`SplitMix64`).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// An index into a list of `len`.
    pub(crate) fn pick(&mut self, len: usize) -> usize {
        usize::try_from(self.below(u64::try_from(len).unwrap())).unwrap()
    }

    /// From `low` up to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(u64::try_from(high - low + 1).unwrap())).unwrap()
    }

    /// `true` with probability 1 / `times`.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// The events of a run.
pub(crate) struct Trace {
    hash: u64,
    pub(crate) events: u64,
    prints: bool,
}

impl Trace {
    pub(crate) fn new(prints: bool) -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325, events: 0, prints }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// An event at `at`.
    pub(crate) fn note(&mut self, at: i64, what: &str, numbers: &[i64]) {
        self.events += 1;
        self.add(at.cast_unsigned());
        for byte in what.bytes() {
            self.add(byte.into());
        }
        for number in numbers {
            self.add(number.cast_unsigned());
        }
        if self.prints {
            println!("{at:>9} {what} {numbers:?}");
        }
    }

    fn add(&mut self, word: u64) {
        self.hash = (self.hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }
}

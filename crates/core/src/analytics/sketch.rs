//! How many distinct visitors there are: exact up to 4,096, estimated above.
//!
//! Merging is commutative, associative and idempotent. The estimate is a `HyperLogLog` of 4,096 registers with the
//! improved estimator of Ertl ("New cardinality estimation algorithms", 2017), which has
//! no ranges with different formulas and so no bias where they would meet. Visitors are 40 bits of a keyed hash
//! already, so nothing is hashed here.

/// Bits of a visitor.
const VISITOR_BITS: u32 = 40;
const INDEX_BITS: u32 = 12;
const REGISTERS: usize = 1 << INDEX_BITS;
/// Bits that the rank of a visitor is found in.
const RANK_BITS: u32 = VISITOR_BITS - INDEX_BITS;
const RANKS: usize = 30;
/// Most visitors that are counted exactly.
pub const EXACT: usize = 4_096;
const FIRST_SLOTS: usize = 16;
/// A place without a visitor: 0 is the visitor that is not known.
const FREE: u64 = 0;

/// A set of visitors, of which only the size can be asked.
#[derive(Clone, Debug)]
pub struct Sketch(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// A hash table, at most half full.
    Exact {
        slots: Vec<u64>,
        count: usize,
    },
    Registers(Box<[u8; REGISTERS]>),
}

impl Default for Sketch {
    fn default() -> Self {
        Self(Kind::Exact { slots: Vec::new(), count: 0 })
    }
}

impl Sketch {
    /// Add a visitor; 0, who is not known, is not counted.
    #[inline]
    pub fn insert(&mut self, visitor: u64) {
        if visitor == FREE {
            return;
        }
        match &mut self.0 {
            Kind::Registers(registers) => raise(registers, visitor),
            Kind::Exact { .. } => self.insert_exact(visitor),
        }
    }

    fn insert_exact(&mut self, visitor: u64) {
        let Kind::Exact { slots, count } = &mut self.0 else { return };
        if (*count + 1) * 2 > slots.len() {
            grow(slots);
        }
        if put(slots, visitor) {
            *count += 1;
        }
        if *count > EXACT {
            let mut registers = Box::new([0; REGISTERS]);
            for visitor in slots.iter().filter(|slot| **slot != FREE) {
                raise(&mut registers, *visitor);
            }
            self.0 = Kind::Registers(registers);
        }
    }

    /// Add everybody of `other`.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (_, Kind::Exact { slots, .. }) => {
                for visitor in slots {
                    self.insert(*visitor);
                }
            }
            (Kind::Registers(ours), Kind::Registers(theirs)) => {
                for (our, their) in ours.iter_mut().zip(theirs.iter()) {
                    *our = (*our).max(*their);
                }
            }
            (Kind::Exact { slots, .. }, Kind::Registers(theirs)) => {
                let mut registers = theirs.clone();
                for visitor in slots.iter().filter(|slot| **slot != FREE) {
                    raise(&mut registers, *visitor);
                }
                self.0 = Kind::Registers(registers);
            }
        }
    }

    /// Visitors: exact, or with a standard error of 1.6 %.
    pub fn count(&self) -> u64 {
        match &self.0 {
            Kind::Exact { count, .. } => u64::try_from(*count).unwrap_or(u64::MAX),
            Kind::Registers(registers) => estimate(registers),
        }
    }

    pub fn is_exact(&self) -> bool {
        matches!(self.0, Kind::Exact { .. })
    }
}

/// Twice as many places.
#[cold]
fn grow(slots: &mut Vec<u64>) {
    let larger = vec![FREE; (slots.len() * 2).max(FIRST_SLOTS)];
    for visitor in std::mem::replace(slots, larger) {
        if visitor != FREE {
            put(slots, visitor);
        }
    }
}

/// Whether the visitor is new. There is a free place.
#[inline]
#[expect(clippy::indexing_slicing, reason = "places are below the length, a power of two")]
fn put(slots: &mut [u64], visitor: u64) -> bool {
    let mask = slots.len() - 1;
    let mut place = usize::try_from(visitor & 0xffff_ffff).unwrap_or(0) & mask;
    loop {
        if slots[place] == visitor {
            return false;
        }
        if slots[place] == FREE {
            slots[place] = visitor;
            return true;
        }
        place = (place + 1) & mask;
    }
}

#[inline]
#[expect(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "twelve bits; a rank is at most 29"
)]
fn raise(registers: &mut [u8; REGISTERS], visitor: u64) {
    let index = (visitor >> RANK_BITS) as usize & (REGISTERS - 1);
    // The bit below the lowest one ends the run of zeros.
    let tail = (visitor << (u64::BITS - RANK_BITS)) | (1 << (u64::BITS - RANK_BITS - 1));
    let rank = tail.leading_zeros() as u8 + 1;
    if registers[index] < rank {
        registers[index] = rank;
    }
}

/// Ertl, algorithm 6.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of visitors is far below 2^53 and not negative"
)]
fn estimate(registers: &[u8; REGISTERS]) -> u64 {
    let mut with_rank = [0_u32; RANKS];
    for register in registers {
        if let Some(count) = with_rank.get_mut(usize::from(*register)) {
            *count += 1;
        }
    }
    let [none, between @ .., full] = with_rank;
    let registers = f64::from(1_u32 << INDEX_BITS);
    let mut z = registers * tau(1.0 - f64::from(full) / registers);
    for count in between.into_iter().rev() {
        z = 0.5 * (z + f64::from(count));
    }
    z += registers * sigma(f64::from(none) / registers);
    (registers * registers / (2.0 * std::f64::consts::LN_2) / z).round() as u64
}

/// The sum of x^(2^k) · 2^(k − 1) over k ≥ 1, and x.
#[expect(clippy::float_cmp, reason = "the sum is taken until it no longer changes")]
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

#[expect(clippy::float_cmp, reason = "the sum is taken until it no longer changes")]
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x).powi(2) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEDS: u64 = 200;
    const STANDARD_ERROR: f64 = 1.04 / 64.0;

    /// `SplitMix64`.
    struct Draws(u64);

    impl Draws {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        fn visitor(&mut self) -> u64 {
            (self.next() >> 24).max(1)
        }

        /// In 0..1.
        #[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "53 bits fit")]
        fn fraction(&mut self) -> f64 {
            (self.next() >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    fn of(visitors: impl IntoIterator<Item = u64>) -> Sketch {
        let mut sketch = Sketch::default();
        visitors.into_iter().for_each(|visitor| sketch.insert(visitor));
        sketch
    }

    /// The error of each seed, as a share.
    #[track_caller]
    fn check(size: u32, count: impl Fn(u64) -> u64) {
        let mut squares = 0.0;
        for seed in 0..SEEDS {
            let counted = f64::from(u32::try_from(count(seed)).unwrap());
            let error = counted / f64::from(size) - 1.0;
            squares += error * error;
            assert!(error.abs() <= 4.0 * STANDARD_ERROR, "{counted} of {size}, seed {seed}");
        }
        let root_mean_square = (squares / 200.0).sqrt();
        assert!(root_mean_square <= 0.018, "{root_mean_square} at {size}");
    }

    #[test]
    fn up_to_4096_visitors_are_counted_exactly() {
        for size in [0, 1, 100, 4_095, 4_096_u64] {
            let mut draws = Draws(size);
            let visitors: Vec<u64> = (0..size).map(|_| draws.visitor()).collect();
            let sketch = of(visitors.iter().chain(&visitors).copied().chain([0]));
            assert_eq!((sketch.count(), sketch.is_exact()), (size, true));
        }
        let mut draws = Draws(1);
        assert!(!of((0..4_097).map(|_| draws.visitor())).is_exact());
    }

    #[test]
    fn more_are_within_four_standard_errors_for_200_seeds() {
        for size in [4_500, 10_000, 20_000, 100_000] {
            check(size, |seed| {
                let mut draws = Draws(seed.wrapping_mul(0x1234_5678_9abc_def1) ^ u64::from(size));
                of((0..size).map(|_| draws.visitor())).count()
            });
        }
    }

    /// Registers as so many visitors would leave them: drawn by their distribution, since adding ten million
    /// visitors 200 times takes too long for a test. Also for few visitors, where a count would be exact.
    #[test]
    fn the_estimator_is_within_four_standard_errors_at_every_size() {
        for size in [100, 1_000, 3_000, 10_000, 30_000, 1_000_000, 10_000_000_u32] {
            check(size, |seed| {
                let mut draws = Draws(seed.wrapping_mul(0xfeed_0000_dead_0001) ^ u64::from(size));
                let mut registers = Box::new([0_u8; REGISTERS]);
                if size <= 30_000 {
                    (0..size).for_each(|_| raise(&mut registers, draws.visitor()));
                } else {
                    for register in registers.iter_mut() {
                        // P(rank ≤ k) = exp(−n / m / 2^k)
                        let limit = f64::from(size) / 4_096.0 / -draws.fraction().ln();
                        let rank = limit.log2().ceil().clamp(0.0, 29.0);
                        *register = (0..=29).find(|it| f64::from(*it) >= rank).unwrap();
                    }
                }
                estimate(&registers)
            });
        }
    }

    #[test]
    fn merging_is_commutative_associative_and_idempotent() {
        for sizes in [[10, 20, 30], [3_000, 3_000, 3_000], [10, 9_000, 50], [9_000, 8_000, 7_000]] {
            let mut draws = Draws(sizes[0]);
            let sets = sizes.map(|size| -> Vec<u64> {
                // Some are in several sets.
                (0..size).map(|_| draws.visitor() & !0x3 | 1).collect()
            });
            let [a, b, c] = sets.clone().map(of);
            let merged = |parts: &[&Sketch]| {
                let mut whole = Sketch::default();
                for part in parts {
                    whole.merge(part);
                }
                whole.count()
            };
            let all = of(sets.into_iter().flatten()).count();
            assert_eq!(merged(&[&a, &b, &c]), all, "merged sets count as the set of all");
            assert_eq!(merged(&[&c, &a, &b]), all);
            assert_eq!(merged(&[&a, &b, &c, &a, &b, &c, &a]), all);
            let mut right = b.clone();
            right.merge(&c);
            assert_eq!(merged(&[&a, &right]), all);
            assert_eq!(merged(&[&right, &a]), all);
        }
    }
}

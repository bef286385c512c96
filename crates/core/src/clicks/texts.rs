//! The texts of a batch of clicks: each is kept once, and clicks refer to it by its index. They are taken
//! from the queue together with their clicks, so that no table grows and no text outlives its batch.
//!
//! Invariant: at most [`MOST_TEXTS`] texts of at most [`LONGEST`] bytes, in at most [`MOST_BYTES`] bytes. A
//! text that finds no room gets the index 0, as if it were not there, and is counted.

use xxhash_rust::xxh64::xxh64;

pub const MOST_TEXTS: usize = 4_095;
pub const MOST_BYTES: usize = 512 << 10;
/// Longer texts are cut to so many bytes.
pub const LONGEST: usize = 512;

/// Places of the table that leads from a hash to a text.
const PLACES: usize = 1_024;
/// Places that a text may be in.
const PROBES: usize = 4;

/// A text with its hash under a secret seed, so that nobody can choose texts for the same place.
#[derive(Clone, Copy, Debug)]
pub struct HashedText<'a> {
    text: &'a [u8],
    hash: u64,
}

impl<'a> HashedText<'a> {
    /// `hash` is that of the whole text.
    #[inline]
    pub fn new(text: &'a [u8], hash: u64) -> Self {
        Self { text: cut(text), hash }
    }

    #[inline]
    pub fn hashed(text: &'a [u8], seed: u64) -> Self {
        let text = cut(text);
        Self { text, hash: xxh64(text, seed) }
    }

    /// The hash that it was made with.
    #[inline]
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

#[inline]
fn cut(text: &[u8]) -> &[u8] {
    text.get(..LONGEST).unwrap_or(text)
}

#[derive(Clone, Copy, Debug, Default)]
struct TextPlace {
    /// Part of the text's hash.
    tag: u32,
    /// The place is free unless this is the table's generation. It may also be an old one after 65,536
    /// batches: since texts are compared, that costs a probe and nothing else.
    generation: u16,
    index: u16,
}

/// Interned texts.
#[derive(Debug)]
pub struct Texts {
    /// All texts, one after the other.
    bytes: Vec<u8>,
    /// A text ends where its index says, and begins where the one before it ends. The first entry is 0.
    ends: Vec<u32>,
    places: Box<[TextPlace; PLACES]>,
    generation: u16,
    /// The host that was interned last: most servers have one.
    host: u16,
    dropped: u32,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            ends: vec![0],
            places: Box::new([TextPlace::default(); PLACES]),
            generation: 1,
            host: 0,
            dropped: 0,
        }
    }
}

impl Texts {
    /// The text with this index; empty for 0 and for what is not an index of this batch.
    #[inline]
    pub fn get(&self, index: u16) -> &[u8] {
        let index = usize::from(index);
        let place = |at: usize| self.ends.get(at).and_then(|end| usize::try_from(*end).ok());
        let start = index.checked_sub(1).and_then(place);
        let text = start.zip(place(index)).and_then(|(start, end)| self.bytes.get(start..end));
        text.unwrap_or_default()
    }

    /// Number of texts: their indexes begin with 1.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many times a text found no room.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    /// Forget all texts.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.truncate(1);
        // A new generation frees every place without writing to it.
        self.generation = self.generation.wrapping_add(1);
        self.host = 0;
        self.dropped = 0;
    }

    /// The index of `text`, which is added if it is not here yet; 0 when it is empty or finds no room.
    #[inline]
    pub fn intern(&mut self, text: HashedText<'_>) -> u16 {
        if text.text.is_empty() {
            return 0;
        }
        let tag = tag(text.hash);
        let home = usize::try_from(text.hash & u64::from(u32::MAX)).unwrap_or_default();
        for probe in 0..PROBES {
            let at = (home + probe) % PLACES;
            let Some(place) = self.places.get(at).copied() else { break };
            if place.generation != self.generation {
                return self.add(text, at);
            }
            if place.tag == tag && self.get(place.index) == text.text {
                return place.index;
            }
        }
        // All its places are taken: another text loses its place, and is added again when it comes back.
        self.add(text, home % PLACES)
    }

    /// The index of the host `text`; it is hashed only if it is not the host of the click before.
    #[inline]
    pub fn intern_host(&mut self, text: &[u8], seed: u64) -> u16 {
        if self.host == 0 || self.get(self.host) != text {
            self.host = self.intern(HashedText::hashed(text, seed));
        }
        self.host
    }

    #[inline(never)]
    fn add(&mut self, text: HashedText<'_>, at: usize) -> u16 {
        let (index, end) = (self.ends.len(), self.bytes.len() + text.text.len());
        let numbers = u16::try_from(index).ok().zip(u32::try_from(end).ok());
        let Some((index, stored_end)) =
            numbers.filter(|_| index <= MOST_TEXTS && end <= MOST_BYTES)
        else {
            self.dropped = self.dropped.saturating_add(1);
            return 0;
        };
        self.bytes.extend_from_slice(text.text);
        self.ends.push(stored_end);
        if let Some(place) = self.places.get_mut(at) {
            *place = TextPlace { tag: tag(text.hash), generation: self.generation, index };
        }
        index
    }
}

#[inline]
fn tag(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEED: u64 = 11;

    fn add(texts: &mut Texts, text: &[u8]) -> u16 {
        texts.intern(HashedText::hashed(text, SEED))
    }

    #[test]
    fn equal_texts_have_one_index_and_a_new_batch_begins_anew() {
        let mut texts = Texts::default();
        assert_eq!((texts.get(0), texts.get(1), texts.len()), (&b""[..], &b""[..], 0));
        for _ in 0..3 {
            assert_eq!(add(&mut texts, b""), 0);
            let (one, two) = (add(&mut texts, b"one"), add(&mut texts, b"two"));
            assert_eq!((one, two), (1, 2));
            assert_eq!((add(&mut texts, b"one"), add(&mut texts, b"two")), (one, two));
            assert_eq!((texts.get(one), texts.get(two)), (&b"one"[..], &b"two"[..]));
            assert_eq!((texts.len(), texts.dropped()), (2, 0));
            texts.clear();
            assert!(texts.is_empty() && texts.get(one).is_empty());
        }
    }

    #[test]
    fn the_host_before_is_known_again_and_another_is_added() {
        let mut texts = Texts::default();
        for _ in 0..2 {
            let hosts = [&b"a.example"[..], b"a.example", b"b.example", b"", b"", b"a.example"];
            let indexes = hosts.map(|host| texts.intern_host(host, SEED));
            assert_eq!(indexes, [1, 1, 2, 0, 0, 1]);
            texts.clear();
        }
    }

    #[test]
    fn texts_with_the_same_hash_are_told_apart() {
        let mut texts = Texts::default();
        let names: Vec<String> = (0..20).map(|number| format!("text-{number}")).collect();
        for _ in 0..3 {
            for name in &names {
                let index = texts.intern(HashedText::new(name.as_bytes(), 42));
                assert_eq!(texts.get(index), name.as_bytes());
            }
        }
    }

    // threats: E14
    #[test]
    fn any_number_of_distinct_texts_takes_bounded_memory() {
        let mut texts = Texts::default();
        for count in [1_000_000_u32, 10_000] {
            let mut none = 0;
            for number in 0..count {
                let index = add(&mut texts, format!("agent {count} {number}").as_bytes());
                none += u32::from(index == 0);
            }
            assert_eq!(texts.len(), MOST_TEXTS);
            assert_eq!(texts.dropped(), none);
            assert!(texts.bytes.capacity() <= 2 * MOST_BYTES);
            texts.clear();
        }
    }

    #[test]
    fn long_texts_are_cut_and_the_last_that_fits_is_kept() {
        let mut texts = Texts::default();
        let fit = MOST_BYTES / LONGEST;
        for number in 0..fit + 10 {
            let text = format!("{number:0>600}x{}", "y".repeat(16_384)).into_bytes();
            // The first 512 bytes are all zeroes: the hash is that of the whole.
            let text = [number.to_string().as_bytes(), b" ", &text].concat();
            let index = texts.intern(HashedText::new(&text, xxh64(&text, SEED)));
            assert_eq!(index != 0, number < fit, "{number}");
            assert_eq!(texts.get(index), if index == 0 { &[][..] } else { &text[..LONGEST] });
        }
        assert_eq!(texts.dropped(), 10);
        assert_eq!(texts.bytes.len(), MOST_BYTES);
    }

    proptest! {
        #[test]
        fn every_text_is_found_by_its_index(
            batches in prop::collection::vec(prop::collection::vec((0..6_000u16, 0..40u8), 0..300), 1..4),
        ) {
            let mut texts = Texts::default();
            for batch in batches {
                texts.clear();
                for (number, length) in batch {
                    let text = vec![u8::try_from(number % 251).unwrap(); usize::from(length)];
                    let index = add(&mut texts, &text);
                    prop_assert_eq!(texts.get(index), &text[..]);
                }
            }
        }

        #[test]
        fn a_wrapped_generation_mixes_nothing_up(names in prop::collection::vec("[a-d]{1,2}", 1..50)) {
            let mut texts = Texts::default();
            for name in &names {
                add(&mut texts, name.as_bytes());
            }
            let generation = texts.generation;
            texts.clear();
            texts.generation = generation;
            for name in names.iter().rev() {
                let index = add(&mut texts, name.as_bytes());
                prop_assert_eq!(texts.get(index), name.as_bytes());
            }
        }
    }
}

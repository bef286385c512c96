//! Links that a worker sent visitors to lately: its own, so that looking one up takes no lock that
//! another ever holds, and leads from a slot straight to the link. What is not found, or not up to
//! date, is asked for behind it.
//!
//! Invariant: what the cache behind it was told to forget is not found here afterwards. A slot holds
//! the stamp that its key had before the link was read, and is worth nothing once that has changed.

use std::array;
use std::sync::{Mutex, PoisonError};

use crate::cache::links::weight;
use crate::record::Entry;

/// Slots that a key may be in: as many as two lines of the processor's cache hold.
const WAYS: usize = 8;
/// What a link may weigh to be kept here.
const HEAVIEST: u64 = 512;

/// The hash of a key, and its stamp: what is read after this was taken is up to date as long as the
/// key's stamp is the same.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub(super) hash: u64,
    pub(super) number: u64,
}

/// The links of one worker.
#[derive(Debug)]
pub struct Near(Mutex<Sets<Entry>>);

/// With room for a few.
impl Default for Near {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Near {
    /// For at most `bytes` of links, with what leads to them.
    pub(super) fn new(bytes: u64) -> Self {
        Self(Mutex::new(Sets::new(bytes)))
    }

    /// Use the link behind `key`, which has this stamp, if it is known here or `behind`.
    pub fn with<T>(
        &self,
        key: &str,
        stamp: Stamp,
        behind: impl FnOnce() -> Option<Entry>,
        use_it: impl FnOnce(&Entry) -> T,
    ) -> Option<T> {
        // A slot is whole after every operation on it.
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = sets.find(key.as_bytes(), stamp) {
            return Some(use_it(entry));
        }
        let entry = behind()?;
        let done = use_it(&entry);
        sets.put(stamp, entry);
        Some(done)
    }
}

/// What can be kept.
trait Keep {
    fn key(&self) -> &[u8];
    fn weight(&self) -> u64;
}

impl Keep for Entry {
    fn key(&self) -> &[u8] {
        self.key()
    }

    fn weight(&self) -> u64 {
        weight(self)
    }
}

/// A power of two of them.
#[derive(Debug)]
struct Sets<E>(Box<[Set<E>]>);

/// On lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Set<E>([Slot<E>; WAYS]);

#[derive(Debug)]
struct Slot<E> {
    /// What the place does not say of the hash, and the stamp.
    mark: u64,
    entry: Option<E>,
}

impl<E: Keep> Sets<E> {
    fn new(bytes: u64) -> Self {
        let ways = u64::try_from(WAYS).unwrap_or(u64::MAX);
        let sets = usize::try_from(bytes / (HEAVIEST * ways)).unwrap_or(usize::MAX);
        let count = sets.checked_ilog2().map_or(1, |power| 1 << power);
        let slot = |_| Slot { mark: 0, entry: None };
        Self((0..count).map(|_| Set(array::from_fn(slot))).collect())
    }

    fn find(&self, key: &[u8], stamp: Stamp) -> Option<&E> {
        let Set(slots) = self.0.get(self.place(stamp))?;
        let mark = stamp.mark();
        let marked = slots.iter().filter(|slot| slot.mark == mark);
        marked.filter_map(|slot| slot.entry.as_ref()).find(|entry| entry.key() == key)
    }

    /// In the place of the oldest of its set.
    fn put(&mut self, stamp: Stamp, entry: E) {
        if entry.weight() > HEAVIEST {
            return;
        }
        let place = self.place(stamp);
        if let Some(Set(slots)) = self.0.get_mut(place) {
            slots.rotate_right(1);
            slots[0] = Slot { mark: stamp.mark(), entry: Some(entry) };
        }
    }

    fn place(&self, stamp: Stamp) -> usize {
        usize::try_from(stamp.hash & u64::from(u32::MAX)).unwrap_or_default() & (self.0.len() - 1)
    }
}

impl Stamp {
    /// 16 bits of the hash that no place is made of, and 48 of the stamp.
    fn mark(self) -> u64 {
        (self.hash & (0xFFFF << 48)) | (self.number & ((1 << 48) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Keep for (String, u64) {
        fn key(&self) -> &[u8] {
            self.0.as_bytes()
        }

        fn weight(&self) -> u64 {
            self.1
        }
    }

    /// Hashes whose places, stamps and marks all differ from key to key.
    fn stamp(number: u64) -> Stamp {
        Stamp { hash: number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number: 1 }
    }

    fn key(number: u64) -> String {
        format!("code-{number}")
    }

    fn found(sets: &Sets<(String, u64)>, number: u64) -> bool {
        sets.find(key(number).as_bytes(), stamp(number)).is_some()
    }

    #[test]
    fn what_was_put_in_is_found_by_its_key_and_its_stamp_alone() {
        let mut sets = Sets::new(1 << 20);
        sets.put(stamp(1), (key(1), 300));
        assert!(found(&sets, 1));
        assert!(sets.find(b"other", stamp(1)).is_none(), "the hash of another");
        assert!(sets.find(key(1).as_bytes(), stamp(2)).is_none());
        let changed = Stamp { number: 2, ..stamp(1) };
        assert!(sets.find(key(1).as_bytes(), changed).is_none(), "forgotten since");
        sets.put(changed, (key(1), 300));
        assert!(sets.find(key(1).as_bytes(), changed).is_some());
    }

    #[test]
    fn it_keeps_no_more_than_it_may_and_nothing_heavy() {
        let mut sets = Sets::new(1000 * HEAVIEST);
        for number in 0..10_000 {
            sets.put(stamp(number), (key(number), HEAVIEST));
        }
        let kept = (0..10_000).filter(|number| found(&sets, *number)).count();
        assert_eq!(kept, 64 * WAYS, "the power of two below 1000 / 8");
        sets.put(stamp(1), (key(1), HEAVIEST + 1));
        assert!(!found(&sets, 1));
    }

    #[test]
    fn the_oldest_of_a_set_makes_room() {
        let mut sets = Sets::new(0);
        for number in 0..9 {
            sets.put(stamp(number), (key(number), 300));
        }
        let kept: Vec<u64> = (0..9).filter(|number| found(&sets, *number)).collect();
        assert_eq!(kept, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

//! The near cache: links that one worker used lately, so that a look-up takes no contended lock and
//! leads from a slot straight to the link. Misses and stale entries go to the shared cache.
//!
//! Invariant: a link that was invalidated in the shared cache is not found here afterwards. A slot
//! holds the version that its key had before the link was read, and is stale once that has changed.

use std::array;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cache::CachedLink;
use crate::cache::links::weight;

/// Slots that a key may be in: as many as two lines of the processor's cache hold.
const WAYS: usize = 8;
/// What a link may weigh to be kept here.
const HEAVIEST: u64 = 512;

/// The hash of a key, and its version: what is read after this was taken is up to date as long as the
/// key's version is the same.
#[derive(Clone, Copy, Debug)]
pub struct KeyVersion {
    pub(super) hash: u64,
    pub(super) number: u64,
}

/// How links were looked up, by one worker or by all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheLookups {
    /// Found in a near cache.
    pub near: u64,
    /// Found in the shared cache.
    pub shared: u64,
    /// Found in neither: the store is asked.
    pub missed: u64,
}

/// The near cache of a worker, with its look-ups. They are under the lock that a look-up takes anyway.
#[derive(Debug)]
pub struct NearCache(Mutex<NearState>);

#[derive(Debug)]
struct NearState {
    sets: SlotSets<CachedLink>,
    lookups: CacheLookups,
}

impl Default for NearCache {
    fn default() -> Self {
        Self::new(0)
    }
}

impl NearCache {
    /// For at most `bytes` of links, with what leads to them.
    pub(super) fn new(bytes: u64) -> Self {
        Self(Mutex::new(NearState { sets: SlotSets::new(bytes), lookups: CacheLookups::default() }))
    }

    /// Use the link behind `key`, which has this version, if it is known here or `behind`. Returns
    /// whether it was used; `use_it` says so. Only then does the look-up count.
    pub fn with(
        &self,
        key: &str,
        version: KeyVersion,
        behind: impl FnOnce() -> Option<CachedLink>,
        use_it: impl FnOnce(&CachedLink) -> bool,
    ) -> bool {
        let mut state = self.lock();
        let NearState { sets, lookups } = &mut *state;
        if let Some(link) = sets.find(key.as_bytes(), version) {
            let used = use_it(link);
            lookups.near += u64::from(used);
            return used;
        }
        let Some(link) = behind() else { return false };
        let used = use_it(&link);
        lookups.shared += u64::from(used);
        sets.put(version, link);
        used
    }

    /// Count a look-up of the shared cache.
    pub fn count_shared(&self, found: bool) {
        let lookups = &mut self.lock().lookups;
        if found {
            lookups.shared += 1;
        } else {
            lookups.missed += 1;
        }
    }

    pub(super) fn lookups(&self) -> CacheLookups {
        self.lock().lookups
    }

    fn lock(&self) -> MutexGuard<'_, NearState> {
        // A slot is whole after every operation on it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

trait Keep {
    fn key(&self) -> &[u8];
    fn weight(&self) -> u64;
}

impl Keep for CachedLink {
    fn key(&self) -> &[u8] {
        self.key()
    }

    /// Without its plan: a slot only leads to it.
    fn weight(&self) -> u64 {
        weight(self)
    }
}

/// A power of two of them.
#[derive(Debug)]
struct SlotSets<E>(Box<[SlotSet<E>]>);

#[derive(Debug)]
#[repr(align(128))]
struct SlotSet<E>([NearSlot<E>; WAYS]);

#[derive(Debug)]
struct NearSlot<E> {
    /// What the place does not say of the hash, and the version.
    mark: u64,
    link: Option<E>,
}

impl<E: Keep> SlotSets<E> {
    fn new(bytes: u64) -> Self {
        let ways = u64::try_from(WAYS).unwrap_or(u64::MAX);
        let sets = usize::try_from(bytes / (HEAVIEST * ways)).unwrap_or(usize::MAX);
        let count = sets.checked_ilog2().map_or(1, |power| 1 << power);
        let slot = |_| NearSlot { mark: 0, link: None };
        Self((0..count).map(|_| SlotSet(array::from_fn(slot))).collect())
    }

    fn find(&self, key: &[u8], version: KeyVersion) -> Option<&E> {
        let SlotSet(slots) = self.0.get(self.place(version))?;
        let mark = version.mark();
        let marked = slots.iter().filter(|slot| slot.mark == mark);
        marked.filter_map(|slot| slot.link.as_ref()).find(|link| link.key() == key)
    }

    /// In the place of the oldest of its set.
    fn put(&mut self, version: KeyVersion, link: E) {
        if link.weight() > HEAVIEST {
            return;
        }
        let place = self.place(version);
        if let Some(SlotSet(slots)) = self.0.get_mut(place) {
            slots.rotate_right(1);
            slots[0] = NearSlot { mark: version.mark(), link: Some(link) };
        }
    }

    fn place(&self, version: KeyVersion) -> usize {
        usize::try_from(version.hash & u64::from(u32::MAX)).unwrap_or_default() & (self.0.len() - 1)
    }
}

impl KeyVersion {
    /// 16 bits of the hash that no place is made of, and 48 of the version.
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

    /// Hashes whose places, versions and marks all differ from key to key.
    fn version(number: u64) -> KeyVersion {
        KeyVersion { hash: number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number: 1 }
    }

    fn key(number: u64) -> String {
        format!("code-{number}")
    }

    fn found(sets: &SlotSets<(String, u64)>, number: u64) -> bool {
        sets.find(key(number).as_bytes(), version(number)).is_some()
    }

    #[test]
    fn what_was_put_in_is_found_by_its_key_and_its_stamp_alone() {
        let mut sets = SlotSets::new(1 << 20);
        sets.put(version(1), (key(1), 300));
        assert!(found(&sets, 1));
        assert!(sets.find(b"other", version(1)).is_none(), "the hash of another");
        assert!(sets.find(key(1).as_bytes(), version(2)).is_none());
        let changed = KeyVersion { number: 2, ..version(1) };
        assert!(sets.find(key(1).as_bytes(), changed).is_none(), "forgotten since");
        sets.put(changed, (key(1), 300));
        assert!(sets.find(key(1).as_bytes(), changed).is_some());
    }

    #[test]
    fn it_keeps_no_more_than_it_may_and_nothing_heavy() {
        let mut sets = SlotSets::new(1000 * HEAVIEST);
        for number in 0..10_000 {
            sets.put(version(number), (key(number), HEAVIEST));
        }
        let kept = (0..10_000).filter(|number| found(&sets, *number)).count();
        assert_eq!(kept, 64 * WAYS, "the power of two below 1000 / 8");
        sets.put(version(1), (key(1), HEAVIEST + 1));
        assert!(!found(&sets, 1));
    }

    #[test]
    fn the_oldest_of_a_set_makes_room() {
        let mut sets = SlotSets::new(0);
        for number in 0..9 {
            sets.put(version(number), (key(number), 300));
        }
        let kept: Vec<u64> = (0..9).filter(|number| found(&sets, *number)).collect();
        assert_eq!(kept, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

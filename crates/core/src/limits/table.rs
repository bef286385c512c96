//! The state of a limit for each subject: a set-associative table of fixed size, in shards with a lock each.
//!
//! Invariant: there are never more than [`ENTRIES`] entries. A new entry in a full set replaces the one that
//! expires first. So an entry is evicted only by entries that expire later: evading a limit this way takes
//! more limited addresses than the table has room for.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::delay::Tries;

/// The most entries of one table.
pub const ENTRIES: usize = SHARDS * SETS * WAYS;
pub const BYTES: usize = ENTRIES * size_of::<RateSlot>();

const SHARDS: usize = 64;
/// Sets in a shard; an entry can be anywhere in its set.
const SETS: usize = 64;
const WAYS: usize = 16;

/// An entry. An expired one counts as empty.
#[derive(Clone, Copy, Debug, Default)]
struct RateSlot {
    key: u64,
    tries: Tries,
}

#[derive(Debug)]
pub(super) struct RateTable {
    /// A shard is allocated when it is first used.
    shards: [Mutex<Vec<RateSlot>>; SHARDS],
    /// Randomly seeded, so that nobody can choose addresses that share a set.
    hasher: RandomState,
}

impl Default for RateTable {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }
}

impl RateTable {
    /// Replace the state of `subject`. When `change` refuses, it stays.
    pub(super) fn change<E>(
        &self,
        subject: &impl Hash,
        now: u64,
        change: impl FnOnce(Tries) -> Result<Tries, E>,
    ) -> Result<(), E> {
        let key = self.hasher.hash_one(subject);
        let mut shard = self.shard(key);
        if shard.is_empty() {
            shard.resize(SETS * WAYS, RateSlot::default());
        }
        let set = set_of(&mut shard, key);
        let live = |slot: &&mut RateSlot| slot.key == key && slot.tries.until > now;
        if let Some(slot) = set.iter_mut().find(live) {
            slot.tries = change(slot.tries)?;
            return Ok(());
        }
        let tries = change(Tries::default())?;
        // Replaces the entry that expires first, or is expired.
        if let Some(slot) = set.iter_mut().min_by_key(|slot| slot.tries.until) {
            *slot = RateSlot { key, tries };
        }
        Ok(())
    }

    /// Replace the state of `subject` if there is one.
    pub(super) fn amend(&self, subject: &impl Hash, now: u64, amend: impl FnOnce(Tries) -> Tries) {
        let key = self.hasher.hash_one(subject);
        let mut shard = self.shard(key);
        let live = |slot: &&mut RateSlot| slot.key == key && slot.tries.until > now;
        if let Some(slot) = set_of(&mut shard, key).iter_mut().find(live) {
            slot.tries = amend(slot.tries);
        }
    }

    /// The state of `subject`.
    pub(super) fn get(&self, subject: &impl Hash, now: u64) -> Tries {
        let key = self.hasher.hash_one(subject);
        let mut shard = self.shard(key);
        let set = set_of(&mut shard, key);
        let found = set.iter().find(|slot| slot.key == key && slot.tries.until > now);
        found.map(|slot| slot.tries).unwrap_or_default()
    }

    fn shard(&self, key: u64) -> MutexGuard<'_, Vec<RateSlot>> {
        let [first, ..] = &self.shards;
        let shard = self.shards.get(low(key) % SHARDS).unwrap_or(first);
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn live(&self, now: u64) -> usize {
        let count = |shard: &Mutex<Vec<RateSlot>>| {
            shard.lock().unwrap().iter().filter(|slot| slot.tries.until > now).count()
        };
        self.shards.iter().map(count).sum()
    }
}

/// The part of a hash that selects a set.
fn low(key: u64) -> usize {
    usize::try_from(key & 0xffff_ffff).unwrap_or_default()
}

/// The slots where `key` may be; none in a shard that is not allocated yet.
fn set_of(shard: &mut [RateSlot], key: u64) -> &mut [RateSlot] {
    shard.chunks_exact_mut(WAYS).nth(low(key) / SHARDS % SETS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(table: &RateTable, subject: u64, until: u64, now: u64) {
        let change = |tries: Tries| Ok::<_, ()>(Tries { count: tries.count + 1, until });
        table.change(&subject, now, change).unwrap();
    }

    #[test]
    fn an_entry_is_found_until_it_expires() {
        let table = RateTable::default();
        assert_eq!(table.get(&7_u64, 0), Tries::default());
        set(&table, 7, 100, 0);
        set(&table, 7, 200, 50);
        assert_eq!(table.get(&7_u64, 199), Tries { count: 2, until: 200 });
        assert_eq!(table.get(&7_u64, 200), Tries::default());
        assert_eq!(table.change(&7_u64, 100, |_| Err(())), Err(()));
        assert_eq!(table.get(&7_u64, 199).count, 2, "a refusal changes nothing");
        table.amend(&7_u64, 100, |tries| Tries { count: 9, ..tries });
        table.amend(&8_u64, 100, |_| Tries { count: 9, until: 900 });
        assert_eq!(table.get(&7_u64, 199).count, 9);
        assert_eq!(table.get(&8_u64, 199), Tries::default(), "there was no entry");
    }

    #[test]
    fn entries_that_expire_later_are_not_evicted_by_a_flood() {
        let table = RateTable::default();
        for subject in 0..64 {
            set(&table, subject, 1_000_000, 0);
        }
        for subject in 1_000..400_000 {
            set(&table, subject, 1_000, 0);
        }
        assert!((0..64_u64).all(|subject| table.get(&subject, 0).until == 1_000_000));
        assert!(table.live(0) <= ENTRIES);
        assert!(table.live(0) > ENTRIES * 9 / 10, "the room is used: {}", table.live(0));
        assert_eq!(table.live(1_000), 64);
    }

    #[test]
    fn the_size_is_what_the_documents_say() {
        assert_eq!((ENTRIES, BYTES), (65_536, 3 << 19));
    }
}

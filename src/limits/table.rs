//! What is remembered of those who are limited: a table of fixed size, in pieces with a lock each.
//!
//! Invariant: there are never more than [`ENTRIES`] entries. Where a new one finds no room, the one
//! goes that would have been forgotten first. So to push out somebody who has to wait, one needs others
//! who have to wait longer: whoever would escape a limit that way must be over it with more addresses
//! than the table has room for.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::delay::Tries;

/// Most entries of one table.
pub const ENTRIES: usize = PIECES * SETS * WAYS;
/// Bytes that a full table takes.
pub const BYTES: usize = ENTRIES * size_of::<RateSlot>();

const PIECES: usize = 64;
/// Sets in a piece; an entry can stand anywhere in its set.
const SETS: usize = 64;
const WAYS: usize = 16;

/// An entry. One whose time is over is as good as none.
#[derive(Clone, Copy, Debug, Default)]
struct RateSlot {
    key: u64,
    tries: Tries,
}

/// The table.
#[derive(Debug)]
pub(super) struct RateTable {
    /// Each takes no memory until it is needed.
    pieces: [Mutex<Vec<RateSlot>>; PIECES],
    /// Seeded at random: nobody can choose addresses that share a set.
    hasher: RandomState,
}

impl Default for RateTable {
    fn default() -> Self {
        Self { pieces: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }
}

impl RateTable {
    /// Read what is remembered of `subject`, and replace it. Where `change` refuses, it stays.
    pub(super) fn change<E>(
        &self,
        subject: &impl Hash,
        now: u64,
        change: impl FnOnce(Tries) -> Result<Tries, E>,
    ) -> Result<(), E> {
        let key = self.hasher.hash_one(subject);
        let mut piece = self.piece(key);
        if piece.is_empty() {
            piece.resize(SETS * WAYS, RateSlot::default());
        }
        let set = set_of(&mut piece, key);
        let live = |slot: &&mut RateSlot| slot.key == key && slot.tries.until > now;
        if let Some(slot) = set.iter_mut().find(live) {
            slot.tries = change(slot.tries)?;
            return Ok(());
        }
        let tries = change(Tries::default())?;
        // The one whose time is over, or is over first.
        if let Some(slot) = set.iter_mut().min_by_key(|slot| slot.tries.until) {
            *slot = RateSlot { key, tries };
        }
        Ok(())
    }

    /// Replace what is remembered of `subject`, if anything is.
    pub(super) fn amend(&self, subject: &impl Hash, now: u64, amend: impl FnOnce(Tries) -> Tries) {
        let key = self.hasher.hash_one(subject);
        let mut piece = self.piece(key);
        let live = |slot: &&mut RateSlot| slot.key == key && slot.tries.until > now;
        if let Some(slot) = set_of(&mut piece, key).iter_mut().find(live) {
            slot.tries = amend(slot.tries);
        }
    }

    /// What is remembered of `subject`.
    pub(super) fn get(&self, subject: &impl Hash, now: u64) -> Tries {
        let key = self.hasher.hash_one(subject);
        let mut piece = self.piece(key);
        let set = set_of(&mut piece, key);
        let found = set.iter().find(|slot| slot.key == key && slot.tries.until > now);
        found.map(|slot| slot.tries).unwrap_or_default()
    }

    fn piece(&self, key: u64) -> MutexGuard<'_, Vec<RateSlot>> {
        let [first, ..] = &self.pieces;
        let piece = self.pieces.get(low(key) % PIECES).unwrap_or(first);
        piece.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn live(&self, now: u64) -> usize {
        let count = |piece: &Mutex<Vec<RateSlot>>| {
            piece.lock().unwrap().iter().filter(|slot| slot.tries.until > now).count()
        };
        self.pieces.iter().map(count).sum()
    }
}

/// As much of a hash as it takes to find a set.
fn low(key: u64) -> usize {
    usize::try_from(key & 0xffff_ffff).unwrap_or_default()
}

/// The slots where `key` may stand; none in a piece that nobody needed yet.
fn set_of(piece: &mut [RateSlot], key: u64) -> &mut [RateSlot] {
    piece.chunks_exact_mut(WAYS).nth(low(key) / PIECES % SETS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(table: &RateTable, subject: u64, until: u64, now: u64) {
        let change = |tries: Tries| Ok::<_, ()>(Tries { count: tries.count + 1, until });
        table.change(&subject, now, change).unwrap();
    }

    #[test]
    fn what_was_written_is_read_until_its_time_is_over() {
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
        assert_eq!(table.get(&8_u64, 199), Tries::default(), "nothing was remembered");
    }

    #[test]
    fn a_flood_of_others_does_not_push_out_who_has_to_wait_longer() {
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

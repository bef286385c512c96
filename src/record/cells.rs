//! All cells, by link. A cell lives as long as a cached link holds it or some of its hits are not
//! written.
//!
//! Invariant: a link that is loaded again after its cell was dropped does not start from a count
//! that was read before the last write. A load names the round in which it began, and is told
//! to read again when cells were dropped since.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use crate::link::{LinkId, Tally};
use crate::record::Cell;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Parts of the set, so that looking for cells that nobody needs can be done a little at a time.
const SHARDS: usize = 64;

/// Something that a cell lives in. A clone is the same one.
pub(super) trait Counted: Clone {
    /// The cell.
    fn cell(&self) -> &Cell;

    /// How many clones there are.
    fn holders(&self) -> usize;
}

/// The set.
#[derive(Debug)]
pub(super) struct Cells<C> {
    shards: Vec<Mutex<HashSet<Held<C>>>>,
    /// Counts the times that cells were dropped.
    rounds: AtomicU64,
    next_sweep: AtomicUsize,
}

/// A cell in the set, found by its link.
#[derive(Debug)]
struct Held<C>(C);

impl<C: Counted> Hash for Held<C> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.cell().link().hash(state);
    }
}

impl<C: Counted> PartialEq for Held<C> {
    fn eq(&self, other: &Self) -> bool {
        self.0.cell().link() == other.0.cell().link()
    }
}

impl<C: Counted> Eq for Held<C> {}

impl<C: Counted> Borrow<LinkId> for Held<C> {
    fn borrow(&self) -> &LinkId {
        self.0.cell().link_ref()
    }
}

impl<C: Counted> Held<C> {
    /// Whether nobody would miss it.
    fn is_idle(&self) -> bool {
        self.0.holders() == 1 && self.0.cell().is_written()
    }
}

impl<C> Default for Cells<C> {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            rounds: AtomicU64::new(0),
            next_sweep: AtomicUsize::new(0),
        }
    }
}

impl<C: Counted> Cells<C> {
    pub(super) fn round(&self) -> u64 {
        self.rounds.load(Ordering::Acquire)
    }

    /// Whatever holds the cell of a link: what `again` makes of the known one, or `first` of what was
    /// read in `round`; `None` when that must be read again.
    pub(super) fn get(
        &self,
        link: LinkId,
        round: u64,
        again: impl FnOnce(&C) -> C,
        first: impl FnOnce() -> C,
    ) -> Option<C> {
        let mut cells = self.shard(link);
        if let Some(Held(known)) = cells.get(&link) {
            return Some(again(known));
        }
        if self.round() != round {
            return None;
        }
        let first = first();
        cells.insert(Held(first.clone()));
        Some(first)
    }

    /// These are in the store now: note it, and drop the cells that nobody needs any more.
    pub(super) fn wrote(&self, tallies: &[Tally]) {
        for tally in tallies.iter().filter(|tally| tally.visits > 0) {
            let mut cells = self.shard(tally.link);
            let Some(held) = cells.get(&tally.link) else { continue };
            held.0.cell().wrote(tally.hour.month(), tally.visits);
            if held.is_idle() {
                cells.remove(&tally.link);
                self.rounds.fetch_add(1, Ordering::AcqRel);
            }
        }
    }

    /// Look through one part for cells whose link was followed by nobody before memory forgot it.
    pub(super) fn sweep(&self) {
        let number = self.next_sweep.fetch_add(1, Ordering::Relaxed) % SHARDS;
        let Some(shard) = self.shards.get(number) else { return };
        let mut cells = lock(shard);
        let before = cells.len();
        cells.retain(|held| !held.is_idle());
        if cells.len() < before {
            self.rounds.fetch_add(1, Ordering::AcqRel);
        }
        if cells.capacity() > 4 * cells.len() + 256 {
            cells.shrink_to_fit();
        }
    }

    fn shard(&self, link: LinkId) -> MutexGuard<'_, HashSet<Held<C>>> {
        let number = usize::try_from(link.0.unsigned_abs()).unwrap_or_default() % SHARDS;
        lock(self.shards.get(number).expect("a remainder is less than what it is divided by"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A set is whole after every single operation on it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

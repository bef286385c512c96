//! All cells, by link. A cell lives as long as a cached link holds it or some of its hits are not
//! written.
//!
//! Invariant: a link that is loaded again after its cell was dropped does not start from a count
//! that was read before the last write. A load names the round in which it began, and is told
//! to read again when cells were dropped since.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use crate::ledger::Reservation;
use crate::link::{LinkId, Month, Tally};
use crate::record::Cell;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Parts of the set, so that looking for cells that nobody needs can be done a little at a time.
const SHARDS: usize = 64;

/// The set.
#[derive(Debug)]
pub(super) struct Cells {
    shards: Vec<Mutex<HashSet<Held>>>,
    /// Counts the times that cells were dropped.
    rounds: AtomicU64,
    next_sweep: AtomicUsize,
}

/// A cell in the set, found by its link.
#[derive(Debug)]
struct Held(Arc<Cell>);

impl Hash for Held {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.link().hash(state);
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.0.link() == other.0.link()
    }
}

impl Eq for Held {}

impl Borrow<LinkId> for Held {
    fn borrow(&self) -> &LinkId {
        self.0.link_ref()
    }
}

impl Held {
    /// Whether nobody would miss it.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.0) == 1 && self.0.is_written()
    }
}

impl Default for Cells {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            rounds: AtomicU64::new(0),
            next_sweep: AtomicUsize::new(0),
        }
    }
}

impl Cells {
    pub(super) fn round(&self) -> u64 {
        self.rounds.load(Ordering::Acquire)
    }

    /// The cell of a link whose hits were read in `round`; `None` when they must be read again.
    pub(super) fn get(
        &self,
        link: LinkId,
        month: Month,
        hits: i64,
        reservation: Option<Arc<Reservation>>,
        round: u64,
    ) -> Option<Arc<Cell>> {
        let mut cells = self.shard(link);
        if let Some(Held(cell)) = cells.get(&link) {
            return Some(Arc::clone(cell));
        }
        if self.round() != round {
            return None;
        }
        let cell = Arc::new(Cell::new(link, month, hits, reservation));
        cells.insert(Held(Arc::clone(&cell)));
        Some(cell)
    }

    /// These are in the store now: note it, and drop the cells that nobody needs any more.
    pub(super) fn wrote(&self, tallies: &[Tally]) {
        for tally in tallies.iter().filter(|tally| tally.visits > 0) {
            let mut cells = self.shard(tally.link);
            let Some(held) = cells.get(&tally.link) else { continue };
            held.0.wrote(tally.hour.month(), tally.visits);
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

    fn shard(&self, link: LinkId) -> MutexGuard<'_, HashSet<Held>> {
        let number = usize::try_from(link.0.unsigned_abs()).unwrap_or_default() % SHARDS;
        lock(self.shards.get(number).expect("a remainder is less than what it is divided by"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A set is whole after every single operation on it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

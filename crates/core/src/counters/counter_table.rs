//! The counters of all links in memory, by link. A link's counters stay as long as a cached link holds
//! them or some of its hits are not written.
//!
//! Invariant: a link that is loaded again after its counters were dropped does not start from a count
//! that was read before the last write. A load names the round in which it began, and must read again
//! when counters were dropped since then.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use crate::clicks::ClickTotals;
use crate::counters::LinkCounters;
use crate::link::LinkId;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Shards of the table: a sweep for unused counters visits one shard at a time.
const SHARDS: usize = 64;

/// A shared handle that contains the counters of one link.
pub trait HoldsCounters: Clone {
    /// The handle to the hits that this instance reserved of the link.
    type Reservation;

    fn counters(&self) -> &LinkCounters<Self::Reservation>;

    /// How many clones of the handle exist.
    fn holders(&self) -> usize;
}

/// The counters of all links in memory, by link.
#[derive(Debug)]
pub struct CounterTable<C> {
    shards: Vec<Mutex<HashSet<ByLink<C>>>>,
    /// Incremented whenever counters are dropped.
    rounds: AtomicU64,
    next_sweep: AtomicUsize,
}

/// An element of the table, hashed and compared by its link.
#[derive(Debug)]
struct ByLink<C>(C);

impl<C: HoldsCounters> Hash for ByLink<C> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.counters().link().hash(state);
    }
}

impl<C: HoldsCounters> PartialEq for ByLink<C> {
    fn eq(&self, other: &Self) -> bool {
        self.0.counters().link() == other.0.counters().link()
    }
}

impl<C: HoldsCounters> Eq for ByLink<C> {}

impl<C: HoldsCounters> Borrow<LinkId> for ByLink<C> {
    fn borrow(&self) -> &LinkId {
        self.0.counters().link_ref()
    }
}

impl<C: HoldsCounters> ByLink<C> {
    /// Whether only the table holds it and all of its hits are written.
    fn is_idle(&self) -> bool {
        self.0.holders() == 1 && self.0.counters().is_written()
    }
}

impl<C> Default for CounterTable<C> {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            rounds: AtomicU64::new(0),
            next_sweep: AtomicUsize::new(0),
        }
    }
}

impl<C: HoldsCounters> CounterTable<C> {
    /// The current round: to be read before the link is read from the store.
    pub fn round(&self) -> u64 {
        self.rounds.load(Ordering::Acquire)
    }

    /// The handle with the counters of `link`: made by `again` from the one in the table, or by `first`
    /// from what was read in `round`; `None` when the link must be read again.
    pub fn get(
        &self,
        link: LinkId,
        round: u64,
        again: impl FnOnce(&C) -> C,
        first: impl FnOnce() -> C,
    ) -> Option<C> {
        let mut counters = self.shard(link);
        if let Some(ByLink(known)) = counters.get(&link) {
            return Some(again(known));
        }
        if self.round() != round {
            return None;
        }
        let first = first();
        counters.insert(ByLink(first.clone()));
        Some(first)
    }

    /// `totals` were written to the store: record that, and drop the counters that are not used any
    /// more.
    pub fn written(&self, totals: &[ClickTotals]) {
        for totals in totals.iter().filter(|totals| totals.clicks > 0) {
            let mut counters = self.shard(totals.link);
            let Some(held) = counters.get(&totals.link) else { continue };
            held.0.counters().written(totals.hour.month(), totals.clicks);
            if held.is_idle() {
                counters.remove(&totals.link);
                self.rounds.fetch_add(1, Ordering::AcqRel);
            }
        }
    }

    /// Whether all hits of `link` are in the store.
    pub fn is_written(&self, link: LinkId) -> bool {
        self.shard(link).get(&link).is_none_or(|held| held.0.counters().is_written())
    }

    /// Drop unused counters of one shard: those of links that left the cache without having been followed.
    pub fn sweep(&self) {
        let number = self.next_sweep.fetch_add(1, Ordering::Relaxed) % SHARDS;
        let Some(shard) = self.shards.get(number) else { return };
        let mut counters = lock(shard);
        let before = counters.len();
        counters.retain(|held| !held.is_idle());
        if counters.len() < before {
            self.rounds.fetch_add(1, Ordering::AcqRel);
        }
        if counters.capacity() > 4 * counters.len() + 256 {
            counters.shrink_to_fit();
        }
    }

    fn shard(&self, link: LinkId) -> MutexGuard<'_, HashSet<ByLink<C>>> {
        let number = usize::try_from(link.0.unsigned_abs()).unwrap_or_default() % SHARDS;
        lock(self.shards.get(number).expect("a remainder is less than its divisor"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every operation leaves the set consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

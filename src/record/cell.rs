//! What memory knows of one link's hits: its quota, how much of it is written, and the visits that
//! found no room in a lane.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ledger::Quota;
use crate::link::{LinkId, Month};

/// The counters of one link. There is never more than one cell for a link at a time.
#[derive(Debug)]
pub struct Cell {
    link: LinkId,
    quota: Quota,
    /// The part of the quota's hits that the store knows of. Only the writer changes it.
    written: Quota,
    /// Visits that found their lane full, and their latencies in nanoseconds.
    spilled: AtomicU64,
    spilled_nanos: AtomicU64,
}

impl Cell {
    /// Go on from what the store says.
    pub(super) fn new(link: LinkId, month: Month, month_hits: i64) -> Self {
        Self {
            link,
            quota: Quota::new(month, month_hits),
            written: Quota::new(month, month_hits),
            spilled: AtomicU64::new(0),
            spilled_nanos: AtomicU64::new(0),
        }
    }

    /// Whose counters these are.
    pub fn link(&self) -> LinkId {
        self.link
    }

    pub(super) fn link_ref(&self) -> &LinkId {
        &self.link
    }

    /// The hits of the link in a month.
    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Whether the store knows all of it.
    pub(super) fn is_written(&self) -> bool {
        self.written.used() == self.quota.used() && self.spilled.load(Ordering::Acquire) == 0
    }

    /// Visits of a month are in the store now.
    pub(super) fn wrote(&self, month: Month, visits: u64) {
        self.written.add(month, visits);
    }

    /// Count a visit that found no room; `true` for the first since the last [`Cell::drain`].
    pub(super) fn spill(&self, nanos: u32) -> bool {
        self.spilled_nanos.fetch_add(nanos.into(), Ordering::Relaxed);
        self.spilled.fetch_add(1, Ordering::AcqRel) == 0
    }

    /// Take the visits that found no room, and their latencies.
    pub(super) fn drain(&self) -> (u64, u64) {
        let visits = self.spilled.swap(0, Ordering::AcqRel);
        (visits, self.spilled_nanos.swap(0, Ordering::AcqRel))
    }
}

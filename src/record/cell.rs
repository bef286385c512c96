//! What memory knows of one link's hits: its quota, and how much of it is written.

use crate::ledger::Quota;
use crate::link::{LinkId, Month};

/// The counters of one link. There is never more than one cell for a link at a time.
#[derive(Debug)]
pub struct Cell {
    link: LinkId,
    quota: Quota,
    /// The part of the quota's hits that the store knows of. Only the writer changes it.
    written: Quota,
}

impl Cell {
    /// Go on from what the store says.
    pub(super) fn new(link: LinkId, month: Month, month_hits: i64) -> Self {
        Self { link, quota: Quota::new(month, month_hits), written: Quota::new(month, month_hits) }
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
        self.written.used() == self.quota.used()
    }

    /// Visits of a month are in the store now.
    pub(super) fn wrote(&self, month: Month, visits: u64) {
        self.written.add(month, visits);
    }
}

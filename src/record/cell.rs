//! What memory knows of one link's hits: its quota, and how much of it is written.

use crate::ledger::{Quota, Reservation};
use crate::link::{LinkId, Month};
use crate::sync::Arc;

/// The counters of one link. There is never more than one cell for a link at a time.
#[derive(Debug)]
pub struct Cell {
    link: LinkId,
    quota: Quota,
    /// What this instance holds of it, where instances count together.
    reservation: Option<Arc<Reservation>>,
    /// The part of the quota's hits that the store knows of. Only the writer changes it.
    written: Quota,
}

impl Cell {
    /// Go on from what the store says.
    pub(super) fn new(
        link: LinkId,
        month: Month,
        month_hits: i64,
        reservation: Option<Arc<Reservation>>,
    ) -> Self {
        let (quota, written) = (Quota::new(month, month_hits), Quota::new(month, month_hits));
        Self { link, quota, reservation, written }
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

    /// What this instance holds of the link's hits; `None` where it counts alone.
    pub fn reservation(&self) -> Option<&Arc<Reservation>> {
        self.reservation.as_ref()
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

//! The counters of one cached link: its hits in this month, and how many of them are written.

use crate::link::{LinkId, Month};
use crate::quota::{LocalQuota, Reservation};
use crate::sync::Arc;

/// Hits of one link. At any time there is one instance per link in a process.
#[derive(Debug)]
pub struct LinkCounters {
    link: LinkId,
    quota: LocalQuota,
    /// Hits that this instance reserved, where instances share the quota.
    reservation: Option<Arc<Reservation>>,
    /// The hits that are in the store. Only the click writer changes it.
    written: LocalQuota,
}

impl LinkCounters {
    /// Start from what the store knows.
    pub(super) fn new(
        link: LinkId,
        month: Month,
        month_hits: i64,
        reservation: Option<Arc<Reservation>>,
    ) -> Self {
        let (quota, written) =
            (LocalQuota::new(month, month_hits), LocalQuota::new(month, month_hits));
        Self { link, quota, reservation, written }
    }

    /// The link that these are the counters of.
    pub fn link(&self) -> LinkId {
        self.link
    }

    pub(super) fn link_ref(&self) -> &LinkId {
        &self.link
    }

    /// The hits of the link in a month.
    pub fn quota(&self) -> &LocalQuota {
        &self.quota
    }

    /// Hits reserved by this instance; `None` where it does not share the quota.
    pub fn reservation(&self) -> Option<&Arc<Reservation>> {
        self.reservation.as_ref()
    }

    /// Whether all hits are in the store.
    pub(super) fn is_written(&self) -> bool {
        self.written.used() == self.quota.used()
    }

    /// Hits of a month are in the store now.
    pub(super) fn written(&self, month: Month, hits: u64) {
        self.written.add(month, hits);
    }
}

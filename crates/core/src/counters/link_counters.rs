//! The counters of one cached link: its hits in this month, and how many of them are written.

use crate::link::{LinkId, Month};
use crate::quota::LocalQuota;

/// Hits of one link. At any time there is one value per link in a process. `R` is a handle to the hits
/// that this instance reserved, where instances share the quota.
#[derive(Debug)]
pub struct LinkCounters<R> {
    link: LinkId,
    quota: LocalQuota,
    reservation: Option<R>,
    /// The hits that are in the store. Only the click writer changes it.
    written: LocalQuota,
}

impl<R> LinkCounters<R> {
    /// Start from the hits in the store.
    pub fn new(link: LinkId, month: Month, month_hits: i64, reservation: Option<R>) -> Self {
        let (quota, written) =
            (LocalQuota::new(month, month_hits), LocalQuota::new(month, month_hits));
        Self { link, quota, reservation, written }
    }

    /// The link that these are the counters of.
    #[inline]
    pub fn link(&self) -> LinkId {
        self.link
    }

    pub(super) fn link_ref(&self) -> &LinkId {
        &self.link
    }

    /// The hits of the link in a month.
    #[inline]
    pub fn quota(&self) -> &LocalQuota {
        &self.quota
    }

    /// Hits reserved by this instance; `None` where it does not share the quota.
    #[inline]
    pub fn reservation(&self) -> Option<&R> {
        self.reservation.as_ref()
    }

    /// Whether all hits are in the store.
    pub(super) fn is_written(&self) -> bool {
        self.written.used() == self.quota.used()
    }

    /// Hits of a month were written to the store.
    pub(super) fn written(&self, month: Month, hits: u64) {
        self.written.add(month, hits);
    }
}

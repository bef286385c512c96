//! What a link's redirects add up to while they are not written yet, and its quota.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::ledger::Quota;
use crate::link::{Latency, LinkId, Month};
use crate::store::Hits;

/// The counters of one link. There is never more than one cell for a link at a time.
#[derive(Debug)]
pub struct Cell {
    link: LinkId,
    quota: Quota,
    /// Redirects that are not written yet.
    count: AtomicU64,
    /// Their latencies in nanoseconds.
    nanos: AtomicU64,
    /// The latest of them.
    last_at: AtomicI64,
    /// Whether the writer knows that there is something to write.
    dirty: AtomicBool,
    /// The month and the hits that the store knows of. Only the writer changes them.
    written_month: AtomicI64,
    written_hits: AtomicU64,
}

impl Cell {
    /// Go on from what the store says.
    pub(super) fn new(link: LinkId, month: Month, month_hits: i64) -> Self {
        let hits = u64::try_from(month_hits).unwrap_or_default();
        Self {
            link,
            quota: Quota::new(month, month_hits),
            count: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            last_at: AtomicI64::new(0),
            dirty: AtomicBool::new(false),
            written_month: AtomicI64::new(month.number()),
            written_hits: AtomicU64::new(hits),
        }
    }

    /// Whose counters these are.
    pub fn link(&self) -> LinkId {
        self.link
    }

    /// The hits of the link in a month.
    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Count a redirect; `true` when the writer must be told.
    pub(super) fn add(&self, latency: Duration, now: Timestamp) -> bool {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.last_at.fetch_max(now.as_ms(), Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Release);
        // A plain read first: on a hot link the answer is nearly always "told already".
        !self.dirty.load(Ordering::Acquire) && !self.dirty.swap(true, Ordering::AcqRel)
    }

    /// Whether nothing waits to be written.
    pub(super) fn is_clean(&self) -> bool {
        !self.dirty.load(Ordering::Acquire)
    }

    /// Take what gathered, if anything. Only the writer calls this.
    pub(super) fn drain(&self) -> Option<Hits> {
        // First: a redirect that comes from here on tells the writer again.
        self.dirty.swap(false, Ordering::AcqRel);
        let count = self.count.swap(0, Ordering::AcqRel);
        if count == 0 {
            // A redirect is between its first addition and its last: leave all of it to the next
            // time, for which it is about to tell the writer.
            return None;
        }
        let nanos = self.nanos.swap(0, Ordering::AcqRel);
        let (month, hits) = self.quota.used();
        let before = if self.written_month.swap(month.number(), Ordering::AcqRel) == month.number()
        {
            self.written_hits.load(Ordering::Acquire)
        } else {
            0
        };
        self.written_hits.store(hits, Ordering::Release);
        Some(Hits {
            link: self.link,
            latency: Latency { count, mean_ms: mean_ms(nanos, count) },
            last_at: Timestamp::from_ms(self.last_at.load(Ordering::Acquire)),
            month,
            month_hits: i64::try_from(hits.saturating_sub(before)).unwrap_or(i64::MAX),
        })
    }

    /// Put back what could not be written; `true` when the writer must be told.
    pub(super) fn put_back(&self, hits: &Hits) -> bool {
        let unwritten = u64::try_from(hits.month_hits).unwrap_or_default();
        self.written_hits.fetch_sub(unwritten, Ordering::AcqRel);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            clippy::as_conversions,
            reason = "a sum of latencies, turned into a mean and back"
        )]
        let nanos = (hits.latency.mean_ms * hits.latency.count as f64 * 1e6).round() as u64;
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.count.fetch_add(hits.latency.count, Ordering::Release);
        !self.dirty.swap(true, Ordering::AcqRel)
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "a mean in milliseconds needs no more than a double holds"
)]
fn mean_ms(nanos: u64, count: u64) -> f64 {
    nanos as f64 / count as f64 / 1e6
}

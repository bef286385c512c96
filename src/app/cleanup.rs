//! Cleanup: phase 1 marks the links whose time is over, phase 2 turns those that have been dead for
//! long enough into tombstones. On one instance at a time, in parts that are short for everybody
//! else. Redirects do not wait for it: they decide for themselves.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::{App, AppError};
use crate::store::{self, HeldLock, LinkAddress};
use kurz_core::link::Hour;

const LOCK: &str = "cleanup";
const MARK_PART: i64 = 1000;
/// Links purged in one transaction: each takes a few statements.
const PURGE_PART: i64 = 200;
/// How long hits are kept by the hour. Older ones are kept by the day.
const HOURS_KEPT: u32 = 31 * 24;

/// The times that a cleanup keeps to.
#[derive(Clone, Copy, Debug)]
pub struct CleanupTimes {
    /// How long no other cleanup begins, at least.
    pub lock_at_least: Duration,
    /// How long it may take.
    pub lock_at_most: Duration,
    /// How long a link stays dead before it is purged.
    pub purge_grace: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupEnd {
    Complete,
    /// The program is to stop; the next cleanup goes on.
    Stopped,
    /// It took too long, and lost the lock.
    LockLost,
}

impl CleanupEnd {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::LockLost => "lock-lost",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleaned {
    pub marked: usize,
    pub purged: usize,
    pub end: CleanupEnd,
}

impl App {
    /// Clean up, unless another instance does; then `None`.
    pub async fn clean_up(
        &self,
        times: CleanupTimes,
        stop: &CancellationToken,
    ) -> Result<Option<Cleaned>, AppError> {
        let store = &self.parts.store;
        let now = self.parts.clock.now();
        let taken =
            store.take_lock(LOCK, self.parts.peers.instance(), times.lock_at_most, now).await?;
        let Some(holding) = taken else {
            metrics::counter!("kurz_lock_contention_total", "lock" => LOCK).increment(1);
            return Ok(None);
        };
        let cleaned = self.clean_under(&holding, times.purge_grace, stop).await;
        // Also after a failure, so that the next one need not wait for the end of the lock.
        let now = self.parts.clock.now();
        let released = store.release_lock(&holding, times.lock_at_least, now).await;
        let cleaned = cleaned?;
        released?;
        Ok(Some(cleaned))
    }

    async fn clean_under(
        &self,
        holding: &HeldLock,
        grace: Duration,
        stop: &CancellationToken,
    ) -> Result<Cleaned, AppError> {
        let store = &self.parts.store;
        let mut cleaned = Cleaned { marked: 0, purged: 0, end: CleanupEnd::Complete };
        let mut purged_in = BTreeSet::new();
        let mut phases = [Phase::Mark, Phase::Purge].into_iter();
        let mut phase = phases.next();
        while let Some(current) = phase {
            if stop.is_cancelled() {
                cleaned.end = CleanupEnd::Stopped;
                break;
            }
            let now = self.parts.clock.now();
            let touched = match current {
                Phase::Mark => store.mark_expired(holding, MARK_PART, now).await?,
                Phase::Purge => store.purge_dead(holding, grace, PURGE_PART, now).await?,
            };
            let Some(touched) = touched else {
                cleaned.end = CleanupEnd::LockLost;
                break;
            };
            self.count_touched(current, &touched, &mut cleaned).await;
            if matches!(current, Phase::Purge) {
                purged_in.extend(touched.iter().map(|link| link.workspace.clone()));
            }
            if touched.is_empty() {
                phase = phases.next();
            }
        }
        self.forget_sums_of_purged_links(&purged_in).await?;
        if cleaned.end == CleanupEnd::Complete {
            self.finish_account_deletions().await?;
            cleaned.end = part_by_part(stop, || async {
                let now = self.parts.clock.now();
                let kept = Hour::from_number(Hour::of(now).number().saturating_sub(HOURS_KEPT));
                store.retire_hours(holding, kept, now).await
            })
            .await?;
        }
        if cleaned.end == CleanupEnd::Complete {
            cleaned.end = part_by_part(stop, || async {
                let now = self.parts.clock.now();
                let end = now.minus(self.parts.policy.audit_keep);
                store.purge_audit(holding, end, MARK_PART, now).await
            })
            .await?;
        }
        Ok(cleaned)
    }

    /// Count, and drop what the cache knows of the links.
    async fn count_touched(&self, phase: Phase, touched: &[LinkAddress], cleaned: &mut Cleaned) {
        self.invalidate_links(touched).await;
        let count = u64::try_from(touched.len()).unwrap_or(u64::MAX);
        match phase {
            Phase::Mark => {
                cleaned.marked += touched.len();
                metrics::counter!("kurz_cleanup_marked_total").increment(count);
            }
            Phase::Purge => {
                cleaned.purged += touched.len();
                metrics::counter!("kurz_cleanup_purged_total").increment(count);
            }
        }
    }
}

/// Do a part of something again and again: `Some(false)` says that nothing is left, `None` that the
/// lock was lost.
async fn part_by_part<P>(
    stop: &CancellationToken,
    part: impl Fn() -> P,
) -> Result<CleanupEnd, AppError>
where
    P: Future<Output = Result<Option<bool>, store::Error>>,
{
    while !stop.is_cancelled() {
        match part().await? {
            Some(true) => {}
            Some(false) => return Ok(CleanupEnd::Complete),
            None => return Ok(CleanupEnd::LockLost),
        }
    }
    Ok(CleanupEnd::Stopped)
}

#[derive(Clone, Copy)]
enum Phase {
    Mark,
    Purge,
}

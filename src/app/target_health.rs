//! Health checks of targets: which links are due, and the result of each check. A [`Probe`] does the
//! request; a link is checked once a day at most.

use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use tokio_util::sync::CancellationToken;

use crate::app::{App, AppError};
use crate::egress::{Checker, Health, TargetCheck, Transport};
use crate::store::{CheckResult, DueCheck, HeldLock};
use kurz_core::link::LinkId;

const LOCK: &str = "health";
/// How long a page may take before another instance may take over.
const AT_MOST: Duration = Duration::from_mins(10);
const PAGE: usize = 64;
/// Checks that run at the same time.
const AT_ONCE: usize = 16;
/// Numbers of links that are looked through at a time for those that were never checked.
const WINDOW: i64 = 10_000;
/// Pages and windows after which the others get their turn.
const ROUNDS: usize = 1000;
/// How long a link is left alone after a check.
const EVERY: Duration = Duration::from_hours(24);

pub trait Probe: Send + Sync {
    /// How the target is. Takes a bounded time, and can be dropped at any moment.
    fn probe(&self, target: &str) -> impl Future<Output = ProbeResult> + Send;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// One word of lower-case letters.
    pub status: &'static str,
    /// The HTTP status of the last response; `None` when there was none.
    pub http_status: Option<u16>,
}

impl<N: Transport> Probe for Checker<N> {
    async fn probe(&self, target: &str) -> ProbeResult {
        let TargetCheck { health, http_status } = self.check_target(target).await;
        ProbeResult { status: health.as_str(), http_status }
    }
}

/// Up to which number the links have been looked through for those that were never checked.
#[derive(Debug, Default)]
pub(super) struct ScanPosition(AtomicI64);

impl App {
    /// Check the targets that are due, unless another instance does; how many were checked.
    pub async fn check_targets(
        &self,
        probe: &impl Probe,
        stop: &CancellationToken,
    ) -> Result<Option<usize>, AppError> {
        let store = &self.parts.store;
        let now = self.parts.clock.now();
        let Some(holding) =
            store.take_lock(LOCK, self.parts.peers.instance(), AT_MOST, now).await?
        else {
            metrics::counter!("kurz_lock_contention_total", "lock" => LOCK).increment(1);
            return Ok(None);
        };
        let checked = self.check_under(&holding, probe, stop).await;
        let now = self.parts.clock.now();
        let released = store.release_lock(&holding, Duration::ZERO, now).await;
        let checked = checked?;
        released?;
        Ok(Some(checked))
    }

    async fn check_under(
        &self,
        holding: &HeldLock,
        probe: &impl Probe,
        stop: &CancellationToken,
    ) -> Result<usize, AppError> {
        let store = &self.parts.store;
        let mut checked = 0;
        for _ in 0..ROUNDS {
            let now = self.parts.clock.now();
            if stop.is_cancelled() || !store.extend_lock(holding, AT_MOST, now).await? {
                break;
            }
            let (due, is_last) = self.list_due().await?;
            let next = now.plus(EVERY);
            let Some(due) = store.reserve_checks(holding, due, next, now).await? else { break };
            let page = self.visit(due, probe, stop).await;
            for link in store.settle_checks(&page).await? {
                self.invalidate_redirects(&link.workspace, &link.code);
            }
            checked += page.len();
            if is_last {
                break;
            }
        }
        Ok(checked)
    }

    /// The next page of links that are due, and whether it is the last for now.
    async fn list_due(&self) -> Result<(Vec<DueCheck>, bool), AppError> {
        let store = &self.parts.store;
        let now = self.parts.clock.now();
        let page = i64::try_from(PAGE).unwrap_or(i64::MAX);
        let mut due = store.list_due_again(page, now).await?;
        if due.len() == PAGE {
            return Ok((due, false));
        }
        let health_scan = &self.health_scan.0;
        let after = health_scan.load(Ordering::Relaxed);
        let up_to = after.saturating_add(WINDOW);
        let rest = page - i64::try_from(due.len()).unwrap_or(page);
        let first = store.list_due_first(LinkId(after), LinkId(up_to), rest, now).await?;
        let is_full = i64::try_from(first.len()).is_ok_and(|count| count == rest);
        let is_end = !is_full && up_to >= store.next_number("link").await?;
        let reached = match first.last() {
            Some(last) if is_full => last.link.0,
            // From the front again: instances hand out numbers of older blocks beside newer ones.
            _ if is_end => 0,
            _ => up_to,
        };
        health_scan.store(reached, Ordering::Relaxed);
        due.extend(first);
        Ok((due, is_end))
    }

    /// Visit targets, a few at a time; what was found until `stop`.
    async fn visit(
        &self,
        due: Vec<DueCheck>,
        probe: &impl Probe,
        stop: &CancellationToken,
    ) -> Vec<CheckResult> {
        let check = |due: DueCheck| async move {
            let ProbeResult { status, http_status } = probe.probe(&due.target).await;
            metrics::counter!("kurz_health_checks_total", "status" => status).increment(1);
            CheckResult {
                due,
                status,
                http_status,
                has_failed: status == Health::Broken.as_str(),
                at: self.parts.clock.now(),
            }
        };
        let checks = stream::iter(due).map(check).buffer_unordered(AT_ONCE);
        checks.take_until(stop.cancelled()).collect().await
    }
}

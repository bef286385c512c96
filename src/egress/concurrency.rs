//! Limits concurrent checks: one per host, and a number in total, so that kurz cannot be used to overload
//! a host. There are no timeouts here: the caller drops the future.
//!
//! Invariant: names and addresses are locked separately, so that neither several names of one machine
//! nor several machines behind one name are checked at the same time. Permits are released on drop. A
//! check that holds an address waits for nothing else, so that there is no deadlock.

use std::collections::HashSet;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::destination::HostKind;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum HostKey {
    Name(String),
    Address(IpAddr),
}

impl HostKey {
    pub(super) fn of(host: &HostKind) -> Self {
        match host {
            HostKind::Name(name) => Self::Name(name.clone()),
            HostKind::Address(address) => Self::at(*address),
        }
    }

    /// An IPv6 host can use every address of its /64, so a /64 counts as one host.
    pub(super) fn at(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::Address(address),
            IpAddr::V6(wide) => {
                Self::Address(IpAddr::V6((wide.to_bits() & !u128::from(u64::MAX)).into()))
            }
        }
    }
}

#[derive(Debug, Default)]
struct PermitState {
    checks: usize,
    busy: HashSet<HostKey>,
}

#[derive(Debug)]
pub(super) struct ConcurrencyLimit {
    max_checks: usize,
    /// Holds at most two keys per check.
    state: Mutex<PermitState>,
    changed: Notify,
}

impl ConcurrencyLimit {
    pub(super) fn new(max_checks: NonZeroUsize) -> Self {
        Self { max_checks: max_checks.get(), state: Mutex::default(), changed: Notify::new() }
    }

    /// Start a check at the host `key`. Both permits are taken together, so that a check that waits for
    /// its host does not use up the total.
    pub(super) async fn acquire(&self, key: HostKey) -> (CheckPermit<'_>, HostPermit<'_>) {
        self.wait(|state| {
            if state.checks >= self.max_checks || !state.busy.insert(key.clone()) {
                return false;
            }
            state.checks += 1;
            true
        })
        .await;
        (CheckPermit(self), HostPermit { limit: self, key })
    }

    /// Add a host to a check that has started.
    pub(super) async fn acquire_host(&self, key: HostKey) -> HostPermit<'_> {
        self.wait(|state| state.busy.insert(key.clone())).await;
        HostPermit { limit: self, key }
    }

    async fn wait(&self, mut take: impl FnMut(&mut PermitState) -> bool) {
        let mut changed = pin!(self.changed.notified());
        loop {
            // Subscribe before testing, or a change in between would be missed.
            changed.as_mut().enable();
            if take(&mut self.state()) {
                return;
            }
            changed.as_mut().await;
            changed.set(self.changed.notified());
        }
    }

    fn state(&self) -> MutexGuard<'_, PermitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct CheckPermit<'p>(&'p ConcurrencyLimit);

impl Drop for CheckPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.checks = state.checks.saturating_sub(1);
        drop(state);
        self.0.changed.notify_waiters();
    }
}

#[derive(Debug)]
pub(super) struct HostPermit<'p> {
    limit: &'p ConcurrencyLimit,
    key: HostKey,
}

impl Drop for HostPermit<'_> {
    fn drop(&mut self) {
        self.limit.state().busy.remove(&self.key);
        self.limit.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn key(name: &str) -> HostKey {
        HostKey::Name(name.to_owned())
    }

    fn limit(max_checks: usize) -> ConcurrencyLimit {
        ConcurrencyLimit::new(NonZeroUsize::new(max_checks).unwrap())
    }

    #[test]
    fn a_host_has_one_check_at_a_time() {
        let limit = limit(9);
        let first = limit.acquire(key("a")).now_or_never().unwrap();
        let mut second = pin!(limit.acquire(key("a")));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(limit.acquire_host(key("a")).now_or_never().is_none());
        assert!(limit.acquire(key("b")).now_or_never().is_some());
        drop(first);
        assert!(second.as_mut().now_or_never().is_some());
    }

    #[test]
    fn waiting_for_a_host_does_not_count_towards_the_total() {
        let limit = limit(2);
        let (check, host) = limit.acquire(key("a")).now_or_never().unwrap();
        let mut waiting = pin!(limit.acquire(key("a")));
        assert!(waiting.as_mut().now_or_never().is_none());
        let _second = limit.acquire(key("b")).now_or_never().unwrap();
        assert!(limit.acquire(key("c")).now_or_never().is_none());
        drop(host);
        assert!(waiting.as_mut().now_or_never().is_none(), "the total is still used up");
        drop(check);
        assert!(waiting.as_mut().now_or_never().is_some());
    }

    #[test]
    fn dropped_permits_leave_no_state() {
        let limit = limit(1);
        drop(limit.acquire(key("a")).now_or_never().unwrap());
        assert!(limit.acquire(key("a")).now_or_never().is_some());
        let state = limit.state();
        assert_eq!((state.checks, state.busy.len()), (0, 0));
    }

    #[test]
    fn the_addresses_of_one_network_are_one_host() {
        let at = |text: &str| HostKey::at(text.parse().unwrap());
        assert_eq!(at("2a00::1"), at("2a00::ffff:1"));
        assert_ne!(at("2a00::1"), at("2a00:0:0:1::1"));
        assert_ne!(at("8.8.8.8"), at("8.8.4.4"));
    }
}

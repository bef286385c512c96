//! Who waits for whom: one visit to a host at a time, and few visits in all, so that kurz is nobody's
//! hammer. It knows no time: host waits too long is called off by the caller.
//!
//! Invariant: a host is a name and an address alike, so neither many names of one machine nor a name
//! with many machines gets more than its turn. Everything taken is given back when dropped, and
//! whoever holds an address waits for nobody, so that no two wait for each other.

use std::collections::HashSet;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::destination::HostKind;

/// A host, by one of its two names.
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

    /// An IPv6 host has as many addresses as it likes in its /64: they are one.
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
struct State {
    visits: usize,
    busy: HashSet<HostKey>,
}

/// The turns of everybody.
#[derive(Debug)]
pub(super) struct Pacing {
    at_once: usize,
    /// Holds at most two keys for each visit.
    state: Mutex<State>,
    changed: Notify,
}

impl Pacing {
    pub(super) fn new(at_once: NonZeroUsize) -> Self {
        Self { at_once: at_once.get(), state: Mutex::default(), changed: Notify::new() }
    }

    /// Begin a visit at the host `key`. Both are taken together: host waits for a host keeps nobody
    /// else from beginning.
    pub(super) async fn begin(&self, key: HostKey) -> (CheckPermit<'_>, HostPermit<'_>) {
        self.wait(|state| {
            if state.visits >= self.at_once || !state.busy.insert(key.clone()) {
                return false;
            }
            state.visits += 1;
            true
        })
        .await;
        (CheckPermit(self), HostPermit { pacing: self, key })
    }

    /// Go on at the host `key`, within a visit.
    pub(super) async fn turn(&self, key: HostKey) -> HostPermit<'_> {
        self.wait(|state| state.busy.insert(key.clone())).await;
        HostPermit { pacing: self, key }
    }

    async fn wait(&self, mut take: impl FnMut(&mut State) -> bool) {
        let mut changed = pin!(self.changed.notified());
        loop {
            // Listening starts before looking, or a change in between would go unheard.
            changed.as_mut().enable();
            if take(&mut self.state()) {
                return;
            }
            changed.as_mut().await;
            changed.set(self.changed.notified());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the few visits.
#[derive(Debug)]
pub(super) struct CheckPermit<'p>(&'p Pacing);

impl Drop for CheckPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.visits = state.visits.saturating_sub(1);
        drop(state);
        self.0.changed.notify_waiters();
    }
}

/// The only one at a host.
#[derive(Debug)]
pub(super) struct HostPermit<'p> {
    pacing: &'p Pacing,
    key: HostKey,
}

impl Drop for HostPermit<'_> {
    fn drop(&mut self) {
        self.pacing.state().busy.remove(&self.key);
        self.pacing.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn key(name: &str) -> HostKey {
        HostKey::Name(name.to_owned())
    }

    fn pacing(at_once: usize) -> Pacing {
        Pacing::new(NonZeroUsize::new(at_once).unwrap())
    }

    #[test]
    fn a_host_is_visited_by_one_at_a_time() {
        let pacing = pacing(9);
        let first = pacing.begin(key("a")).now_or_never().unwrap();
        let mut second = pin!(pacing.begin(key("a")));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(pacing.turn(key("a")).now_or_never().is_none());
        assert!(pacing.begin(key("b")).now_or_never().is_some());
        drop(first);
        assert!(second.as_mut().now_or_never().is_some());
    }

    #[test]
    fn there_are_few_visits_and_waiting_for_a_host_takes_none_of_them() {
        let pacing = pacing(2);
        let (visit, turn) = pacing.begin(key("a")).now_or_never().unwrap();
        let mut waiting = pin!(pacing.begin(key("a")));
        assert!(waiting.as_mut().now_or_never().is_none());
        let _second = pacing.begin(key("b")).now_or_never().unwrap();
        assert!(pacing.begin(key("c")).now_or_never().is_none());
        drop(turn);
        assert!(waiting.as_mut().now_or_never().is_none(), "no visit is free yet");
        drop(visit);
        assert!(waiting.as_mut().now_or_never().is_some());
    }

    #[test]
    fn what_is_given_back_is_gone() {
        let pacing = pacing(1);
        drop(pacing.begin(key("a")).now_or_never().unwrap());
        assert!(pacing.begin(key("a")).now_or_never().is_some());
        let state = pacing.state();
        assert_eq!((state.visits, state.busy.len()), (0, 0));
    }

    #[test]
    fn the_addresses_of_one_network_are_one_host() {
        let at = |text: &str| HostKey::at(text.parse().unwrap());
        assert_eq!(at("2a00::1"), at("2a00::ffff:1"));
        assert_ne!(at("2a00::1"), at("2a00:0:0:1::1"));
        assert_ne!(at("8.8.8.8"), at("8.8.4.4"));
    }
}

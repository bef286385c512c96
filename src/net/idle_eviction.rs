//! Makes room when all connections are taken: the one that has been idle longest is closed.
//!
//! Invariant: a connection with a request under way is never closed for another one. Here only an order
//! is given; the connection's own task closes it, after it has looked for a request once more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics::Counter;
use tokio::time::Instant;

use super::connection_state::ConnectionState;
use super::timeouts::{ConnectionList, IdleConnection};

/// A search looks at every connection. It keeps this share of them, so that thousands of new clients
/// cost a few searches.
const KEPT_SHARE: usize = 32;
const KEPT_MIN: usize = 16;
/// How long no search is made after one that found nothing, for each connection that it looked at:
/// about a hundred times as long as looking takes.
const SEARCH_PAUSE: Duration = Duration::from_micros(10);

pub(super) struct IdleEviction {
    lists: Mutex<Vec<ConnectionList>>,
    found: Mutex<FoundIdle>,
    evicted: Counter,
}

/// What the last search found.
#[derive(Default)]
struct FoundIdle {
    /// The longest idle is last.
    connections: Vec<IdleConnection>,
    next_search: Option<Instant>,
}

impl IdleEviction {
    pub(super) fn new() -> Self {
        Self {
            lists: Mutex::default(),
            found: Mutex::default(),
            evicted: metrics::counter!("kurz_connections_evicted_total"),
        }
    }

    /// Look for idle connections in this list, too.
    pub(super) fn watch(&self, list: &ConnectionList) {
        lock(&self.lists).push(list.clone());
    }

    /// Order the longest idle connection closed; `None` when no connection is idle.
    pub(super) fn evict_one(&self) -> Option<Arc<ConnectionState>> {
        let mut found = lock(&self.found);
        if let Some(evicted) = self.evict_found(&mut found.connections) {
            return Some(evicted);
        }
        let now = Instant::now();
        if found.next_search.is_some_and(|next| now < next) {
            return None;
        }
        let (idle, looked_at) = self.search(now);
        found.connections = idle;
        let evicted = self.evict_found(&mut found.connections);
        found.next_search = evicted.is_none().then(|| now + SEARCH_PAUSE * looked_at);
        evicted
    }

    fn evict_found(&self, connections: &mut Vec<IdleConnection>) -> Option<Arc<ConnectionState>> {
        while let Some(IdleConnection { calls, state, .. }) = connections.pop() {
            let is_idle = state.calls() == calls && state.is_between() && !state.done();
            if is_idle && state.evict() {
                self.evicted.increment(1);
                return Some(state);
            }
        }
        None
    }

    /// The longest idle connections, and how many were looked at.
    fn search(&self, now: Instant) -> (Vec<IdleConnection>, u32) {
        let (mut idle, mut looked_at) = (Vec::new(), 0);
        for list in &*lock(&self.lists) {
            looked_at += list.idle(now, &mut idle);
        }
        let kept = (idle.len() / KEPT_SHARE).max(KEPT_MIN);
        if idle.len() > kept {
            idle.select_nth_unstable_by_key(kept, |connection| connection.since);
            idle.truncate(kept);
        }
        idle.sort_unstable_by_key(|connection| std::cmp::Reverse(connection.since));
        (idle, u32::try_from(looked_at).unwrap_or(u32::MAX))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every operation leaves the guarded value consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::HttpLimits;
    use crate::net::connection_state::{CloseOrder, ReadStage};
    use crate::net::timeouts::Timeouts;

    struct Crowd {
        eviction: IdleEviction,
        states: Vec<Arc<ConnectionState>>,
    }

    /// Two workers with connections that came one after the other, the first one first.
    fn crowd(count: u64) -> Crowd {
        let eviction = IdleEviction::new();
        let mut workers: Vec<_> = (0..2).map(|_| Timeouts::new(HttpLimits::default())).collect();
        let start = Instant::now();
        let mut states = Vec::new();
        for number in 0..count {
            let state = Arc::new(ConnectionState::default());
            let at = usize::try_from(number % 2).unwrap();
            workers[at].add(Arc::clone(&state), start + Duration::from_millis(number));
            states.push(state);
        }
        for worker in &workers {
            eviction.watch(worker.connections());
        }
        Crowd { eviction, states }
    }

    impl Crowd {
        fn evict(&self) -> Option<usize> {
            let evicted = self.eviction.evict_one()?;
            assert_eq!(evicted.order(), CloseOrder::Evict);
            self.states.iter().position(|state| Arc::ptr_eq(state, &evicted))
        }
    }

    #[test]
    fn the_longest_idle_goes_first_whichever_worker_has_it() {
        let crowd = crowd(100);
        let evicted: Vec<_> = (0..100).map_while(|_| crowd.evict()).collect();
        assert_eq!(evicted, (0..100).collect::<Vec<_>>(), "over several searches");
        assert_eq!(crowd.evict(), None);
    }

    #[test]
    fn a_connection_with_a_request_under_way_is_left_alone() {
        let crowd = crowd(7);
        crowd.states[0].begin_request();
        crowd.states[1].set_stage(ReadStage::Head);
        crowd.states[2].set_blocked(true);
        crowd.states[3].give(CloseOrder::Drain);
        crowd.states[4].set_done();
        assert_eq!(crowd.evict(), Some(5));
        // Found idle by the search, and asked since.
        crowd.states[6].begin_request();
        assert_eq!(crowd.evict(), None);
        crowd.states[5].refuse_eviction();
        assert_eq!(crowd.states[5].order(), CloseOrder::Serve);
        crowd.states[3].refuse_eviction();
        assert_eq!(crowd.states[3].order(), CloseOrder::Drain, "another order stays");
    }
}

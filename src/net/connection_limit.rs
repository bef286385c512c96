//! Limits the open connections, in all and per client address. Where there are too many in all, the
//! longest idle one makes room (`idle_eviction`).
//!
//! Invariant: the counts are the number of live [`Permit`]s; dropping one releases its place.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use metrics::{Counter, Gauge};
use tokio::sync::Notify;

use super::connection_state::ConnectionState;
use super::idle_eviction::IdleEviction;
use super::timeouts::ConnectionList;
use crate::client_address::TrustedProxies;
use kurz_core::limits::network;

/// Why a connection gets no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EnterError {
    /// There are too many connections in all.
    Full,
    /// There are too many from its address.
    AddressFull,
}

/// Shared by all workers; its lock is taken per connection, never per request.
pub(super) struct ConnectionLimit {
    max: usize,
    max_per_ip: usize,
    /// Not limited per address, since all their clients connect from there.
    proxies: Arc<TrustedProxies>,
    open: AtomicUsize,
    /// Holds only addresses with an open connection, hence at most `max` of them.
    per_ip: Mutex<HashMap<IpAddr, usize>>,
    idle: IdleEviction,
    /// Told when a place becomes free while all are taken.
    freed: Notify,
    /// What the gauge shows: it is changed by sweeps, not by each connection.
    shown: AtomicUsize,
    open_gauge: Gauge,
    refused_total: Counter,
    refused_address: Counter,
}

impl ConnectionLimit {
    pub(super) fn new(max: usize, max_per_ip: usize, proxies: Arc<TrustedProxies>) -> Self {
        Self {
            max,
            max_per_ip,
            proxies,
            open: AtomicUsize::new(0),
            per_ip: Mutex::new(HashMap::new()),
            idle: IdleEviction::new(),
            freed: Notify::new(),
            shown: AtomicUsize::new(0),
            open_gauge: metrics::gauge!("kurz_connections_open"),
            refused_total: metrics::counter!("kurz_connections_refused_total", "reason" => "total"),
            refused_address: metrics::counter!(
                "kurz_connections_refused_total", "reason" => "address"
            ),
        }
    }

    /// A permit for a connection from `ip`.
    pub(super) fn enter(self: &Arc<Self>, ip: IpAddr) -> Result<Permit, EnterError> {
        let counts = self.max_per_ip > 0 && !self.proxies.trust(ip);
        let key = counts.then(|| network(ip));
        if let Some(key) = key
            && !self.count_in(key)
        {
            self.refused_address.increment(1);
            return Err(EnterError::AddressFull);
        }
        if self.open.fetch_add(1, Relaxed) >= self.max {
            self.open.fetch_sub(1, Relaxed);
            if let Some(key) = key {
                self.count_out(key);
            }
            return Err(EnterError::Full);
        }
        Ok(Permit { limit: Arc::clone(self), key })
    }

    /// Look for idle connections among these.
    pub(super) fn watch(&self, list: &ConnectionList) {
        self.idle.watch(list);
    }

    /// Order an idle connection closed to make room; `None` when none is idle.
    pub(super) fn make_room(&self) -> Option<Arc<ConnectionState>> {
        self.idle.evict_one()
    }

    /// Wait until a place may be free, or an order to make room was refused.
    pub(super) async fn freed(&self) {
        self.freed.notified().await;
    }

    /// Another worker may wait for a place, too.
    pub(super) fn pass_on(&self) {
        if self.open.load(Relaxed) < self.max {
            self.freed.notify_one();
        }
    }

    pub(super) fn count_refused(&self) {
        self.refused_total.increment(1);
    }

    /// Show the number of open connections as a metric.
    #[expect(
        clippy::cast_precision_loss,
        clippy::as_conversions,
        reason = "there are fewer connections than 2^52"
    )]
    pub(super) fn show(&self) {
        let open = self.open.load(Relaxed);
        let shown = self.shown.swap(open, Relaxed);
        // The difference: the admin listener has the same gauge.
        self.open_gauge.increment(open as f64 - shown as f64);
    }

    fn count_in(&self, key: IpAddr) -> bool {
        let mut per_ip = self.per_ip.lock().unwrap_or_else(PoisonError::into_inner);
        let count = per_ip.entry(key).or_default();
        let room = *count < self.max_per_ip;
        *count += usize::from(room);
        room
    }

    fn count_out(&self, key: IpAddr) {
        let mut per_ip = self.per_ip.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = per_ip.get_mut(&key) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                per_ip.remove(&key);
            }
        }
    }
}

pub(super) struct Permit {
    limit: Arc<ConnectionLimit>,
    key: Option<IpAddr>,
}

impl Permit {
    /// The connection had to make room and has a request under way.
    pub(super) fn refuse_eviction(&self) {
        self.limit.freed.notify_waiters();
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.limit.count_out(key);
        }
        if self.limit.open.fetch_sub(1, Relaxed) >= self.limit.max {
            self.limit.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn refused(limit: &Arc<ConnectionLimit>, from: &str) -> EnterError {
        limit.enter(ip(from)).err().unwrap()
    }

    #[test]
    fn a_permit_that_is_dropped_makes_room_for_the_next() {
        let limit = Arc::new(ConnectionLimit::new(3, 2, Arc::default()));
        let first = limit.enter(ip("127.0.0.1")).unwrap();
        let second = limit.enter(ip("127.0.0.1")).unwrap();
        assert_eq!(refused(&limit, "127.0.0.1"), EnterError::AddressFull);
        let third = limit.enter(ip("127.0.0.2")).unwrap();
        assert_eq!(refused(&limit, "127.0.0.3"), EnterError::Full);
        assert_eq!(limit.per_ip.lock().unwrap().len(), 2, "who got no place does not count");
        drop(first);
        let fourth = limit.enter(ip("127.0.0.1")).unwrap();
        drop((second, third, fourth));
        assert!(limit.per_ip.lock().unwrap().is_empty());
        assert_eq!(limit.open.load(Relaxed), 0);
    }

    #[test]
    fn addresses_of_one_subscriber_count_together() {
        let limit = Arc::new(ConnectionLimit::new(10, 1, Arc::default()));
        let _one = limit.enter(ip("2001:db8::1")).unwrap();
        assert!(limit.enter(ip("2001:db8::2")).is_err());
        let _two = limit.enter(ip("2001:db8:0:1::1")).unwrap();
        let _three = limit.enter(ip("192.0.2.1")).unwrap();
        assert!(limit.enter(ip("::ffff:192.0.2.1")).is_err());
    }

    #[test]
    fn a_trusted_proxy_is_not_counted_as_one_client() {
        let proxies = TrustedProxies::new(["10.0.0.0/8".parse().unwrap()]);
        let limit = Arc::new(ConnectionLimit::new(4, 1, Arc::new(proxies)));
        let permits: Vec<_> = (0..3).map_while(|_| limit.enter(ip("10.0.0.1")).ok()).collect();
        assert_eq!(permits.len(), 3);
        let _other = limit.enter(ip("192.0.2.1")).unwrap();
        assert_eq!(refused(&limit, "10.0.0.1"), EnterError::Full);
    }

    #[test]
    fn a_limit_of_0_for_an_address_is_none() {
        let limit = Arc::new(ConnectionLimit::new(100, 0, Arc::default()));
        let permits: Vec<_> = (0..100).map_while(|_| limit.enter(ip("127.0.0.1")).ok()).collect();
        assert_eq!(permits.len(), 100);
        assert!(limit.enter(ip("127.0.0.1")).is_err());
    }
}

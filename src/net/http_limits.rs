//! Limits: every bound that the network side keeps, with its default. Not the limits of the API
//! (body sizes, rates), which belong to the services. Invariant: nothing here is unbounded; the one
//! limit that can be off is the one per address, for closed networks.

use std::time::Duration;

use crate::config::Net;

/// What one server allows its clients.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// How long a head may take to come, from its first byte, or from the connection's start.
    pub header_timeout: Duration,
    /// How long a body may take to come, and how long a client may take to make room for 64 KiB of
    /// an answer.
    pub body_timeout: Duration,
    /// How long a connection is kept after its last request began. One that is still in flight then
    /// goes on as long as its client takes 64 KiB of the answer within each body timeout.
    pub idle_timeout: Duration,
    /// How long requests in flight may take to end once a shutdown began.
    pub drain_timeout: Duration,
    /// Connections open at one time, over all workers.
    pub max_connections: usize,
    /// Connections open at one time from one IPv4 address or one IPv6 /64; 0 is no limit.
    pub max_connections_per_ip: usize,
    /// Bytes of a request's head: request line and fields.
    pub max_head_bytes: usize,
    pub max_target_bytes: usize,
    pub max_fields: usize,
    /// Requests in flight on one HTTP/2 connection.
    pub max_streams: u32,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(5),
            body_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(1),
            drain_timeout: Duration::from_secs(20),
            max_connections: 10_000,
            max_connections_per_ip: 200,
            max_head_bytes: 16 * 1024,
            max_target_bytes: 8 * 1024,
            max_fields: 64,
            max_streams: 100,
        }
    }
}

impl HttpLimits {
    pub fn of(net: &Net) -> Self {
        Self {
            header_timeout: net.header_timeout,
            body_timeout: net.body_timeout,
            idle_timeout: net.idle_timeout,
            drain_timeout: net.drain_timeout,
            max_connections: net.max_connections,
            max_connections_per_ip: if net.limits { net.max_connections_per_ip } else { 0 },
            max_target_bytes: usize::try_from(net.max_target_bytes).unwrap_or(usize::MAX),
            max_head_bytes: usize::try_from(net.max_head_bytes).unwrap_or(usize::MAX),
            max_fields: net.max_header_fields,
            ..Self::default()
        }
    }

    /// How often connections are looked at. A timeout is kept to within two of these, and the
    /// shortest of them is off by a quarter at most.
    pub(super) fn tick(&self) -> Duration {
        let shortest = self.header_timeout.min(self.body_timeout).min(self.idle_timeout);
        (shortest / 8).clamp(Duration::from_millis(10), Duration::from_millis(500))
    }
}

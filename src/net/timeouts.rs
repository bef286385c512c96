//! Timeouts of connections. Each worker sweeps over all of its connections a few times a second and
//! orders those to close whose time is over; the connection's task carries the order out.
//!
//! hyper's header timeout also runs between two requests, where it would close every idle connection
//! after 5 s, and it registers a timer per request. Here a request costs no timer, and a timeout is
//! exact to within two sweeps.
//!
//! Invariant: whatever a client does or does not do, [`TimedConnection::judge`] ends its connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::connection_state::{CloseOrder, ConnectionState, ReadStage};
use super::http_limits::HttpLimits;

/// A client that reads this much of an answer within the body timeout is slow, not stalled.
const PROGRESS: u64 = 64 * 1024;

/// Orders given in one go. Thousands of connections may time out at the same moment, and closing one
/// costs as much as several redirects, which would have to wait.
const ORDERS_AT_ONCE: usize = 16;

/// The pause before the next orders are given.
pub(super) const BREATH: Duration = Duration::from_millis(5);

/// How long a lingering connection waits for more bytes.
const SILENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Timeouts {
    limits: HttpLimits,
    connections: ConnectionList,
    draining: bool,
}

/// The connections of a worker. Other workers look for idle ones when there are too many.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionList(Arc<Mutex<Vec<TimedConnection>>>);

impl ConnectionList {
    /// Collect the connections between two requests; returns how many were looked at.
    pub(super) fn idle(&self, now: Instant, idle: &mut Vec<IdleConnection>) -> usize {
        let connections = self.lock();
        for connection in &*connections {
            let state = &connection.state;
            if !state.is_between() || state.done() || state.order() != CloseOrder::Serve {
                continue;
            }
            let calls = state.calls();
            // The time of a request is known when the next sweep has seen it.
            let since = if calls == connection.calls { connection.called } else { now };
            idle.push(IdleConnection { since, calls, state: Arc::clone(state) });
        }
        connections.len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TimedConnection>> {
        // Every operation leaves the list consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that was idle when it was looked at.
#[derive(Debug)]
pub(super) struct IdleConnection {
    pub(super) since: Instant,
    /// The requests before.
    pub(super) calls: u32,
    pub(super) state: Arc<ConnectionState>,
}

impl Timeouts {
    pub(super) fn new(limits: HttpLimits) -> Self {
        Self { limits, connections: ConnectionList::default(), draining: false }
    }

    pub(super) fn connections(&self) -> &ConnectionList {
        &self.connections
    }

    pub(super) fn add(&mut self, state: Arc<ConnectionState>, now: Instant) {
        self.connections.lock().push(TimedConnection::new(state, now));
    }

    /// Check every connection, and drop those that ended. Returns whether some were postponed: then
    /// the next sweep is due after a [`BREATH`].
    pub(super) fn sweep(&mut self, now: Instant) -> bool {
        let (limits, draining) = (self.limits, self.draining);
        let mut orders = 0;
        self.connections.lock().retain_mut(|connection| {
            if connection.state.done() {
                return false;
            }
            if draining {
                connection.drain();
            }
            if orders < ORDERS_AT_ONCE
                && let Some(order) = connection.judge(now, &limits)
            {
                // Repeating an order costs nothing and does not count.
                orders += usize::from(connection.state.give(order));
            }
            true
        });
        orders == ORDERS_AT_ONCE
    }

    /// Order every connection to finish its requests in flight. A new one has until the next sweep to
    /// send its first request, which may be on its way.
    pub(super) fn drain(&mut self) {
        self.draining = true;
        for connection in &mut *self.connections.lock() {
            if connection.state.calls() > 0 {
                connection.drain();
            }
        }
    }
}

#[derive(Debug)]
struct TimedConnection {
    state: Arc<ConnectionState>,
    calls: u32,
    /// When the connection was accepted, or its last request was seen to begin.
    called: Instant,
    head: Option<Instant>,
    lingering: Option<Lingering>,
    /// Since when the client is expected to read, and how much it had read then.
    stalled: Option<(Instant, u64)>,
    closing: Option<(Instant, u64)>,
    drained: bool,
}

/// A lingering connection: read and discarded until its client has sent everything.
#[derive(Debug)]
struct Lingering {
    since: Instant,
    heard: Instant,
    bytes: u64,
}

impl Lingering {
    /// Whether the client stopped sending, or has used up the body timeout.
    fn is_over(&mut self, bytes: u64, now: Instant, limits: &HttpLimits) -> bool {
        if bytes != self.bytes {
            (self.heard, self.bytes) = (now, bytes);
        }
        now - self.heard >= SILENCE || now - self.since >= limits.body_timeout
    }
}

impl TimedConnection {
    fn new(state: Arc<ConnectionState>, now: Instant) -> Self {
        Self {
            state,
            calls: 0,
            called: now,
            head: None,
            lingering: None,
            stalled: None,
            closing: None,
            drained: false,
        }
    }

    fn drain(&mut self) {
        if !self.drained {
            self.drained = true;
            self.state.give(CloseOrder::Drain);
        }
    }

    fn judge(&mut self, now: Instant, limits: &HttpLimits) -> Option<CloseOrder> {
        let calls = self.state.calls();
        if calls != self.calls {
            self.calls = calls;
            self.called = now;
            self.head = None;
        }
        if let Some(bytes) = self.state.lingering() {
            let lingering =
                self.lingering.get_or_insert(Lingering { since: now, heard: now, bytes });
            return lingering.is_over(bytes, now, limits).then_some(CloseOrder::Cut);
        }
        if self.is_stalled(now, limits) {
            return Some(CloseOrder::Cut);
        }
        if self.head_is_late(now, limits) {
            return Some(CloseOrder::Expire);
        }
        self.is_idle(now, limits)
    }

    /// The client does not read its answer.
    fn is_stalled(&mut self, now: Instant, limits: &HttpLimits) -> bool {
        if !self.state.blocked() {
            self.stalled = None;
            return false;
        }
        let written = self.state.written();
        overdue(self.stalled.get_or_insert((now, written)), now, written, limits.body_timeout)
    }

    /// The first head of a connection, or one that began, is not complete in time.
    fn head_is_late(&mut self, now: Instant, limits: &HttpLimits) -> bool {
        if self.calls == 0 {
            return now - self.called >= limits.header_timeout;
        }
        if self.state.stage() != ReadStage::Head {
            self.head = None;
            return false;
        }
        now - *self.head.get_or_insert(now) >= limits.header_timeout
    }

    /// No request has begun for the idle timeout. One may still be in flight: drain first, and cut
    /// only if the client then reads nothing. This also ends an HTTP/2 connection that is kept alive by
    /// pings, by an incomplete head, or by a window that is never opened.
    fn is_idle(&mut self, now: Instant, limits: &HttpLimits) -> Option<CloseOrder> {
        if self.calls == 0 || now - self.called < limits.idle_timeout {
            self.closing = None;
            return None;
        }
        let written = self.state.written();
        if let Some(closing) = &mut self.closing {
            overdue(closing, now, written, limits.body_timeout).then_some(CloseOrder::Cut)
        } else {
            self.closing = Some((now, written));
            Some(CloseOrder::Drain)
        }
    }
}

/// Whether the deadline for progress has passed; progress restarts it.
fn overdue(since: &mut (Instant, u64), now: Instant, written: u64, timeout: Duration) -> bool {
    if now - since.0 < timeout {
        return false;
    }
    let stalled = written.wrapping_sub(since.1) < PROGRESS;
    *since = (now, written);
    stalled
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a connection with this state is ordered, and after how many seconds, when looked at
    /// each second. `each` is told the second, and changes the state as the client would.
    fn orders(mut each: impl FnMut(u64, &ConnectionState)) -> Vec<(u64, CloseOrder)> {
        let state = Arc::new(ConnectionState::default());
        let start = Instant::now();
        let mut watched = TimedConnection::new(Arc::clone(&state), start);
        let mut orders = Vec::new();
        for second in 0..120 {
            each(second, &state);
            let now = start + Duration::from_secs(second);
            if let Some(order) = watched.judge(now, &HttpLimits::default()) {
                orders.push((second, order));
                if order != CloseOrder::Drain {
                    break;
                }
            }
        }
        orders
    }

    // threats: G1
    #[test]
    fn a_connection_without_a_request_expires_with_the_header_timeout() {
        assert_eq!(orders(|_, _| ()), [(5, CloseOrder::Expire)]);
        let dribbles = |_, state: &ConnectionState| state.set_stage(ReadStage::Head);
        assert_eq!(orders(dribbles), [(5, CloseOrder::Expire)]);
    }

    // threats: G1
    #[test]
    fn many_that_are_late_at_once_are_ended_a_few_at_a_time() {
        let mut timeouts = Timeouts::new(HttpLimits::default());
        let start = Instant::now();
        let pulses: Vec<_> = (0..ORDERS_AT_ONCE * 5 / 2).map(|_| Arc::default()).collect();
        for state in &pulses {
            timeouts.add(Arc::clone(state), start);
        }
        let expired = || pulses.iter().filter(|state| state.order() == CloseOrder::Expire).count();
        assert!(!timeouts.sweep(start + Duration::from_secs(4)));
        let late = start + Duration::from_secs(5);
        assert!(timeouts.sweep(late));
        assert_eq!(expired(), ORDERS_AT_ONCE);
        // Those that do not end at once keep nobody waiting.
        assert!(timeouts.sweep(late));
        assert_eq!(expired(), 2 * ORDERS_AT_ONCE);
        assert!(!timeouts.sweep(late));
        assert_eq!(expired(), pulses.len());
    }

    // threats: G1
    #[test]
    fn a_later_head_has_the_header_timeout_from_its_first_byte() {
        let late = orders(|second, state| match second {
            0 => state.count_call(),
            20 => state.set_stage(ReadStage::Head),
            _ => {}
        });
        assert_eq!(late, [(25, CloseOrder::Expire)]);
    }

    #[test]
    fn a_connection_that_asks_again_and_again_is_left_alone() {
        let busy = |_, state: &ConnectionState| {
            state.count_call();
            state.set_stage(ReadStage::Head);
        };
        assert_eq!(orders(busy), []);
    }

    #[test]
    fn an_idle_connection_is_drained_and_then_cut_if_it_stays() {
        let idle = |second, state: &ConnectionState| {
            if second == 0 {
                state.count_call();
            }
        };
        assert_eq!(orders(idle), [(60, CloseOrder::Drain), (70, CloseOrder::Cut)]);
    }

    #[test]
    fn a_long_download_outlives_the_idle_timeout() {
        let taking = |second, state: &ConnectionState| {
            if second == 0 {
                state.count_call();
            }
            state.set_blocked(true);
            state.set_written(second * 10_000);
        };
        assert_eq!(orders(taking), [(60, CloseOrder::Drain)]);
    }

    // threats: G1
    #[test]
    fn a_client_that_takes_its_answer_a_byte_at_a_time_is_cut() {
        let dribbling = |second, state: &ConnectionState| {
            if second == 0 {
                state.count_call();
            }
            state.set_blocked(true);
            state.set_written(second);
        };
        assert_eq!(orders(dribbling), [(10, CloseOrder::Cut)]);
    }

    // threats: A13
    #[test]
    fn a_closing_connection_is_read_from_while_its_client_sends_and_no_longer_than_a_body() {
        let silent = |second, state: &ConnectionState| {
            if second == 1 {
                state.set_lingering(0);
            }
        };
        assert_eq!(orders(silent), [(2, CloseOrder::Cut)]);
        let stops = |second, state: &ConnectionState| match second {
            0 => {}
            second => state.set_lingering(1000 * second.min(5)),
        };
        assert_eq!(orders(stops), [(6, CloseOrder::Cut)]);
        let endless = |second, state: &ConnectionState| {
            if second > 0 {
                state.set_lingering(1000 * second);
            }
        };
        assert_eq!(orders(endless), [(11, CloseOrder::Cut)]);
    }
}

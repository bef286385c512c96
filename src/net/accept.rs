//! The accept loop of one worker: accepts connections, serves them, and drains them at shutdown.
//!
//! Invariant: every task that serves a connection is tracked, so that the loop ends only when all
//! tasks have ended or the drain timeout has passed.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection_limit::{ConnectionLimit, EnterError, Permit};
use super::connection_state::{CloseOrder, ConnectionState};
use super::fast_path::{FastPath, FastReader};
use super::http_limits::HttpLimits;
use super::request_limits::RequestLimits;
use super::serve_connection::{Alive, FirstRead, Protocols, converse};
use super::timeouts::{BREATH, Timeouts};
use super::tls_reload;

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// How long a client waits for an idle connection to make room.
const ROOM_WAIT: Duration = Duration::from_secs(1);

pub(super) struct Worker<F> {
    limits: HttpLimits,
    limit: Arc<ConnectionLimit>,
    connect: F,
    protocols: Arc<Protocols>,
    tasks: TaskTracker,
    timeouts: Timeouts,
    tls: Option<Arc<ServerConfig>>,
    waiting: Option<WaitingClient>,
}

/// A client that was accepted when all connections were taken.
struct WaitingClient {
    stream: TcpStream,
    peer: SocketAddr,
    until: Instant,
    /// The connection that is ordered to make room.
    evicted: Arc<ConnectionState>,
}

impl<F, S, B> Worker<F>
where
    F: Fn(SocketAddr) -> S,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + FastPath
        + Send
        + Sync
        + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Default + Send + Unpin + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    pub(super) fn new(
        limits: HttpLimits,
        limit: Arc<ConnectionLimit>,
        connect: F,
        tls: Option<Arc<ServerConfig>>,
    ) -> Self {
        let tasks = TaskTracker::new();
        let protocols = Arc::new(Protocols::new(&limits, &tasks));
        let timeouts = Timeouts::new(limits);
        limit.watch(timeouts.connections());
        Self { limits, limit, connect, protocols, tasks, timeouts, tls, waiting: None }
    }

    /// Serve until `stop`, then drain. Returns how many connections had to be cut.
    pub(super) async fn run(mut self, listener: TcpListener, stop: CancellationToken) -> usize {
        let mut stopped = pin!(stop.cancelled());
        let mut tick = interval(self.limits.tick());
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pause = Pause::default();
        let limit = Arc::clone(&self.limit);
        loop {
            let until = pause.until;
            let rest = async { sleep_until(until.unwrap_or_else(Instant::now)).await };
            tokio::select! {
                biased;
                () = &mut stopped => break,
                _ = tick.tick() => {
                    self.sweep(&mut tick);
                    self.admit_waiting();
                }
                () = rest, if pause.on() => pause.end(),
                () = limit.freed(), if self.waiting.is_some() => self.admit_waiting(),
                accepted = listener.accept(), if !pause.on() && self.waiting.is_none() => match accepted {
                    Ok((stream, peer)) => {
                        pause.reset();
                        self.admit(stream, peer);
                    }
                    Err(error) => pause.begin(&error, Instant::now()),
                },
            }
        }
        self.accept_rest(listener);
        self.drain().await
    }

    fn admit(&mut self, stream: TcpStream, peer: SocketAddr) {
        match self.limit.enter(peer.ip()) {
            Ok(permit) => self.serve(stream, peer, permit),
            Err(EnterError::AddressFull) => {}
            Err(EnterError::Full) => self.wait_for_room(stream, peer, Instant::now() + ROOM_WAIT),
        }
    }

    /// Let the longest idle connection make room. The next client is accepted after this one.
    fn wait_for_room(&mut self, stream: TcpStream, peer: SocketAddr, until: Instant) {
        match self.limit.make_room() {
            Some(evicted) => self.waiting = Some(WaitingClient { stream, peer, until, evicted }),
            None => self.limit.count_refused(),
        }
    }

    fn admit_waiting(&mut self) {
        let Some(client) = self.waiting.take() else { return };
        match self.limit.enter(client.peer.ip()) {
            Ok(permit) => {
                self.serve(client.stream, client.peer, permit);
                self.limit.pass_on();
            }
            Err(EnterError::AddressFull) => {}
            Err(EnterError::Full) if Instant::now() >= client.until => self.limit.count_refused(),
            Err(EnterError::Full) => {
                let evicted = &client.evicted;
                if evicted.order() == CloseOrder::Evict && !evicted.done() {
                    self.waiting = Some(client);
                } else {
                    // It refused, or its place was taken by another worker.
                    self.wait_for_room(client.stream, client.peer, client.until);
                }
            }
        }
    }

    fn serve(&mut self, stream: TcpStream, peer: SocketAddr, permit: Permit) {
        let state = Arc::new(ConnectionState::default());
        let service = RequestLimits::new((self.connect)(peer), Arc::clone(&state), &self.limits);
        let mut fast = FastReader::new(self.tls.is_some());
        let unread = match self.tls {
            None => match fast.read_first(&stream, &service) {
                Some(unread) => unread,
                None => return,
            },
            Some(_) => Bytes::new(),
        };
        let first = FirstRead { fast, unread };
        self.timeouts.add(Arc::clone(&state), Instant::now());
        let alive = Alive { state, permit };
        let protocols = Arc::clone(&self.protocols);
        // Two kinds of future, so that one without TLS is not as large as one with it.
        if let Some(tls) = &self.tls {
            let tls = Arc::clone(tls);
            self.tasks.spawn(async move {
                if let Some(stream) = tls_reload::handshake(tls, stream, &alive.state).await {
                    converse(&protocols, stream, service, alive, first).await;
                }
            });
        } else {
            self.tasks.spawn(async move {
                converse(&protocols, stream, service, alive, first).await;
            });
        }
    }

    /// Serve connections that wait in the backlog: closing the listener would reset them.
    fn accept_rest(&mut self, listener: TcpListener) {
        self.admit_waiting();
        let Ok(listener) = listener.into_std() else { return };
        while let Ok((stream, peer)) = listener.accept() {
            if stream.set_nonblocking(true).is_ok()
                && let Ok(stream) = TcpStream::from_std(stream)
                && let Ok(permit) = self.limit.enter(peer.ip())
            {
                self.serve(stream, peer, permit);
            }
        }
    }

    async fn drain(mut self) -> usize {
        let deadline = Instant::now() + self.limits.drain_timeout;
        let mut tick = interval(self.limits.tick());
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // An interval's first tick is immediate; new connections get a whole one.
        tick.tick().await;
        self.timeouts.drain();
        self.tasks.close();
        let tasks = self.tasks.clone();
        let mut ended = pin!(timeout_at(deadline, tasks.wait()));
        loop {
            tokio::select! {
                outcome = &mut ended => {
                    return if outcome.is_ok() { 0 } else { self.tasks.len() };
                }
                _ = tick.tick() => self.sweep(&mut tick),
            }
        }
    }

    fn sweep(&mut self, tick: &mut Interval) {
        self.limit.show();
        if self.timeouts.sweep(Instant::now()) {
            tick.reset_after(BREATH);
        }
    }
}

/// Backoff after a failed accept. Out of file descriptors every accept fails immediately, and
/// without a pause the loop would take the CPU that open connections need to finish.
#[derive(Default)]
struct Pause {
    until: Option<Instant>,
    length: Duration,
}

impl Pause {
    fn on(&self) -> bool {
        self.until.is_some()
    }

    fn begin(&mut self, error: &io::Error, now: Instant) {
        metrics::counter!("kurz_accept_errors_total").increment(1);
        if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
        {
            // The client's failure, not ours: the next accept may succeed.
            return;
        }
        if self.length.is_zero() {
            tracing::warn!(%error, "cannot accept connections; trying again");
        }
        self.length = (self.length * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        self.until = Some(now + self.length);
    }

    fn end(&mut self) {
        self.until = None;
    }

    fn reset(&mut self) {
        self.length = Duration::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // threats: F9
    #[test]
    fn without_descriptors_the_loop_waits_longer_and_longer_up_to_a_limit() {
        let mut pause = Pause::default();
        let full = io::Error::from_raw_os_error(24);
        let now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..7 {
            pause.begin(&full, now);
            assert!(pause.on());
            waits.push((pause.until.unwrap() - now).as_millis());
            pause.end();
        }
        assert_eq!(waits, [5, 10, 20, 40, 80, 100, 100]);
        pause.reset();
        pause.begin(&io::ErrorKind::ConnectionAborted.into(), now);
        assert!(!pause.on(), "a client that left is no reason to wait");
    }
}

//! The accept loop of one worker: accepts connections, serves them, and drains them at shutdown.
//!
//! Invariant: every task that serves a connection is tracked, so that the loop ends only when all
//! tasks have ended or the drain timeout has passed.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection_limit::{ConnectionLimit, Permit};
use super::connection_state::{CloseOrder, ConnectionState};
use super::fast_path::{FastPath, Opening};
use super::http_limits::HttpLimits;
use super::request_limits::RequestLimits;
use super::socket::Socket;
use super::timeouts::{BREATH, Timeouts};
use super::tls_reload;

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Flow-control windows of HTTP/2, per stream and per connection. The second is small, so that a
/// hundred streams buffer no more than a few connections of HTTP/1.
const STREAM_BYTES: u32 = 64 * 1024;
const CONNECTION_BYTES: u32 = 128 * 1024;

/// HTTP/2 runs each request in a task; these are tracked as well.
#[derive(Clone)]
struct Tracked(TaskTracker);

impl<F> hyper::rt::Executor<F> for Tracked
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        self.0.spawn(future);
    }
}

pub(super) struct Worker<F> {
    limits: HttpLimits,
    limit: Arc<ConnectionLimit>,
    connect: F,
    builder: Arc<auto::Builder<Tracked>>,
    tasks: TaskTracker,
    timeouts: Timeouts,
    tls: Option<Arc<ServerConfig>>,
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
    B: Body<Data = Bytes> + Default + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    pub(super) fn new(
        limits: HttpLimits,
        limit: Arc<ConnectionLimit>,
        connect: F,
        tls: Option<Arc<ServerConfig>>,
    ) -> Self {
        let tasks = TaskTracker::new();
        let builder = Arc::new(protocol(&limits, Tracked(tasks.clone())));
        Self { limits, limit, connect, builder, tasks, timeouts: Timeouts::new(limits), tls }
    }

    /// Serve until `stop`, then drain. Returns how many connections had to be cut.
    pub(super) async fn run(mut self, listener: TcpListener, stop: CancellationToken) -> usize {
        let mut stopped = pin!(stop.cancelled());
        let mut tick = interval(self.limits.tick());
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pause = Pause::default();
        loop {
            tokio::select! {
                () = &mut stopped => break,
                _ = tick.tick() => self.sweep(&mut tick),
                () = sleep_until(pause.until()), if pause.on() => pause.end(),
                accepted = listener.accept(), if !pause.on() => match accepted {
                    Ok((stream, peer)) => {
                        pause.reset();
                        self.serve(stream, peer);
                    }
                    Err(error) => pause.begin(&error, Instant::now()),
                },
            }
        }
        self.accept_rest(listener);
        self.drain().await
    }

    fn serve(&mut self, stream: TcpStream, peer: SocketAddr) {
        let Some(permit) = self.limit.enter(peer.ip()) else { return };
        let state = Arc::new(ConnectionState::default());
        self.timeouts.add(Arc::clone(&state), Instant::now());
        let service = RequestLimits::new((self.connect)(peer), Arc::clone(&state), &self.limits);
        let alive = Alive { state, _permit: permit };
        let builder = Arc::clone(&self.builder);
        // Two kinds of future, so that one without TLS is not as large as one with it.
        if let Some(tls) = &self.tls {
            let tls = Arc::clone(tls);
            self.tasks.spawn(async move {
                if let Some(stream) = tls_reload::handshake(tls, stream, &alive.state).await {
                    converse(&builder, stream, service, alive).await;
                }
            });
        } else {
            self.tasks.spawn(async move { converse(&builder, stream, service, alive).await });
        }
    }

    /// Serve connections that wait in the backlog: closing the listener would reset them.
    fn accept_rest(&mut self, listener: TcpListener) {
        let Ok(listener) = listener.into_std() else { return };
        while let Ok((stream, peer)) = listener.accept() {
            if stream.set_nonblocking(true).is_ok()
                && let Ok(stream) = TcpStream::from_std(stream)
            {
                self.serve(stream, peer);
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
        if self.timeouts.sweep(Instant::now()) {
            tick.reset_after(BREATH);
        }
    }
}

/// Serve HTTP on `stream` until it ends or `timeouts` orders it closed.
async fn converse<T, S, B>(builder: &auto::Builder<Tracked>, stream: T, service: S, alive: Alive)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + FastPath
        + Send
        + Sync
        + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Default + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let state = &alive.state;
    let mut socket = Socket::new(stream, Arc::clone(state));
    let mut opening = Opening::new(&mut socket, &service);
    let mut following = None;
    let opened = poll_fn(|cx| {
        let order = state.order();
        if following != Some(order) {
            following = Some(order);
            state.heed(cx.waker());
        }
        match order {
            CloseOrder::Serve => opening.poll(cx, false),
            // hyper takes over and closes the connection as the order says.
            CloseOrder::Expire | CloseOrder::Drain => opening.poll(cx, true),
            CloseOrder::Cut => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
        }
    });
    if opened.await.is_err() {
        return;
    }
    let mut connection = pin!(builder.serve_connection(TokioIo::new(socket), service));
    let mut following = None;
    poll_fn(|cx| {
        let order = state.order();
        if following != Some(order) {
            // A request that the fast path read and did not answer is in flight, whatever the order.
            if following.is_none() && connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            following = Some(order);
            state.heed(cx.waker());
            match order {
                // The socket acts on `Expire` itself, while hyper waits for a head.
                CloseOrder::Serve | CloseOrder::Expire => {}
                CloseOrder::Drain => connection.as_mut().graceful_shutdown(),
                CloseOrder::Cut => return Poll::Ready(()),
            }
        }
        // Errors of a connection are the client's: already answered or counted.
        connection.as_mut().poll(cx).map(drop)
    })
    .await;
}

/// Dropped when a connection's task ends, also when it ends by a panic of the service.
struct Alive {
    state: Arc<ConnectionState>,
    _permit: Permit,
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.state.set_done();
    }
}

fn protocol(limits: &HttpLimits, executor: Tracked) -> auto::Builder<Tracked> {
    let mut builder = auto::Builder::new(executor);
    builder
        .http1()
        .timer(TokioTimer::new())
        // `timeouts` enforces it: hyper's own would also close idle connections.
        .header_read_timeout(None)
        // hyper refuses a head that does not fit; 8192 is its smallest buffer.
        .max_buf_size(limits.max_head_bytes.max(8192));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.max_streams)
        .max_header_list_size(u32::try_from(limits.max_head_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_BYTES)
        .initial_connection_window_size(CONNECTION_BYTES)
        .max_send_buf_size(64 * 1024);
    builder
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

    fn until(&self) -> Instant {
        self.until.unwrap_or_else(Instant::now)
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
            waits.push((pause.until() - now).as_millis());
            pause.end();
        }
        assert_eq!(waits, [5, 10, 20, 40, 80, 100, 100]);
        pause.reset();
        pause.begin(&io::ErrorKind::ConnectionAborted.into(), now);
        assert!(!pause.on(), "a client that left is no reason to wait");
    }
}

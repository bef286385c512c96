//! One connection from its first byte to its end: the fast path reads first; hyper reads one request
//! that is not for the fast path at a time, or all of an HTTP/2 connection.
//!
//! Invariant: once a byte of HTTP/1 was read, the connection never becomes HTTP/2.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::task::TaskTracker;

use super::connection_limit::Permit;
use super::connection_state::{CloseOrder, ConnectionState, ReadStage};
use super::fast_path::{FastPath, FastReader, NextReader};
use super::http_limits::HttpLimits;
use super::socket::Socket;

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

/// What hyper speaks: HTTP/1 for one request, or what the client begins with.
pub(super) struct Protocols {
    http1: http1::Builder,
    any: auto::Builder<Tracked>,
}

impl Protocols {
    pub(super) fn new(limits: &HttpLimits, tasks: &TaskTracker) -> Self {
        // hyper refuses a head that does not fit; 8192 is its smallest buffer.
        let head_bytes = limits.max_head_bytes.max(8192);
        let mut http1 = http1::Builder::new();
        http1
            .timer(TokioTimer::new())
            // `timeouts` enforces it: hyper's own would also close idle connections.
            .header_read_timeout(None)
            .max_buf_size(head_bytes);
        let mut any = auto::Builder::new(Tracked(tasks.clone()));
        any.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(head_bytes);
        any.http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.max_streams)
            .max_header_list_size(u32::try_from(limits.max_head_bytes).unwrap_or(u32::MAX))
            .initial_stream_window_size(STREAM_BYTES)
            .initial_connection_window_size(CONNECTION_BYTES)
            .max_send_buf_size(64 * 1024);
        Self { http1, any }
    }
}

/// Dropped when a connection's task ends, also when it ends by a panic of the service.
pub(super) struct Alive {
    pub(super) state: Arc<ConnectionState>,
    pub(super) permit: Permit,
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.state.set_done();
    }
}

/// The orders of a connection, as its task follows them.
struct OrderReader<'a> {
    alive: &'a Alive,
    last: Option<CloseOrder>,
}

impl OrderReader<'_> {
    fn state(&self) -> &ConnectionState {
        &self.alive.state
    }

    /// The current order. The task is woken by the next one.
    fn read(&mut self, cx: &Context<'_>) -> CloseOrder {
        loop {
            let order = self.state().order();
            if self.last == Some(order) {
                return order;
            }
            // Read again after registering: another thread may have ordered in between.
            self.last = Some(order);
            self.state().heed(cx.waker());
        }
    }

    /// A request is under way: another connection has to make room.
    fn refuse_eviction(&self) {
        self.state().refuse_eviction();
        self.alive.permit.refuse_eviction();
    }
}

/// What the first read of a connection found: the state of the fast path, and the bytes that it did not answer.
pub(super) struct FirstRead {
    pub(super) fast: FastReader,
    pub(super) unread: Bytes,
}

/// Serve HTTP on `stream` until it ends or is ordered closed.
pub(super) async fn converse<T, S, B>(
    protocols: &Protocols,
    stream: T,
    service: S,
    alive: Alive,
    first: FirstRead,
) where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + FastPath
        + Send
        + Sync
        + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut socket = Socket::new(stream, Arc::clone(&alive.state));
    let mut orders = OrderReader { alive: &alive, last: None };
    let FirstRead { mut fast, unread } = first;
    let has_tls = fast.has_tls();
    socket.give_back(&unread);
    if fast.later.is_some() {
        socket.state().begin_request();
    }
    loop {
        let next = poll_fn(|cx| poll_fast(cx, &mut orders, &mut fast, &mut socket, &service)).await;
        match next {
            Ok(NextReader::Http1) => {
                socket.supply_message();
                // Allocated only for requests that need it: most connections carry none.
                let io = TokioIo::new(&mut socket);
                let mut connection = Box::pin(protocols.http1.serve_connection(io, &service));
                let mut request = OneRequest::after(alive.state.calls());
                if !poll_fn(|cx| request.poll(cx, &mut orders, connection.as_mut())).await {
                    return;
                }
            }
            Ok(NextReader::Http2) => {
                socket.supply_all();
                let io = TokioIo::new(socket);
                let mut connection = Box::pin(protocols.any.serve_connection(io, service));
                let mut is_draining = false;
                let rest = |cx: &mut Context<'_>| {
                    poll_rest(cx, &mut orders, &mut is_draining, connection.as_mut())
                };
                return poll_fn(rest).await;
            }
            Ok(NextReader::Nobody) => {
                // Closing the socket is enough without TLS.
                if has_tls {
                    poll_fn(|cx| poll_close(cx, &mut orders, &mut socket)).await;
                }
                return;
            }
            Err(_) => return,
        }
    }
}

/// The fast path, as far as the orders allow.
fn poll_fast<T, S>(
    cx: &mut Context<'_>,
    orders: &mut OrderReader<'_>,
    fast: &mut FastReader,
    socket: &mut Socket<T>,
    service: &S,
) -> Poll<io::Result<NextReader>>
where
    T: AsyncRead + AsyncWrite + Unpin,
    S: FastPath,
{
    loop {
        match orders.read(cx) {
            CloseOrder::Serve => return fast.poll(cx, socket, service, false),
            // hyper takes over and closes the connection as the order says.
            CloseOrder::Expire | CloseOrder::Drain => return fast.poll(cx, socket, service, true),
            CloseOrder::Cut => return Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            CloseOrder::Evict => {
                let calls = orders.state().calls();
                // A request may have arrived after the order was given.
                if let Poll::Ready(next) = fast.poll(cx, socket, service, false) {
                    return Poll::Ready(next);
                }
                if fast.is_idle() && orders.state().calls() == calls {
                    return Poll::Ready(Ok(NextReader::Nobody));
                }
                orders.refuse_eviction();
            }
        }
    }
}

/// One request of HTTP/1 through hyper.
struct OneRequest {
    /// The requests before it.
    calls: u32,
    has_begun: bool,
    is_draining: bool,
}

impl OneRequest {
    fn after(calls: u32) -> Self {
        Self { calls, has_begun: false, is_draining: false }
    }

    /// True when the connection can be taken back: the answer is sent, and the connection stays open.
    fn poll<I, S, B>(
        &mut self,
        cx: &mut Context<'_>,
        orders: &mut OrderReader<'_>,
        mut connection: Pin<&mut http1::Connection<I, S>>,
    ) -> Poll<bool>
    where
        I: hyper::rt::Read + hyper::rt::Write + Unpin,
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        B: Body<Data = Bytes> + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        loop {
            let order = orders.read(cx);
            if order == CloseOrder::Cut {
                return Poll::Ready(false);
            }
            // What the fast path read and did not answer is in flight, whatever the order: hyper gets
            // to read it first.
            if order == CloseOrder::Drain && self.has_begun && !self.is_draining {
                self.is_draining = true;
                connection.as_mut().graceful_shutdown();
            }
            // Errors of a connection are the client's: already answered or counted.
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(false);
            }
            self.has_begun = true;
            let state = orders.state();
            let is_done = state.calls() != self.calls && state.is_between();
            match order {
                CloseOrder::Serve | CloseOrder::Evict if is_done => return Poll::Ready(true),
                CloseOrder::Evict => orders.refuse_eviction(),
                CloseOrder::Drain if !self.is_draining => {}
                // The socket acts on `Expire` itself, while hyper waits for a head.
                _ => return Poll::Pending,
            }
        }
    }
}

/// The rest of a connection through hyper.
fn poll_rest<T, S, B>(
    cx: &mut Context<'_>,
    orders: &mut OrderReader<'_>,
    is_draining: &mut bool,
    mut connection: Pin<&mut auto::Connection<'_, TokioIo<Socket<T>>, S, Tracked>>,
) -> Poll<()>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    loop {
        let order = orders.read(cx);
        if order == CloseOrder::Drain && !*is_draining {
            *is_draining = true;
            connection.as_mut().graceful_shutdown();
        }
        if order == CloseOrder::Cut || connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let state = orders.state();
        let is_idle = !state.in_flight() && !state.blocked() && state.stage() != ReadStage::Head;
        match order {
            CloseOrder::Evict if is_idle => return Poll::Ready(()),
            CloseOrder::Evict => orders.refuse_eviction(),
            _ => return Poll::Pending,
        }
    }
}

/// Tell the client that the connection ends.
fn poll_close<T: AsyncRead + AsyncWrite + Unpin>(
    cx: &mut Context<'_>,
    orders: &mut OrderReader<'_>,
    socket: &mut Socket<T>,
) -> Poll<()> {
    if orders.read(cx) == CloseOrder::Cut {
        return Poll::Ready(());
    }
    Pin::new(socket).poll_shutdown(cx).map(drop)
}

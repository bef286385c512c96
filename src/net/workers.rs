//! Worker threads, each with a runtime and a listener of its own.
//!
//! Invariant: shutting down a [`Handle`] joins every thread it started.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::accept::Worker;
use super::connection_limit::ConnectionLimit;
use super::fast_path::FastPath;
use super::http_limits::HttpLimits;
use super::listen::Listeners;

/// The body of a service's answers. `Default` is empty, for the answers that this module gives.
pub trait ServiceBody:
    Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Default + Send + Unpin + 'static
{
}

impl<B> ServiceBody for B where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>
        + Default
        + Send
        + Unpin
        + 'static
{
}

/// An HTTP server: HTTP/1.1, and HTTP/2 with prior knowledge or ALPN.
#[derive(Debug)]
pub struct Server;

impl Server {
    /// Serve on `listeners` until [`Handle::shutdown`].
    ///
    /// `worker` is called once on each worker's thread, with its number, and makes what serves the
    /// connections of that thread: a function that is called once for each connection, with the
    /// peer's address, and gives the service for it. So a service knows its peer without looking it
    /// up in each request, and what it shares with the others of its worker is on one core.
    ///
    /// Install the metrics recorder first: counters are looked up once, here.
    pub fn start<W, F, S, B>(
        listeners: Listeners,
        limits: HttpLimits,
        worker: W,
    ) -> io::Result<Handle>
    where
        W: Fn(usize) -> F + Clone + Send + 'static,
        F: Fn(SocketAddr) -> S,
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
            + FastPath
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
        B: ServiceBody,
    {
        let proxies = Arc::clone(&listeners.proxies);
        let limit =
            ConnectionLimit::new(limits.max_connections, limits.max_connections_per_ip, proxies);
        let limit = Arc::new(limit);
        // Dropped on an error, it stops the workers that have started.
        let mut handle = Handle {
            address: listeners.address,
            stop: CancellationToken::new(),
            threads: Vec::new(),
        };
        for (number, listener) in listeners.sockets.into_iter().enumerate() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let listener = {
                let _inside = runtime.enter();
                TcpListener::from_std(listener)?
            };
            let (limit, stop, worker) = (Arc::clone(&limit), handle.stop.clone(), worker.clone());
            let tls = listeners.tls.clone();
            let thread = thread::Builder::new().name(format!("kurz-worker-{number}"));
            handle.threads.push(thread.spawn(move || {
                runtime.block_on(async {
                    Worker::new(limits, limit, worker(number), tls).run(listener, stop).await
                })
            })?);
        }
        Ok(handle)
    }
}

/// A running server. Dropping it asks the server to stop, and does not wait.
#[derive(Debug)]
pub struct Handle {
    address: SocketAddr,
    stop: CancellationToken,
    threads: Vec<JoinHandle<usize>>,
}

impl Handle {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stop accepting, let requests in flight end, close idle connections, and wait for the threads:
    /// at most the drain timeout. Returns how many requests had to be cut short.
    ///
    /// Blocks: from a runtime, call it in `spawn_blocking`.
    pub fn shutdown(mut self) -> usize {
        self.stop.cancel();
        let mut cut = 0;
        for thread in self.threads.drain(..) {
            if let Ok(count) = thread.join() {
                cut += count;
            } else {
                tracing::error!("a worker thread panicked");
            }
        }
        cut
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

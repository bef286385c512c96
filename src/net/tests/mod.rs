//! The server on real sockets: a client that writes raw bytes, and a small service. Not the rules
//! behind it, which are tested where they are written. Waits are for something that happens: a
//! machine under load makes these tests slow, not wrong.

mod drain;
mod eviction;
mod limits;
mod malformed;
mod protocol;
mod readers;
mod timeouts;
mod tls;

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use tokio::sync::Semaphore;

use super::fast_path::{FastPath, FastReply, PlainHead};
use super::tls_reload::TlsReloader;
use super::{Handle, HttpLimits, Listeners, Server};

/// Longer than anything here takes, on the slowest of machines.
const PATIENCE: Duration = Duration::from_secs(30);

/// Long enough never to be what ends a connection.
const NEVER: Duration = Duration::from_mins(10);

pub(super) fn patient() -> HttpLimits {
    HttpLimits {
        header_timeout: NEVER,
        body_timeout: NEVER,
        idle_timeout: NEVER,
        drain_timeout: NEVER,
        ..HttpLimits::default()
    }
}

/// What the service does, and what it saw.
struct Site {
    calls: AtomicUsize,
    /// Requests that the fast path answered.
    fast: AtomicUsize,
    /// `/hang` answers once it got a permit.
    release: Semaphore,
    /// Told when the answer of `/big` is let go of.
    dropped: mpsc::SyncSender<()>,
}

struct Running {
    handle: Handle,
    site: Arc<Site>,
    dropped: mpsc::Receiver<()>,
}

fn start(limits: HttpLimits) -> Running {
    start_speaking(limits, None)
}

fn start_speaking(limits: HttpLimits, tls: Option<&TlsReloader>) -> Running {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let workers = NonZeroUsize::new(2).unwrap();
    let listeners = Listeners::bind(address, workers, "KURZ_LISTEN").unwrap().speaking(tls);
    let (sender, dropped) = mpsc::sync_channel(8);
    let site = Arc::new(Site {
        calls: AtomicUsize::new(0),
        fast: AtomicUsize::new(0),
        release: Semaphore::new(0),
        dropped: sender,
    });
    let shared = Arc::clone(&site);
    let handle = Server::start(listeners, limits, move |_| {
        let site = Arc::clone(&shared);
        move |peer| {
            let (site, fast) = (Arc::clone(&site), Arc::clone(&site));
            let slow = service_fn(move |request| {
                site.calls.fetch_add(1, SeqCst);
                answer(Arc::clone(&site), peer, request)
            });
            SiteService(slow, fast)
        }
    })
    .unwrap();
    Running { handle, site, dropped }
}

/// A service that answers `/fast` at once, and `/fast-later` without hyper once it got a permit.
struct SiteService<S>(S, Arc<Site>);

impl<S: Service<Request<Incoming>>> Service<Request<Incoming>> for SiteService<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, request: Request<Incoming>) -> S::Future {
        self.0.call(request)
    }
}

impl<S> FastPath for SiteService<S> {
    fn try_answer(&self, plain: &PlainHead<'_>, out: &mut Vec<u8>) -> FastReply {
        let close = if plain.close { "connection: close\r\n" } else { "" };
        let answer = format!("HTTP/1.1 204 No Content\r\n{close}\r\n").into_bytes();
        match plain.path {
            "/fast" => out.extend_from_slice(&answer),
            "/fast-later" => {
                let site = Arc::clone(&self.1);
                self.1.fast.fetch_add(1, SeqCst);
                return FastReply::Later(Box::pin(async move {
                    site.release.acquire().await.unwrap().forget();
                    answer
                }));
            }
            _ => return FastReply::Unknown,
        }
        self.1.fast.fetch_add(1, SeqCst);
        FastReply::Done
    }
}

type ServiceResult =
    Pin<Box<dyn Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send>>;

fn answer(site: Arc<Site>, peer: SocketAddr, request: Request<Incoming>) -> ServiceResult {
    Box::pin(async move {
        let path = request.uri().path().to_owned();
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::OK;
        match path.as_str() {
            "/peer" => *response.body_mut() = Full::from(peer.to_string()),
            "/hang" => site.release.acquire().await.unwrap().forget(),
            "/echo" => {
                if let Ok(body) = request.into_body().collect().await {
                    *response.body_mut() = Full::from(body.to_bytes());
                }
            }
            "/work" => {
                let _ = request.into_body().collect().await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            // The fast path leaves a head in pieces to hyper.
            "/fast" => *response.status_mut() = StatusCode::NO_CONTENT,
            "/early" => *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE,
            "/big" => {
                let body = Bytes::from_owner(Big(vec![b'x'; 64 << 20], site.dropped.clone()));
                *response.body_mut() = Full::from(body);
            }
            _ => *response.status_mut() = StatusCode::FOUND,
        }
        Ok(response)
    })
}

/// More than the buffers of any kernel hold.
struct Big(Vec<u8>, mpsc::SyncSender<()>);

impl AsRef<[u8]> for Big {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Big {
    fn drop(&mut self) {
        let _ = self.1.try_send(());
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

impl Running {
    fn connect(&self) -> TcpStream {
        connect(self.handle.address())
    }

    fn calls(&self) -> usize {
        self.site.calls.load(SeqCst)
    }

    fn fast(&self) -> usize {
        self.site.fast.load(SeqCst)
    }
}

/// Read up to the end of a head.
fn read_head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "the connection ended in {head:?}");
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Read until the server closes. A reset is also an end, but a client that waits too long is not.
fn read_to_close(stream: &mut impl Read) -> String {
    let mut all = Vec::new();
    let mut space = [0; 16384];
    loop {
        match stream.read(&mut space) {
            Ok(0) => break,
            Ok(read) => all.extend_from_slice(&space[..read]),
            Err(error) => {
                let waited = error.kind() == std::io::ErrorKind::WouldBlock;
                assert!(!waited, "the server did not close after {} bytes", all.len());
                break;
            }
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

fn get(stream: &mut (impl Read + Write), path: &str) -> String {
    send_get(stream, path).unwrap();
    read_head(stream)
}

/// In one piece, as most clients send a head: the fast path leaves one in pieces to hyper.
fn send_get(stream: &mut impl Write, path: &str) -> std::io::Result<()> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes())
}

fn answers(text: &str) -> usize {
    text.matches("HTTP/1.1 ").count()
}

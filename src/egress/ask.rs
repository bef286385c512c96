//! One request over one connection, and the head of its answer. It neither dials nor follows: whose
//! connection it is was decided before.
//!
//! Invariant: no more than [`MAX_READ_BYTES`] are read from a connection, all counted: handshake,
//! head, and what the server pushes behind it. Of the body nothing is looked at, so nothing in it,
//! however long, slow or packed, can matter.

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, LOCATION, USER_AGENT};
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, join, split};
use tokio_rustls::TlsConnector;

use super::destination::Destination;
use super::tls;

/// What is read of one answer at most, as it comes over the wire.
pub(super) const MAX_READ_BYTES: u64 = 64 * 1024;

/// What the head of an answer may be at most.
const MAX_HEAD_BYTES: usize = 32 * 1024;
const MAX_HEADERS: usize = 100;

const NAME: HeaderValue = HeaderValue::from_static("kurz-health/1");

/// What a server said first.
#[derive(Debug)]
pub(super) struct ResponseHead {
    pub(super) status: StatusCode,
    location: Option<HeaderValue>,
}

impl ResponseHead {
    /// Where it sends its visitors, if it does.
    pub(super) fn redirect(&self) -> Option<&[u8]> {
        let sends_away = matches!(self.status.as_u16(), 301 | 302 | 303 | 307 | 308);
        self.location.as_ref().filter(|_| sends_away).map(HeaderValue::as_bytes)
    }
}

/// Why there is no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestFailure {
    /// The other end is not host the URL names.
    Untrusted,
    /// It did not answer this request, or not in HTTP.
    Unclear,
}

/// Ask for `destination` on a connection that leads there.
pub(super) async fn ask<S>(
    stream: S,
    tls: &TlsConnector,
    destination: &Destination,
    method: Method,
) -> Result<ResponseHead, RequestFailure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    let (read, write) = split(stream);
    let stream = join(read.take(MAX_READ_BYTES), write);
    let request = request(destination, method)?;
    if !destination.is_https() {
        return exchange(stream, request).await.map_err(|_| RequestFailure::Unclear);
    }
    let name = tls::server_name(destination).ok_or(RequestFailure::Untrusted)?;
    let stream = tls.connect(name, stream).await.map_err(|_| RequestFailure::Untrusted)?;
    exchange(stream, request).await.map_err(|_| RequestFailure::Unclear)
}

/// The same request for everybody: no cookies, no credentials, nothing to unpack, no way back.
fn request(
    destination: &Destination,
    method: Method,
) -> Result<Request<Empty<Bytes>>, RequestFailure> {
    Request::builder()
        .method(method)
        .uri(destination.resource())
        .header(HOST, destination.authority())
        .header(USER_AGENT, NAME)
        .header(ACCEPT, "*/*")
        .header(ACCEPT_ENCODING, "identity")
        .header(CONNECTION, "close")
        .body(Empty::new())
        .map_err(|_| RequestFailure::Unclear)
}

async fn exchange<S>(
    stream: S,
    request: Request<Empty<Bytes>>,
) -> Result<ResponseHead, hyper::Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD_BYTES).max_headers(MAX_HEADERS);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    let answer = Box::pin(sender.send_request(request));
    let response = match select(answer, connection).await {
        Either::Left((response, _)) => response?,
        // The connection has ended, so the answer has come, or never will.
        Either::Right((_, answer)) => answer.await?,
    };
    let location = response.headers().get(LOCATION).cloned();
    Ok(ResponseHead { status: response.status(), location })
}

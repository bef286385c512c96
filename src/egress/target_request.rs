//! One request over an open connection, and the head of its response, or a short body too. Redirects are
//! followed by the caller.
//!
//! Invariant: at most [`MAX_READ_BYTES`] are read from a connection, including the TLS handshake. Unless a
//! caller wants the body it is not read, so its length, speed and encoding do not matter.

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, LOCATION, USER_AGENT};
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, join, split};
use tokio_rustls::TlsConnector;

use super::destination::Destination;
use super::tls_client;

/// Of one connection, as received from the socket.
pub(super) const MAX_READ_BYTES: u64 = 64 * 1024;

const MAX_HEAD_BYTES: usize = 32 * 1024;
const MAX_HEADERS: usize = 100;
/// Of a body that is read; a longer one is an invalid response.
const MAX_BODY_BYTES: usize = 4 * 1024;

const AGENT: HeaderValue = HeaderValue::from_static("kurz-health/1");

#[derive(Debug)]
pub(super) struct ResponseHead {
    pub(super) status: StatusCode,
    location: Option<HeaderValue>,
}

impl ResponseHead {
    pub(super) fn redirect(&self) -> Option<&[u8]> {
        let is_redirect = matches!(self.status.as_u16(), 301 | 302 | 303 | 307 | 308);
        self.location.as_ref().filter(|_| is_redirect).map(HeaderValue::as_bytes)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestFailure {
    /// The handshake failed, or the certificate is not valid for the URL's host.
    TlsFailed,
    /// No response to this request, or not in HTTP.
    InvalidResponse,
}

/// Request `destination` over `stream`, which is connected to its host.
pub(super) async fn send<S>(
    stream: S,
    tls: &TlsConnector,
    destination: &Destination,
    method: Method,
) -> Result<ResponseHead, RequestFailure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    request(stream, tls, destination, method, false).await.map(|(head, _)| head)
}

/// The same with GET, and the body of the response.
pub(super) async fn fetch<S>(
    stream: S,
    tls: &TlsConnector,
    destination: &Destination,
) -> Result<(ResponseHead, Vec<u8>), RequestFailure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    request(stream, tls, destination, Method::GET, true).await
}

async fn request<S>(
    stream: S,
    tls: &TlsConnector,
    destination: &Destination,
    method: Method,
    with_body: bool,
) -> Result<(ResponseHead, Vec<u8>), RequestFailure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    let (read, write) = split(stream);
    let stream = join(read.take(MAX_READ_BYTES), write);
    let request = build(destination, method)?;
    if !destination.is_https() {
        return exchange(stream, request, with_body).await;
    }
    let name = tls_client::server_name(destination).ok_or(RequestFailure::TlsFailed)?;
    let stream = tls.connect(name, stream).await.map_err(|_| RequestFailure::TlsFailed)?;
    exchange(stream, request, with_body).await
}

/// The same headers for every destination: no cookies, no credentials, no compression, no referrer.
fn build(
    destination: &Destination,
    method: Method,
) -> Result<Request<Empty<Bytes>>, RequestFailure> {
    Request::builder()
        .method(method)
        .uri(destination.resource())
        .header(HOST, destination.authority())
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, "*/*")
        .header(ACCEPT_ENCODING, "identity")
        .header(CONNECTION, "close")
        .body(Empty::new())
        .map_err(|_| RequestFailure::InvalidResponse)
}

async fn exchange<S>(
    stream: S,
    request: Request<Empty<Bytes>>,
    with_body: bool,
) -> Result<(ResponseHead, Vec<u8>), RequestFailure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    let invalid = |_| RequestFailure::InvalidResponse;
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD_BYTES).max_headers(MAX_HEADERS);
    let (mut sender, connection) =
        builder.handshake(TokioIo::new(stream)).await.map_err(invalid)?;
    let pending = Box::pin(async move {
        let response = sender.send_request(request).await.map_err(invalid)?;
        let location = response.headers().get(LOCATION).cloned();
        let head = ResponseHead { status: response.status(), location };
        if !with_body {
            return Ok((head, Vec::new()));
        }
        let body = Limited::new(response.into_body(), MAX_BODY_BYTES).collect().await;
        let body = body.map_err(|_| RequestFailure::InvalidResponse)?;
        Ok((head, body.to_bytes().to_vec()))
    });
    match select(pending, connection).await {
        Either::Left((response, _)) => response,
        // The connection has ended, so this does not wait: the response is here, or it is an error.
        Either::Right((_, pending)) => pending.await,
    }
}

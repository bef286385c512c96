//! Limits around the service: requests that are too large are refused before it (414, 431), bodies
//! that arrive too slowly are answered with 408.
//!
//! Invariant: a request counts as in flight from its call until its answer's body is dropped.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, Ready, ready};
use http::header::{CONNECTION, TRANSFER_ENCODING};
use http::{HeaderValue, Request, Response, StatusCode, Uri, Version};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::Service;
use tokio::time::{Sleep, sleep};

use super::connection_state::{ConnectionState, ReadStage};
use super::fast_path::{FastPath, FastReply, PlainHead};
use super::http_limits::HttpLimits;

#[derive(Clone)]
pub(super) struct RequestLimits<S> {
    service: S,
    state: Arc<ConnectionState>,
    max_target_bytes: usize,
    max_fields: usize,
    body_timeout: Duration,
}

impl<S> RequestLimits<S> {
    pub(super) fn new(service: S, state: Arc<ConnectionState>, limits: &HttpLimits) -> Self {
        Self {
            service,
            state,
            max_target_bytes: limits.max_target_bytes,
            max_fields: limits.max_fields,
            body_timeout: limits.body_timeout,
        }
    }
}

type ServiceResult<B> = Result<Response<B>, Infallible>;
type LimitedResult<B> = ServiceResult<CountedBody<B>>;

/// A request that is in flight as long as this exists.
struct InFlight(Arc<ConnectionState>);

impl InFlight {
    fn begin(state: &Arc<ConnectionState>) -> Self {
        state.begin_request();
        Self(Arc::clone(state))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.end_request();
    }
}

/// The body of an answer, whose request is in flight until it is dropped.
#[derive(Default)]
pub(super) struct CountedBody<B> {
    body: B,
    _request: Option<InFlight>,
}

impl<B: Body<Data = Bytes> + Unpin> Body for CountedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<S, B> Service<Request<Incoming>> for RequestLimits<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Default,
{
    type Response = Response<CountedBody<B>>;
    type Error = Infallible;
    type Future = Either<Ready<LimitedResult<B>>, Receiving<S::Future>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.state.count_call();
        if target_bytes(request.uri()) > self.max_target_bytes {
            return refuse(StatusCode::URI_TOO_LONG, request.version());
        }
        if request.headers().len() > self.max_fields {
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return refuse(status, request.version());
        }
        let version = request.version();
        let has_body = !request.body().is_end_stream();
        let is_chunked = || request.headers().contains_key(TRANSFER_ENCODING);
        Either::Right(Receiving {
            // The framing cannot tell where a chunked body ends, so no request may follow it.
            last: has_body && version < Version::HTTP_2 && is_chunked(),
            version,
            request: Some(InFlight::begin(&self.state)),
            state: Arc::clone(&self.state),
            deadline: has_body.then(|| Box::pin(sleep(self.body_timeout))),
            service: Box::pin(self.service.call(request)),
        })
    }
}

impl<S: FastPath> FastPath for RequestLimits<S> {
    fn try_answer(&self, plain: &PlainHead<'_>, out: &mut Vec<u8>) -> FastReply {
        if plain.target.len() > self.max_target_bytes || plain.fields.len() > self.max_fields {
            return FastReply::Unknown;
        }
        let reply = self.service.try_answer(plain, out);
        if !matches!(reply, FastReply::Unknown) {
            self.state.count_call();
        }
        reply
    }
}

fn target_bytes(uri: &Uri) -> usize {
    let path = uri.path_and_query().map_or(0, |path| path.as_str().len());
    path + uri.authority().map_or(0, |authority| authority.as_str().len())
}

fn refuse<B: Default, F>(
    status: StatusCode,
    version: Version,
) -> Either<Ready<LimitedResult<B>>, F> {
    Either::Left(ready(Ok(answer(status, version).map(counted))))
}

fn counted<B>(body: B) -> CountedBody<B> {
    CountedBody { body, _request: None }
}

/// An empty answer that closes the connection.
fn answer<B: Default>(status: StatusCode, version: Version) -> Response<B> {
    let mut response = Response::new(B::default());
    *response.status_mut() = status;
    if version < Version::HTTP_2 {
        close(&mut response);
    }
    response
}

fn close<B>(response: &mut Response<B>) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

/// A request in flight: the service's future, and a deadline for the request's body, if it has one.
///
/// The end of a body with a Content-Length over HTTP/1 is seen here, and the service may take longer
/// after it. The end of others is not: there the answer must begin within the deadline.
pub(super) struct Receiving<F> {
    service: Pin<Box<F>>,
    deadline: Option<Pin<Box<Sleep>>>,
    request: Option<InFlight>,
    state: Arc<ConnectionState>,
    version: Version,
    last: bool,
}

impl<F, B> Future for Receiving<F>
where
    F: Future<Output = ServiceResult<B>>,
    B: Default,
{
    type Output = LimitedResult<B>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(answer) = self.service.as_mut().poll(cx) {
            let (last, request) = (self.last, self.request.take());
            return Poll::Ready(answer.map(|mut response| {
                if last {
                    close(&mut response);
                }
                response.map(|body| CountedBody { body, _request: request })
            }));
        }
        let Some(deadline) = self.deadline.as_mut() else { return Poll::Pending };
        if deadline.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.deadline = None;
        match self.state.stage() {
            ReadStage::Body | ReadStage::Opaque => {
                Poll::Ready(Ok(answer(StatusCode::REQUEST_TIMEOUT, self.version).map(counted)))
            }
            ReadStage::Between | ReadStage::Head | ReadStage::Refused => Poll::Pending,
        }
    }
}

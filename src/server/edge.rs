//! The edge of the service: what is answered before it is asked, and after it took too long to be
//! told. Not the service itself. Invariant: a request without a body costs two comparisons here, and
//! its answer is passed on as it is.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::{Either, Ready, ready};
use http::header::{CONNECTION, TRANSFER_ENCODING};
use http::{HeaderValue, Request, Response, StatusCode, Uri, Version};
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use tokio::time::{Sleep, sleep};

use super::express::{Express, Plain, Reply};
use super::limits::Limits;
use super::pulse::{Pulse, Stage};

#[derive(Clone)]
pub(super) struct Edge<S> {
    service: S,
    pulse: Arc<Pulse>,
    max_target_bytes: usize,
    max_fields: usize,
    body_timeout: Duration,
}

impl<S> Edge<S> {
    pub(super) fn new(service: S, pulse: Arc<Pulse>, limits: &Limits) -> Self {
        Self {
            service,
            pulse,
            max_target_bytes: limits.max_target_bytes,
            max_fields: limits.max_fields,
            body_timeout: limits.body_timeout,
        }
    }
}

type Answer<B> = Result<Response<B>, Infallible>;

impl<S, B> Service<Request<Incoming>> for Edge<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Default,
{
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Either<S::Future, Either<Ready<Answer<B>>, Receiving<S::Future>>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.pulse.count_call();
        if target_bytes(request.uri()) > self.max_target_bytes {
            return refuse(StatusCode::URI_TOO_LONG, request.version());
        }
        if request.headers().len() > self.max_fields {
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return refuse(status, request.version());
        }
        if request.body().is_end_stream() {
            return Either::Left(self.service.call(request));
        }
        let version = request.version();
        let receiving = Receiving {
            // After a chunked body the wire cannot tell where the next head begins.
            last: version < Version::HTTP_2 && request.headers().contains_key(TRANSFER_ENCODING),
            version,
            pulse: Arc::clone(&self.pulse),
            deadline: Some(Box::pin(sleep(self.body_timeout))),
            service: Box::pin(self.service.call(request)),
        };
        Either::Right(Either::Right(receiving))
    }
}

impl<S: Express> Express for Edge<S> {
    fn express(&self, plain: &Plain<'_>, out: &mut Vec<u8>) -> Reply {
        if plain.ask.path.len() > self.max_target_bytes || plain.fields.len() > self.max_fields {
            return Reply::Unknown;
        }
        let reply = self.service.express(plain, out);
        if !matches!(reply, Reply::Unknown) {
            self.pulse.count_call();
        }
        reply
    }
}

fn target_bytes(uri: &Uri) -> usize {
    let path = uri.path_and_query().map_or(0, |path| path.as_str().len());
    path + uri.authority().map_or(0, |authority| authority.as_str().len())
}

fn refuse<A, B: Default, C>(
    status: StatusCode,
    version: Version,
) -> Either<A, Either<Ready<Answer<B>>, C>> {
    Either::Right(Either::Left(ready(Ok(answer(status, version)))))
}

/// An empty answer, the last of its connection.
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

/// A request whose body is on its way: the service's future, and a deadline for the body.
///
/// Of a body with a Content-Length over HTTP/1 its end is known, and the time that the service takes
/// after it is the service's own. Of others it is not: there the answer must begin within the
/// deadline.
pub(super) struct Receiving<F> {
    service: Pin<Box<F>>,
    deadline: Option<Pin<Box<Sleep>>>,
    pulse: Arc<Pulse>,
    version: Version,
    last: bool,
}

impl<F, B> Future for Receiving<F>
where
    F: Future<Output = Answer<B>>,
    B: Default,
{
    type Output = Answer<B>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(answer) = self.service.as_mut().poll(cx) {
            let last = self.last;
            return Poll::Ready(answer.map(|mut response| {
                if last {
                    close(&mut response);
                }
                response
            }));
        }
        let Some(deadline) = self.deadline.as_mut() else { return Poll::Pending };
        if deadline.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.deadline = None;
        match self.pulse.stage() {
            Stage::Body | Stage::Opaque => {
                Poll::Ready(Ok(answer(StatusCode::REQUEST_TIMEOUT, self.version)))
            }
            Stage::Between | Stage::Head | Stage::Refused => Poll::Pending,
        }
    }
}

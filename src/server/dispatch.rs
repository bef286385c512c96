//! The first to see a request: a short address goes to the data redirects, all else to the router.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Router;
use axum::response::IntoResponse;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::Service;
use tower::Service as _;

use crate::client_address::ClientAddress;
use crate::clock::Stopwatch;
use crate::net::fast_path::{FastPath, FastReply, PlainHead};
use crate::net::host::{HostError, host_of};
use crate::problem::Problem;
use crate::redirect::{PlainRequest, RedirectRequest, RedirectService, Verdict};
use crate::server::body::ResponseBody;
use crate::web::HostOfRequest;

/// The service behind every connection.
#[derive(Clone, Debug)]
pub(super) struct Dispatch {
    redirects: RedirectService,
    router: Router,
    peer: IpAddr,
}

type DispatchResult = Result<Response<ResponseBody>, Infallible>;

/// An answer, at once or later.
pub(super) enum DispatchFuture {
    /// Known at once.
    Now(Ready<DispatchResult>),
    /// Known after a read, or from the router.
    Later(Pin<Box<dyn Future<Output = DispatchResult> + Send>>),
}

impl Dispatch {
    /// Short addresses to `redirects`, the rest to `router`.
    pub(super) fn new(redirects: RedirectService, router: Router) -> Self {
        Self { redirects, router, peer: ClientAddress::UNKNOWN.0 }
    }

    /// The same on the thread of a worker.
    pub(super) fn on_worker(mut self, worker: usize) -> Self {
        self.redirects = self.redirects.on_worker(worker);
        self
    }

    /// The same for a connection from `peer`.
    pub(super) fn for_peer(&self, peer: IpAddr) -> Self {
        Self { peer, ..self.clone() }
    }

    fn route(&self, mut request: Request<Incoming>, host: String) -> DispatchFuture {
        let client = self.redirects.proxies.client(self.peer, request.headers());
        request.extensions_mut().insert(HostOfRequest(host));
        request.extensions_mut().insert(client);
        let answer = self.router.clone().call(request);
        // A task of its own: what has begun to change something ends, though its client goes away
        // in the middle. Otherwise a change could be stored and the cache never told.
        #[expect(
            clippy::disallowed_methods,
            reason = "the connection waits for it, and is tracked"
        )]
        let answer = tokio::spawn(answer);
        DispatchFuture::Later(Box::pin(async move {
            let answer = answer.await.unwrap_or_else(|_| Ok(broken().into_response()));
            Ok(answer?.map(ResponseBody::Any))
        }))
    }
}

impl Service<Request<Incoming>> for Dispatch {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = DispatchFuture;

    fn call(&self, request: Request<Incoming>) -> DispatchFuture {
        let arrival = Stopwatch::start();
        let host = match host_of(&request) {
            Ok(host) => host,
            Err(error) => return refuse(error),
        };
        let redirect_request = RedirectRequest {
            method: request.method(),
            host: &host,
            path: request.uri().path(),
            headers: request.headers(),
            peer: self.peer,
            arrival,
        };
        match self.redirects.answer(&redirect_request) {
            Verdict::Answer(answer) => {
                DispatchFuture::Now(ready(Ok(answer.map(ResponseBody::from))))
            }
            Verdict::Miss(miss) => {
                let redirects = self.redirects.clone();
                DispatchFuture::Later(Box::pin(async move {
                    Ok(redirects.answer_miss(miss).await.map(ResponseBody::from))
                }))
            }
            Verdict::NotMine => {
                let host = host.into_owned();
                self.route(request, host)
            }
        }
    }
}

impl FastPath for Dispatch {
    fn try_answer(&self, plain: &PlainHead<'_>, out: &mut Vec<u8>) -> FastReply {
        let PlainHead { host, path, purpose, agent, arrival, .. } = *plain;
        if self.redirects.send_on(&PlainRequest { host, path, purpose, agent, arrival }, out) {
            return FastReply::Done;
        }
        let Some(headers) = plain.headers() else { return FastReply::Unknown };
        let redirect_request = RedirectRequest {
            method: &Method::GET,
            host,
            path,
            headers: &headers,
            peer: self.peer,
            arrival,
        };
        match self.redirects.answer(&redirect_request) {
            Verdict::Answer(answer) => {
                self.redirects.write(&answer, out);
                FastReply::Done
            }
            Verdict::Miss(miss) => {
                let redirects = self.redirects.clone();
                FastReply::Later(Box::pin(async move {
                    let mut out = Vec::new();
                    redirects.write(&redirects.answer_miss(miss).await, &mut out);
                    out
                }))
            }
            Verdict::NotMine => FastReply::Unknown,
        }
    }
}

/// A task that ended without an answer; the router turns panics into answers, so this is none.
fn broken() -> Problem {
    let detail = "Something went wrong on the server. It has been logged.";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal-error", detail)
}

fn refuse(error: HostError) -> DispatchFuture {
    let detail = format!("The request's host cannot be relied on: {error}.");
    let problem = Problem::new(StatusCode::BAD_REQUEST, "request-host-invalid", detail);
    DispatchFuture::Now(ready(Ok(problem.into_response().map(ResponseBody::Any))))
}

impl Future for DispatchFuture {
    type Output = DispatchResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<DispatchResult> {
        match self.get_mut() {
            Self::Now(answer) => Pin::new(answer).poll(context),
            Self::Later(answer) => answer.as_mut().poll(context),
        }
    }
}

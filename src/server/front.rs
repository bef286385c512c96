//! The first to see a request: a short address goes to the data plane, all else to the router.

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

use crate::client::Client;
use crate::clock::Stopwatch;
use crate::problem::Problem;
use crate::redirect::{Asked, Plane, Verdict};
use crate::server::body::AnswerBody;
use crate::server::express::{Express, Plain, Reply};
use crate::server::host::{HostError, host_of};
use crate::web::HostOfRequest;

/// The service behind every connection.
#[derive(Clone, Debug)]
pub(super) struct Front {
    plane: Plane,
    router: Router,
    peer: IpAddr,
}

type Answered = Result<Response<AnswerBody>, Infallible>;

/// An answer, at once or later.
pub(super) enum FrontFuture {
    /// Known at once.
    Now(Ready<Answered>),
    /// Known after a read, or from the router.
    Later(Pin<Box<dyn Future<Output = Answered> + Send>>),
}

impl Front {
    /// Short addresses to `plane`, the rest to `router`.
    pub(super) fn new(plane: Plane, router: Router) -> Self {
        Self { plane, router, peer: Client::UNKNOWN.0 }
    }

    /// The same on the thread of a worker.
    pub(super) fn on_worker(mut self, worker: usize) -> Self {
        self.plane = self.plane.on_worker(worker);
        self
    }

    /// The same for a connection from `peer`.
    pub(super) fn for_peer(&self, peer: IpAddr) -> Self {
        Self { peer, ..self.clone() }
    }

    fn route(&self, mut request: Request<Incoming>, host: String) -> FrontFuture {
        let client = self.plane.proxies.client(self.peer, request.headers());
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
        FrontFuture::Later(Box::pin(async move {
            let answer = answer.await.unwrap_or_else(|_| Ok(broken().into_response()));
            Ok(answer?.map(AnswerBody::Any))
        }))
    }
}

impl Service<Request<Incoming>> for Front {
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = FrontFuture;

    fn call(&self, request: Request<Incoming>) -> FrontFuture {
        let arrival = Stopwatch::start();
        let host = match host_of(&request) {
            Ok(host) => host,
            Err(error) => return refuse(error),
        };
        let asked = Asked {
            method: request.method(),
            host: &host,
            path: request.uri().path(),
            headers: request.headers(),
            peer: self.peer,
            arrival,
        };
        match self.plane.answer(&asked) {
            Verdict::Answer(answer) => FrontFuture::Now(ready(Ok(answer.map(AnswerBody::from)))),
            Verdict::Cold(cold) => {
                let plane = self.plane.clone();
                FrontFuture::Later(Box::pin(async move {
                    Ok(plane.answer_cold(cold).await.map(AnswerBody::from))
                }))
            }
            Verdict::NotMine => {
                let host = host.into_owned();
                self.route(request, host)
            }
        }
    }
}

impl Express for Front {
    fn express(&self, plain: &Plain<'_>, out: &mut Vec<u8>) -> Reply {
        let ask = &plain.ask;
        if self.plane.send_on(ask, out) {
            return Reply::Done;
        }
        let Some(headers) = plain.headers() else { return Reply::Unknown };
        let asked = Asked {
            method: &Method::GET,
            host: ask.host,
            path: ask.path,
            headers: &headers,
            peer: self.peer,
            arrival: ask.arrival,
        };
        match self.plane.answer(&asked) {
            Verdict::Answer(answer) => {
                self.plane.write(&answer, out);
                Reply::Done
            }
            Verdict::Cold(cold) => {
                let plane = self.plane.clone();
                Reply::Later(Box::pin(async move {
                    let mut out = Vec::new();
                    plane.write(&plane.answer_cold(cold).await, &mut out);
                    out
                }))
            }
            Verdict::NotMine => Reply::Unknown,
        }
    }
}

/// A task that ended without an answer; the router turns panics into answers, so this is none.
fn broken() -> Problem {
    let detail = "Something went wrong on the server. It has been logged.";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal-error", detail)
}

fn refuse(error: HostError) -> FrontFuture {
    let detail = format!("The request's host cannot be relied on: {error}.");
    let problem = Problem::new(StatusCode::BAD_REQUEST, "request-host-invalid", detail);
    FrontFuture::Now(ready(Ok(problem.into_response().map(AnswerBody::Any))))
}

impl Future for FrontFuture {
    type Output = Answered;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answered> {
        match self.get_mut() {
            Self::Now(answer) => Pin::new(answer).poll(context),
            Self::Later(answer) => answer.as_mut().poll(context),
        }
    }
}

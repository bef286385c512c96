//! The service behind every connection: a short address goes to the redirect service, all else to the
//! router.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::response::IntoResponse;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::Service;
use tower::Service as _;

use crate::client_address::TrustedProxies;
use crate::clock::Stopwatch;
use crate::net::fast_path::{FastPath, FastReply, PlainHead};
use crate::net::request_host::{HostError, host_of};
use crate::problem::Problem;
use crate::redirect::{
    ClickFields, ClickSettings, ConnectionPeer, FORM_BYTES, PlainRequest, RedirectRequest,
    RedirectResponse, RedirectService, Verdict, VisitorHeaders,
};
use crate::server::response_body::ResponseBody;
use crate::telemetry::access_log::{RedirectLog, RedirectRecord};
use crate::telemetry::{RequestId, Telemetry};
use crate::web::HostOfRequest;

/// The service of one connection.
#[derive(Clone, Debug)]
pub(super) struct Dispatch {
    /// Its worker's own, so that a new connection changes no count that other workers change.
    worker: Arc<WorkerDispatch>,
    peer: ConnectionPeer,
}

/// What the connections of a worker share.
#[derive(Clone, Debug)]
pub(super) struct WorkerDispatch {
    redirects: RedirectService,
    router: Router,
    telemetry: Arc<Telemetry>,
    /// `None` unless redirects are logged one by one.
    redirect_log: Option<RedirectLog>,
}

type DispatchResult = Result<Response<ResponseBody>, Infallible>;

/// An answer, at once or later.
pub(super) enum DispatchFuture {
    Now(Ready<DispatchResult>),
    /// Known after a read, or from the router.
    Later(Pin<Box<dyn Future<Output = DispatchResult> + Send>>),
}

impl WorkerDispatch {
    /// Short addresses to `redirects`, the rest to `router`.
    pub(super) fn new(
        redirects: RedirectService,
        router: Router,
        telemetry: Arc<Telemetry>,
        redirect_log: Option<RedirectLog>,
    ) -> Self {
        Self { redirects, router, telemetry, redirect_log }
    }

    /// The same for a worker, with that worker's near cache and click queue.
    pub(super) fn on_worker(mut self, worker: usize) -> Arc<Self> {
        self.redirects = self.redirects.on_worker(worker);
        Arc::new(self)
    }

    /// For a connection from `peer`.
    pub(super) fn for_peer(self: &Arc<Self>, peer: IpAddr) -> Dispatch {
        Dispatch { worker: Arc::clone(self), peer: self.redirects.peer(peer) }
    }
}

impl Dispatch {
    fn route(&self, mut request: Request<Incoming>, host: String) -> DispatchFuture {
        let client = self.worker.redirects.proxies.client(self.peer.address, request.headers());
        request.extensions_mut().insert(HostOfRequest(host));
        request.extensions_mut().insert(client);
        let id = self.worker.telemetry.admit(&mut request, self.peer.is_trusted);
        let answer = self.worker.router.clone().call(request);
        // A task of its own, so that a request runs to its end although its client disconnects.
        // Otherwise a change could be stored and the caches never invalidated.
        #[expect(
            clippy::disallowed_methods,
            reason = "the connection waits for it, and is tracked"
        )]
        let answer = tokio::spawn(answer);
        DispatchFuture::Later(Box::pin(async move {
            let answer = answer.await.unwrap_or_else(|_| Ok(broken(&id)));
            Ok(answer?.map(ResponseBody::Any))
        }))
    }

    /// A request whose host is missing, doubled or contradictory belongs to neither plane.
    fn refuse(&self, error: HostError) -> DispatchFuture {
        let detail = format!("The request's host cannot be relied on: {error}.");
        let problem = Problem::new(StatusCode::BAD_REQUEST, "request-host-invalid", detail);
        let answer = answer_with_id(problem, &self.worker.telemetry.ids().make());
        DispatchFuture::Now(ready(Ok(answer.map(ResponseBody::Any))))
    }

    /// A request of the fast path, as one of hyper's.
    fn plain_request<'a>(
        &'a self,
        plain: &PlainHead<'a>,
        headers: &'a HeaderMap,
    ) -> RedirectRequest<'a> {
        let PlainHead { host, path, query, arrival, .. } = *plain;
        let (method, peer) = (&Method::GET, &self.peer);
        RedirectRequest { method, host, path, query, headers, peer, arrival }
    }

    /// A record for the access log, where redirects are logged.
    fn redirect_line(&self, request: &RedirectRequest<'_>) -> Option<RedirectLine> {
        let log = self.worker.redirect_log.clone()?;
        let client = self.worker.redirects.proxies.client(request.peer.address, request.headers).0;
        let (host, path) = (request.host.to_owned(), request.path.to_owned());
        Some(RedirectLine { log, host, path, client, arrival: request.arrival })
    }

    /// The same for an answer that the fast path wrote at the end of `out`.
    #[cold]
    fn log_fast(&self, plain: &PlainHead<'_>, answer: &[u8]) {
        let Some(headers) = plain.headers() else { return };
        let request = self.plain_request(plain, &headers);
        // `HTTP/1.1 302 Found`
        let status = answer.get(9..12).and_then(|digits| StatusCode::from_bytes(digits).ok());
        if let (Some(line), Some(status)) = (self.redirect_line(&request), status) {
            line.send(status);
        }
    }
}

/// What a click is made of, from a head on the fast path.
#[inline]
pub(super) fn plain_fields<'a>(
    plain: &PlainHead<'a>,
    clicks: &ClickSettings,
    proxies: &TrustedProxies,
    peer: &ConnectionPeer,
) -> ClickFields<'a> {
    let PlainHead { host, query, purpose, agent, referer, languages, gpc, dnt, .. } = *plain;
    let forwarded = plain.values_of("x-forwarded-for");
    let client = clicks.plain_client(proxies, peer, forwarded, |name| plain.values_of(name).last());
    let headers = VisitorHeaders { purpose, agent, referer, languages, gpc, dnt };
    ClickFields { host, query, headers, client }
}

/// A line of the access log whose status is not known yet.
struct RedirectLine {
    log: RedirectLog,
    host: String,
    path: String,
    client: IpAddr,
    arrival: Stopwatch,
}

impl RedirectLine {
    fn send(self, status: StatusCode) {
        let Self { log, host, path, client, arrival } = self;
        let duration = arrival.elapsed();
        log.send(RedirectRecord { host, path, status: status.as_u16(), client, duration });
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
            Err(error) => return self.refuse(error),
        };
        let redirect_request = RedirectRequest {
            method: request.method(),
            host: &host,
            path: request.uri().path(),
            query: request.uri().query(),
            headers: request.headers(),
            peer: &self.peer,
            arrival,
        };
        let line = self.redirect_line(&redirect_request);
        match self.worker.redirects.answer(&redirect_request) {
            Verdict::Answer(answer) => {
                log(line, &answer);
                DispatchFuture::Now(ready(Ok(answer.map(ResponseBody::from))))
            }
            Verdict::Miss(miss) => {
                let redirects = self.worker.redirects.clone();
                DispatchFuture::Later(Box::pin(async move {
                    let answer = redirects.answer_miss(miss).await;
                    log(line, &answer);
                    Ok(answer.map(ResponseBody::from))
                }))
            }
            Verdict::Form(miss) => {
                let redirects = self.worker.redirects.clone();
                let body = Limited::new(request.into_body(), FORM_BYTES);
                DispatchFuture::Later(Box::pin(async move {
                    let Ok(body) = body.collect().await else {
                        return Ok(too_large().map(ResponseBody::Any));
                    };
                    let answer = redirects.answer_form(miss, &body.to_bytes()).await;
                    log(line, &answer);
                    Ok(answer.map(ResponseBody::from))
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
        let PlainHead { path, close, arrival, .. } = *plain;
        let begin = out.len();
        let RedirectService { clicks, proxies, .. } = &self.worker.redirects;
        let fields = plain_fields(plain, clicks, proxies, &self.peer);
        let request = PlainRequest { path, close, fields, arrival };
        if self.worker.redirects.send_on(&request, out) {
            if self.worker.redirect_log.is_some() {
                self.log_fast(plain, out.get(begin..).unwrap_or_default());
            }
            return FastReply::Done;
        }
        let Some(headers) = plain.headers() else { return FastReply::Unknown };
        let redirect_request = self.plain_request(plain, &headers);
        let line = self.redirect_line(&redirect_request);
        match self.worker.redirects.answer(&redirect_request) {
            Verdict::Answer(answer) => {
                log(line, &answer);
                self.worker.redirects.write(&answer, close, out);
                FastReply::Done
            }
            Verdict::Miss(miss) => {
                let redirects = self.worker.redirects.clone();
                FastReply::Later(Box::pin(async move {
                    let answer = redirects.answer_miss(miss).await;
                    log(line, &answer);
                    let mut out = Vec::new();
                    redirects.write(&answer, close, &mut out);
                    out
                }))
            }
            Verdict::Form(_) | Verdict::NotMine => FastReply::Unknown,
        }
    }
}

fn log(line: Option<RedirectLine>, answer: &RedirectResponse) {
    if let Some(line) = line {
        line.send(answer.status());
    }
}

/// The answer for a form that is larger than any of ours, or that ended early.
fn too_large() -> Response<axum::body::Body> {
    let detail = "The form is too large, or ended early.";
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", detail).into_response()
}

/// The answer for a task that was cancelled: the router catches panics itself.
fn broken(id: &RequestId) -> Response<axum::body::Body> {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    tracing::error!(request_id = %id, status = status.as_u16(), "the request's task was cancelled");
    let detail = "Something went wrong on the server. It has been logged.";
    answer_with_id(Problem::new(status, "internal-error", detail), id)
}

fn answer_with_id(problem: Problem, id: &RequestId) -> Response<axum::body::Body> {
    let mut answer = problem.with_request_id(id.clone()).into_response();
    id.insert_into(answer.headers_mut());
    answer
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

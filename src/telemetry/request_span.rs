//! One span per control-plane request, and what is known of the request while it runs: its id, which
//! problems and error pages show, and its caller, which authentication fills in.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use compact_str::{CompactString, format_compact};
use http::{HeaderMap, Method, StatusCode};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;
use tracing::field::Empty;

use super::access_log;
use super::otlp::Exporter;
use super::request_id::{RequestId, RequestIds};
use super::trace_parent::TraceParent;
use crate::client_address::ClientAddress;
use crate::clock::{Clock, Stopwatch};
use crate::config::{AccessLog, Log};
use crate::entropy::Entropy;
use kurz_core::account::{Caller, CallerKind, Credential};
use kurz_core::time::Timestamp;

tokio::task_local! {
    /// A problem is made far below the handlers, where no request is at hand.
    static CURRENT: Arc<Current>;
}

struct Current {
    id: RequestId,
    caller: OnceLock<CompactString>,
}

/// The id of the request that this task answers; `None` outside of the control plane.
pub(crate) fn current_request_id() -> Option<RequestId> {
    CURRENT.try_with(|current| current.id.clone()).ok()
}

/// Name the caller of the current request in its span, the access log and the export: by number,
/// never by credential or email address.
pub(crate) fn set_caller(caller: &Caller) {
    let name = match &caller.who {
        CallerKind::Open => CompactString::const_new("open"),
        CallerKind::Anonymous => CompactString::const_new(ANONYMOUS),
        CallerKind::User(identity) => match identity.credential {
            Credential::Key(key) => format_compact!("user:{} key:{key}", identity.id),
            Credential::Token => format_compact!("user:{}", identity.id),
        },
    };
    tracing::Span::current().record("caller", name.as_str());
    // A page may ask for its visitor more than once, and gets the same one.
    let _ = CURRENT.try_with(|current| current.caller.set(name));
}

const ANONYMOUS: &str = "anonymous";

/// The route of a request that no route matched: previews and 404.
const UNMATCHED: &str = "(none)";

#[derive(Clone, Debug)]
pub(super) struct RequestRecord {
    pub(super) id: RequestId,
    pub(super) parent: Option<TraceParent>,
    pub(super) method: Method,
    /// Without the query, which may hold what is nobody else's business.
    pub(super) path: String,
    pub(super) route: CompactString,
    pub(super) status: StatusCode,
    pub(super) caller: CompactString,
    pub(super) client: IpAddr,
    pub(super) started: Timestamp,
    /// Until the head of the answer.
    pub(super) duration: Duration,
}

/// What a request was sent with, read where it is known whether its peer is a trusted proxy.
#[derive(Clone, Debug)]
struct Incoming {
    id: RequestId,
    parent: Option<TraceParent>,
}

#[derive(Debug)]
pub(crate) struct Telemetry {
    ids: RequestIds,
    clock: Clock,
    logs_access: bool,
    exporter: Option<Exporter>,
}

impl Telemetry {
    /// As the settings ask for; the export runs as one of `tasks`, and sends the rest of its queue
    /// after `stop`.
    pub(crate) fn start(
        log: &Log,
        clock: Clock,
        entropy: Entropy,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> std::io::Result<Self> {
        let exporter = log.otlp.as_ref();
        let exporter = exporter.map(|url| Exporter::start(url, entropy.clone(), tasks, stop));
        Ok(Self {
            ids: RequestIds::new(entropy),
            clock,
            logs_access: log.access != AccessLog::Off,
            exporter: exporter.transpose().map_err(std::io::Error::other)?,
        })
    }

    /// Makes the ids of requests that never get as far as the router.
    pub(crate) fn ids(&self) -> &RequestIds {
        &self.ids
    }

    /// Give a request its id: the one in its headers where a trusted proxy sent it, else a new one.
    pub(crate) fn admit(
        &self,
        request: &mut http::Request<impl Sized>,
        is_trusted: bool,
    ) -> RequestId {
        let headers: &HeaderMap = request.headers();
        let id = self.ids.of(headers, is_trusted);
        let parent = if is_trusted { TraceParent::of(headers) } else { None };
        request.extensions_mut().insert(Incoming { id: id.clone(), parent });
        id
    }

    fn report(&self, record: RequestRecord) {
        if self.logs_access {
            access_log::write_request(&record);
        }
        if let Some(exporter) = &self.exporter {
            exporter.send(record);
        }
    }
}

/// The outermost layer of the router: runs a request in its span and puts its id into the answer.
pub(crate) async fn trace_request(
    State(telemetry): State<Arc<Telemetry>>,
    request: Request,
    next: Next,
) -> Response {
    let stopwatch = Stopwatch::start();
    let started = telemetry.clock.now();
    let extensions = request.extensions();
    let incoming = extensions.get::<Incoming>().cloned();
    let Incoming { id, parent } =
        incoming.unwrap_or_else(|| Incoming { id: telemetry.ids.make(), parent: None });
    let client = extensions.get().copied().unwrap_or(ClientAddress::UNKNOWN).0;
    let route = extensions.get::<MatchedPath>().map_or(UNMATCHED, MatchedPath::as_str);
    let route = CompactString::from(route);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    // At the level of errors: a log that shows nothing else still shows which request failed.
    let span = tracing::error_span!(
        "request",
        request_id = id.as_str(),
        method = method.as_str(),
        route = route.as_str(),
        client = %client,
        caller = Empty,
        status = Empty,
        duration_ms = Empty,
    );
    let current = Arc::new(Current { id: id.clone(), caller: OnceLock::new() });
    let answer = CURRENT.scope(Arc::clone(&current), next.run(request));
    let mut response = answer.instrument(span.clone()).await;
    id.insert_into(response.headers_mut());
    let (status, duration) = (response.status(), stopwatch.elapsed());
    span.record("status", status.as_u16());
    span.record("duration_ms", milliseconds(duration));
    let caller = current.caller.get().cloned().unwrap_or(CompactString::const_new(ANONYMOUS));
    telemetry.report(RequestRecord {
        id,
        parent,
        method,
        path,
        route,
        status,
        caller,
        client,
        started,
        duration,
    });
    response
}

/// With three digits after the point.
pub(super) fn milliseconds(duration: Duration) -> f64 {
    let micros = u32::try_from(duration.as_micros()).unwrap_or(u32::MAX);
    f64::from(micros) / 1000.0
}

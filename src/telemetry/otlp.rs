//! Export of request spans over OTLP/HTTP in its JSON encoding (OpenTelemetry protocol 1.x). A queue
//! of bounded length, one task that sends batches; while the collector does not answer, spans are
//! dropped and counted.
//!
//! The attributes follow the semantic conventions for HTTP server spans.

use std::time::Duration;

use reqwest::redirect::Policy;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use super::error_chain;
use super::request_id::hex;
use super::request_span::RequestRecord;
use crate::entropy::Entropy;

/// Spans that may wait to be sent.
const QUEUE: usize = 4096;
const BATCH: usize = 512;
/// How long a span waits for its batch to fill.
const DELAY: Duration = Duration::from_secs(1);
/// How long one POST may take; shutdown waits for the last one.
const TIMEOUT: Duration = Duration::from_secs(5);

const SPAN_KIND_SERVER: u8 = 2;
const STATUS_CODE_ERROR: u8 = 2;

#[derive(Clone, Debug)]
pub(super) struct Exporter(Sender<RequestRecord>);

impl Exporter {
    /// Send to the collector at `url`, whose traces endpoint is `{url}/v1/traces`.
    pub(super) fn start(
        url: &Url,
        entropy: Entropy,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> reqwest::Result<Self> {
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("kurz/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .no_proxy()
            .timeout(TIMEOUT);
        if url.scheme() == "http" {
            // No certificate will be verified; this saves reading the machine's.
            http = http.tls_certs_only([]);
        }
        let http = http.build()?;
        let endpoint = format!("{}/v1/traces", url.as_str().trim_end_matches('/'));
        let (sender, queue) = channel(QUEUE);
        let task = ExportTask { http, endpoint, entropy, is_failing: false };
        tasks.spawn(task.run(queue, stop.clone()));
        Ok(Self(sender))
    }

    pub(super) fn send(&self, record: RequestRecord) {
        if self.0.try_send(record).is_err() {
            count("dropped", 1);
        }
    }
}

struct ExportTask {
    http: reqwest::Client,
    endpoint: String,
    entropy: Entropy,
    is_failing: bool,
}

impl ExportTask {
    async fn run(mut self, mut queue: Receiver<RequestRecord>, stop: CancellationToken) {
        let mut ticks = interval(DELAY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut batch = Vec::with_capacity(BATCH);
        let mut is_stopping = false;
        loop {
            let room = BATCH - batch.len();
            tokio::select! {
                () = stop.cancelled(), if !is_stopping => {
                    // What is in the queue can still be received.
                    queue.close();
                    is_stopping = true;
                    continue;
                }
                received = queue.recv_many(&mut batch, room) => match received {
                    0 => {
                        self.post(&mut batch).await;
                        return;
                    }
                    received if received < room => continue,
                    _ => {}
                },
                _ = ticks.tick() => {}
            }
            self.post(&mut batch).await;
            if is_stopping && self.is_failing {
                return;
            }
        }
    }

    /// Send a batch, once: a collector that is away must not make spans pile up.
    async fn post(&mut self, batch: &mut Vec<RequestRecord>) {
        if batch.is_empty() {
            return;
        }
        let spans = batch.drain(..).map(|record| self.span(&record)).collect::<Vec<_>>();
        let number = u64::try_from(spans.len()).unwrap_or(u64::MAX);
        let sent = self.http.post(&self.endpoint).json(&envelope(&spans)).send().await;
        match sent.and_then(reqwest::Response::error_for_status) {
            Ok(_) => {
                count("sent", number);
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("the OTLP collector takes spans again");
                }
            }
            Err(error) => {
                count("failed", number);
                if !std::mem::replace(&mut self.is_failing, true) {
                    let error = error_chain(&error);
                    tracing::warn!(error, "the OTLP collector does not take spans (KURZ_OTLP)");
                }
            }
        }
    }

    fn span(&self, record: &RequestRecord) -> Value {
        let mut random = [0; 24];
        self.entropy.fill(&mut random);
        let (span_id, trace_id) = random.split_at(8);
        let trace_id = record.parent.as_ref().map_or(trace_id, |parent| &parent.trace_id);
        let start = i128::from(record.started.as_ms()) * 1_000_000;
        let end = start.saturating_add(i128::try_from(record.duration.as_nanos()).unwrap_or(0));
        let mut span = json!({
            "traceId": hex(trace_id).as_str(),
            "spanId": hex(span_id).as_str(),
            "name": format!("{} {}", record.method, record.route),
            "kind": SPAN_KIND_SERVER,
            // 64-bit numbers are strings in this encoding.
            "startTimeUnixNano": start.to_string(),
            "endTimeUnixNano": end.to_string(),
            "attributes": [
                attribute("http.request.method", record.method.as_str()),
                attribute("http.route", &record.route),
                json!({
                    "key": "http.response.status_code",
                    "value": { "intValue": record.status.as_str() },
                }),
                attribute("client.address", &record.client.to_string()),
                attribute("kurz.caller", &record.caller),
                attribute("kurz.request_id", record.id.as_str()),
            ],
        });
        if let (Some(parent), Some(span)) = (record.parent, span.as_object_mut()) {
            span.insert("parentSpanId".to_owned(), json!(hex(&parent.span_id).as_str()));
        }
        if let (true, Some(span)) = (record.status.is_server_error(), span.as_object_mut()) {
            span.insert("status".to_owned(), json!({ "code": STATUS_CODE_ERROR }));
        }
        span
    }
}

fn envelope(spans: &[Value]) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "resourceSpans": [{
            "resource": {
                "attributes": [
                    attribute("service.name", "kurz"),
                    attribute("service.version", version),
                ],
            },
            "scopeSpans": [{ "scope": { "name": "kurz", "version": version }, "spans": spans }],
        }],
    })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn count(outcome: &'static str, spans: u64) {
    metrics::counter!("kurz_otlp_spans_total", "outcome" => outcome).increment(spans);
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use http::{Method, StatusCode};

    use super::super::request_id::RequestIds;
    use super::super::trace_parent::TraceParent;
    use super::*;
    use kurz_core::time::Timestamp;

    #[test]
    fn a_span_is_written_as_the_protocol_has_it() {
        let entropy = Entropy::from_fn(|bytes| bytes.fill(0xab));
        let http = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
        let id = RequestIds::new(entropy.clone()).make();
        let task = ExportTask { http, endpoint: String::new(), entropy, is_failing: false };
        let parent = TraceParent { trace_id: [1; 16], span_id: [2; 8] };
        let record = RequestRecord {
            id,
            parent: Some(parent),
            method: Method::GET,
            path: "/api/v1/workspaces/main".to_owned(),
            route: "/api/v1/workspaces/{id}".into(),
            status: StatusCode::INTERNAL_SERVER_ERROR,
            caller: "user:7".into(),
            client: Ipv4Addr::LOCALHOST.into(),
            started: Timestamp::from_ms(1_773_576_000_000),
            duration: Duration::from_micros(1500),
        };
        let text = |value: &str| json!({ "stringValue": value });
        assert_eq!(
            task.span(&record),
            json!({
                "traceId": "01010101010101010101010101010101",
                "spanId": "abababababababab",
                "parentSpanId": "0202020202020202",
                "name": "GET /api/v1/workspaces/{id}",
                "kind": 2,
                "startTimeUnixNano": "1773576000000000000",
                "endTimeUnixNano": "1773576000001500000",
                "attributes": [
                    { "key": "http.request.method", "value": text("GET") },
                    { "key": "http.route", "value": text("/api/v1/workspaces/{id}") },
                    { "key": "http.response.status_code", "value": { "intValue": "500" } },
                    { "key": "client.address", "value": text("127.0.0.1") },
                    { "key": "kurz.caller", "value": text("user:7") },
                    { "key": "kurz.request_id", "value": text("abababababababab") },
                ],
                "status": { "code": 2 },
            })
        );
        let ok = RequestRecord { parent: None, status: StatusCode::OK, ..record };
        let ok = task.span(&ok);
        assert_eq!(ok["traceId"], "abababababababababababababababab");
        assert!(ok.get("status").is_none() && ok.get("parentSpanId").is_none(), "{ok}");
    }
}

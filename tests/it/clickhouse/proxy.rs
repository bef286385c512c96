//! Stands between kurz and ClickHouse: remembers what is sent, loses answers, and lets nothing through.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kurz_test_support::clickhouse;
use tokio::net::TcpListener;
use url::Url;

/// A statement as it was sent.
#[derive(Clone, Debug)]
pub(crate) struct SentStatement {
    pub(crate) statement: String,
    /// The rows of an insert.
    pub(crate) rows: Vec<u8>,
    /// What the server answers to it, as sorted lines.
    pub(crate) lines: Vec<String>,
}

pub(crate) struct Proxy {
    url: Url,
    shared: Arc<Shared>,
}

struct Shared {
    target: Url,
    client: reqwest::Client,
    requests: AtomicU64,
    answers_to_lose: AtomicU64,
    hangs: AtomicBool,
    records: AtomicBool,
    sent: Mutex<Vec<SentStatement>>,
}

impl Proxy {
    pub(crate) async fn start(target: &Url) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut url = target.clone();
        url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let shared = Arc::new(Shared {
            target: target.clone(),
            client: reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap(),
            requests: AtomicU64::new(0),
            answers_to_lose: AtomicU64::new(0),
            hangs: AtomicBool::new(false),
            records: AtomicBool::new(false),
            sent: Mutex::default(),
        });
        let router = axum::Router::new().fallback(forward).with_state(Arc::clone(&shared));
        let serve = async move { axum::serve(listener, router).await };
        // It ends with the runtime of its test.
        tokio_util::task::TaskTracker::new().spawn(serve);
        Self { url, shared }
    }

    pub(crate) fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The next inserts are carried out, and their answers are lost.
    pub(crate) fn lose_answers(&self, count: u64) {
        self.shared.answers_to_lose.store(count, Ordering::SeqCst);
    }

    pub(crate) fn answers_to_lose(&self) -> u64 {
        self.shared.answers_to_lose.load(Ordering::SeqCst)
    }

    /// From now on nothing is answered, or everything again.
    pub(crate) fn hang(&self, hangs: bool) {
        self.shared.hangs.store(hangs, Ordering::SeqCst);
    }

    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn record(&self) {
        self.shared.records.store(true, Ordering::SeqCst);
    }

    pub(crate) fn sent(&self) -> Vec<SentStatement> {
        self.shared.sent.lock().unwrap().clone()
    }
}

async fn forward(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    shared.requests.fetch_add(1, Ordering::SeqCst);
    if shared.hangs.load(Ordering::SeqCst) {
        return std::future::pending().await;
    }
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 1 << 30).await.unwrap().to_vec();
    let mut url = shared.target.clone();
    url.set_username("").unwrap();
    url.set_password(None).unwrap();
    url.set_path("");
    url.set_query(head.uri.query());
    let in_url =
        url.query_pairs().find(|(name, _)| name == "query").map(|(_, text)| text.to_string());
    let is_insert = in_url.is_some();
    let mut passed = shared.client.post(url).body(body.clone());
    for name in ["x-clickhouse-user", "x-clickhouse-key"] {
        passed = passed.header(name, head.headers.get(name).unwrap());
    }
    let Ok(answer) = passed.send().await else {
        return StatusCode::BAD_GATEWAY.into_response();
    };
    let status = answer.status();
    let bytes = answer.bytes().await.unwrap();
    if shared.records.load(Ordering::SeqCst) && status.is_success() {
        record(&shared, in_url, body).await;
    }
    let lost = |left: u64| left.checked_sub(1);
    if is_insert
        && shared.answers_to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lost).is_ok()
    {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    (status, bytes).into_response()
}

async fn record(shared: &Shared, in_url: Option<String>, body: Vec<u8>) {
    let (statement, rows) = match in_url {
        Some(statement) => (statement, body),
        None => (String::from_utf8(body).unwrap(), Vec::new()),
    };
    let mut lines = Vec::new();
    if statement.starts_with("SELECT") {
        let as_lines = statement.replace("FORMAT RowBinary", "FORMAT TabSeparated");
        let answer = clickhouse::ask(&shared.target, &as_lines).await;
        lines = answer.split('\n').map(str::to_owned).collect();
        lines.sort();
    }
    shared.sent.lock().unwrap().push(SentStatement { statement, rows, lines });
}

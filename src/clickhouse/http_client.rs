//! Calls to ClickHouse's HTTP interface, each with a timeout. User and password are in header fields, never in a
//! URL.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use http::HeaderValue;
use reqwest::redirect::Policy;
use reqwest::{Certificate, RequestBuilder, Response};
use thiserror::Error;
use url::Url;

use crate::clickhouse::statements;
use crate::config::ClickHouseUrl;

const CONNECT: Duration = Duration::from_secs(1);
/// How long a write or a change of the table may take.
const WRITE: Duration = Duration::from_secs(30);
/// The most bytes of an answer: more is no answer to a question that was asked.
const MOST_ANSWER: usize = 64 << 20;
/// How much of a server's words is shown.
const MOST_WORDS: usize = 200;

#[derive(Clone, Debug, Error)]
pub enum ClickHouseError {
    #[error("ClickHouse does not answer: {0}")]
    Away(String),
    /// What it says itself.
    #[error("ClickHouse refuses: {0}")]
    Refused(String),
    #[error("ClickHouse's answer cannot be read")]
    Unreadable,
    #[error("the certificate authorities of KURZ_TLS_CA cannot be used for ClickHouse: {0}")]
    Authorities(String),
}

/// What is known of the server.
const UNKNOWN: u8 = 0;
const OLD: u8 = 1;
/// It knows `insert_deduplication_token`.
const KNOWS_TOKENS: u8 = 2;

/// One server.
pub struct ClickHouse {
    url: ClickHouseUrl,
    /// The name of the store whose events are copied.
    owner: Option<String>,
    http: reqwest::Client,
    endpoint: Url,
    user: HeaderValue,
    password: HeaderValue,
    /// Whether the last write failed.
    is_failing: AtomicBool,
    /// [`UNKNOWN`] until its table is there.
    server: AtomicU8,
}

impl fmt::Debug for ClickHouse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClickHouse({})", self.url)
    }
}

impl ClickHouse {
    /// Nothing is connected yet.
    pub fn new(url: &ClickHouseUrl, authorities: Option<&Path>) -> Result<Self, ClickHouseError> {
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("kurz/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT);
        match authorities {
            // No certificate will be looked at; this saves reading the machine's.
            _ if url.server().scheme() == "http" => http = http.tls_certs_only([]),
            Some(file) => http = http.tls_certs_merge(read_authorities(file)?),
            None => {}
        }
        let http = http.build().map_err(|error| away(&error))?;
        let field = |text: &str| {
            let mut value = HeaderValue::from_bytes(text.as_bytes())
                .map_err(|_| ClickHouseError::Away("its user or password is no text".to_owned()))?;
            value.set_sensitive(true);
            Ok::<_, ClickHouseError>(value)
        };
        let mut endpoint = url.server().clone();
        endpoint.query_pairs_mut().append_pair("database", url.database());
        Ok(Self {
            user: field(url.user())?,
            password: field(url.password().expose())?,
            url: url.clone(),
            owner: None,
            http,
            endpoint,
            is_failing: AtomicBool::new(false),
            server: AtomicU8::new(UNKNOWN),
        })
    }

    /// Refuse a database that holds the events of another store.
    #[must_use]
    pub fn owned_by(self, store: String) -> Self {
        Self { owner: Some(store), ..self }
    }

    /// Whether the last write failed.
    pub fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }

    /// Whether its table is known to be there.
    pub fn is_prepared(&self) -> bool {
        self.server.load(Ordering::Relaxed) != UNKNOWN
    }

    /// See to it that the table is there; the server's version.
    pub async fn prepare(&self) -> Result<String, ClickHouseError> {
        let prepared = async {
            let version = self.version().await?;
            let knows = statements::knows_tokens(&version);
            self.run(statements::create(knows)).await?;
            self.claim().await?;
            self.server.store(if knows { KNOWS_TOKENS } else { OLD }, Ordering::Relaxed);
            Ok(version)
        };
        self.note(prepared.await)
    }

    /// Note whose events these are. Two stores would remove each other's.
    async fn claim(&self) -> Result<(), ClickHouseError> {
        self.run(statements::CREATE_OWNER.to_owned()).await?;
        let Some(owner) = &self.owner else { return Ok(()) };
        let owners = async || {
            let answer = self.ask(statements::OWNERS.to_owned(), WRITE).await?;
            statements::read_texts(&answer)
        };
        if owners().await?.is_empty() {
            self.run(statements::insert_owner(owner)).await?;
        }
        if owners().await?.iter().all(|one| one == owner) {
            return Ok(());
        }
        let words =
            "this database holds the events of another kurz: name another in KURZ_CLICKHOUSE";
        Err(ClickHouseError::Refused(words.to_owned()))
    }

    async fn run(&self, statement: String) -> Result<(), ClickHouseError> {
        self.send(self.post(&[]).body(statement), WRITE).await.map(|_| ())
    }

    /// The server's version, such as `18.16.1`.
    pub async fn version(&self) -> Result<String, ClickHouseError> {
        let answer = self.ask(statements::VERSION.to_owned(), WRITE).await?;
        statements::read_texts(&answer)?.pop().ok_or(ClickHouseError::Unreadable)
    }

    /// Whether the table of events is there.
    pub async fn has_table(&self) -> Result<bool, ClickHouseError> {
        let answer = self.ask(statements::TABLES.to_owned(), WRITE).await?;
        Ok(statements::read_numbers(&answer)? == [1])
    }

    /// Insert rows. A server that knows tokens takes rows with the same one once.
    pub async fn insert(&self, rows: Vec<u8>, token: Option<&str>) -> Result<(), ClickHouseError> {
        let statement = statements::insert();
        let mut parameters = vec![("query", statement.as_str())];
        let knows = self.server.load(Ordering::Relaxed) == KNOWS_TOKENS;
        parameters
            .extend(token.filter(|_| knows).map(|token| ("insert_deduplication_token", token)));
        self.note(self.send(self.post(&parameters).body(rows), WRITE).await).map(|_| ())
    }

    /// Run a statement that changes something.
    pub(super) async fn change(&self, statement: String) -> Result<(), ClickHouseError> {
        self.note(self.run(statement).await)
    }

    /// Run a statement that reads, for as long as a write may take.
    pub(super) async fn read(&self, statement: String) -> Result<Vec<u8>, ClickHouseError> {
        self.note(self.ask(statement, WRITE).await)
    }

    /// Ask within `limit`; the server stops then as well.
    pub(super) async fn ask(
        &self,
        statement: String,
        limit: Duration,
    ) -> Result<Vec<u8>, ClickHouseError> {
        let seconds = limit.as_secs().max(1).to_string();
        // The status comes after the last row: an answer that breaks off is none.
        let parameters = [("max_execution_time", seconds.as_str()), ("wait_end_of_query", "1")];
        self.send(self.post(&parameters).body(statement), limit).await
    }

    fn post(&self, parameters: &[(&str, &str)]) -> RequestBuilder {
        let mut url = self.endpoint.clone();
        url.query_pairs_mut().extend_pairs(parameters);
        self.http
            .post(url)
            .header("x-clickhouse-user", self.user.clone())
            .header("x-clickhouse-key", self.password.clone())
    }

    async fn send(
        &self,
        request: RequestBuilder,
        limit: Duration,
    ) -> Result<Vec<u8>, ClickHouseError> {
        let response = request.timeout(limit).send().await.map_err(|error| away(&error))?;
        let is_done = response.status().is_success();
        let answer = read_answer(response).await?;
        if is_done {
            return Ok(answer);
        }
        let words = String::from_utf8_lossy(&answer);
        let line = words.lines().next().unwrap_or_default();
        Err(ClickHouseError::Refused(line.chars().take(MOST_WORDS).collect()))
    }

    /// Remember whether writes work, and say so once.
    fn note<T>(&self, called: Result<T, ClickHouseError>) -> Result<T, ClickHouseError> {
        match &called {
            Ok(_) => {
                if self.is_failing.swap(false, Ordering::Relaxed) {
                    tracing::info!("ClickHouse works again");
                }
            }
            Err(error) => {
                metrics::counter!("kurz_clickhouse_errors_total").increment(1);
                // Its table may be gone.
                self.server.store(UNKNOWN, Ordering::Relaxed);
                if !self.is_failing.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "events are not copied (KURZ_CLICKHOUSE); it is retried");
                }
            }
        }
        called
    }
}

async fn read_answer(mut response: Response) -> Result<Vec<u8>, ClickHouseError> {
    let mut answer = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| away(&error))? {
        if answer.len() + part.len() > MOST_ANSWER {
            return Err(ClickHouseError::Unreadable);
        }
        answer.extend_from_slice(&part);
    }
    Ok(answer)
}

fn read_authorities(file: &Path) -> Result<Vec<Certificate>, ClickHouseError> {
    let refused = |why: &dyn fmt::Display| ClickHouseError::Authorities(why.to_string());
    let pem = std::fs::read(file).map_err(|error| refused(&error))?;
    Certificate::from_pem_bundle(&pem).map_err(|error| refused(&error))
}

/// The innermost cause: the outer ones only say that there was a request.
fn away(error: &reqwest::Error) -> ClickHouseError {
    if error.is_timeout() {
        return ClickHouseError::Away("it takes too long".to_owned());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    ClickHouseError::Away(cause.to_string())
}

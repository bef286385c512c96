//! The HTTP client of subcommands that talk to a server: JSON in both directions.
//!
//! Invariants: no redirect is followed and no proxy asked, so a key goes to the server it is meant
//! for and nowhere else; every wait and every answer has an end; whatever goes wrong is one sentence.

use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::CliError;
use super::error::sentence;
use crate::config;

const CONNECT: Duration = Duration::from_secs(5);
/// For a whole request: a bulk of work on a slow disk takes seconds, not minutes.
const REQUEST: Duration = Duration::from_mins(1);
/// More than a page of a thousand links with the longest targets.
const MOST_BYTES: usize = 64 << 20;

/// A client of the server that `KURZ_URL` names.
pub(super) struct ApiClient {
    http: reqwest::Client,
    config: config::ClientConfig,
}

/// An error as the server tells it.
#[derive(Deserialize)]
struct ServerProblem {
    detail: String,
    #[serde(default)]
    errors: Vec<ServerProblemField>,
}

#[derive(Deserialize)]
struct ServerProblemField {
    field: String,
    detail: String,
}

impl ApiClient {
    /// The server and the key of the environment.
    pub(super) fn from_environment() -> Result<Self, CliError> {
        let config = config::ClientConfig::read(config::environment()?)?;
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("kurz/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT)
            .timeout(REQUEST);
        match &config.tls_ca {
            // No certificate will be looked at; this spares reading the machine's.
            _ if config.url.scheme() == "http" => http = http.tls_certs_only([]),
            Some(file) => http = http.tls_certs_merge(authorities(file)?),
            None => {}
        }
        let http = http.build().map_err(|error| {
            let text = format!("cannot prepare a connection: {}", reason(&error));
            CliError::Failed(sentence(&text))
        })?;
        Ok(Self { http, config })
    }

    pub(super) async fn get(&self, path: &[&str]) -> Result<Value, CliError> {
        self.send(Method::GET, self.url(path), None).await
    }

    pub(super) async fn get_with(
        &self,
        path: &[&str],
        query: &[(&str, String)],
    ) -> Result<Value, CliError> {
        let mut url = self.url(path);
        url.query_pairs_mut().extend_pairs(query);
        self.send(Method::GET, url, None).await
    }

    pub(super) async fn post(&self, path: &[&str], body: Option<Value>) -> Result<Value, CliError> {
        self.send(Method::POST, self.url(path), body).await
    }

    pub(super) async fn patch(&self, path: &[&str], body: Value) -> Result<Value, CliError> {
        self.send(Method::PATCH, self.url(path), Some(body)).await
    }

    pub(super) async fn delete(&self, path: &[&str]) -> Result<Value, CliError> {
        self.send(Method::DELETE, self.url(path), None).await
    }

    /// `/api/v1` and these pieces, each escaped.
    fn url(&self, path: &[&str]) -> Url {
        let mut url = Url::parse(self.config.url.as_str()).expect("a public URL is a URL");
        let mut pieces = url.path_segments_mut().expect("http has a path");
        pieces.clear().extend(["api", "v1"]).extend(path);
        drop(pieces);
        url
    }

    /// The answer's JSON; null when it has none.
    async fn send(&self, method: Method, url: Url, body: Option<Value>) -> Result<Value, CliError> {
        let mut request = self.http.request(method, url);
        if let Some(key) = &self.config.api_key {
            request = request.bearer_auth(key.expose());
        }
        if let Some(body) = &body {
            request = request.json(body);
        }
        let mut response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let body = self.read(&mut response).await?;
        if !status.is_success() {
            return Err(self.refused(status, &body));
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|_| self.stranger(status))
    }

    async fn read(&self, response: &mut Response) -> Result<Vec<u8>, CliError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > MOST_BYTES {
                return Err(self.stranger(response.status()));
            }
        }
        Ok(body)
    }

    fn refused(&self, status: StatusCode, body: &[u8]) -> CliError {
        let Ok(problem) = serde_json::from_slice::<ServerProblem>(body) else {
            return self.stranger(status);
        };
        let mut text = problem.detail;
        if let [_, _, ..] = problem.errors.as_slice() {
            let each = problem
                .errors
                .iter()
                .map(|error| format!("{}: {}", error.field, error.detail.trim_end_matches('.')));
            text = each.collect::<Vec<_>>().join("; ");
        }
        match status {
            StatusCode::UNAUTHORIZED => {
                let text = text.trim_end_matches('.');
                CliError::Refused(sentence(&format!("{text}; set KURZ_API_KEY to a valid key")))
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                CliError::Failed(sentence(&text))
            }
            status if status.is_client_error() => CliError::Refused(sentence(&text)),
            _ => CliError::Failed(sentence(&text)),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> CliError {
        let (url, reason) = (&self.config.url, reason(error));
        if let Some(address) = url.as_str().strip_prefix("https://")
            && answered_without_tls(error)
        {
            return CliError::Failed(format!(
                "What answers at {url} speaks plain HTTP, not HTTPS: set KURZ_URL to http://{address}."
            ));
        }
        if reason.contains("certificate") {
            return CliError::Failed(format!(
                "Cannot trust the server at {url} ({reason}): if its certificate is from a private \
                 authority, set KURZ_TLS_CA to a file with that authority's certificate."
            ));
        }
        CliError::Failed(format!(
            "Cannot reach kurz at {url} ({reason}): is it running? Set KURZ_URL to its address."
        ))
    }

    /// Something else than kurz answers.
    fn stranger(&self, status: StatusCode) -> CliError {
        let url = &self.config.url;
        let status = status.as_u16();
        CliError::Failed(format!(
            "What answers at {url} (with status {status}) is not kurz: set KURZ_URL to its address."
        ))
    }
}

/// The certificate authorities of `KURZ_TLS_CA`.
fn authorities(file: &Path) -> Result<Vec<Certificate>, CliError> {
    let refused = |why: &dyn std::fmt::Display| {
        CliError::Refused(format!(
            "The certificate authorities in {} (KURZ_TLS_CA) cannot be read: {why}.",
            file.display()
        ))
    };
    let pem = std::fs::read(file).map_err(|error| refused(&error))?;
    let certificates =
        Certificate::from_pem_bundle(&pem).map_err(|error| refused(&reason(&error)))?;
    if certificates.is_empty() {
        return Err(refused(&"it holds no certificate"));
    }
    Ok(certificates)
}

/// Whether the other side answered a TLS handshake with something else than TLS.
fn answered_without_tls(error: &(dyn Error + 'static)) -> bool {
    if let Some(rustls::Error::InvalidMessage(_)) = error.downcast_ref() {
        return true;
    }
    let inner = match error.downcast_ref::<io::Error>() {
        // Its source is that of the error which it wraps.
        Some(wrapper) => wrapper.get_ref().map(|inner| -> &(dyn Error + 'static) { inner }),
        None => error.source(),
    };
    inner.is_some_and(answered_without_tls)
}

/// The innermost cause: the outer ones only say that there was a request.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

//! A client for tests: it shows each answer as it came. It follows no redirect, uses no proxy, keeps no
//! cookies and speaks plain HTTP only, so that what a test sees is what the server sent.

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect};
use serde_json::Value;

/// A client of one server. Make one per test: its connections belong to the test's runtime.
#[derive(Clone)]
pub struct Http {
    client: reqwest::Client,
    base: String,
    headers: HeaderMap,
}

impl Http {
    /// A client of the server at `base`, `http://host:port`.
    pub fn new(base: &str) -> Self {
        let client = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            // No certificate is ever looked at; this spares reading the machine's.
            .tls_certs_only([])
            .build()
            .unwrap();
        Self { client, base: base.trim_end_matches('/').to_owned(), headers: HeaderMap::new() }
    }

    /// The same client with one more header on each request.
    #[must_use]
    pub fn with(&self, name: HeaderName, value: &str) -> Self {
        let mut with = self.clone();
        with.headers.insert(name, HeaderValue::from_str(value).unwrap());
        with
    }

    /// The same client with a token or key on each request.
    #[must_use]
    pub fn bearer(&self, token: &str) -> Self {
        self.with(AUTHORIZATION, &format!("Bearer {token}"))
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn head(&self, path: &str) -> Answer {
        self.send(Method::HEAD, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// Post bytes that need not be JSON.
    pub async fn post_bytes(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        let request =
            self.client.post(format!("{}{path}", self.base)).headers(self.headers.clone());
        let sent = request.body(reqwest::Body::from(body.into())).send().await;
        Answer::read(sent.unwrap()).await.unwrap()
    }

    /// A request without an answer is a failed test; [`Http::try_send`] is for those who expect it.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let answer = self.try_send(method, path, body).await;
        answer.unwrap_or_else(|error| panic!("{}{path} does not answer: {error:?}", self.base))
    }

    /// Send a request to a server that may be gone.
    pub async fn try_send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, reqwest::Error> {
        let request = self.client.request(method, format!("{}{path}", self.base));
        let request = request.headers(self.headers.clone());
        let request = if let Some(body) = body { request.json(body) } else { request };
        Answer::read(request.send().await?).await
    }
}

/// An answer, whole.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    async fn read(response: reqwest::Response) -> Result<Self, reqwest::Error> {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Self { status, headers, body: response.bytes().await? })
    }

    /// This answer, if its status is `status`; otherwise the test fails and shows the body.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "the answer was: {}", self.text());
        self
    }

    /// A header's text; `None` when it is not there.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// This answer, if it is a problem with this status and this stable code, in every detail.
    #[track_caller]
    pub fn expect_problem(self, status: u16, code: &str) -> Value {
        let answer = self.expect(status);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        let problem = answer.json();
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(code.chars().all(kebab), "`{code}` is no stable code");
        for field in ["type", "title", "detail"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{problem}");
        }
        problem
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A problem without its request id, which differs from answer to answer.
    pub fn problem(&self) -> Value {
        let mut problem = self.json();
        let id = problem.as_object_mut().and_then(|fields| fields.remove("request_id"));
        assert!(id.is_some(), "a problem has its request id: {}", self.text());
        problem
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        let parsed = serde_json::from_slice(&self.body);
        parsed.unwrap_or_else(|error| panic!("not JSON ({error}): {}", self.text()))
    }
}

#[cfg(test)]
mod tests {
    use axum::response::Redirect;
    use axum::routing::get;
    use axum::{Json, Router};
    use serde_json::json;

    use super::*;

    async fn echo(method: Method, headers: HeaderMap, body: String) -> Json<Value> {
        let auth = headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap());
        Json(json!({ "method": method.as_str(), "auth": auth, "body": body }))
    }

    async fn server() -> Http {
        let router = Router::new()
            .route("/echo", get(echo).post(echo).patch(echo).delete(echo))
            .route("/away", get(|| async { Redirect::temporary("http://elsewhere.example/") }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/", listener.local_addr().unwrap());
        tokio::runtime::Handle::current().spawn(async { axum::serve(listener, router).await });
        Http::new(&base)
    }

    #[tokio::test]
    async fn each_method_arrives_with_its_body_and_credential() {
        let http = server().await.bearer("secret");
        let got = http.get("/echo").await.expect(200).json();
        assert_eq!(got, json!({ "method": "GET", "auth": "Bearer secret", "body": "" }));
        assert_eq!(http.post("/echo", &json!([1])).await.json()["body"], "[1]");
        assert_eq!(http.patch("/echo", &json!({})).await.json()["method"], "PATCH");
        assert_eq!(http.delete("/echo").await.json()["method"], "DELETE");
    }

    #[tokio::test]
    async fn a_redirect_is_shown_and_not_followed() {
        let http = server().await;
        let away = http.get("/away").await.expect(307);
        assert_eq!(away.header("location"), Some("http://elsewhere.example/"));
        assert_eq!(away.header("retry-after"), None);
        assert_eq!(http.head("/away").await.expect(307).text(), "");
    }

    #[tokio::test]
    async fn a_server_that_is_gone_is_an_error_to_those_who_expect_it() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let http = Http::new(&format!("http://{}", listener.local_addr().unwrap()));
        drop(listener);
        assert!(http.try_send(Method::GET, "/", None).await.is_err());
    }
}

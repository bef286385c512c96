//! Who asks from where, and how often they may: a running kurz, seen from several addresses.

mod clients;
mod connections;
mod creations;
mod credentials;
mod logins;
mod misses;
mod off;

use std::time::Duration;

use http::HeaderName;
use serde_json::{Value, json};

use crate::harness::http::{Answer, Http};
use crate::harness::instance::{Kind, Staged};
use crate::people::{PASSWORD, email};

/// A kurz with accounts and its default limits, behind a proxy that says where visitors come from.
/// Its clock stands still until it is moved.
struct Limited(Staged);

impl Limited {
    async fn start() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[(&str, &str)]) -> Self {
        let fixed =
            [("KURZ_LIMITS", "on"), ("KURZ_OPEN", "off"), ("KURZ_TRUSTED_PROXIES", "127.0.0.1")];
        let all: Vec<_> = fixed.into_iter().chain(settings.iter().copied()).collect();
        Self(Staged::start_with(Kind::Sqlite, &all).await)
    }

    /// A client at an address.
    fn at(&self, address: &str) -> Http {
        self.0.http().with(HeaderName::from_static("x-forwarded-for"), address)
    }

    /// A browser at an address, on one of the server's own pages.
    fn browser(&self, address: &str, language: &str) -> Http {
        self.at(address)
            .with(HeaderName::from_static("accept"), "text/html")
            .with(HeaderName::from_static("accept-language"), language)
            .with(HeaderName::from_static("sec-fetch-site"), "same-origin")
    }

    fn pass(&self, seconds: u64) {
        self.0.clock.advance(Duration::from_secs(seconds));
    }

    /// Register somebody; a client with their token, at their address.
    async fn register(&self, name: &str, address: &str) -> Http {
        let body = json!({ "email": email(name), "password": PASSWORD, "name": name });
        let answer = self.at(address).post("/api/v1/auth/register", &body).await.expect(201);
        self.at(address).bearer(answer.json()["token"].as_str().unwrap())
    }
}

/// Try to sign in. What is too short for a password is wrong without being compared, which takes no
/// time.
async fn log_in(http: &Http, name: &str, password: &str) -> Answer {
    let body = json!({ "email": email(name), "password": password });
    http.post("/api/v1/auth/login", &body).await
}

/// Make a link in `main`.
async fn shorten(http: &Http, url: &str) -> Answer {
    http.post("/api/v1/links", &json!({ "original_url": url })).await
}

/// This answer, if it says that it was too often, and for how many seconds.
#[track_caller]
fn expect_too_often(answer: Answer, seconds: u32) -> Value {
    let wait = answer.header("retry-after").map(str::to_owned);
    let problem = answer.expect_problem(429, "too-many-requests");
    assert_eq!(wait, Some(seconds.to_string()), "{problem}");
    problem
}

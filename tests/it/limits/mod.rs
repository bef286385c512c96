//! Who asks from where, and how often they may: a running kurz, seen from several addresses.

mod client_address;
mod creations;
mod credentials;
mod logins;
mod misses;
mod off;

use std::time::Duration;

use http::HeaderName;
use kurz_test_support::accounts::email;
use kurz_test_support::http::{Answer, Http};
use kurz_test_support::{Builder, TestServer};
use serde_json::{Value, json};

/// A server with accounts and its default limits, behind a proxy that says where visitors come from.
fn limited() -> Builder {
    TestServer::builder().accounts().limits().setting("KURZ_TRUSTED_PROXIES", "127.0.0.1")
}

/// A browser at an address, on one of the server's own pages.
fn browser(server: &TestServer, address: &str, language: &str) -> Http {
    server
        .at(address)
        .with(HeaderName::from_static("accept"), "text/html")
        .with(HeaderName::from_static("accept-language"), language)
        .with(HeaderName::from_static("sec-fetch-site"), "same-origin")
}

fn pass(server: &TestServer, seconds: u64) {
    server.advance(Duration::from_secs(seconds));
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

//! A server in open mode, and the pages of other sites that a browser on the same machine shows: they may neither
//! change anything nor reach it under a name of their own.

use kurz_test_support::http::Http;
use kurz_test_support::{Kind, TestServer, on_both_databases};
use reqwest::header::{CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use serde_json::json;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

fn body(code: &str) -> serde_json::Value {
    json!({ "original_url": "https://example.com/", "custom_code": code })
}

on_both_databases!(a_page_of_another_site_changes_nothing);

// threats: C13
async fn a_page_of_another_site_changes_nothing(kind: Kind) {
    let server = TestServer::builder().database(kind).start().await;
    let http = server.http();
    http.post("/api/v1/links", &body("mine")).await.expect(201);
    let foreign = [
        http.with(ORIGIN, "https://evil.example"),
        http.with(ORIGIN, "null"),
        http.with(ORIGIN, "http://localhost:3000"),
        http.with(SITE, "cross-site"),
        http.with(SITE, "same-site"),
        http.with(ORIGIN, "https://evil.example").with(SITE, "same-origin"),
    ];
    for http in &foreign {
        // Forms and scripts may send this without asking first.
        let plain = http.with(CONTENT_TYPE, "text/plain");
        let sent = plain.post_bytes("/api/v1/links", body("theirs").to_string()).await;
        sent.expect_problem(403, "csrf");
        http.delete("/api/v1/workspaces/main/links/mine").await.expect_problem(403, "csrf");
        http.post("/v1/shorten", &json!({ "url": "https://example.com/" })).await.expect(403);
    }
    http.get("/mine").await.expect(302);
    http.get("/theirs").await.expect(404);
    // Its own pages, and programs that are no browsers.
    let base = server.base_url();
    http.with(ORIGIN, &base)
        .with(SITE, "same-origin")
        .post("/api/v1/links", &body("a-1"))
        .await
        .expect(201);
    http.with(CONTENT_TYPE, "text/plain")
        .post_bytes("/api/v1/links", body("a-2").to_string())
        .await
        .expect(201);
}

// threats: C13
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_name_that_leads_here_is_refused() {
    let server =
        TestServer::builder().setting("KURZ_PUBLIC_URL", "https://kurz.example").start().await;
    let http = server.http();
    let port = server.base_url().rsplit(':').next().unwrap().to_owned();
    for host in
        ["evil.example", "localhost.evil.example", "192.168.1.5", "kurz.example.evil.example"]
    {
        for host in [host.to_owned(), format!("{host}:{port}")] {
            let http = http.with(HOST, &host);
            http.get("/api/v1/workspaces/main/links").await.expect_problem(421, "host-unknown");
            http.post("/api/v1/links", &body("evil")).await.expect_problem(421, "host-unknown");
            for page in ["/", "/app/w/main", "/api/docs"] {
                http.get(page).await.expect(421);
            }
            http.get("/healthz").await.expect(200);
        }
    }
    for host in ["localhost", "127.0.0.1", "[::1]", "kurz.example", "KURZ.example", "a.localhost"] {
        for host in [host.to_owned(), format!("{host}:{port}")] {
            let http = http.with(HOST, &host);
            http.get("/api/v1/workspaces/main/links").await.expect(200);
            http.get("/app/w/main").await.expect(200);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_accounts_answers_under_every_name() {
    let server = TestServer::builder().accounts().start().await;
    let http = server.http().with(HOST, "kurz.internal");
    http.get("/").await.expect(200);
    let made = http
        .with(ORIGIN, "https://other.example")
        .post("/api/v1/links", &json!({ "original_url": "https://example.com/" }))
        .await;
    made.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hosts_of_workspaces_lead_to_links_in_open_mode_too() {
    let server = TestServer::builder().start().await;
    let http: Http = server.http();
    http.post("/api/v1/workspaces", &json!({ "id": "acme" })).await;
    http.post("/api/v1/workspaces/acme/links", &body("promo")).await.expect(201);
    let added =
        http.post("/api/v1/workspaces/acme/hosts", &json!({ "host": "go.acme.example" })).await;
    assert!(added.status < 300, "{}", added.text());
    let there = http.with(HOST, "go.acme.example");
    there.get("/promo").await.expect(302);
    there.get("/promo+").await.expect(200);
    there.get("/robots.txt").await.expect(200);
    there.get("/app/w/acme").await.expect(404);
    there.get("/api/v1/workspaces/acme/links").await.expect_problem(421, "host-unknown");
}

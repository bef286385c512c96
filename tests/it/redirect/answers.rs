//! The table of answers: which status, which headers, in which order of checks.

use std::time::Duration;

use kurz_test_support::http::{Answer, Http};
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use reqwest::Method;
use reqwest::header::ACCEPT;
use serde_json::json;

on_both_databases!(
    a_live_link_redirects_to_its_exact_target_with_the_status_it_chose,
    what_does_not_exist_is_not_found,
    a_link_is_gone_from_the_very_instant_of_its_expiry,
    the_checks_run_in_the_order_of_the_contract,
    browsers_get_a_page_and_others_a_problem,
    a_short_address_knows_get_and_head_only,
    an_address_has_one_spelling,
);

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

// threats: G8
async fn a_live_link_redirects_to_its_exact_target_with_the_status_it_chose(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let targets = [
        ("https://example.com", "https://example.com"),
        (
            "HTTPS://Example.COM:443/A/../b/?b=2&a=1#Part",
            "HTTPS://Example.COM:443/A/../b/?b=2&a=1#Part",
        ),
        (" https://example.com/trimmed\n", "https://example.com/trimmed"),
        ("https://example.com/Grüße?q=ä#ö", "https://example.com/Gr%C3%BC%C3%9Fe?q=%C3%A4#%C3%B6"),
        ("https://example.com/a b\u{2028}c", "https://example.com/a%20b%E2%80%A8c"),
    ];
    for (url, location) in targets {
        for status in [None, Some(301), Some(302), Some(307), Some(308)] {
            let body = json!({ "original_url": url, "redirect_status": status });
            let link = links::make(&http, "main", &body).await;
            assert_eq!(link["redirect_status"], status.unwrap_or(302));
            assert_eq!(link["original_url"], url);
            let path = links::short_path(&link);
            // Once from the store, once from memory, and once for a browser.
            for http in [&http, &http, &http.with(ACCEPT, BROWSER)] {
                let answer = http.get(&path).await.expect(status.unwrap_or(302));
                assert_eq!(answer.header("location"), Some(location));
                assert_eq!(answer.header("cache-control"), Some("no-store"));
                assert_eq!(answer.text(), "");
            }
        }
    }
    kurz.stop().await;
}

async fn what_does_not_exist_is_not_found(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    let link = links::make(&http, "team", &body).await;
    for path in ["/Promo", "/PROMO", "/prom", "/w/team/Promo", "/w/TEAM/promo", "/w/nobody/promo"] {
        for _ in 0..2 {
            http.get(path).await.expect_problem(404, "link-not-found");
        }
    }
    http.delete(&links::path_of(&link)).await.expect(200);
    for path in ["/promo", "/w/team/promo"] {
        http.get(path).await.expect_problem(404, "link-not-found");
        assert_eq!(http.head(path).await.expect(404).text(), "");
    }
    kurz.stop().await;
}

async fn a_link_is_gone_from_the_very_instant_of_its_expiry(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let end = NOON.plus(Duration::from_millis(1500));
    let body = json!({ "original_url": "https://example.com/", "expires_at": end.to_rfc3339() });
    let link = links::make(&http, "team", &body).await;
    assert_eq!(link["expires_at"], end.to_rfc3339());
    let path = links::short_path(&link);
    let last = kurz_core::time::Timestamp::from_ms(end.as_ms() - 1);
    // A clock that is set back does not bring it back.
    for (now, status) in [(NOON, 302), (last, 302), (end, 410), (last, 410), (end, 410)] {
        kurz.clock.set(now);
        http.get(&path).await.expect(status);
        http.head(&path).await.expect(status);
    }
    assert_eq!(links::show(&http, &link).await["status"], "EXPIRED");
    http.get(&path).await.expect_problem(410, "link-expired");
    // One that was never in memory.
    let kurz = kurz.restart().await;
    kurz.http().get(&path).await.expect_problem(410, "link-expired");
    // A longer life brings it back.
    let edit = json!({ "expires_at": null });
    kurz.http().patch(&links::path_of(&link), &edit).await.expect(200);
    kurz.http().get(&path).await.expect(302);
    kurz.stop().await;
}

async fn the_checks_run_in_the_order_of_the_contract(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let end = NOON.plus(Duration::from_mins(1)).to_rfc3339();
    let body = json!({ "original_url": "https://example.com/", "expires_at": end, "hit_limit": 1 });
    let link = links::make(&http, "team", &body).await;
    let (path, api) = (links::short_path(&link), links::path_of(&link));
    http.get(&path).await.expect(302);
    http.get(&path).await.expect_problem(429, "hit-limit-reached");
    http.delete(&api).await.expect(200);
    http.get(&path).await.expect_problem(404, "link-not-found");
    http.post(&format!("{api}/restore"), &json!({})).await.expect(200);
    http.get(&path).await.expect_problem(429, "hit-limit-reached");
    kurz.clock.advance(Duration::from_mins(1));
    http.get(&path).await.expect_problem(410, "link-expired");
    http.delete(&api).await.expect(200);
    http.get(&path).await.expect_problem(404, "link-not-found");
    kurz.stop().await;
}

async fn browsers_get_a_page_and_others_a_problem(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let end = NOON.plus(Duration::from_secs(1)).to_rfc3339();
    let target = "https://example.com/";
    let gone = json!({ "original_url": target, "custom_code": "gone", "expires_at": end });
    links::make(&http, "team", &gone).await;
    let used = json!({ "original_url": target, "custom_code": "used", "hit_limit": 1 });
    links::make(&http, "team", &used).await;
    kurz.clock.advance(Duration::from_secs(1));
    http.get("/used").await.expect(302);
    for (path, status) in [
        ("/none", 404),
        ("/no.ne", 404),
        ("/none+", 404),
        ("/w/team/none", 404),
        ("/w/team/stats", 404),
        ("/api", 404),
        ("/gone", 410),
        ("/used", 429),
    ] {
        for accept in [BROWSER, "TEXT/HTML"] {
            expect_page(&http.with(ACCEPT, accept).get(path).await.expect(status), path);
        }
        for accept in ["*/*", "application/json", "text/plain"] {
            let answer = http.with(ACCEPT, accept).get(path).await.expect(status);
            assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
            assert_eq!(answer.json()["status"], status);
        }
        let with_body = http.get(path).await.expect(status);
        let head = http.head(path).await.expect(status);
        assert_eq!(head.text(), "");
        assert_eq!(head.header("content-type"), with_body.header("content-type"), "{path}");
        assert_eq!(head.header("retry-after"), with_body.header("retry-after"), "{path}");
    }
    kurz.stop().await;
}

#[track_caller]
fn expect_page(answer: &Answer, path: &str) {
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
    assert!(answer.text().starts_with("<!doctype html>"), "{path}: {}", answer.text());
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
}

async fn a_short_address_knows_get_and_head_only(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    let link = links::make(&http, "team", &body).await;
    let methods = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];
    for method in methods {
        for path in ["/promo", "/w/team/promo", "/promo+", "/nothing"] {
            let answer = http.send(method.clone(), path, None).await;
            assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{method} {path}");
            answer.expect_problem(405, "method-not-allowed");
        }
    }
    for (path, allowed) in [("/healthz", "GET"), ("/api/v1/links", "POST"), ("/", "GET")] {
        let answer = http.delete(path).await;
        let allow = answer.header("allow").unwrap_or_default().to_owned();
        assert!(allow.contains(allowed), "{path}: {allow}");
        answer.expect_problem(405, "method-not-allowed");
    }
    assert_eq!(links::show(&http, &link).await["redirect_count"], 0);
    kurz.stop().await;
}

// threats: B2, B6
async fn an_address_has_one_spelling(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "abc" });
    links::make(&http, "team", &body).await;
    http.get("/abc").await.expect(302);
    http.get("/abc?utm=1").await.expect(302);
    not_found(&http, &["/%61bc", "/abc/", "//abc", "/abc%2B", "/abc%00", "/abc;x", "/a%62c"]).await;
    not_found(&http, &["/w/team/%61bc", "/w/%74eam/abc", "/w/team/abc/", "/w//abc", "/W/team/abc"])
        .await;
    not_found(&http, &["/abc.", "/abc,", "/abc%20", "/%EF%BC%A1bc", "/abc++", "/w/team/abc%2F"])
        .await;
    kurz.stop().await;
}

async fn not_found(http: &Http, paths: &[&str]) {
    for path in paths {
        let answer = http.get(path).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
    }
}

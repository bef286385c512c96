//! Short addresses that lead nowhere: so many a minute for each address, and links are served all the
//! same.

use kurz_test_support::accounts::register;
use reqwest::Method;
use serde_json::json;

use super::{browser, expect_too_often, limited, pass, shorten};

/// Thirty a minute.
const MISSES: usize = 30;

// threats: B5
#[tokio::test]
async fn misses_are_limited_and_hits_are_not() {
    let kurz = limited().start().await;
    let ada = register(&kurz.at("192.0.2.1"), "ada").await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    ada.post("/api/v1/links", &body).await.expect(201);
    let scanner = kurz.at("192.0.2.66");
    for miss in 0..MISSES {
        // HEAD finds out as much as GET does, and so does a preview.
        let (method, path) = match miss % 3 {
            0 => (Method::GET, format!("/none{miss}")),
            1 => (Method::HEAD, format!("/none{miss}")),
            _ => (Method::GET, format!("/none{miss}+")),
        };
        scanner.send(method, &path, None).await.expect(404);
    }
    expect_too_often(scanner.get("/none").await, 2);
    expect_too_often(scanner.get("/none0").await, 2);
    expect_too_often(scanner.get("/none+").await, 2);
    expect_too_often(scanner.get("/w/main/none").await, 2);
    assert_eq!(scanner.head("/none").await.expect(429).header("retry-after"), Some("2"));
    // What was deleted looks as what never was.
    let path = "/api/v1/workspaces/main/links/promo";
    ada.delete(path).await.expect(200);
    expect_too_often(scanner.get("/promo").await, 2);
    ada.post(&format!("{path}/restore"), &json!({})).await.expect(200);
    // Hits: cold, warm, and those that nobody asked for before.
    for _ in 0..MISSES * 2 {
        scanner.get("/promo").await.expect(302);
    }
    scanner.get("/promo+").await.expect(200);
    let fresh = shorten(&ada, "https://example.com/fresh").await.expect(201).json();
    scanner.get(&format!("/{}", fresh["short_code"].as_str().unwrap())).await.expect(302);
    // Others are not concerned; the neighbours in an IPv6 /64 are.
    kurz.at("192.0.2.67").get("/none").await.expect(404);
    for host in 0..MISSES {
        kurz.at(&format!("2001:db8:0:7::{host:x}")).get("/none").await.expect(404);
    }
    kurz.at("2001:db8:0:7:ffff::1").get("/none").await.expect(429);
    kurz.at("2001:db8:0:8::1").get("/none").await.expect(404);
    // `Retry-After` is right: a second before it is too early.
    pass(&kurz, 1);
    expect_too_often(scanner.get("/none").await, 1);
    pass(&kurz, 1);
    scanner.get("/none").await.expect(404);
    expect_too_often(scanner.get("/none").await, 2);
    kurz.stop().await;
}

// threats: B5
#[tokio::test]
async fn scanning_by_the_api_is_no_way_around() {
    let kurz = limited().start().await;
    let eve = register(&kurz.at("192.0.2.66"), "eve").await;
    for miss in 0..MISSES {
        eve.get(&format!("/api/v1/workspaces/main/links/none{miss}")).await.expect(404);
    }
    expect_too_often(eve.get("/api/v1/workspaces/main/links/none").await, 2);
    expect_too_often(eve.delete("/api/v1/workspaces/main/links/none").await, 2);
    expect_too_often(eve.get("/none").await, 2);
    let own = shorten(&eve, "https://example.com/").await.expect(201).json();
    let path = format!("/api/v1/workspaces/main/links/{}", own["short_code"].as_str().unwrap());
    eve.get(&path).await.expect(200);
    kurz.stop().await;
}

// threats: B5
#[tokio::test]
async fn a_scanner_with_many_addresses_gets_so_many_answers_for_each_and_no_more() {
    let kurz = limited().start().await;
    let mut scans = tokio::task::JoinSet::new();
    for address in 0..50 {
        let http = kurz.at(&format!("198.51.100.{address}"));
        scans.spawn(async move {
            let mut answered = 0;
            for code in 0..MISSES + 5 {
                let status = http.get(&format!("/x{address}y{code}")).await.status;
                assert!(status == 404 || status == 429, "{status}");
                answered += usize::from(status == 404);
            }
            answered
        });
    }
    assert!(scans.join_all().await.iter().all(|answered| *answered == MISSES));
    kurz.stop().await;
}

#[tokio::test]
async fn a_person_reads_in_their_language_that_it_was_too_often() {
    let kurz = limited().start().await;
    let words = [("en", "Too many wrong"), ("de", "Zu viele falsche"), ("es", "Demasiadas")];
    for (language, title) in words {
        let browser = browser(&kurz, "192.0.2.66", language);
        for _ in 0..MISSES {
            browser.get("/none").await;
        }
        for path in ["/none", "/none+"] {
            let page = browser.get(path).await.expect(429);
            assert!(page.header("content-type").unwrap().starts_with("text/html"));
            assert_eq!(page.header("retry-after"), Some("2"), "{path}");
            assert_eq!(page.header("cache-control"), Some("no-store"));
            let text = page.text();
            assert!(text.contains(&format!("lang=\"{language}\"")), "{path}: {text}");
            assert!(path != "/none" || text.contains(title), "{text}");
        }
    }
    kurz.stop().await;
}

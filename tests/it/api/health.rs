//! Health, metrics, and what every answer carries.

use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::json;

on_both_databases!(a_server_says_how_it_is, metrics_count_redirects_and_look_ups);

async fn a_server_says_how_it_is(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let (http, admin) = (served.http(), served.admin());
    for http in [&http, &admin] {
        assert_eq!(http.get("/healthz").await.expect(200).text(), "ok");
        let ready = http.get("/readyz").await.expect(200).json();
        assert_eq!(ready, json!({ "ready": true, "checks": { "store": "ok" } }));
    }
    // Metrics are the operator's, not the visitors'.
    http.get("/metrics").await.expect(404);
    links::make(&http, "main", &json!({ "original_url": "https://example.com/" })).await;
    assert!(
        admin
            .get("/metrics")
            .await
            .expect(200)
            .header("content-type")
            .unwrap()
            .starts_with("text/plain")
    );

    let robots = http.get("/robots.txt").await.expect(200).text();
    assert!(robots.contains("Disallow: /"), "{robots}");
    assert!(http.get("/").await.expect(200).text().contains("href=\"/api/docs\""));
    for path in ["/api/v1/links/abc/def", "/api/v2/links", "/nothing/at/all", "/api/"] {
        http.get(path).await.expect_problem(404, "not-found");
    }
    for path in ["/healthz", "/api/v1/stats", "/api/v1/workspaces/nobody", "/api/docs", "/x.y"] {
        let answer = http.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert!(answer.header("content-security-policy").is_some(), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
}

async fn metrics_count_redirects_and_look_ups(kind: Kind) {
    let served = TestServer::builder().database(kind).process().env("KURZ_THREADS", "1").start();
    let (http, admin) = (served.http(), served.admin());
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&http, "main", &body).await;
    for _ in 0..5 {
        http.get("/promo").await.expect(302);
    }
    http.get("/nobody").await.expect(404);
    http.get("/nobody").await.expect(404);
    http.get("/healthz").await.expect(200);
    // Redirects are counted when their clicks are collected, a moment later.
    let text = loop {
        let text = admin.get("/metrics").await.expect(200).text();
        if text.contains("kurz_redirect_duration_seconds_count 5\n") {
            break text;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    for line in [
        "kurz_redirects_total{visitor=\"person\"} 5",
        "kurz_redirects_total{visitor=\"other\"} 0",
        "kurz_redirect_duration_seconds_bucket{le=\"+Inf\"} 5",
        // The store knew the link and the absence of the other; then each was in memory.
        "kurz_cache_misses_total 2",
        "kurz_cache_hits_total{cache=\"near\"} 3",
        "kurz_cache_hits_total{cache=\"shared\"} 2",
    ] {
        assert!(text.lines().any(|one| one == line), "{line} in {text}");
    }
    let (status, _) = served.terminate();
    assert!(status.success());
}

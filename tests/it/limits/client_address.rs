//! The address of a client: the connection's, or what a trusted proxy says, and nothing else. Seen in
//! what is written down of a change.

use http::HeaderName;
use kurz_test_support::{Kind, TestServer, on_both_databases};
use serde_json::json;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

on_both_databases!(
    what_an_untrusted_peer_says_of_addresses_is_ignored,
    a_trusted_proxy_is_believed_about_the_right_most_stranger,
);

/// How many changes were written down as made from `client`.
async fn changes_from(kurz: &TestServer, client: &str) -> i64 {
    kurz.home.number(&format!("select count(*) from audit where client = '{client}'")).await
}

// threats: D3
async fn what_an_untrusted_peer_says_of_addresses_is_ignored(kind: Kind) {
    for settings in [&[][..], &[("KURZ_TRUSTED_PROXIES", "10.0.0.0/8,::1")]] {
        let kurz = TestServer::builder().database(kind).settings(settings).start().await;
        let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
        let http = kurz.http();
        let made = http.post("/api/v1/workspaces/team/links", &body).await.expect(201);
        let short_url = made.json()["short_url"].clone();
        let path = "/api/v1/workspaces/team/links/promo";
        let names = ["x-forwarded-for", "forwarded", "x-real-ip", "x-forwarded-host"];
        for name in names {
            for said in ["198.51.100.9", "10.0.0.1", "for=198.51.100.9;host=evil.example"] {
                let http = http.with(HeaderName::from_static(name), said);
                let http = http.with(HeaderName::from_static("x-forwarded-proto"), "https");
                http.patch(path, &json!({ "title": said })).await.expect(200);
                let shown = http.get(path).await.expect(200).json();
                assert_eq!(shown["short_url"], short_url, "{name}: {said}");
            }
        }
        assert_eq!(changes_from(&kurz, "127.0.0.1").await, 12);
        assert_eq!(kurz.home.number("select count(*) from audit").await, 12);
        kurz.stop().await;
    }
}

// threats: D3
async fn a_trusted_proxy_is_believed_about_the_right_most_stranger(kind: Kind) {
    let settings = [("KURZ_TRUSTED_PROXIES", "10.0.0.0/8, 127.0.0.1")];
    let kurz = TestServer::builder().database(kind).settings(&settings).start().await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    kurz.http().post("/api/v1/workspaces/team/links", &body).await.expect(201);
    let path = "/api/v1/workspaces/team/links/promo";
    let from = |said: &str| kurz.http().with(X_FORWARDED_FOR, said);
    from("203.0.113.5").patch(path, &json!({ "title": "x" })).await.expect(200);
    from("6.6.6.6, 203.0.113.5, 10.0.0.9").delete(path).await.expect(200);
    let restore = format!("{path}/restore");
    from("2001:DB8::7").post(&restore, &json!({})).await.expect(200);
    kurz.http().patch(path, &json!({ "title": "y" })).await.expect(200);
    assert_eq!(changes_from(&kurz, "203.0.113.5").await, 2);
    assert_eq!(changes_from(&kurz, "2001:db8::7").await, 1);
    assert_eq!(changes_from(&kurz, "127.0.0.1").await, 1);
    // A host is not believed from anybody: short URLs begin with the public URL.
    let evil = from("203.0.113.5").with(HeaderName::from_static("x-forwarded-host"), "evil.test");
    let shown = evil.get(path).await.expect(200).json();
    assert!(!shown["short_url"].as_str().unwrap().contains("evil"), "{shown}");
    kurz.stop().await;
}

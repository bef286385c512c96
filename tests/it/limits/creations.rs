//! Making links, and calls with an account or a key: so many in a time.

use kurz_test_support::accounts::register;
use kurz_test_support::pages::post_form;
use serde_json::json;

use super::{browser, expect_too_often, limited, pass, shorten};

// threats: B10
#[tokio::test]
async fn links_without_an_account_are_so_many_a_minute_by_whatever_door() {
    let kurz = limited().start().await;
    let anybody = kurz.at("192.0.2.1");
    for at in 0..4 {
        shorten(&anybody, &format!("https://example.com/{at}")).await.expect(201);
        let body = json!({ "originalUrl": format!("https://example.com/{at}") });
        anybody.post("/api/urls/public", &body).await.expect(201);
    }
    let browser = browser(&kurz, "192.0.2.1", "de");
    let form = [("url", "https://example.com/form")];
    post_form(&browser, "/", &form).await.expect(200);
    // What is refused makes no link and does not count.
    for _ in 0..20 {
        shorten(&anybody, "ftp://example.com/").await.expect(422);
    }
    shorten(&anybody, "https://example.com/last").await.expect(201);
    expect_too_often(shorten(&anybody, "https://example.com/").await, 6);
    let body = json!({ "originalUrl": "https://example.com/" });
    expect_too_often(anybody.post("/api/urls/public", &body).await, 6);
    let page = post_form(&browser, "/", &form).await.expect(429);
    assert_eq!(page.header("retry-after"), Some("6"));
    assert!(page.text().contains("in 6 Sekunden"), "{}", page.text());
    // Elsewhere, and with an account, it goes on.
    shorten(&kurz.at("192.0.2.2"), "https://example.com/").await.expect(201);
    let ada = register(&kurz.at("192.0.2.1"), "ada").await;
    for at in 0..20 {
        shorten(&ada, &format!("https://example.com/ada/{at}")).await.expect(201);
    }
    pass(&kurz, 5);
    expect_too_often(shorten(&anybody, "https://example.com/").await, 1);
    pass(&kurz, 1);
    shorten(&anybody, "https://example.com/").await.expect(201);
    kurz.stop().await;
}

// threats: B10
#[tokio::test]
async fn a_day_has_a_limit_of_its_own() {
    let kurz = limited().setting("KURZ_LIMIT_ANONYMOUS_LINKS", "0").start().await;
    let anybody = kurz.at("2001:db8::1");
    for at in 0..100 {
        shorten(&anybody, &format!("https://example.com/{at}")).await.expect(201);
    }
    expect_too_often(shorten(&kurz.at("2001:db8::2"), "https://example.com/").await, 864);
    shorten(&kurz.at("2001:db8:0:1::1"), "https://example.com/").await.expect(201);
    pass(&kurz, 864);
    shorten(&anybody, "https://example.com/").await.expect(201);
    expect_too_often(shorten(&anybody, "https://example.com/").await, 864);
    kurz.stop().await;
}

#[tokio::test]
async fn calls_are_limited_by_key_and_by_account() {
    let settings = [("KURZ_LIMIT_CALLS_PER_KEY", "5"), ("KURZ_LIMIT_CALLS_PER_ACCOUNT", "12")];
    let kurz = limited().settings(&settings).start().await;
    let ada = register(&kurz.at("192.0.2.1"), "ada").await;
    let mut keys = Vec::new();
    for name in ["one", "two"] {
        let body = json!({ "name": name, "scopes": ["read"] });
        let key = ada.post("/api/v1/keys", &body).await.expect(201).json();
        keys.push(kurz.at("192.0.2.9").bearer(key["key"].as_str().unwrap()));
    }
    for key in &keys {
        for _ in 0..5 {
            key.get("/api/v1/me").await.expect(200);
        }
        expect_too_often(key.get("/api/v1/me").await, 12);
    }
    // Two to make the keys, five with each: the account has none left either.
    expect_too_often(ada.get("/api/v1/me").await, 5);
    let bob = register(&kurz.at("192.0.2.2"), "bob").await;
    bob.get("/api/v1/me").await.expect(200);
    pass(&kurz, 5);
    ada.get("/api/v1/me").await.expect(200);
    kurz.stop().await;
}

#[tokio::test]
async fn links_of_an_account_are_limited_and_a_batch_counts_each() {
    let kurz = limited().setting("KURZ_LIMIT_LINKS", "60").start().await;
    let ada = register(&kurz.at("192.0.2.1"), "ada").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    let url = |at: usize| format!("https://example.com/{at}");
    let batch = |from: usize, to: usize| {
        let links: Vec<_> = (from..to).map(|at| json!({ "original_url": url(at) })).collect();
        json!({ "links": links })
    };
    let bulk = "/api/v1/workspaces/team/links/bulk";
    ada.post(bulk, &batch(0, 50)).await.expect(200);
    // The same again makes no link, and does not count.
    for _ in 0..3 {
        ada.post(bulk, &batch(0, 50)).await.expect(200);
    }
    // One more is free, so the whole batch is let in; then it has to be made up for.
    ada.post(bulk, &batch(50, 120)).await.expect(200);
    expect_too_often(ada.post(bulk, &batch(120, 121)).await, 61);
    expect_too_often(shorten(&ada, "https://example.com/").await, 61);
    pass(&kurz, 61);
    shorten(&ada, "https://example.com/").await.expect(201);
    kurz.stop().await;
}

//! No link leads to a link of the same server, by whichever way it is made.

use kurz_test_support::TestServer;
use serde_json::{Value, json};

const LOOPS: [&str; 5] = [
    "https://kurz.example/promo",
    "HTTP://KURZ.Example.:80//promo",
    "https://go.acme.example/promo",
    "https://GO.acme.example./promo+",
    "https://kurz.example/w/acme/promo",
];

// threats: A11
#[tokio::test]
async fn own_short_addresses_are_refused_on_every_way_to_a_link() {
    let server = TestServer::builder()
        .accounts()
        .setting("KURZ_PUBLIC_URL", "https://kurz.example")
        .process()
        .start();
    let root = server.administrator("root").await;
    let ada = server.register("ada").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let hosts = "/api/v1/workspaces/acme/hosts";
    root.post(hosts, &json!({ "host": "go.acme.example" })).await.expect(201);
    let made = json!({ "original_url": "https://example.com/", "custom_code": "mine" });
    ada.post("/api/v1/workspaces/main/links", &made).await.expect(201);

    let base = server.base_url();
    let own = format!("{base}/promo");
    let localhost = own.replace("127.0.0.1", "localhost");
    for url in LOOPS.into_iter().chain([own.as_str(), localhost.as_str()]) {
        let body = json!({ "original_url": url });
        let refused = (422, "url-self-reference");
        server.http().post("/api/v1/links", &body).await.expect_problem(refused.0, refused.1);
        for workspace in ["main", "acme"] {
            let path = format!("/api/v1/workspaces/{workspace}/links");
            ada.post(&path, &body).await.expect_problem(refused.0, refused.1);
        }
        let path = "/api/v1/workspaces/main/links/mine";
        ada.patch(path, &body).await.expect_problem(refused.0, refused.1);
        let bulk = json!({ "links": [body, { "original_url": "https://example.com/x" }] });
        let path = "/api/v1/workspaces/acme/links/bulk";
        let results = ada.post(path, &bulk).await.expect(200).json();
        assert_eq!(results["results"][0]["problem"]["code"], refused.1, "{url}");
        assert!(results["results"][1]["link"].is_object());
        let body = json!({ "originalUrl": url });
        ada.post("/api/urls", &body).await.expect_problem(refused.0, refused.1);
        server.http().post("/api/urls/public", &body).await.expect_problem(refused.0, refused.1);
        let body = json!({ "urls": [url] });
        ada.post("/api/urls/sync", &body).await.expect_problem(refused.0, refused.1);
        let body = json!({ "targetUrl": url });
        ada.post("/v1/shorten", &body).await.expect_problem(refused.0, refused.1);
    }
    // Not substrings: each of these is somebody else's.
    for url in [
        "https://kurz.example.evil.example/promo",
        "https://evil.example/kurz.example",
        "https://evil.example/?to=https://kurz.example/promo",
        "https://sub.kurz.example/promo",
        "https://kurz.example/",
    ] {
        let made = ada.post("/api/v1/links", &json!({ "original_url": url })).await;
        assert_eq!(made.expect(201).json()["original_url"], url);
    }
    let shown: Value = ada.get("/api/v1/workspaces/main/links/mine").await.json();
    assert_eq!(shown["original_url"], "https://example.com/");
}

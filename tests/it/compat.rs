//! The older wire shapes, to the letter.

use std::collections::BTreeSet;

use kurz_test_support::accounts::{PASSWORD, code, email};
use kurz_test_support::http::Http;
use kurz_test_support::{Process, TestServer};
use serde_json::{Value, json};

fn fields(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

const ADMA_LINK: [&str; 13] = [
    "id",
    "originalUrl",
    "shortCode",
    "shortUrl",
    "createdAt",
    "expiresAt",
    "linkType",
    "status",
    "redirectCount",
    "avgRedirectMs",
    "destinationStatus",
    "destinationHealth",
    "lastCheckedAt",
];

async fn adma_user(server: &Process, name: &str) -> Http {
    let body = json!({ "name": name, "email": email(name), "password": PASSWORD });
    let answer = server.http().post("/auth/register", &body).await.expect(201).json();
    assert_eq!(fields(&answer), BTreeSet::from(["token", "name", "email"]));
    assert_eq!((&answer["name"], &answer["email"]), (&json!(name), &json!(email(name))));
    server.http().bearer(answer["token"].as_str().unwrap())
}

#[tokio::test]
async fn adma_accounts_and_links() {
    let server = TestServer::builder().accounts().process().start();
    let ada = adma_user(&server, "ada").await;
    let body = json!({ "name": "ada", "email": email("ada"), "password": PASSWORD });
    server.http().post("/auth/register", &body).await.expect(409);
    let body = json!({ "email": email("ada"), "password": PASSWORD });
    let answer = server.http().post("/auth/login", &body).await.expect(200).json();
    assert_eq!(fields(&answer), BTreeSet::from(["token", "name", "email"]));
    let body = json!({ "email": email("ada"), "password": "wrong wrong" });
    server.http().post("/auth/login", &body).await.expect(401);

    let body = json!({ "originalUrl": "https://example.com/a" });
    server.http().post("/api/urls", &body).await.expect(401);
    let link = ada.post("/api/urls", &body).await.expect(201).json();
    assert_eq!(fields(&link), BTreeSet::from(ADMA_LINK));
    assert_eq!(link["originalUrl"], "https://example.com/a");
    assert_eq!(link["shortCode"].as_str().unwrap().len(), 7);
    assert_eq!((&link["linkType"], &link["expiresAt"]), (&json!("PERMANENT"), &json!(null)));
    assert_eq!((&link["status"], &link["redirectCount"]), (&json!("ACTIVE"), &json!(0)));
    let twice = ada.post("/api/urls", &body).await.expect(201).json();
    assert_ne!(twice["shortCode"], link["shortCode"]);
    let list = ada.get("/api/urls").await.expect(200).json();
    assert_eq!(list, json!([twice, link]));
    let bad = ada.post("/api/urls", &json!({ "originalUrl": "ftp://a.b/" })).await.expect(422);
    assert_eq!(bad.json()["errors"][0]["field"], "originalUrl");

    let eve = adma_user(&server, "eve").await;
    assert_eq!(eve.get("/api/urls").await.expect(200).json(), json!([]));
    let path = format!("/api/urls/{}", link["id"]);
    let denied = eve.delete(&path).await.expect(403).json();
    assert_eq!(denied["detail"], "You do not own this short URL");
    server.http().delete(&path).await.expect(401);
    assert_eq!(ada.delete(&path).await.expect(204).text(), "");
    ada.delete(&path).await.expect(404);
    ada.delete("/api/urls/999999").await.expect(404);
    let stats = server.http().get("/api/stats").await.expect(200).json();
    assert_eq!(fields(&stats), BTreeSet::from(["totalLinks", "totalRedirects", "avgLatencyMs"]));
    assert_eq!(stats["totalLinks"], 1);
}

#[tokio::test]
async fn adma_public_links_and_sync() {
    let server = TestServer::builder().accounts().process().start();
    let body = json!({ "originalUrl": "https://example.com/a" });
    let public = server.http().post("/api/urls/public", &body).await.expect(201).json();
    let mut expected = BTreeSet::from(ADMA_LINK);
    expected.insert("claimToken");
    assert_eq!(fields(&public), expected);
    assert_eq!(public["linkType"], "TEMPORARY");

    let ada = adma_user(&server, "ada").await;
    let entry = json!({ "originalUrl": public["originalUrl"], "shortCode": public["shortCode"],
        "claimToken": public["claimToken"] });
    let sync = json!({ "urls": [entry, "https://example.com/a"] });
    server.http().post("/api/urls/sync", &sync).await.expect(401);
    let list = ada.post("/api/urls/sync", &sync).await.expect(200).json();
    let links = list.as_array().unwrap();
    assert_eq!(links.len(), 2);
    for link in links {
        assert_eq!(fields(link), BTreeSet::from(ADMA_LINK));
        assert_eq!((&link["linkType"], &link["expiresAt"]), (&json!("PERMANENT"), &json!(null)));
    }
    assert!(links.iter().any(|link| link["id"] == public["id"]), "the claimed one is there");

    // A used token takes nothing, and a bare URL takes nobody's link.
    let eve = adma_user(&server, "eve").await;
    let list = eve.post("/api/urls/sync", &sync).await.expect(200).json();
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_ne!(list[0]["id"], public["id"]);
    assert_ne!(list[0]["shortCode"], public["shortCode"]);
    for urls in [json!([]), json!(vec!["https://example.com/"; 101])] {
        let answer = eve.post("/api/urls/sync", &json!({ "urls": urls })).await.expect(422);
        assert_eq!(code(&answer), "claims-size");
    }
    // One bad URL, and nothing is done.
    let bad = json!({ "urls": ["https://example.com/b", "nonsense"] });
    eve.post("/api/urls/sync", &bad).await.expect(422);
    assert_eq!(eve.get("/api/urls").await.expect(200).json().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn cloudshortener_counts_links_by_user_and_month() {
    let server =
        TestServer::builder().accounts().setting("KURZ_USER_LINK_LIMIT", "3").process().start();
    let (ada, eve) = (server.register("ada").await, server.register("eve").await);
    let body = json!({ "targetUrl": "https://example.com/a" });
    server.http().post("/v1/shorten", &body).await.expect(401);
    for left in [2, 1, 0] {
        let answer = ada.post("/v1/shorten", &body).await.expect(200).json();
        assert_eq!(
            fields(&answer),
            BTreeSet::from([
                "message",
                "targetUrl",
                "shortUrl",
                "shortcode",
                "userQuota",
                "remainingQuota"
            ])
        );
        assert_eq!((&answer["userQuota"], &answer["remainingQuota"]), (&json!(3), &json!(left)));
        assert_eq!(answer["targetUrl"], "https://example.com/a");
        let shortcode = answer["shortcode"].as_str().unwrap();
        assert_eq!(shortcode.len(), 7);
        assert!(answer["shortUrl"].as_str().unwrap().ends_with(&format!("/{shortcode}")));
        server.http().get(&format!("/{shortcode}")).await.expect(302);
    }
    let over = ada.post("/v1/shorten", &body).await.expect(429);
    assert_eq!(code(&over), "monthly-limit");
    assert!(over.header("retry-after").unwrap().parse::<u64>().unwrap() <= 31 * 86_400);
    let bad = eve.post("/v1/shorten", &json!({ "targetUrl": "nonsense" })).await.expect(422);
    assert_eq!(bad.json()["errors"][0]["field"], "targetUrl");
    let answer = eve.post("/v1/shorten", &body).await.expect(200).json();
    assert_eq!(answer["remainingQuota"], 2, "what was refused was not counted");
}

#[tokio::test]
async fn cloudshortener_holds_its_limit_against_many_at_once() {
    let server =
        TestServer::builder().accounts().setting("KURZ_USER_LINK_LIMIT", "5").process().start();
    let ada = server.register("ada").await;
    let body = json!({ "targetUrl": "https://example.com/a" });
    let tries = (0..32).map(|_| ada.post("/v1/shorten", &body));
    let answers = futures_util::future::join_all(tries).await;
    let made = answers.iter().filter(|answer| answer.status == 200).count();
    let over = answers.iter().filter(|answer| answer.status == 429).count();
    assert_eq!((made, over), (5, 27));
}

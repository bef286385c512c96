//! The older wire shapes, to the letter.

use std::collections::BTreeSet;

use kurz_core::code::{WorkspaceId, canonicalise, deterministic};
use kurz_test_support::accounts::{PASSWORD, code, email};
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, Process, TestServer, on_both_databases};
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

on_both_databases! {
    adma_sync_twice_makes_each_link_once,
    linkforge_gives_the_same_url_the_same_code,
}

async fn adma_sync_twice_makes_each_link_once(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().setting("KURZ_LIMITS", "off");
    let server = server.process().start();
    let ada = adma_user(&server, "ada").await;
    let urls: Vec<String> = (0..20).map(|at| format!("https://example.com/{at}")).collect();
    let mut entries: Vec<Value> = urls.iter().map(|url| json!(url)).collect();
    // The same URLs, written otherwise.
    entries.push(json!({ "originalUrl": "HTTPS://Example.com:443/3", "shortCode": "abc" }));
    entries.push(json!("https://example.com/3"));
    entries.push(json!("https://example.com/3#part"));
    let sync = json!({ "urls": entries });
    let first = ada.post("/api/urls/sync", &sync).await.expect(200).json();
    assert_eq!(first.as_array().unwrap().len(), 21);
    let second = ada.post("/api/urls/sync", &sync).await.expect(200).json();
    assert_eq!(second, first);

    // Many rounds of several calls at the same time, in different orders.
    for round in 0..15 {
        let mut urls: Vec<String> =
            (0..8).map(|at| format!("https://example.com/{round}/{at}")).collect();
        let mut bodies = Vec::new();
        for _ in 0..4 {
            urls.rotate_left(3);
            bodies.push(json!({ "urls": urls }));
        }
        let calls = bodies.iter().map(|body| ada.post("/api/urls/sync", body));
        for answer in futures_util::future::join_all(calls).await {
            answer.expect(200);
        }
        let list = ada.get("/api/urls").await.expect(200).json();
        assert_eq!(list.as_array().unwrap().len(), 21 + 8 * (round + 1), "round {round}");
    }

    // Another account has its own; a deleted link may be made again.
    let eve = adma_user(&server, "eve").await;
    let list = eve.post("/api/urls/sync", &sync).await.expect(200).json();
    assert_eq!(list.as_array().unwrap().len(), 21);
    eve.delete(&format!("/api/urls/{}", list[0]["id"])).await.expect(204);
    let again = eve.post("/api/urls/sync", &sync).await.expect(200).json();
    assert_eq!(again.as_array().unwrap().len(), 21);
    assert_ne!(again[0]["id"], list[0]["id"]);

    // An empty entry, and nothing is done.
    let empty = [
        json!(""),
        json!(" "),
        json!({}),
        json!({ "originalUrl": "" }),
        json!({ "shortCode": "abc" }),
        json!({ "claimToken": "abc" }),
        json!({ "originalUrl": null, "shortCode": "", "claimToken": "" }),
    ];
    for entry in empty {
        let body = json!({ "urls": ["https://example.com/new", entry] });
        let answer = eve.post("/api/urls/sync", &body).await.expect(422);
        assert!(answer.json()["errors"][0]["field"].is_string(), "{}", answer.text());
    }
    assert_eq!(eve.get("/api/urls").await.expect(200).json(), again);
}

async fn linkforge_gives_the_same_url_the_same_code(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().process().start();
    let ada = server.register("ada").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "42" })).await.expect(201);
    // The worked example: the code follows from the canonical form and the workspace.
    let written = "HTTP://Example.com:80/api/users?name=john&id=123";
    let canonical = canonicalise(written).unwrap();
    assert_eq!(canonical.as_str(), "http://example.com/api/users?id=123&name=john");
    let foreseen = |workspace: &str| {
        let workspace = WorkspaceId::parse(workspace).unwrap();
        deterministic::code(&canonical, &workspace, 0).to_string()
    };
    let body = json!({ "url": written });
    let made = ada.post("/workspaces/42/links", &body).await.expect(201).json();
    assert_eq!(made["short_code"], foreseen("42"));
    assert_eq!(made["original_url"], written);
    assert_eq!(made["normalized_url"], canonical.as_str());
    assert!(made["short_url"].as_str().unwrap().ends_with(&foreseen("42")));
    let again = ada.post("/workspaces/42/links", &json!({ "url": canonical.as_str() })).await;
    assert_eq!(again.expect(200).json(), made);
    let native = json!({ "original_url": canonical.as_str() });
    let native = ada.post("/api/v1/workspaces/42/links", &native).await.expect(200).json();
    assert_eq!(native, made, "the same link in both shapes");

    // Without a workspace: in `main`, deterministic all the same.
    let first = ada.post("/shorten", &body).await.expect(201).json();
    assert_eq!(
        (&first["workspace"], &first["strategy"]),
        (&json!("main"), &json!("deterministic"))
    );
    assert_eq!(first["short_code"], foreseen("main"));
    assert_ne!(first["short_code"], made["short_code"], "another workspace, another code");
    assert_eq!(ada.post("/api/links", &body).await.expect(200).json(), first);
    let other = json!({ "url": "http://example.com/api/users" });
    let other = ada.post("/api/links", &other).await.expect(201).json();
    assert_ne!(other["short_code"], first["short_code"]);
    let custom = json!({ "url": "https://example.com/v2", "custom_code": "release" });
    assert_eq!(ada.post("/shorten", &custom).await.expect(201).json()["short_code"], "release");

    let race = json!({ "url": "https://example.com/race" });
    let calls = (0..20).map(|_| ada.post("/shorten", &race));
    let answers = futures_util::future::join_all(calls).await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(made, 1);
    let bad = ada.post("/shorten", &json!({ "url": "nonsense" })).await.expect(422).json();
    assert_eq!(bad["errors"][0]["field"], "url");
    server.http().post("/shorten", &body).await.expect(401);
    // Addresses that only POST uses stay free for links that have these codes already.
    server.http().get("/shorten").await.expect_problem(404, "link-not-found");
    let taken = json!({ "original_url": "https://example.com/", "custom_code": "Shorten" });
    ada.post("/api/v1/links", &taken).await.expect_problem(422, "code-reserved");
}

#[tokio::test]
async fn a_url_that_is_null_is_an_invalid_url_format() {
    let server = TestServer::builder().accounts().process().start();
    let ada = server.register("ada").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    let shapes = [
        ("/api/v1/links", "original_url"),
        ("/api/v1/workspaces/team/links", "original_url"),
        ("/api/urls", "originalUrl"),
        ("/api/urls/public", "originalUrl"),
        ("/v1/shorten", "targetUrl"),
        ("/shorten", "url"),
        ("/api/links", "url"),
        ("/workspaces/team/links", "url"),
    ];
    for (path, field) in shapes {
        let problem = ada.post(path, &json!({ field: null })).await.expect(422).json();
        assert_eq!(problem["detail"], "Invalid URL format", "{path}");
        assert_eq!(problem["code"], "url-invalid", "{path}");
        assert_eq!(problem["errors"][0]["field"], field, "{path}");
        ada.post(path, &json!({ field: 7 })).await.expect_problem(422, "body-invalid");
        // Left out, the field is named as missing.
        let answer = ada.post(path, &json!({})).await.expect(422).json();
        assert!(answer["detail"].as_str().unwrap().contains(field), "{path}: {answer}");
    }
    let bulk = json!({ "links": [{ "original_url": null }] });
    let answer = ada.post("/api/v1/workspaces/team/links/bulk", &bulk).await.expect(422).json();
    assert_eq!(answer["detail"], "Invalid URL format");
    let link = json!({ "original_url": "https://example.com/", "custom_code": "mine" });
    ada.post("/api/v1/links", &link).await.expect(201);
    let edit = json!({ "original_url": null });
    let answer = ada.patch("/api/v1/workspaces/main/links/mine", &edit).await.expect(422).json();
    assert_eq!(answer["detail"], "Invalid URL format");
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

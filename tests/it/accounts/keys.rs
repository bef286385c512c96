//! API keys: shown once, good for their scopes and their workspace, until they end or are revoked.

use std::time::Duration;

use kurz::clock::Clock;
use kurz_test_support::accounts::{code, shorten};
use kurz_test_support::http::Http;
use kurz_test_support::{Process, TestServer};
use serde_json::{Value, json};

async fn key(ada: &Http, server: &Process, body: &Value) -> (Http, Value) {
    let made = ada.post("/api/v1/keys", body).await.expect(201).json();
    (server.http().bearer(made["key"].as_str().unwrap()), made)
}

// threats: C12
#[tokio::test]
async fn a_key_is_shown_once_and_listed_without_itself() {
    let server = TestServer::builder().accounts().process().start();
    let ada = server.register("ada").await;
    let body = json!({ "name": "deploy", "scopes": ["manage", "read", "read"] });
    let (client, made) = key(&ada, &server, &body).await;
    assert_eq!(made["scopes"], json!(["read", "manage"]));
    let secret = made["key"].as_str().unwrap();
    assert!(secret.starts_with(made["prefix"].as_str().unwrap()));
    client.get("/api/v1/me").await.expect(200);
    let list = ada.get("/api/v1/keys").await.expect(200);
    assert!(!list.text().contains(secret));
    let listed = list.json()["keys"][0].clone();
    assert_eq!((&listed["id"], &listed["name"]), (&made["id"], &json!("deploy")));
    assert!(listed["last_used_at"].is_string(), "{listed}");
    let bads = [
        json!({ "scopes": [] }),
        json!({ "scopes": ["write"] }),
        json!({ "scopes": ["read"], "user_id": 1 }),
        json!({ "scopes": ["read"], "expires_at": "2020-01-01T00:00:00Z" }),
        json!({ "scopes": ["read"], "name": "x".repeat(101) }),
    ];
    for body in bads {
        ada.post("/api/v1/keys", &body).await.expect(422);
    }
    let body = json!({ "scopes": ["read"], "workspace": "unknown" });
    ada.post("/api/v1/keys", &body).await.expect(404);
}

#[tokio::test]
async fn each_scope_opens_what_it_says() {
    let server = TestServer::builder().accounts().process().start();
    let ada = server.register("ada").await;
    let link = shorten(&ada, "https://example.com/").await;
    let path = format!("/api/v1/workspaces/main/links/{}", link["short_code"].as_str().unwrap());
    let new = json!({ "original_url": "https://example.com/" });
    for scope in ["read", "create", "manage"] {
        let (client, _) = key(&ada, &server, &json!({ "scopes": [scope] })).await;
        let tries = [
            ("read", client.get(&path).await),
            ("read", client.get("/api/v1/workspaces/main/links").await),
            ("read", client.get("/api/v1/keys").await),
            ("create", client.post("/api/v1/links", &new).await),
            ("create", client.post("/v1/shorten", &json!({ "targetUrl": "http://a.b" })).await),
            ("manage", client.patch(&path, &json!({ "title": "t" })).await),
            ("manage", client.post("/api/v1/workspaces", &json!({ "id": "team" })).await),
        ];
        for (needed, answer) in tries {
            if needed == scope {
                assert!(answer.status < 300, "{scope}: {}", answer.text());
            } else {
                let answer = answer.expect(403);
                assert_eq!(code(&answer), "missing-scope");
                assert!(answer.json()["detail"].as_str().unwrap().contains(needed));
            }
        }
        // A key that could make keys would outlive its own end.
        let more = client.post("/api/v1/keys", &json!({ "scopes": ["read"] })).await.expect(403);
        assert_eq!(code(&more), "sign-in-needed");
        client.post("/api/v1/auth/logout", &json!({})).await.expect(403);
    }
}

#[tokio::test]
async fn a_key_of_one_workspace_sees_no_other() {
    let server = TestServer::builder().accounts().process().start();
    let ada = server.register("ada").await;
    for id in ["one", "two"] {
        ada.post("/api/v1/workspaces", &json!({ "id": id })).await.expect(201);
    }
    let body = json!({ "scopes": ["read", "create", "manage"], "workspace": "one" });
    let (client, _) = key(&ada, &server, &body).await;
    let new = json!({ "original_url": "https://example.com/" });
    client.post("/api/v1/workspaces/one/links", &new).await.expect(201);
    // It says so, and the same whether the other workspace exists or not.
    let two = client.post("/api/v1/workspaces/two/links", &new).await;
    two.expect_problem(403, "key-workspace");
    let (two, none) = (
        client.get("/api/v1/workspaces/two/links").await,
        client.get("/api/v1/workspaces/none/links").await,
    );
    assert_eq!(two.json()["detail"], none.json()["detail"]);
    assert!(two.json()["detail"].as_str().unwrap().contains("another workspace"), "{}", two.text());
    none.expect_problem(403, "key-workspace");
    client.post("/api/v1/links", &new).await.expect_problem(403, "key-workspace");
    client.get("/api/v1/workspaces/main/links").await.expect_problem(403, "key-workspace");
    let three = client.post("/api/v1/workspaces", &json!({ "id": "three" })).await;
    three.expect_problem(403, "key-workspace");
    // What names no workspace goes where the key may go.
    let link = client.post("/shorten", &json!({ "url": "https://example.com/" })).await;
    assert_eq!(link.expect(200).json()["workspace"], "one");
    client.get("/api/v1/keys").await.expect(403);
    let list = client.get("/api/v1/workspaces").await.expect(200).json();
    assert_eq!(list["workspaces"].as_array().unwrap().len(), 1);
    assert_eq!(list["workspaces"][0]["id"], "one");
}

#[tokio::test]
async fn a_key_ends_when_its_time_is_over_or_it_is_revoked() {
    let server = TestServer::builder().accounts().process().start();
    let ada = server.register("ada").await;
    let end = Clock::system().now().plus(Duration::from_millis(1500)).to_rfc3339();
    let body = json!({ "scopes": ["read"], "expires_at": end });
    let (short, _) = key(&ada, &server, &body).await;
    short.get("/api/v1/me").await.expect(200);
    let (client, made) = key(&ada, &server, &json!({ "scopes": ["read", "manage"] })).await;
    client.get("/api/v1/me").await.expect(200);
    let path = format!("/api/v1/keys/{}", made["id"]);
    server.register("eve").await.delete(&path).await.expect(404);
    ada.delete(&path).await.expect(204);
    assert_eq!(code(&client.get("/api/v1/me").await.expect(401)), "invalid-token");
    ada.delete(&path).await.expect(404);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(code(&short.get("/api/v1/me").await.expect(401)), "invalid-token");
}

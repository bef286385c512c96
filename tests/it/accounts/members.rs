//! Members and roles: what a team's workspace lets whom do, from the next request on.

use kurz_test_support::TestServer;
use kurz_test_support::accounts::{code, email, join};
use serde_json::json;

// threats: D11
#[tokio::test]
async fn roles_open_what_they_say_from_the_next_request_on() {
    let server = TestServer::builder().accounts().process().start();
    let (ada, bob) = (server.register("ada").await, server.register("bob").await);
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    let links = "/api/v1/workspaces/team/links";
    let new = json!({ "original_url": "https://example.com/", "custom_code": "shared" });
    ada.post(links, &new).await.expect(201);
    let shared = "/api/v1/workspaces/team/links/shared";
    bob.get(shared).await.expect(404);

    let members = "/api/v1/workspaces/team/members";
    join(&ada, "team", ("bob", &bob), "viewer").await;
    bob.get(shared).await.expect(200);
    let title = json!({ "title": "t" });
    assert_eq!(code(&bob.patch(shared, &title).await.expect(403)), "missing-role");

    let member = format!("{members}/{}", email("bob"));
    ada.patch(&member, &json!({ "role": "member" })).await.expect(200);
    bob.patch(shared, &title).await.expect(200);
    ada.patch(&member, &json!({ "role": "owner" })).await.expect(422);
    ada.patch(&member, &json!({ "role": "admin" })).await.expect(200);
    bob.get(members).await.expect(200);

    ada.delete(&member).await.expect(204);
    bob.get(shared).await.expect(404);
    ada.delete(&member).await.expect(404);
}

#[tokio::test]
async fn a_workspace_keeps_an_administrator_and_everybody_else_may_leave() {
    let server = TestServer::builder().accounts().process().start();
    let (ada, bob) = (server.register("ada").await, server.register("bob").await);
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    let members = "/api/v1/workspaces/team/members";
    let (adas, bobs) =
        (format!("{members}/{}", email("ada")), format!("{members}/{}", email("bob")));
    assert_eq!(code(&ada.delete(&adas).await.expect(409)), "last-admin");
    let demote = json!({ "role": "member" });
    assert_eq!(code(&ada.patch(&adas, &demote).await.expect(409)), "last-admin");
    join(&ada, "team", ("bob", &bob), "viewer").await;
    bob.delete(&adas).await.expect(403);
    bob.delete(&bobs).await.expect(204);
    bob.get(members).await.expect(404);
    join(&ada, "team", ("bob", &bob), "admin").await;
    ada.delete(&adas).await.expect(204);
    ada.get(members).await.expect(404);
    let page = bob.get(&format!("{members}?limit=1")).await.expect(200).json();
    assert_eq!(page["members"][0]["email"], json!(email("bob")));
    assert_eq!(page["next_cursor"], json!(null));
}

#[tokio::test]
async fn a_deleted_workspace_is_not_there_for_the_next_team_to_find() {
    let server = TestServer::builder().accounts().process().start();
    let (ada, eve) = (server.register("ada").await, server.register("eve").await);
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    let new = json!({ "original_url": "https://secret.example/", "custom_code": "plan" });
    ada.post("/api/v1/workspaces/team/links", &new).await.expect(201);
    ada.delete("/api/v1/workspaces/team/links/plan").await.expect(200);
    ada.delete("/api/v1/workspaces/team").await.expect(204);
    let again = eve.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(409);
    assert_eq!(code(&again), "workspace-deleted");
    eve.get("/api/v1/workspaces/team/links").await.expect(404);
}

// threats: D7
#[tokio::test]
async fn in_main_nobody_gets_or_revives_anothers_link() {
    let server = TestServer::builder().accounts().process().start();
    let (ada, eve) = (server.register("ada").await, server.register("eve").await);
    let custom = json!({ "original_url": "https://example.com/", "custom_code": "mine" });
    ada.post("/api/v1/links", &custom).await.expect(201);
    ada.post("/api/v1/links", &custom).await.expect(200);
    assert_eq!(code(&eve.post("/api/v1/links", &custom).await.expect(409)), "code-taken");
    let same = json!({ "original_url": "https://example.com/", "strategy": "deterministic" });
    ada.post("/api/v1/links", &same).await.expect(201);
    ada.post("/api/v1/links", &same).await.expect(200);
    assert_eq!(code(&eve.post("/api/v1/links", &same).await.expect(409)), "url-taken");
    ada.delete("/api/v1/workspaces/main/links/mine").await.expect(200);
    eve.post("/api/v1/links", &custom).await.expect(409);
    ada.post("/api/v1/workspaces/main/links/mine/restore", &json!({})).await.expect(200);
    let list = eve.get("/api/v1/workspaces/main/links").await.expect(200).json();
    assert_eq!(list["links"], json!([]));
    let list = ada.get("/api/v1/workspaces/main/links?sort=short_code").await.expect(200).json();
    assert_eq!(list["links"].as_array().unwrap().len(), 2);
}

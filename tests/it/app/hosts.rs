//! A host that goes from one workspace to another takes no links with it, and does not go at once.

use kurz_test_support::TestServer;
use reqwest::header::HOST;
use serde_json::json;

// threats: D10
#[tokio::test]
async fn a_host_that_moves_serves_the_links_of_its_new_workspace_alone() {
    let server = TestServer::builder().accounts().process().start();
    let root = server.administrator("root").await;
    let (ada, eve) = (server.register("ada").await, server.register("eve").await);
    let host = json!({ "host": "go.example.com" });
    let at_host = server.http().with(HOST, "go.example.com");
    for (http, id, target) in
        [(&ada, "old", "https://old.example/"), (&eve, "new", "https://new.example/")]
    {
        http.post("/api/v1/workspaces", &json!({ "id": id })).await.expect(201);
        let links = format!("/api/v1/workspaces/{id}/links");
        let both = json!({ "original_url": target, "custom_code": "promo" });
        http.post(&links, &both).await.expect(201);
        let own = json!({ "original_url": target, "custom_code": format!("only-{id}") });
        http.post(&links, &own).await.expect(201);
    }
    let hosts = |id: &str| format!("/api/v1/workspaces/{id}/hosts");
    ada.post(&hosts("old"), &host).await.expect(201);
    root.post(&format!("{}/go.example.com/approve", hosts("old")), &json!({})).await.expect(200);
    let location = async |path: &str| {
        at_host.get(path).await.expect(302).header("location").unwrap().to_owned()
    };
    assert_eq!(location("/promo").await, "https://old.example/");
    assert_eq!(location("/only-old").await, "https://old.example/");

    ada.delete(&format!("{}/go.example.com", hosts("old"))).await.expect(204);
    // For 30 days nobody else gets it; who had it may have it again.
    eve.post(&hosts("new"), &host).await.expect_problem(409, "host-quarantined");
    ada.post(&hosts("old"), &host).await.expect(201);
    root.post(&format!("{}/go.example.com/approve", hosts("old")), &json!({})).await.expect(200);
    ada.delete(&format!("{}/go.example.com", hosts("old"))).await.expect(204);
    root.post(&hosts("new"), &host).await.expect(201);
    assert_eq!(location("/promo").await, "https://new.example/");
    assert_eq!(location("/only-new").await, "https://new.example/");
    at_host.get("/only-old").await.expect(404);
    assert_eq!(at_host.get("/only-old+").await.status, 404);
    assert_eq!(
        server.http().get("/w/old/promo").await.expect(302).header("location"),
        Some("https://old.example/")
    );
}

// threats: D10
#[tokio::test]
async fn a_removed_workspace_leaves_its_host_in_quarantine() {
    let server = TestServer::builder().accounts().process().start();
    let root = server.administrator("root").await;
    let (ada, eve) = (server.register("ada").await, server.register("eve").await);
    for (http, id) in [(&ada, "old"), (&eve, "new")] {
        http.post("/api/v1/workspaces", &json!({ "id": id })).await.expect(201);
    }
    let host = json!({ "host": "go.example.com" });
    root.post("/api/v1/workspaces/old/hosts", &host).await.expect(201);
    ada.delete("/api/v1/workspaces/old").await.expect(204);
    eve.post("/api/v1/workspaces/new/hosts", &host).await.expect_problem(409, "host-quarantined");
}

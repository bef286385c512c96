//! Workspaces: make, list, show, edit, delete.

use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    a_fresh_store_has_one_workspace_called_main,
    a_workspace_is_made_changed_and_removed,
    a_workspace_springs_into_being_with_its_first_link,
    pages_of_workspaces_show_each_once,
    what_no_workspace_can_be_is_refused,
);

async fn a_fresh_store_has_one_workspace_called_main(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let list = http.get("/api/v1/workspaces").await.expect(200).json();
    let main = json!({
        "id": "main", "strategy": "random", "hit_limit": null, "hosts": [],
        "created_at": NOON.to_rfc3339(), "updated_at": NOON.to_rfc3339(),
    });
    assert_eq!(list, json!({ "workspaces": [main], "next_cursor": null }));
    http.delete("/api/v1/workspaces/main").await.expect_problem(409, "workspace-in-use");
    http.post("/api/v1/workspaces", &json!({ "id": "main" }))
        .await
        .expect_problem(409, "workspace-taken");
    let kurz = kurz.restart().await;
    assert_eq!(kurz.http().get("/api/v1/workspaces").await.json(), list);
    kurz.stop().await;
}

async fn a_workspace_is_made_changed_and_removed(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "id": "team", "strategy": "counter", "hit_limit": 5 });
    let made = http.post("/api/v1/workspaces", &body).await.expect(201).json();
    assert_eq!((&made["strategy"], &made["hit_limit"]), (&json!("counter"), &json!(5)));
    http.post("/api/v1/workspaces", &body).await.expect_problem(409, "workspace-taken");
    assert_eq!(http.get("/api/v1/workspaces/team").await.expect(200).json(), made);
    let link = links::make(&http, "team", &json!({ "original_url": "https://example.com/" })).await;
    assert_eq!((&link["strategy"], &link["hit_limit"]), (&json!("counter"), &json!(5)));

    let path = "/api/v1/workspaces/team";
    let edited = http.patch(path, &json!({ "strategy": "random" })).await.expect(200).json();
    assert_eq!((&edited["strategy"], &edited["hit_limit"]), (&json!("random"), &json!(5)));
    let edited = http.patch(path, &json!({ "hit_limit": null })).await.expect(200).json();
    assert_eq!((&edited["strategy"], &edited["hit_limit"]), (&json!("random"), &json!(null)));
    assert_eq!(links::show(&http, &link).await["hit_limit"], 10_000);
    for edit in [json!({ "strategy": "custom" }), json!({ "strategy": null }), json!({ "id": "x" })]
    {
        http.patch(path, &edit).await.expect_problem(422, "body-invalid");
    }
    http.patch(path, &json!({ "hit_limit": -1 })).await.expect_problem(422, "hit-limit-invalid");
    assert_eq!(http.get(path).await.json(), edited);

    http.delete(path).await.expect_problem(409, "workspace-in-use");
    http.delete(&links::path_of(&link)).await.expect(200);
    http.delete(path).await.expect(204);
    http.get(path).await.expect_problem(404, "workspace-not-found");
    http.delete(path).await.expect_problem(404, "workspace-not-found");
    http.patch(path, &json!({})).await.expect_problem(404, "workspace-not-found");
    // Its name may be used again, with what is said then.
    let made = http.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201).json();
    assert_eq!((&made["strategy"], &made["hit_limit"]), (&json!("deterministic"), &json!(null)));
    kurz.stop().await;
}

async fn a_workspace_springs_into_being_with_its_first_link(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    http.get("/api/v1/workspaces/team").await.expect(404);
    let link = links::make(&http, "team", &json!({ "original_url": "https://example.com/" })).await;
    assert_eq!(link["strategy"], "deterministic");
    let workspace = http.get("/api/v1/workspaces/team").await.expect(200).json();
    assert_eq!(workspace["strategy"], "deterministic");
    kurz.stop().await;
}

async fn pages_of_workspaces_show_each_once(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let mut expected = vec!["main".to_owned()];
    for id in ["a", "Z", "_x", "-y", "m", "maina", "9", "team-1", "team_1"] {
        http.post("/api/v1/workspaces", &json!({ "id": id })).await.expect(201);
        expected.push(id.to_owned());
    }
    expected.sort();
    for limit in [1, 3, 10, 1000] {
        let mut seen = Vec::new();
        let mut cursor = String::new();
        loop {
            let path = format!("/api/v1/workspaces?limit={limit}{cursor}");
            let page = http.get(&path).await.expect(200).json();
            let ids = page["workspaces"].as_array().unwrap().iter();
            seen.extend(ids.map(|one: &Value| one["id"].as_str().unwrap().to_owned()));
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(seen, expected, "{limit}");
    }
    http.get("/api/v1/workspaces?cursor=a.b").await.expect_problem(422, "cursor-invalid");
    http.get("/api/v1/workspaces?limit=0").await.expect_problem(422, "limit-invalid");
    kurz.stop().await;
}

async fn what_no_workspace_can_be_is_refused(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for id in ["", "a b", "a/b", "a.b", "ä", &"x".repeat(65)] {
        let answer = http.post("/api/v1/workspaces", &json!({ "id": id })).await;
        answer.expect_problem(422, "workspace-id-invalid");
    }
    http.post("/api/v1/workspaces", &json!({ "id": "x".repeat(64) })).await.expect(201);
    let answer = http.post("/api/v1/workspaces", &json!({ "id": "t", "hit_limit": -1 })).await;
    answer.expect_problem(422, "hit-limit-invalid");
    for body in [json!({}), json!({ "id": 7 }), json!({ "id": "t", "strategy": "custom" })] {
        http.post("/api/v1/workspaces", &body).await.expect_problem(422, "body-invalid");
    }
    http.get("/api/v1/workspaces/t").await.expect(404);
    kurz.stop().await;
}

//! Hosts of workspaces.

use kurz_test_support::{Kind, NOON, TestServer, on_both_databases};
use serde_json::json;

on_both_databases!(
    a_host_is_given_to_one_workspace_and_taken_back,
    what_is_no_host_name_is_refused,
    a_workspace_has_at_most_a_hundred_hosts,
);

const TEAM: &str = "/api/v1/workspaces/team/hosts";

async fn a_host_is_given_to_one_workspace_and_taken_back(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let host = json!({ "host": "XN--Bcher-KVA.Example" });
    http.post(TEAM, &host).await.expect_problem(404, "workspace-not-found");
    for id in ["team", "other"] {
        http.post("/api/v1/workspaces", &json!({ "id": id })).await.expect(201);
    }
    let added = http.post(TEAM, &host).await.expect(201).json();
    assert_eq!(
        added,
        json!({ "host": "xn--bcher-kva.example", "status": "active",
        "created_at": NOON.to_rfc3339(), "proof": null, "home_url": null,
        "not_found_url": null, "invalid_code_url": null })
    );
    for workspace in ["team", "other"] {
        let path = format!("/api/v1/workspaces/{workspace}/hosts");
        http.post(&path, &host).await.expect_problem(409, "host-taken");
    }
    assert_eq!(http.get(TEAM).await.expect(200).json(), json!({ "hosts": [added] }));
    let shown = http.get("/api/v1/workspaces/team").await.json();
    assert_eq!(shown["hosts"], json!(["xn--bcher-kva.example"]));
    let other = "/api/v1/workspaces/other/hosts/xn--bcher-kva.example";
    http.delete(other).await.expect_problem(404, "host-not-found");
    http.delete(&format!("{TEAM}/xn--bcher-kva.example")).await.expect(204);
    http.delete(&format!("{TEAM}/xn--bcher-kva.example"))
        .await
        .expect_problem(404, "host-not-found");
    http.delete(&format!("{TEAM}/a%20b")).await.expect_problem(404, "host-not-found");
    // Free for others now, and again once its workspace is removed.
    http.post("/api/v1/workspaces/other/hosts", &host).await.expect(201);
    http.delete("/api/v1/workspaces/other").await.expect(204);
    http.post(TEAM, &host).await.expect(201);
    kurz.stop().await;
}

async fn what_is_no_host_name_is_refused(kind: Kind) {
    let settings = [("KURZ_PUBLIC_URL", "https://kurz.example")];
    let kurz = TestServer::builder().database(kind).settings(&settings).start().await;
    let http = kurz.http();
    http.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    for host in [
        "",
        ".",
        "localhost",
        "127.0.0.1",
        "0x7f.1",
        "[::1]",
        "a b.example",
        "a.example:80",
        "a.example/x",
        "a.example?x",
        "a.example#x",
        "user@a.example",
        "https://a.example",
        "a..b",
        "kurz.example",
        "KURZ.example.",
        "a.example.",
        "*.a.example",
        "bücher.example",
        "a_b.example",
        "-a.example",
        "xn--example-.org",
        "a\u{0}.example",
        "-a.example/..",
    ] {
        let answer = http.post(TEAM, &json!({ "host": host })).await;
        assert_eq!(answer.status, 422, "{host:?}: {}", answer.text());
        answer.expect_problem(422, "host-invalid");
    }
    for body in [json!({}), json!({ "host": null }), json!({ "host": "a.example", "x": 1 })] {
        http.post(TEAM, &body).await.expect_problem(422, "body-invalid");
    }
    assert_eq!(http.get(TEAM).await.json(), json!({ "hosts": [] }));
    kurz.stop().await;
}

async fn a_workspace_has_at_most_a_hundred_hosts(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    http.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    for n in 0..100 {
        http.post(TEAM, &json!({ "host": format!("h{n}.example") })).await.expect(201);
    }
    let answer = http.post(TEAM, &json!({ "host": "one-more.example" })).await;
    answer.expect_problem(422, "hosts-too-many");
    assert_eq!(http.get(TEAM).await.json()["hosts"].as_array().unwrap().len(), 100);
    kurz.stop().await;
}

//! What refusals say: the scheme that is not allowed, the workspace that was deleted.

use kurz_test_support::{Kind, Program, TestServer, on_both_databases};
use serde_json::json;

on_both_databases! {
    the_name_of_a_deleted_workspace_says_so_and_an_administrator_restores_it,
}

#[tokio::test]
async fn a_scheme_that_is_not_allowed_is_named() {
    let server = TestServer::builder().accounts().process().start();
    let ada = server.register("ada").await;
    let urls = [
        ("javascript:alert(1)", "javascript"),
        (" JavaScript:alert(1)", "javascript"),
        ("data:text/html,x", "data"),
        ("ftp://example.com/", "ftp"),
        ("mailto:ada@example.com", "mailto"),
    ];
    for (url, scheme) in urls {
        let answer = ada.post("/api/v1/links", &json!({ "original_url": url })).await;
        let problem = answer.expect(422).json();
        assert_eq!(problem["code"], "url-scheme-not-allowed");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("`{scheme}:`")), "{url}: {detail}");
        let output = Program::kurz(&["canon", url]).run("");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains(&format!("`{scheme}:`")),
            "{url}: {errors}"
        );
    }
}

async fn the_name_of_a_deleted_workspace_says_so_and_an_administrator_restores_it(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().process().start();
    let (ada, eve) = (server.register("ada").await, server.register("eve").await);
    let root = server.administrator("root").await;
    let acme = json!({ "id": "acme" });
    ada.post("/api/v1/workspaces", &acme).await.expect(201);
    let link = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    ada.post("/api/v1/workspaces/acme/links", &link).await.expect(201);
    eve.post("/api/v1/workspaces", &acme).await.expect_problem(409, "workspace-taken");
    ada.delete("/api/v1/workspaces/acme/links/promo").await.expect(200);
    ada.delete("/api/v1/workspaces/acme").await.expect(204);

    let answer = eve.post("/api/v1/workspaces", &acme).await;
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(
        detail.contains("deleted") && detail.contains("kurz workspace restore acme"),
        "{detail}"
    );
    answer.expect_problem(409, "workspace-deleted");

    // Nobody else can.
    let restore = "/api/v1/workspaces/acme/restore";
    for client in [&ada, &eve] {
        client.post(restore, &json!({})).await.expect_problem(404, "not-found");
    }
    server.http().post(restore, &json!({})).await.expect(401);
    let key = json!({ "scopes": ["read", "create", "manage"] });
    let key = root.post("/api/v1/keys", &key).await.expect(201).json();
    let program = Program::kurz(&["workspace", "restore", "acme"])
        .env("KURZ_URL", server.base_url())
        .env("KURZ_API_KEY", key["key"].as_str().unwrap());
    let output = program.run("");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("acme"));
    root.post(restore, &json!({})).await.expect_problem(409, "workspace-taken");
    root.post("/api/v1/workspaces/none/restore", &json!({})).await.expect(404);
    // Its members are to be added again; its codes are as they were.
    ada.get("/api/v1/workspaces/acme").await.expect(404);
    root.post("/api/v1/workspaces/acme/links/promo/restore", &json!({})).await.expect(200);
    server.http().get("/w/acme/promo").await.expect(302);
}

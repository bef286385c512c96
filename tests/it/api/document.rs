//! The API's description: complete, committed, and readable without the rest of the world.

use std::collections::BTreeSet;
use std::path::Path;

use kurz_test_support::TestServer;
use serde_json::{Value, json};

async fn get(path: &str) -> kurz_test_support::http::Answer {
    let kurz = TestServer::builder().start().await;
    let answer = kurz.http().get(path).await.expect(200);
    kurz.stop().await;
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn docs_api_json_is_the_document_that_is_served() {
    let served = get("/api/openapi.json").await.text() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/api.json");
    #[expect(clippy::disallowed_methods, reason = "the developer's word to this test alone")]
    if std::env::var("UPDATE_DOCS").is_ok() {
        std::fs::write(&file, &served).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == served,
        "docs/api.json is not what the code says: run UPDATE_DOCS=1 ./scripts/test docs"
    );
}

/// The routes of analytics below a workspace.
const ANALYTICS: [&str; 15] = [
    "GET analytics",
    "DELETE analytics",
    "GET analytics/events",
    "GET analytics/export",
    "GET analytics/live",
    "GET analytics/orphans",
    "POST analytics/shares",
    "GET analytics/shares",
    "DELETE analytics/shares/{share}",
    "GET privacy",
    "PUT privacy",
    "GET links/{code}/privacy",
    "PUT links/{code}/privacy",
    "GET links/{code}/analytics",
    "GET links/{code}/stats",
];

/// Every route of the server that is not a page.
#[expect(clippy::too_many_lines, reason = "a list")]
fn routes() -> BTreeSet<String> {
    let links = "/api/v1/workspaces/{workspace}/links";
    [
        "POST /api/v1/auth/register",
        "POST /api/v1/auth/login",
        "POST /api/v1/auth/logout",
        "GET /api/v1/me",
        "DELETE /api/v1/me",
        "PATCH /api/v1/me/password",
        "POST /api/v1/keys",
        "GET /api/v1/keys",
        "DELETE /api/v1/keys/{id}",
        "POST /api/v1/links",
        "POST /api/v1/links/claim",
        &format!("POST {links}"),
        &format!("GET {links}"),
        &format!("POST {links}/bulk"),
        &format!("GET {links}/{{code}}"),
        &format!("PATCH {links}/{{code}}"),
        &format!("DELETE {links}/{{code}}"),
        &format!("POST {links}/{{code}}/restore"),
        &format!("POST {links}/{{code}}/disable"),
        &format!("POST {links}/{{code}}/enable"),
        &format!("POST {links}/{{code}}/reports/dismiss"),
        "GET /api/v1/admin/audit",
        "GET /api/v1/admin/reports",
        "GET /api/v1/admin/users",
        "POST /api/v1/admin/users/{email}/disable",
        "POST /api/v1/admin/users/{email}/enable",
        &format!("GET {links}/{{code}}/stats"),
        &format!("GET {links}/{{code}}/qr"),
        "POST /api/v1/workspaces",
        "GET /api/v1/workspaces",
        "GET /api/v1/workspaces/{workspace}",
        "PATCH /api/v1/workspaces/{workspace}",
        "DELETE /api/v1/workspaces/{workspace}",
        "POST /api/v1/workspaces/{workspace}/hosts",
        "GET /api/v1/workspaces/{workspace}/hosts",
        "DELETE /api/v1/workspaces/{workspace}/hosts/{host}",
        "PATCH /api/v1/workspaces/{workspace}/hosts/{host}",
        "GET /api/v1/workspaces/{workspace}/links/{code}/rules",
        "POST /api/v1/workspaces/{workspace}/links/{code}/simulate",
        "GET /api/v1/workspaces/{workspace}/links/{code}/split",
        "GET /api/v1/workspaces/{workspace}/defaults",
        "PUT /api/v1/workspaces/{workspace}/defaults",
        "DELETE /api/v1/workspaces/{workspace}/defaults",
        "POST /api/v1/workspaces/{workspace}/links/{code}/aliases",
        "DELETE /api/v1/workspaces/{workspace}/links/{code}/aliases/{alias}",
        "GET /api/v1/workspaces/{workspace}/tags",
        "PATCH /api/v1/workspaces/{workspace}/tags/{tag}",
        "DELETE /api/v1/workspaces/{workspace}/tags/{tag}",
        "POST /api/v1/workspaces/{workspace}/hosts/{host}/check",
        "POST /api/v1/workspaces/{workspace}/hosts/{host}/approve",
        "POST /api/v1/workspaces/{workspace}/invitations",
        "GET /api/v1/workspaces/{workspace}/invitations",
        "DELETE /api/v1/workspaces/{workspace}/invitations/{id}",
        "GET /api/v1/me/invitations",
        "POST /api/v1/me/invitations/accept",
        "POST /api/v1/me/invitations/decline",
        "GET /api/v1/workspaces/{workspace}/members",
        "PATCH /api/v1/workspaces/{workspace}/members/{email}",
        "DELETE /api/v1/workspaces/{workspace}/members/{email}",
        "POST /auth/register",
        "POST /auth/login",
        "POST /api/urls/public",
        "POST /api/urls",
        "GET /api/urls",
        "DELETE /api/urls/{id}",
        "POST /api/urls/sync",
        "GET /api/stats",
        "POST /v1/shorten",
        "POST /shorten",
        "POST /api/links",
        "POST /workspaces/{workspace}/links",
        "POST /api/v1/workspaces/{workspace}/restore",
        "GET /api/v1/stats",
        "GET /healthz",
        "GET /readyz",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain(ANALYTICS.map(|route| route.replacen(' ', " /api/v1/workspaces/{workspace}/", 1)))
    .chain(["GET /api/v1/admin/analytics".to_owned()])
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_openapi_3_1_and_describes_every_route() {
    let api = get("/api/openapi.json").await.json();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1"), "{}", api["openapi"]);
    let expected = routes();
    let mut found = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = format!("{} {path}", method.to_uppercase());
            let id = operation["operationId"].as_str().unwrap_or_default();
            assert!(!id.is_empty() && ids.insert(id.to_owned()), "{name}: `{id}` is not its own");
            let summary = operation["summary"].as_str().unwrap_or_default();
            assert!(!summary.is_empty(), "{name} has no summary");
            assert!(
                operation["responses"].as_object().is_some_and(|all| !all.is_empty()),
                "{name}"
            );
            let named: BTreeSet<&str> = operation["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|one| one["in"] == "path")
                .map(|one| one["name"].as_str().unwrap())
                .collect();
            let pieces =
                path.split('/').filter_map(|piece| piece.strip_prefix('{')?.strip_suffix('}'));
            assert_eq!(named, pieces.collect(), "{name}: the pieces of its path");
            found.insert(name);
        }
    }
    assert_eq!(found, expected);
    let mut dangling = Vec::new();
    check_references(&api, &api, &mut dangling);
    assert!(dangling.is_empty(), "{dangling:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_no_credential_says_so() {
    let kurz = TestServer::builder().accounts().start().await;
    let api = kurz.http().get("/api/openapi.json").await.expect(200).json();
    let body = json!({"original_url": "https://example.com/"});
    for (path, described) in [
        ("/api/v1/links", "/api/v1/links"),
        ("/api/v1/workspaces/main/links", "/api/v1/workspaces/{workspace}/links"),
    ] {
        kurz.http().post(path, &body).await.expect(201);
        let security = &api["paths"][described]["post"]["security"];
        assert!(security.as_array().is_some_and(|ways| ways.contains(&json!({}))), "{path}");
    }
    kurz.stop().await;
}

/// Every `$ref` leads somewhere.
fn check_references(api: &Value, value: &Value, dangling: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                let pointer = reference.strip_prefix('#').unwrap_or(reference);
                if api.pointer(pointer).is_none() {
                    dangling.push(reference.to_owned());
                }
            }
            for value in fields.values() {
                check_references(api, value, dangling);
            }
        }
        Value::Array(values) => {
            for value in values {
                check_references(api, value, dangling);
            }
        }
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_docs_page_shows_every_operation_and_loads_nothing_from_elsewhere() {
    let page = get("/api/docs").await;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
    let text = page.text();
    for attribute in ["src=", "href=", "action=", "srcset=", "@import", "url("] {
        for piece in text.split(attribute).skip(1) {
            let place = piece.trim_start_matches(['"', '\'']);
            assert!(place.starts_with('/') || place.starts_with('#'), "{attribute}{place:.60}");
            assert!(!place.starts_with("//"), "{attribute}{place:.60}");
        }
    }
    assert!(!text.contains("<script") && !text.contains("<iframe"));
    let api = get("/api/openapi.json").await.json();
    for (path, methods) in api["paths"].as_object().unwrap() {
        assert!(text.contains(path.as_str()), "{path}");
        for operation in methods.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(text.contains(&format!("id=\"{id}\"")), "{path}: {id}");
        }
    }
}

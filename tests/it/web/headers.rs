//! The security headers of every route, as a snapshot: `headers.txt` beside this file. After a
//! change that is meant, `UPDATE_DOCS=1 ./scripts/test headers` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kurz_test_support::http::Http;
use kurz_test_support::pages::{cookie, post_form};
use kurz_test_support::{TestServer, links};
use serde_json::json;

/// Headers that say what a browser may do with an answer.
const SHOWN: [&str; 9] = [
    "cache-control",
    "content-security-policy",
    "content-type",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "permissions-policy",
    "referrer-policy",
    "strict-transport-security",
    "x-content-type-options",
];

/// Every page, and one route of each other kind.
const ROUTES: &[&str] = &[
    "/",
    "/login",
    "/register",
    "/robots.txt",
    "/app",
    "/app/account",
    "/app/admin",
    "/app/admin/audit",
    "/app/admin/reports",
    "/app/report",
    "/app/workspaces",
    "/app/w/main",
    "/app/w/main/new",
    "/app/w/main/bulk",
    "/app/w/main/tags",
    "/app/w/main/export.csv",
    "/app/w/main/export.json",
    "/app/w/main/l/promo",
    "/app/w/main/l/promo/edit",
    "/app/w/main/l/promo/rules",
    "/app/w/main/l/promo/options",
    "/app/w/main/l/promo/try",
    "/app/w/main/l/promo/qr",
    "/app/w/main/l/promo/qr?format=png",
    "/app/w/main/l/promo/analytics",
    "/app/w/main/analytics",
    "/app/w/main/analytics/list?group=country",
    "/app/w/main/analytics/list.csv?group=country",
    "/app/w/main/analytics/live",
    "/app/w/main/analytics/orphans",
    "/app/w/main/analytics/orphans.csv",
    "/app/w/main/analytics/map",
    "/app/w/main/analytics/map.svg",
    "/app/w/acme/settings",
    "/app/w/acme/settings/analytics",
    "/privacy/stats",
    "/s/nothing",
    "/app/nothing",
    "/api/docs",
    "/api/openapi.json",
    "/api/v1/stats",
    "/api/v1/me",
    "/api/v1/nothing",
    "/healthz",
    "/promo",
    "/promo+",
    "/no-such-code",
    "/no-such-code+",
];

async fn headers_of(http: &Http, path: &str) -> (u16, String) {
    let answer = http.get(path).await;
    let mut text = String::new();
    for name in SHOWN {
        if let Some(value) = answer.header(name) {
            writeln!(text, "    {name}: {value}").unwrap();
        }
    }
    (answer.status, text)
}

#[tokio::test]
async fn every_route_says_what_a_browser_may_do_with_it() {
    let settings = [("KURZ_PUBLIC_URL", "https://kurz.example")];
    let server = TestServer::builder().accounts().from_now().settings(&settings).start().await;
    server.administrator("root").await;
    let token = server.log_in("root").await;
    token.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let link = json!({ "original_url": "https://example.com", "custom_code": "promo" });
    links::make(&token, "main", &link).await;
    let fields =
        [("email", "root@example.com"), ("password", kurz_test_support::accounts::PASSWORD)];
    let answer = post_form(&server.visitor(), "/login", &fields).await.expect(303);
    let root = server.visitor().with(reqwest::header::COOKIE, &cookie(&answer));

    // Routes that answer alike stand together.
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut note = async |http: &Http, path: &str, whom: &str| {
        let (status, headers) = headers_of(http, path).await;
        kinds.entry(headers).or_default().push(format!("{status} {path}{whom}"));
    };
    for path in ROUTES {
        note(&root, path, "").await;
    }
    note(&server.http(), "/app/w/main", " (a stranger)").await;
    note(&server.http(), "/no-such-code", " (no browser)").await;
    let style = root.get("/").await.text();
    let style = style.split("stylesheet\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let (status, headers) = headers_of(&root, style).await;
    kinds.entry(headers).or_default().push(format!("{status} /assets/style-….css"));

    let mut kinds: Vec<(Vec<String>, String)> =
        kinds.into_iter().map(|(headers, routes)| (routes, headers)).collect();
    kinds.sort();
    let mut text = String::new();
    for (routes, headers) in kinds {
        writeln!(text, "{}\n{headers}", routes.join("\n")).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/web/headers.txt");
    #[expect(clippy::disallowed_methods, reason = "a switch of the tests, not a setting")]
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, text, "if this is meant, run UPDATE_DOCS=1 ./scripts/test headers");
    server.stop().await;
}

//! The pages of analytics without a browser, on both databases: who sees what, what is shared, what is told to visitors.

use kurz_test_support::http::Http;
use kurz_test_support::made_up_events::store_past;
use kurz_test_support::pages::{cookie, post_form};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use reqwest::header::{COOKIE, HeaderName};
use serde_json::json;

on_both_databases!(
    a_dashboard_is_for_members_and_has_the_figures_of_the_api,
    a_share_shows_its_link_and_nothing_else,
    a_workspace_says_what_it_keeps_and_visitors_can_read_it,
);

struct Acme {
    server: TestServer,
    /// Ada's session in a browser, and her token.
    pages: Http,
    api: Http,
}

async fn acme(kind: Kind) -> Acme {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    let pages = server.sign_up("ada").await;
    let api = server.log_in("ada").await;
    api.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let mut ids = Vec::new();
    for code in ["spring", "autumn"] {
        let link =
            json!({ "original_url": format!("https://example.com/{code}"), "custom_code": code });
        ids.push(links::make(&api, "acme", &link).await["id"].as_i64().unwrap());
    }
    let store = server.open_store().await;
    store_past(&store, "acme", &ids, server.clock.now(), (10, 60)).await;
    Acme { server, pages, api }
}

fn grouped(number: &serde_json::Value) -> String {
    let digits = number.as_u64().unwrap().to_string();
    let parts = digits.as_bytes().rchunks(3).rev();
    parts.map(|part| String::from_utf8(part.to_vec()).unwrap()).collect::<Vec<_>>().join(",")
}

async fn a_dashboard_is_for_members_and_has_the_figures_of_the_api(kind: Kind) {
    let Acme { server, pages, api } = acme(kind).await;
    let answer = api.get("/api/v1/workspaces/acme/analytics?from=7d&group=country").await;
    let answer = answer.expect(200).json();
    let page = pages.get("/app/w/acme/analytics?from=7d").await.expect(200).text();
    let clicks = grouped(&answer["total"]["clicks"]);
    assert!(page.contains(&format!("<strong>{clicks}</strong>")), "{clicks} in {page}");
    let rows = answer["groups"]["country"]["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows.iter().take(5) {
        let (name, clicks) = (row["value"].as_str().unwrap(), grouped(&row["clicks"]));
        assert!(page.contains(&format!("filter=country%3A{name}")), "{name} in {page}");
        assert!(
            page.contains(&format!("<td class=\"number\">{clicks}</td>")),
            "{clicks} in {page}"
        );
    }
    assert!(page.len() < 60 << 10, "{} bytes", page.len());
    let csv = pages.get("/app/w/acme/analytics/list.csv?from=7d&group=country").await.expect(200);
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let first = format!("\"{}\",{},", rows[0]["value"].as_str().unwrap(), rows[0]["clicks"]);
    assert!(csv.text().lines().nth(1).unwrap().starts_with(&first), "{first} in {}", csv.text());
    let map = pages.get("/app/w/acme/analytics/map.svg?from=7d").await.expect(200);
    assert_eq!(map.header("content-type"), Some("image/svg+xml"));

    let grace = server.sign_up("grace").await;
    for path in [
        "/app/w/acme/analytics",
        "/app/w/acme/l/spring/analytics",
        "/app/w/acme/settings/analytics",
    ] {
        grace.get(path).await.expect(404);
        server.visitor().get(path).await.expect(303);
    }
    for (query, status) in [
        ("from=sometime", 422),
        ("zone=Mars/Olympus", 422),
        ("filter=planet:Mars", 422),
        ("from=2026-02-02&until=2026-02-01", 422),
        ("show=nothing,country&measure=weight", 200),
    ] {
        pages.get(&format!("/app/w/acme/analytics?{query}")).await.expect(status);
    }
    pages.get("/app/w/acme/analytics/nothing").await.expect(404);
    pages.get("/app/w/acme/analytics/list?group=planet").await.expect(404);
    server.stop().await;
}

/// Share something over the pages; the path of the share.
async fn share(pages: &Http, fields: &[(&str, &str)]) -> String {
    let made = post_form(pages, "/app/w/acme/shares", fields).await.expect(200).text();
    let token = made.split("/s/").nth(1).unwrap().split('<').next().unwrap().to_owned();
    format!("/s/{token}")
}

async fn a_share_shows_its_link_and_nothing_else(kind: Kind) {
    let Acme { server, pages, api } = acme(kind).await;
    let path = share(&pages, &[("scope", "link"), ("value", "spring")]).await;
    let visitor = server.visitor();
    let page = visitor.get(&path).await.expect(200).text();
    let answer = api.get("/api/v1/workspaces/acme/links/spring/analytics?from=30d").await;
    let clicks = grouped(&answer.expect(200).json()["total"]["clicks"]);
    assert!(page.contains(&format!("<strong>{clicks}</strong>")), "{clicks} in {page}");
    assert!(page.contains("content=\"noindex\"") && !page.contains("autumn"), "{page}");
    for query in ["filter=link:autumn", "filter=tag:x", "filter=-link:spring"] {
        visitor.get(&format!("{path}?{query}")).await.expect(422);
    }
    visitor.get(&format!("{path}/list?group=link")).await.expect(404);
    visitor.get(&format!("{path}/list?group=country")).await.expect(200);

    // With a password, which a browser shows once.
    let locked =
        share(&pages, &[("scope", "workspace"), ("password", "open sesame"), ("index", "1")]).await;
    let closed = visitor.get(&locked).await.expect(401).text();
    assert!(!closed.contains("spring"), "{closed}");
    visitor.get(&format!("{locked}/list?group=link")).await.expect(401);
    post_form(&visitor, &locked, &[("password", "wrong")]).await.expect(401);
    let opened = post_form(&visitor, &locked, &[("password", "open sesame")]).await.expect(303);
    let browser = visitor.with(COOKIE, &cookie(&opened));
    let page = browser.get(&locked).await.expect(200).text();
    assert!(page.contains("autumn") && !page.contains("noindex"), "{page}");
    // What opens one share opens no other.
    let other = share(&pages, &[("scope", "workspace"), ("password", "other sesame")]).await;
    browser.get(&other).await.expect(401);

    // Revoked and unknown are the same.
    let settings = pages.get("/app/w/acme/settings/analytics").await.expect(200).text();
    for id in settings.split("name=\"id\" value=\"").skip(1) {
        let id = id.split('"').next().unwrap();
        post_form(&pages, "/app/w/acme/shares/revoke", &[("id", id)]).await.expect(303);
    }
    let revoked = visitor.get(&path).await.expect(404).text();
    let unknown = visitor.get("/s/AAAAAAAAAAAAAAAAAAAAAA").await.expect(404).text();
    assert_eq!(without_id(&revoked), without_id(&unknown));
    browser.get(&locked).await.expect(404);
    server.stop().await;
}

/// A page without the number of its request.
fn without_id(page: &str) -> String {
    page.lines().filter(|line| !line.contains("<code>")).collect()
}

async fn a_workspace_says_what_it_keeps_and_visitors_can_read_it(kind: Kind) {
    let Acme { server, pages, .. } = acme(kind).await;
    server.administrator("root").await;
    let host = json!({ "host": "go.acme.example" });
    let root = server.log_in("root").await;
    root.post("/api/v1/workspaces/acme/hosts", &host).await.expect(201);
    let notice = server.visitor().get("/privacy/stats").await.expect(200).text();
    assert!(notice.contains("90 days") && notice.contains("Global Privacy Control"), "{notice}");
    let german = server.visitor().with(HeaderName::from_static("accept-language"), "de");
    assert!(german.get("/privacy/stats").await.expect(200).text().contains("90 Tage"));

    let wrong = [("mode", "aggregate"), ("exclude", "everybody")];
    let refused =
        post_form(&pages, "/app/w/acme/settings/privacy", &wrong).await.expect(422).text();
    assert!(refused.contains("exclude-error"), "{refused}");
    let fields = [("mode", "aggregate"), ("exclude", "203.0.113.0/24\n::1"), ("panel", "country")];
    post_form(&pages, "/app/w/acme/settings/privacy", &fields).await.expect(303);
    let page = pages.get("/app/w/acme/analytics").await.expect(200).text();
    assert!(!page.contains("filter=country"), "{page}");
    pages.get("/app/w/acme/analytics/list?group=country").await.expect(404);
    pages.get("/app/w/acme/analytics/map").await.expect(404);
    let host = server.visitor().with(HeaderName::from_static("host"), "go.acme.example");
    let notice = host.get("/privacy/stats").await.expect(200).text();
    assert!(notice.contains("48 hours") && !notice.contains("90 days"), "{notice}");
    server.stop().await;
}

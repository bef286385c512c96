//! Settings of plans beside rules: fallbacks, files for apps, defaults of a workspace, the preview, and rules by
//! country, each over the API and as a visitor.

use http::header::{ACCEPT, HOST, HeaderName};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    a_fallback_is_used_after_three_failed_checks_and_the_simulator_says_so,
    what_a_workspace_sets_counts_for_its_links_with_a_plan,
);

async fn location(kurz: &TestServer, path: &str) -> Option<String> {
    let answer = kurz.http().get(path).await.expect(302);
    answer.header("location").map(str::to_owned)
}

async fn a_fallback_is_used_after_three_failed_checks_and_the_simulator_says_so(kind: Kind) {
    let settings = [("KURZ_HEALTH_CHECKS", "on")];
    let kurz = TestServer::builder().database(kind).settings(&settings).start().await;
    let http = kurz.http();
    for (failures, expected, step) in
        [(2, "https://target.example/", 13), (3, "https://fallback.example/", 10)]
    {
        let body = json!({ "original_url": "https://target.example/", "strategy": "random",
            "fallback_url": "https://fallback.example/" });
        let link = links::make(&http, "team", &body).await;
        // Far in the future: no check of this server comes between.
        let row = format!(
            "insert into link_health (link_id, destination_status, last_checked_at, next_check_at, failures)
             values ({}, 'broken', 1, 9000000000000000, {failures})",
            link["id"]
        );
        kurz.home.execute(&row).await;
        let path = links::short_path(&link);
        assert_eq!(location(&kurz, &path).await.as_deref(), Some(expected), "{failures}");
        let simulate = format!("{}/simulate", links::path_of(&link));
        let answer = http.post(&simulate, &json!({})).await.expect(200).json();
        assert_eq!(
            (&answer["step"], &answer["location"]),
            (&json!(step), &json!(expected)),
            "{answer}"
        );
    }
    kurz.stop().await;
}

async fn what_a_workspace_sets_counts_for_its_links_with_a_plan(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let plain = json!({ "original_url": "https://a.example/", "custom_code": "plain" });
    links::make(&http, "team", &plain).await;
    let defaults = json!({ "query": "merge", "utm": { "source": "kurz", "campaign": "{code}" } });
    let path = "/api/v1/workspaces/team/defaults";
    http.send(http::Method::PUT, path, Some(&defaults)).await.expect(200);
    let shown = http.get(path).await.expect(200).json();
    assert_eq!(shown["query"], "merge", "{shown}");
    let planned = json!({ "original_url": "https://b.example/?x=1", "custom_code": "planned",
        "utm": { "source": "own" } });
    links::make(&http, "team", &planned).await;
    let led = location(&kurz, "/planned?y=2&x=9").await.unwrap();
    assert!(led.starts_with("https://b.example/?x=1"), "{led}");
    assert!(led.contains("y=2") && !led.contains("x=9"), "the target's own wins: {led}");
    assert!(led.contains("utm_source=own") && led.contains("utm_campaign=planned"), "{led}");
    kurz.stop().await;
}

#[tokio::test]
async fn a_host_has_files_for_the_apps_of_its_links_and_no_other_host_has() {
    let kurz = TestServer::builder().start().await;
    let http = kurz.http();
    let fingerprint = vec!["AB"; 32].join(":");
    let body = json!({ "original_url": "https://a.example/", "app": {
        "ios": { "app_id": "ABCDE12345.example.app", "path": "/open", "store_url": "https://apps.example/ios" },
        "android": { "package": "example.app", "sha256": [fingerprint], "path": "/open",
            "store_url": "https://apps.example/android" } } });
    links::make(&http, "team", &body).await;
    http.post("/api/v1/workspaces/team/hosts", &json!({ "host": "go.example.com" }))
        .await
        .expect(201);
    let at_host = http.with(HOST, "go.example.com");
    let apple = at_host.get("/.well-known/apple-app-site-association").await.expect(200);
    assert_eq!(apple.header("content-type"), Some("application/json"));
    assert!(apple.text().contains("ABCDE12345.example.app"), "{}", apple.text());
    let android: Value = at_host.get("/.well-known/assetlinks.json").await.expect(200).json();
    assert_eq!(android[0]["target"]["package_name"], "example.app", "{android}");
    for path in ["/.well-known/apple-app-site-association", "/.well-known/assetlinks.json"] {
        http.get(path).await.expect(404);
    }
    kurz.stop().await;
}

#[tokio::test]
async fn a_preview_lists_the_hosts_of_a_plan_and_nothing_of_a_protected_one() {
    let kurz = TestServer::builder().start().await;
    let http = kurz.http();
    let rules = json!([{ "when": { "os": ["ios"] }, "to": "https://phones.example/x" }]);
    let open =
        json!({ "original_url": "https://desks.example/", "custom_code": "open", "rules": rules });
    links::make(&http, "team", &open).await;
    let closed = json!({ "original_url": "https://desks.example/", "custom_code": "closed",
        "rules": rules, "password": "open sesame" });
    links::make(&http, "team", &closed).await;
    let page = http.with(ACCEPT, "text/html");
    let shown = page.get("/open+").await.expect(200).text();
    assert!(shown.contains("phones.example") && shown.contains("desks.example"), "{shown}");
    let hidden = page.get("/closed+").await.text();
    assert!(!hidden.contains("phones.example") && !hidden.contains("desks.example"), "{hidden}");
    kurz.stop().await;
}

#[tokio::test]
async fn rules_go_by_the_country_that_a_trusted_proxy_names_and_nobody_else_does() {
    const COUNTRY: HeaderName = HeaderName::from_static("cf-ipcountry");
    let rules = json!([
        { "name": "here", "when": { "country": ["DE"] }, "to": "https://de.example/" },
        { "name": "not there", "when": { "not": { "continent": ["EU"] } }, "block": 451 },
    ]);
    for is_trusted in [true, false] {
        let mut builder = TestServer::builder().setting("KURZ_GEO_HEADER", "cf-ipcountry");
        if is_trusted {
            builder = builder.setting("KURZ_TRUSTED_PROXIES", "127.0.0.1");
        }
        let kurz = builder.start().await;
        let http = kurz.http();
        let body = json!({ "original_url": "https://all.example/", "custom_code": "place", "rules": rules });
        links::make(&http, "team", &body).await;
        // A country that nobody knows is neither inside nor outside.
        assert_eq!(location(&kurz, "/place").await.as_deref(), Some("https://all.example/"));
        for (country, status, to) in [
            ("DE", 302, Some("https://de.example/")),
            ("FR", 302, Some("https://all.example/")),
            ("US", 451, None),
            ("x!", 302, Some("https://all.example/")),
        ] {
            let answer = http.with(COUNTRY, country).get("/place").await;
            let (status, to) =
                if is_trusted { (status, to) } else { (302, Some("https://all.example/")) };
            assert_eq!((answer.status, answer.header("location")), (status, to), "{country}");
        }
        kurz.stop().await;
    }
}

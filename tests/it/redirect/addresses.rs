//! Where a link answers: the main host, the workspace's own hosts, the address that always works, and
//! the preview.

use kurz_test_support::http::Http;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use reqwest::header::HOST;
use serde_json::json;

on_both_databases!(
    two_workspaces_hold_promo_and_each_leads_to_its_own,
    a_workspace_answers_on_its_own_hosts,
    the_first_holder_keeps_the_bare_code_for_good,
    hosts_that_are_added_at_the_same_time_all_answer,
    a_preview_shows_the_target_and_does_not_redirect,
);

#[track_caller]
fn expect_location(answer: kurz_test_support::http::Answer, location: &str) {
    assert_eq!(answer.expect(302).header("location"), Some(location));
}

// threats: D5
async fn two_workspaces_hold_promo_and_each_leads_to_its_own(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let (http, base) = (served.http(), served.base_url().to_owned());
    for (workspace, short) in [("red", "/promo"), ("blue", "/w/blue/promo")] {
        let target = format!("https://{workspace}.example/");
        let body = json!({ "original_url": target, "custom_code": "promo" });
        let link = links::make(&http, workspace, &body).await;
        assert_eq!(link["short_url"], format!("{base}{short}"));
        expect_location(http.get(short).await, &target);
        expect_location(http.get(&format!("/w/{workspace}/promo")).await, &target);
        // The other one did not change that, and a list says the same.
        assert_eq!(links::all(&http, workspace).await, [link]);
    }
    let served = served.restart();
    expect_location(served.http().get("/promo").await, "https://red.example/");
    expect_location(served.http().get("/w/blue/promo").await, "https://blue.example/");
}

// threats: D1
async fn a_workspace_answers_on_its_own_hosts(kind: Kind) {
    let settings = [("KURZ_PUBLIC_URL", "https://kurz.example")];
    let kurz = TestServer::builder().database(kind).settings(&settings).start().await;
    let http = kurz.http();
    let at = |host: &str| http.with(HOST, host);
    let body = json!({ "original_url": "https://main.example/", "custom_code": "promo" });
    links::make(&http, "main", &body).await;
    http.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let host = json!({ "host": "Go.Acme.Example" });
    let added = http.post("/api/v1/workspaces/acme/hosts", &host).await.expect(201).json();
    assert_eq!(added["host"], "go.acme.example");
    let body = json!({ "original_url": "https://acme.example/", "custom_code": "promo" });
    let link = links::make(&http, "acme", &body).await;
    assert_eq!(link["short_url"], "https://go.acme.example/promo");

    for host in ["go.acme.example", "GO.ACME.EXAMPLE", "go.acme.example:8080", "go.acme.example."] {
        expect_location(at(host).get("/promo").await, "https://acme.example/");
        at(host).get("/promo+").await.expect(200);
        // Other workspaces' links are not reached through it.
        at(host).get("/w/main/promo").await.expect(404);
        at(host).get("/w/main/promo+").await.expect(404);
    }
    for host in ["kurz.example", "unknown.example", "127.0.0.1", "acme.example"] {
        expect_location(at(host).get("/promo").await, "https://main.example/");
        expect_location(at(host).get("/w/acme/promo").await, "https://acme.example/");
    }
    for host in ["", "a b", "user@kurz.example", "kurz.example:x"] {
        at(host).get("/promo").await.expect(400);
    }

    // A link of a workspace with a host takes no code from the main host.
    let body = json!({ "original_url": "https://acme.example/2", "custom_code": "second" });
    links::make(&http, "acme", &body).await;
    http.get("/second").await.expect(404);
    let body = json!({ "original_url": "https://main.example/2", "custom_code": "second" });
    let second = links::make(&http, "main", &body).await;
    assert_eq!(second["short_url"], "https://kurz.example/second");

    // Without its host it goes on at the address that always works.
    http.delete("/api/v1/workspaces/acme/hosts/GO.acme.example").await.expect(204);
    let link = links::show(&http, &link).await;
    assert_eq!(link["short_url"], "https://kurz.example/w/acme/promo");
    expect_location(at("go.acme.example").get("/promo").await, "https://main.example/");
    kurz.stop().await;
}

async fn the_first_holder_keeps_the_bare_code_for_good(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let promo =
        |n: u8| json!({ "original_url": format!("https://{n}.example/"), "custom_code": "promo" });
    let first = links::make(&http, "one", &promo(1)).await;
    http.delete(&links::path_of(&first)).await.expect(200);
    let second = links::make(&http, "two", &promo(2)).await;
    assert!(second["short_url"].as_str().unwrap().ends_with("/w/two/promo"));
    http.get("/promo").await.expect(404);
    // A host of its own later changes nothing about links that are out in the world.
    http.post(&format!("{}/restore", links::path_of(&first)), &json!({})).await.expect(200);
    let host = json!({ "host": "a-very-long-name-for-a-host.one.example" });
    http.post("/api/v1/workspaces/one/hosts", &host).await.expect(201);
    expect_location(http.get("/promo").await, "https://1.example/");
    assert!(links::show(&http, &first).await["short_url"].as_str().unwrap().ends_with("/promo"));
    kurz.stop().await;
}

async fn hosts_that_are_added_at_the_same_time_all_answer(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&http, "team", &body).await;
    let hosts: Vec<String> = (0..40).map(|n| format!("h{n}.example")).collect();
    let add = |host: &String| {
        let (http, body) = (http.clone(), json!({ "host": host }));
        async move { http.post("/api/v1/workspaces/team/hosts", &body).await.expect(201) }
    };
    futures_util::future::join_all(hosts.iter().map(add)).await;
    for host in &hosts {
        assert_eq!(http.with(HOST, host).get("/w/team/promo").await.status, 404, "{host}");
        http.with(HOST, host).get("/promo").await.expect(302);
    }
    kurz.stop().await;
}

// threats: B12
async fn a_preview_shows_the_target_and_does_not_redirect(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http: Http = kurz.http();
    let end = NOON.plus(std::time::Duration::from_secs(1)).to_rfc3339();
    let body = json!({
        "original_url": "https://example.com/?a=1&b=\"><script>alert(1)</script>",
        "custom_code": "promo", "title": "<b>Sale</b>", "expires_at": end, "hit_limit": 1,
    });
    let link = links::make(&http, "team", &body).await;
    for path in ["/promo+", "/w/team/promo+"] {
        let page = http.get(path).await.expect(200);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("location"), None);
        let text = page.text();
        assert!(text.contains("https://example.com/?a=1&#38;b="), "{text}");
        assert!(!text.contains("<script>") && !text.contains("<b>"), "{text}");
        assert!(text.contains("2026-03-15T12:00:00"), "its age: {text}");
        assert_eq!(http.head(path).await.expect(200).text(), "");
    }
    // Looking is free.
    http.get("/promo").await.expect(302);
    http.get("/promo").await.expect(429);
    http.get("/promo+").await.expect(200);
    kurz.clock.advance(std::time::Duration::from_secs(1));
    let text = http.get("/promo+").await.expect(410).text();
    assert!(!text.contains("https://example.com"), "{text}");
    http.delete(&links::path_of(&link)).await.expect(200);
    http.get("/promo+").await.expect(404);
    kurz.stop().await;
}

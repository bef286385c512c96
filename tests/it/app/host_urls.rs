//! Where `/`, unknown codes and paths that can be no code lead, on hosts of workspaces and on the main host.

use kurz_test_support::http::Http;
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use reqwest::header::{ACCEPT, HOST};
use serde_json::{Value, json};

on_both_databases!(a_host_sends_visitors_without_a_link_where_its_workspace_says);

async fn expect(http: &Http, path: &str, status: u16, location: Option<&str>) {
    let answer = http.get(path).await;
    assert_eq!((answer.status, answer.header("location")), (status, location), "{path}");
}

async fn a_host_sends_visitors_without_a_link_where_its_workspace_says(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    links::make(
        &http,
        "team",
        &json!({ "original_url": "https://example.com/", "custom_code": "promo" }),
    )
    .await;
    let hosts = "/api/v1/workspaces/team/hosts";
    let added = http.post(hosts, &json!({ "host": "go.example.com" })).await.expect(201).json();
    assert_eq!((&added["home_url"], &added["invalid_code_url"]), (&Value::Null, &Value::Null));
    let api = format!("{hosts}/go.example.com");
    let at_host = http.with(HOST, "go.example.com").with(ACCEPT, "text/html");
    expect(&at_host, "/", 404, None).await;
    expect(&at_host, "/nothing", 404, None).await;

    let urls = json!({ "home_url": "https://acme.example/", "not_found_url": "https://acme.example/404?ü",
        "invalid_code_url": "https://acme.example/what" });
    let edited = http.patch(&api, &urls).await.expect(200).json();
    assert_eq!(edited["not_found_url"], urls["not_found_url"]);
    expect(&at_host, "/", 302, Some("https://acme.example/")).await;
    expect(&at_host, "/nothing", 302, Some("https://acme.example/404?%C3%BC")).await;
    expect(&at_host, "/nothing", 302, Some("https://acme.example/404?%C3%BC")).await;
    expect(&at_host, "/no/code.html", 302, Some("https://acme.example/what")).await;
    expect(&at_host, "/promo", 302, Some("https://example.com/")).await;
    expect(&at_host, "/robots.txt", 200, None).await;
    expect(&at_host, "/api/v1/nothing", 404, None).await;
    // The main host is as it was.
    expect(&http, "/nothing", 404, None).await;
    expect(&http, "/", 200, None).await;
    // A deleted link is like one that never was.
    http.delete("/api/v1/workspaces/team/links/promo").await.expect(200);
    expect(&at_host, "/promo", 302, Some("https://acme.example/404?%C3%BC")).await;

    let own = format!("{}/somewhere", kurz.base_url());
    let port = kurz.base_url().rsplit(':').next().unwrap().to_owned();
    let (root, deep) =
        (format!("http://go.example.com:{port}/"), format!("http://GO.example.com.:{port}/a/b"));
    for (url, code) in [
        (root.as_str(), "url-own-host"),
        (&deep, "url-own-host"),
        (&own, "url-self-reference"),
        ("javascript:alert(1)", "url-scheme-not-allowed"),
        ("acme", "url-scheme-missing"),
    ] {
        let answer = http.patch(&api, &json!({ "home_url": url, "not_found_url": null })).await;
        let problem = answer.expect(422).json();
        let error = &problem["errors"][0];
        assert_eq!((&error["field"], &error["code"]), (&json!("home_url"), &json!(code)), "{url}");
    }
    expect(&at_host, "/", 302, Some("https://acme.example/")).await;
    // A page of the main host.
    expect(&at_host, "/login", 302, Some("https://acme.example/what")).await;
    http.patch(&api, &json!({ "home_url": null })).await.expect(200);
    expect(&at_host, "/", 404, None).await;
    expect(&at_host, "/no/code", 302, Some("https://acme.example/what")).await;
    http.patch(&format!("{hosts}/other.example.com"), &json!({}))
        .await
        .expect_problem(404, "host-not-found");
    http.patch("/api/v1/workspaces/other/hosts/go.example.com", &json!({})).await.expect(404);
    let kurz = kurz.restart().await;
    let at_host = kurz.http().with(HOST, "go.example.com");
    expect(&at_host, "/nothing", 302, Some("https://acme.example/404?%C3%BC")).await;
    kurz.stop().await;
}

#[tokio::test]
async fn the_main_host_has_settings_for_the_same_and_keeps_its_pages() {
    let settings = [
        ("KURZ_HOME_URL", "https://acme.example/"),
        ("KURZ_NOT_FOUND_URL", "https://acme.example/404"),
        ("KURZ_INVALID_CODE_URL", "https://acme.example/what"),
    ];
    let kurz = TestServer::builder().settings(&settings).start().await;
    let http = kurz.http();
    links::make(
        &http,
        "team",
        &json!({ "original_url": "https://example.com/", "custom_code": "promo" }),
    )
    .await;
    expect(&http, "/", 302, Some("https://acme.example/")).await;
    expect(&http, "/nothing", 302, Some("https://acme.example/404")).await;
    expect(&http, "/a/b/c", 302, Some("https://acme.example/what")).await;
    expect(&http, "/promo", 302, Some("https://example.com/")).await;
    expect(&http, "/app/w/team", 200, None).await;
    expect(&http, "/app/nothing", 404, None).await;
    expect(&http, "/api/v1/nothing", 404, None).await;
    // Hosts of workspaces have their own.
    http.post("/api/v1/workspaces/team/hosts", &json!({ "host": "go.example.com" }))
        .await
        .expect(201);
    let at_host = http.with(HOST, "go.example.com");
    expect(&at_host, "/nothing", 404, None).await;
    expect(&at_host, "/", 404, None).await;
    kurz.stop().await;
}

#[tokio::test]
async fn who_asks_for_too_much_that_is_not_there_is_told_so_instead() {
    let settings = [("KURZ_NOT_FOUND_URL", "https://acme.example/404"), ("KURZ_LIMIT_MISSES", "3")];
    let kurz = TestServer::builder().limits().settings(&settings).start().await;
    let http = kurz.http();
    let mut statuses = Vec::new();
    for number in 0..6 {
        statuses.push(http.get(&format!("/nothing-{number}")).await.status);
    }
    assert_eq!((statuses.first(), statuses.last()), (Some(&302), Some(&429)), "{statuses:?}");
    kurz.stop().await;
}

//! The twelve cases of the deterministic algorithm, over HTTP, on both databases.

use std::collections::BTreeSet;

use kurz_test_support::http::{Answer, Http};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    tc_01_a_url_gets_the_code_of_the_vectors,
    tc_02_five_spellings_are_one_link,
    tc_03_three_orders_of_a_query_are_one_link,
    tc_04_workspaces_do_not_share_codes,
    tc_05_a_fragment_makes_no_difference,
    tc_06_a_hundred_calls_give_one_link,
    tc_07_a_forced_collision_gives_the_code_of_the_next_attempt,
    tc_08_invalid_urls_are_refused_and_nothing_is_stored,
    tc_09_a_url_of_more_than_2000_characters_is_kept_whole,
    tc_10_special_characters_come_back_as_they_were_sent,
    tc_11_a_hundred_requests_at_once_make_one_link,
    tc_12_after_ten_attempts_nothing_is_stored,
);

/// The vectors under one key.
fn vectors(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../../vectors/vectors.json")).unwrap();
    all[key].as_array().unwrap().clone()
}

async fn create(http: &Http, workspace: &str, url: &str) -> Answer {
    http.post(&links::path(workspace), &json!({ "original_url": url })).await
}

async fn occupy(http: &Http, workspace: &str, code: &str) {
    let body = json!({ "original_url": "https://squatter.example/", "custom_code": code });
    links::make(http, workspace, &body).await;
}

/// Send each URL; the first makes the link, the others get it, and there is one row.
async fn expect_one_link(http: &Http, workspace: &str, urls: &[&str]) {
    let first = create(http, workspace, urls[0]).await.expect(201).json();
    assert_eq!(first["original_url"], urls[0]);
    for url in &urls[1..] {
        let again = create(http, workspace, url).await.expect(200).json();
        assert_eq!(again, first, "{url}");
    }
    assert_eq!(links::all(http, workspace).await, [first]);
}

async fn tc_01_a_url_gets_the_code_of_the_vectors(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let http = served.http();
    for vector in vectors("deterministic") {
        if vector["salt"] != 0 {
            continue;
        }
        let (workspace, url) =
            (vector["workspace"].as_str().unwrap(), vector["url"].as_str().unwrap());
        let answer = create(&http, workspace, url).await;
        assert!([200, 201].contains(&answer.status), "{vector}: {}", answer.text());
        let link = answer.json();
        assert_eq!(link["short_code"], vector["code"], "{vector}");
        assert_eq!(link["normalized_url"], vector["canonical"], "{vector}");
        assert_eq!(link["strategy"], "deterministic");
        let short = link["short_url"].as_str().unwrap();
        let path = short.strip_prefix(served.base_url()).unwrap();
        let followed = http.get(path).await.expect(302);
        assert!(followed.header("location").is_some(), "{vector}");
    }
}

async fn tc_02_five_spellings_are_one_link(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let spellings = [
        "HTTP://Example.com:80/api/users/?id=1",
        "http://example.com/api/users?id=1",
        "http://EXAMPLE.COM//api///users?id=1",
        "http://example.com/api/./x/../users?id=1",
        "  http://example.com/%61pi/users?id=1#top ",
    ];
    expect_one_link(&served.http(), "team", &spellings).await;
}

async fn tc_03_three_orders_of_a_query_are_one_link(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let orders = [
        "https://example.com/?a=1&b=2&c=3",
        "https://example.com/?c=3&a=1&b=2",
        "https://example.com/?b=2&c=3&a=1",
    ];
    expect_one_link(&served.http(), "team", &orders).await;
    let other = create(&served.http(), "team", "https://example.com/?A=1&b=2&c=3").await;
    other.expect(201);
}

async fn tc_04_workspaces_do_not_share_codes(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let http = served.http();
    let mut codes = BTreeSet::new();
    for workspace in ["ws_001", "ws_002", "WS_001"] {
        let link = create(&http, workspace, "https://example.com/page").await.expect(201).json();
        assert_eq!(link["workspace"], workspace);
        codes.insert(link["short_code"].as_str().unwrap().to_owned());
        assert_eq!(links::all(&http, workspace).await, [link]);
    }
    assert_eq!(codes.len(), 3);
}

async fn tc_05_a_fragment_makes_no_difference(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let urls = ["https://example.com/a#one", "https://example.com/a#two", "https://example.com/a"];
    expect_one_link(&served.http(), "team", &urls).await;
}

async fn tc_06_a_hundred_calls_give_one_link(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    expect_one_link(&served.http(), "team", &["https://example.com/again"; 100]).await;
}

async fn tc_07_a_forced_collision_gives_the_code_of_the_next_attempt(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let http = served.http();
    for (taken, chain) in (1..).zip(vectors("salt_chain")) {
        let (workspace, url) =
            (chain["workspace"].as_str().unwrap(), chain["url"].as_str().unwrap());
        let codes: Vec<&str> =
            chain["codes"].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
        // One more in each chain: the second attempt, the third, …
        for code in &codes[..taken] {
            occupy(&http, workspace, code).await;
        }
        let link = create(&http, workspace, url).await.expect(201).json();
        assert_eq!(link["short_code"], codes[taken], "{chain}");
        assert_eq!(create(&http, workspace, url).await.expect(200).json(), link);
        // The link stays what it is when an earlier code could be had again.
        let path = format!("/api/v1/workspaces/{workspace}/links/{}", codes[0]);
        http.delete(&path).await.expect(200);
        assert_eq!(create(&http, workspace, url).await.expect(200).json(), link);
    }
    let metrics = served.admin().get("/metrics").await.expect(200).text();
    let counted = "kurz_code_collisions_total{strategy=\"deterministic\"} ";
    let chains = vectors("salt_chain").len();
    let collisions = (1..=chains).sum::<usize>();
    assert!(metrics.contains(&format!("{counted}{collisions}\n")), "{metrics}");
}

async fn tc_08_invalid_urls_are_refused_and_nothing_is_stored(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let http = served.http();
    for vector in vectors("rejected") {
        let body = json!({ "original_url": vector["input"] });
        let answer = http.post("/api/v1/workspaces/team/links", &body).await;
        assert!((400..500).contains(&answer.status), "{vector}: {}", answer.text());
        let (status, code) = (answer.status, answer.json()["code"].as_str().unwrap().to_owned());
        let problem = answer.expect_problem(status, &code);
        if vector["input"].is_string() {
            assert_eq!(status, 422, "{vector}");
            assert!(code.starts_with("url-"), "{vector}: {code}");
            assert_eq!(problem["errors"][0]["field"], "original_url", "{problem}");
        }
    }
    assert!(links::all(&http, "team").await.is_empty());
    http.get("/api/v1/workspaces/team").await.expect_problem(404, "workspace-not-found");
    assert_eq!(http.get("/api/v1/stats").await.json()["total_links"], 0);
}

async fn tc_09_a_url_of_more_than_2000_characters_is_kept_whole(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let http = served.http();
    let head = "https://example.com/long?q=";
    for length in [2_000, 2_001, 4_096, 8_192] {
        let url = format!("{head}{}", "x".repeat(length - head.len()));
        let link = create(&http, "team", &url).await.expect(201).json();
        assert_eq!(link["short_code"].as_str().unwrap().len(), 10);
        assert_eq!(link["original_url"], url);
        assert_eq!(create(&http, "team", &url).await.expect(200).json(), link);
        let path = format!("/w/team/{}", link["short_code"].as_str().unwrap());
        assert_eq!(http.get(&path).await.expect(302).header("location"), Some(url.as_str()));
    }
    let url = format!("{head}{}", "x".repeat(8_193 - head.len()));
    create(&http, "team", &url).await.expect_problem(422, "url-too-long");
    assert_eq!(links::all(&http, "team").await.len(), 4);
}

async fn tc_10_special_characters_come_back_as_they_were_sent(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let http = served.http();
    let table = [
        (
            "https://example.com/search?q=a+b%20c&r=%2B",
            "https://example.com/search?q=a+b%20c&r=%2B",
        ),
        ("https://example.com/a%2fb", "https://example.com/a%2fb"),
        ("https://example.com/~user/(x);y='z'!*", "https://example.com/~user/(x);y='z'!*"),
        ("https://example.com/日本?q=ü", "https://example.com/%E6%97%A5%E6%9C%AC?q=%C3%BC"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://example.com/emoji/😀", "https://example.com/emoji/%F0%9F%98%80"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        (
            "https://example.com/?next=https://x.example/?a=1",
            "https://example.com/?next=https://x.example/?a=1",
        ),
        ("https://example.com/[x]|{y}\"<z>", "https://example.com/[x]|{y}\"<z>"),
    ];
    for (url, location) in table {
        let link = create(&http, "team", url).await.expect(201).json();
        assert_eq!(link["original_url"], url);
        let path = format!("/w/team/{}", link["short_code"].as_str().unwrap());
        assert_eq!(http.get(&path).await.expect(302).header("location"), Some(location), "{url}");
        assert_eq!(create(&http, "team", url).await.expect(200).json(), link, "{url}");
    }
    assert_eq!(links::all(&http, "team").await.len(), table.len());
}

async fn tc_11_a_hundred_requests_at_once_make_one_link(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let http = served.http();
    // Once in a workspace that is made in the same moment, once in one that is there.
    for url in ["https://example.com/first", "https://example.com/second"] {
        let calls = (0..100).map(|_| create(&http, "team", url));
        let answers = futures_util::future::join_all(calls).await;
        let made = answers.iter().filter(|answer| answer.status == 201).count();
        let found = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!((made, found), (1, 99), "{url}");
        let ids: BTreeSet<i64> =
            answers.iter().map(|answer| answer.json()["id"].as_i64().unwrap()).collect();
        assert_eq!(ids.len(), 1, "{url}");
    }
    assert_eq!(links::all(&http, "team").await.len(), 2);
}

async fn tc_12_after_ten_attempts_nothing_is_stored(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let http = served.http();
    let chain = &vectors("salt_chain")[0];
    let (workspace, url) = (chain["workspace"].as_str().unwrap(), chain["url"].as_str().unwrap());
    let codes = chain["codes"].as_array().unwrap();
    for code in &codes[..10] {
        occupy(&http, workspace, code.as_str().unwrap()).await;
    }
    let problem = create(&http, workspace, url).await.expect_problem(500, "no-free-code");
    assert_eq!(problem["detail"], "Failed to generate unique short code after 10 attempts");
    let stored = links::all(&http, workspace).await;
    assert_eq!(stored.len(), 10);
    assert!(stored.iter().all(|link| link["strategy"] == "custom"));
    // In a batch the others are stored all the same.
    let body = json!({ "links": [
        { "original_url": url },
        { "original_url": "https://example.com/other" },
    ]});
    let path = format!("/api/v1/workspaces/{workspace}/links/bulk");
    let results = http.post(&path, &body).await.expect(200).json()["results"].clone();
    assert_eq!(results[0]["problem"]["detail"], problem["detail"]);
    assert_eq!((&results[0]["status"], &results[1]["status"]), (&json!(500), &json!(201)));
}

//! `POST …/links/bulk`: order, twins within a batch, all or none.

use kurz_test_support::http::Http;
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    a_thousand_links_are_made_in_order_and_found_the_second_time,
    twins_in_a_batch_are_what_they_would_be_one_after_the_other,
    each_link_has_its_own_result,
    all_or_none_stores_nothing_when_one_is_refused,
    all_or_none_names_the_link_that_was_refused,
    all_or_none_takes_links_that_exist_as_they_are,
    a_batch_has_bounds,
    batches_that_meet_make_each_link_once,
);

async fn bulk(http: &Http, workspace: &str, links: &[Value], atomic: bool) -> Vec<Value> {
    let path = format!("{}/bulk", links::path(workspace));
    let answer = http.post(&path, &json!({ "links": links, "atomic": atomic })).await.expect(200);
    answer.json()["results"].as_array().unwrap().clone()
}

fn statuses(results: &[Value]) -> Vec<i64> {
    results.iter().map(|result| result["status"].as_i64().unwrap()).collect()
}

async fn a_thousand_links_are_made_in_order_and_found_the_second_time(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let url = |n: usize| format!("https://example.com/{n}");
    let batch: Vec<Value> =
        (0..1000).map(|n| json!({ "original_url": url(n), "tags": ["batch"] })).collect();
    for (atomic, status) in [(false, 201), (true, 200)] {
        let results = bulk(&http, "team", &batch, atomic).await;
        assert_eq!(results.len(), 1000);
        for (n, result) in results.iter().enumerate() {
            assert_eq!(result["status"], status, "{n}: {result}");
            assert_eq!(result["link"]["original_url"], url(n));
        }
    }
    assert_eq!(links::all(&http, "team").await.len(), 1000);
    let tagged = http.get(&format!("{}?tag=batch&limit=1000", links::path("team"))).await.json();
    assert_eq!(tagged["links"].as_array().unwrap().len(), 1000);
    kurz.stop().await;
}

async fn twins_in_a_batch_are_what_they_would_be_one_after_the_other(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let first =
        links::make(&http, "probe", &json!({ "original_url": "https://example.com/d" })).await;
    assert_eq!(first["strategy"], "deterministic");
    // The code that `https://example.com/c` is going to get in each workspace.
    let code_of = |workspace: &str| {
        let canonical = kurz_core::code::canonicalise("https://example.com/c").unwrap();
        let workspace = kurz_core::code::WorkspaceId::parse(workspace).unwrap();
        kurz_core::code::deterministic::code(&canonical, &workspace, 0).to_string()
    };
    let batch = |workspace: &str| {
        vec![
            json!({ "original_url": "https://example.com/a" }),
            json!({ "original_url": "https://EXAMPLE.com/a#x" }),
            json!({ "original_url": "https://example.com/a", "custom_code": "promo" }),
            json!({ "original_url": "https://example.com/a", "custom_code": "promo" }),
            json!({ "original_url": "https://example.com/a#part", "custom_code": "promo" }),
            json!({ "original_url": "https://example.com/b", "custom_code": "promo" }),
            json!({ "original_url": "https://example.com/c" }),
            json!({ "original_url": "https://example.com/c", "custom_code": code_of(workspace) }),
            json!({ "original_url": "https://example.com/b", "custom_code": code_of(workspace) }),
            json!({ "original_url": "https://example.com/r", "strategy": "random" }),
            json!({ "original_url": "https://example.com/r", "strategy": "random" }),
        ]
    };
    let expected = [201, 200, 201, 200, 409, 409, 201, 200, 409, 201, 201];
    let together = bulk(&http, "together", &batch("together"), false).await;
    assert_eq!(statuses(&together), expected, "{together:#?}");
    assert_eq!(together[0]["link"], together[1]["link"]);
    assert_eq!(together[6]["link"]["id"], together[7]["link"]["id"]);
    let mut apart = Vec::new();
    for link in batch("apart") {
        apart.push(i64::from(http.post(&links::path("apart"), &link).await.status));
    }
    assert_eq!(apart, expected);
    kurz.stop().await;
}

async fn each_link_has_its_own_result(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let taken = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&http, "team", &taken).await;
    let batch = [
        json!({ "original_url": "https://example.com/1" }),
        json!({ "original_url": "nonsense" }),
        json!({ "original_url": "https://example.com/2", "custom_code": "promo" }),
        json!({ "original_url": "https://example.com/", "custom_code": "promo" }),
        json!({ "original_url": "https://example.com/3", "custom_code": "api" }),
        json!({ "original_url": "https://example.com/4", "tags": ["x"] }),
    ];
    let results = bulk(&http, "team", &batch, false).await;
    assert_eq!(statuses(&results), [201, 422, 409, 200, 422, 201]);
    for (result, code) in [(1, "url-scheme-missing"), (2, "code-taken"), (4, "code-reserved")] {
        assert_eq!(results[result]["problem"]["code"], code);
        assert_eq!(results[result].get("link"), None);
    }
    assert_eq!(results[5].get("problem"), None);
    assert_eq!(links::all(&http, "team").await.len(), 3);
    kurz.stop().await;
}

async fn all_or_none_stores_nothing_when_one_is_refused(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let taken = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    let one = links::make(&http, "team", &taken).await;
    let good = |n: u8| json!({ "original_url": format!("https://example.com/{n}"), "tags": ["t"] });
    let bad = [
        json!({ "original_url": "https://other.example/", "custom_code": "promo" }),
        json!({ "original_url": "ftp://example.com/" }),
        json!({ "original_url": "https://example.com/", "custom_code": "api" }),
    ];
    for bad in bad {
        for batch in [
            vec![bad.clone(), good(1), good(2)],
            vec![good(1), bad.clone(), good(2)],
            vec![good(1), good(2), bad.clone()],
        ] {
            let path = format!("{}/bulk", links::path("team"));
            let body = json!({ "links": batch, "atomic": true });
            http.post(&path, &body).await.expect_problem(422, "bulk-refused");
            let path = format!("{}/bulk", links::path("fresh"));
            if bad["custom_code"] != "promo" {
                http.post(&path, &body).await.expect_problem(422, "bulk-refused");
            }
        }
    }
    assert_eq!(links::all(&http, "team").await, [one]);
    http.get("/api/v1/workspaces/fresh").await.expect(404);
    let tagged = http.get(&format!("{}?tag=t", links::path("team"))).await.json();
    assert_eq!(tagged["links"], json!([]));
    kurz.stop().await;
}

async fn all_or_none_names_the_link_that_was_refused(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let taken = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&http, "team", &taken).await;
    let batch = json!({ "atomic": true, "links": [
        { "original_url": "https://example.com/1" },
        { "original_url": "https://example.com/2" },
        { "original_url": "https://example.com/3", "custom_code": "promo" },
    ]});
    let path = format!("{}/bulk", links::path("team"));
    let problem = http.post(&path, &batch).await.expect_problem(422, "bulk-refused");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("link 2 (from 0)"), "{detail}");
    assert!(detail.contains("The code is taken by another link"), "{detail}");
    let batch = json!({ "atomic": true, "links": [
        { "original_url": "https://example.com/1" },
        { "original_url": "ftp://example.com/" },
    ]});
    let problem = http.post(&path, &batch).await.expect_problem(422, "bulk-refused");
    assert!(problem["detail"].as_str().unwrap().contains("link 1 (from 0)"), "{problem}");
    assert_eq!(problem["errors"][0]["code"], "url-scheme-not-allowed");
    kurz.stop().await;
}

async fn all_or_none_takes_links_that_exist_as_they_are(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let there =
        links::make(&http, "team", &json!({ "original_url": "https://example.com/1" })).await;
    let dead =
        links::make(&http, "team", &json!({ "original_url": "https://example.com/2" })).await;
    http.delete(&links::path_of(&dead)).await.expect(200);
    let batch = [1, 2, 3, 3].map(|n| json!({ "original_url": format!("https://example.com/{n}") }));
    let results = bulk(&http, "team", &batch, true).await;
    assert_eq!(statuses(&results), [200, 201, 201, 200]);
    assert_eq!(results[0]["link"], there);
    assert_eq!(results[1]["link"]["short_code"], dead["short_code"]);
    assert_eq!(links::all(&http, "team").await.len(), 3);
    kurz.stop().await;
}

async fn a_batch_has_bounds(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let path = format!("{}/bulk", links::path("fresh"));
    let link = json!({ "original_url": "https://example.com/" });
    let none: [Value; 0] = [];
    http.post(&path, &json!({ "links": none })).await.expect_problem(422, "bulk-empty");
    let many = vec![link.clone(); 1001];
    http.post(&path, &json!({ "links": many })).await.expect_problem(413, "bulk-too-large");
    let mut large = link.clone();
    large["title"] = json!("x".repeat(1 << 20));
    let large = json!({ "links": [large] });
    http.post(&path, &large).await.expect_problem(413, "body-too-large");
    for body in [
        json!({}),
        json!({ "links": [{ "original_url": "https://example.com/", "extra": 1 }] }),
        json!({ "links": [], "all": true }),
        json!({ "links": [link], "atomic": "yes" }),
    ] {
        http.post(&path, &body).await.expect_problem(422, "body-invalid");
    }
    http.get("/api/v1/workspaces/fresh").await.expect(404);
    kurz.stop().await;
}

async fn batches_that_meet_make_each_link_once(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    // The same links in different orders: whoever locks in its own order would meet in a deadlock.
    let batch = |turn: usize| -> Vec<Value> {
        let mut links: Vec<Value> = (0..60)
            .map(|n| match n % 3 {
                0 => json!({
                    "original_url": format!("https://example.com/{n}"),
                    "custom_code": format!("code{n}"),
                }),
                _ => json!({ "original_url": format!("https://example.com/{n}") }),
            })
            .collect();
        links.rotate_left(turn * 7);
        links
    };
    let calls = (0..8).map(|turn| {
        let (http, batch) = (http.clone(), batch(turn));
        async move { bulk(&http, "team", &batch, turn % 2 == 0).await }
    });
    let results = futures_util::future::join_all(calls).await.concat();
    let made = results.iter().filter(|result| result["status"] == 201).count();
    let found = results.iter().filter(|result| result["status"] == 200).count();
    assert_eq!((made, found), (60, 7 * 60));
    assert_eq!(links::all(&http, "team").await.len(), 60);
    kurz.stop().await;
}

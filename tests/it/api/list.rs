//! `GET …/links`: pages, sorts, filters, search.

use std::collections::BTreeSet;
use std::time::Duration;

use kurz_test_support::http::Http;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    pages_show_each_link_once_in_every_order,
    pages_go_on_while_links_come_and_go,
    filters_narrow_the_list,
    search_finds_text_to_the_letter,
    a_bad_question_is_refused,
);

/// All pages of `query`, `limit` links each.
async fn pages(http: &Http, query: &str, limit: usize) -> Vec<Value> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("{}?limit={limit}&{query}{cursor}", links::path("team"));
        let page = http.get(&path).await.expect(200).json();
        let links = page["links"].as_array().unwrap();
        assert!(links.len() <= limit);
        all.extend(links.iter().cloned());
        let Some(next) = page["next_cursor"].as_str() else { return all };
        assert_eq!(links.len(), limit, "a page before the last is full");
        cursor = format!("&cursor={next}");
    }
}

async fn codes(http: &Http, query: &str) -> BTreeSet<String> {
    pages(http, query, 1000).await.iter().map(|link| links::code(link).to_owned()).collect()
}

fn set(codes: &[&str]) -> BTreeSet<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}

async fn make(http: &Http, code: &str, mut body: Value) -> Value {
    body["custom_code"] = json!(code);
    if body.get("original_url").is_none() {
        body["original_url"] = json!("https://example.com/");
    }
    links::make(http, "team", &body).await
}

async fn pages_show_each_link_once_in_every_order(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let mut made = Vec::new();
    for n in 0..23 {
        // Several of each instant, and letters whose order depends on who compares.
        kurz.clock.set(NOON.plus(Duration::from_secs(n / 4)));
        let code = format!(
            "{}{}",
            ["a", "B", "_", "-", "Z", "z"][usize::try_from(n % 6).unwrap()],
            40 - n
        );
        let link = make(&http, &format!("c{code}"), json!({})).await;
        for _ in 0..n % 3 {
            http.get(&links::short_path(&link)).await.expect(302);
        }
        made.push(link);
    }
    for link in made.iter().step_by(5) {
        kurz.clock.advance(Duration::from_secs(1));
        http.patch(&links::path_of(link), &json!({ "title": "edited" })).await.expect(200);
    }
    // Written before it is looked at.
    let kurz = kurz.restart().await;
    let http = kurz.http();
    let all = codes(&http, "").await;
    assert_eq!(all.len(), 23);
    for key in ["created_at", "updated_at", "redirect_count", "short_code"] {
        let mut forward = Vec::new();
        for sort in [key.to_owned(), format!("-{key}")] {
            for limit in [1, 4, 23, 24] {
                let links = pages(&http, &format!("sort={sort}"), limit).await;
                let seen: Vec<&str> = links.iter().map(links::code).collect();
                assert_eq!(seen.len(), 23, "{sort} by {limit}");
                assert_eq!(
                    seen.iter().map(|code| (*code).to_owned()).collect::<BTreeSet<_>>(),
                    all
                );
                let rank = |link: &Value| match key {
                    "redirect_count" => (link[key].as_i64().unwrap(), String::new()),
                    _ => (0, link[key].as_str().unwrap().to_owned()),
                };
                let ranks: Vec<_> = links.iter().map(rank).collect();
                let sorted = if sort.starts_with('-') {
                    ranks.is_sorted_by(|a, b| a >= b)
                } else {
                    ranks.is_sorted()
                };
                assert!(sorted, "{sort} by {limit}: {ranks:?}");
                if limit == 24 {
                    forward.push(links);
                }
            }
        }
        forward[1].reverse();
        assert_eq!(forward[0], forward[1], "{key}: the two directions mirror each other");
    }
    let newest_first = pages(&http, "sort=-created_at", 50).await;
    assert_eq!(pages(&http, "", 50).await, newest_first, "the order when nothing is said");
    kurz.stop().await;
}

async fn pages_go_on_while_links_come_and_go(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for n in 0..6 {
        make(&http, &format!("code{n}"), json!({})).await;
    }
    let path = format!("{}?limit=2&sort=short_code", links::path("team"));
    let first = http.get(&path).await.expect(200).json();
    let cursor = first["next_cursor"].as_str().unwrap();
    http.delete(&format!("{}/code1", links::path("team"))).await.expect(200);
    http.delete(&format!("{}/code2", links::path("team"))).await.expect(200);
    make(&http, "code0a", json!({})).await;
    let second = http.get(&format!("{path}&cursor={cursor}")).await.expect(200).json();
    let seen: Vec<&str> = second["links"].as_array().unwrap().iter().map(links::code).collect();
    assert_eq!(seen, ["code3", "code4"]);
    kurz.stop().await;
}

async fn filters_narrow_the_list(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let soon = NOON.plus(Duration::from_secs(1)).to_rfc3339();
    make(&http, "live", json!({ "tags": ["red", "Big"] })).await;
    make(&http, "later", json!({ "tags": ["red"], "expires_at": "2026-12-31T00:00:00Z" })).await;
    make(&http, "gone", json!({ "tags": ["red"], "expires_at": soon })).await;
    let deleted = make(&http, "deleted", json!({ "tags": ["red"] })).await;
    let retagged = make(&http, "retagged", json!({ "tags": ["red"] })).await;
    http.delete(&links::path_of(&deleted)).await.expect(200);
    http.patch(&links::path_of(&retagged), &json!({ "tags": ["blue"] })).await.expect(200);
    let made =
        links::make(&http, "team", &json!({ "original_url": "https://example.com/det" })).await;
    let det = links::code(&made).to_owned();
    links::make(&http, "other", &json!({ "original_url": "https://x.example/", "tags": ["red"] }))
        .await;
    kurz.clock.advance(Duration::from_secs(1));

    let table: [(&str, &[&str]); 13] = [
        ("", &["live", "later", "gone", "retagged", &det]),
        ("status=ACTIVE", &["live", "later", "retagged", &det]),
        ("status=EXPIRED", &["gone"]),
        ("status=DELETED", &["deleted"]),
        ("strategy=deterministic", &[&det]),
        ("strategy=custom&status=ACTIVE", &["live", "later", "retagged"]),
        ("strategy=random", &[]),
        ("tag=red", &["live", "later", "gone"]),
        ("tag=red&status=ACTIVE", &["live", "later"]),
        ("tag=red&status=DELETED", &["deleted"]),
        ("tag=blue", &["retagged"]),
        ("tag=Red", &[]),
        ("tag=red&q=LAT&sort=short_code", &["later"]),
    ];
    for (query, expected) in table {
        assert_eq!(codes(&http, query).await, set(expected), "{query}");
    }
    // Restored links are found under their tags again.
    http.post(&format!("{}/restore", links::path_of(&deleted)), &json!({})).await.expect(200);
    assert_eq!(codes(&http, "tag=red").await, set(&["live", "later", "gone", "deleted"]));
    http.get("/api/v1/workspaces/nobody/links").await.expect_problem(404, "workspace-not-found");
    kurz.stop().await;
}

async fn search_finds_text_to_the_letter(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    make(&http, "percent", json!({ "title": "100% sure" })).await;
    make(&http, "plain", json!({ "title": "100 sure" })).await;
    make(&http, "under_score", json!({})).await;
    make(&http, "underXscore", json!({})).await;
    make(&http, "backslash", json!({ "title": "a\\b" })).await;
    make(&http, "Capital", json!({ "title": "Grün ÄÖ" })).await;
    make(&http, "target", json!({ "original_url": "https://Find.example/Me?x=%41" })).await;
    let table: [(&str, &[&str]); 15] = [
        ("%25", &["percent", "target"]),
        ("0%25+S", &["percent"]),
        ("100", &["percent", "plain"]),
        ("r_s", &["under_score"]),
        ("_", &["under_score"]),
        ("%5C", &["backslash"]),
        ("%5C%25", &[]),
        ("a%5Cb", &["backslash"]),
        ("CAPITAL", &["Capital"]),
        ("capital", &["Capital"]),
        ("gr%C3%BCn", &["Capital"]),
        ("find.EXAMPLE%2Fme", &["target"]),
        ("%C3%84", &["Capital"]),
        ("%27", &[]),
        ("nothing+at+all", &[]),
    ];
    for (q, expected) in table {
        assert_eq!(codes(&http, &format!("q={q}")).await, set(expected), "{q}");
    }
    assert_eq!(codes(&http, "q=").await.len(), 7);
    // Beyond A to Z the case counts, on both databases alike.
    assert_eq!(codes(&http, "q=%C3%A4").await, set(&[]));
    kurz.stop().await;
}

async fn a_bad_question_is_refused(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for n in 0..3 {
        make(&http, &format!("code{n}"), json!({})).await;
    }
    let page = http.get(&format!("{}?limit=1", links::path("team"))).await.json();
    let cursor = page["next_cursor"].as_str().unwrap();
    let long = "x".repeat(201);
    let table = [
        ("limit=0".to_owned(), "limit-invalid"),
        ("limit=1001".to_owned(), "limit-invalid"),
        ("limit=-1".to_owned(), "limit-invalid"),
        ("limit=ten".to_owned(), "query-invalid"),
        ("limit=1&limit=2".to_owned(), "query-invalid"),
        ("page=2".to_owned(), "query-invalid"),
        ("sort=title".to_owned(), "sort-invalid"),
        ("sort=--created_at".to_owned(), "sort-invalid"),
        ("status=active".to_owned(), "status-invalid"),
        ("strategy=best".to_owned(), "strategy-invalid"),
        (format!("q={long}"), "search-invalid"),
        ("q=%00".to_owned(), "search-invalid"),
        ("tag=a%00".to_owned(), "search-invalid"),
        ("cursor=nonsense".to_owned(), "cursor-invalid"),
        ("cursor=".to_owned(), "cursor-invalid"),
        (format!("cursor={cursor}&sort=created_at"), "cursor-invalid"),
    ];
    for (query, code) in table {
        let answer = http.get(&format!("{}?{query}", links::path("team"))).await;
        assert_eq!(answer.status, 422, "{query}: {}", answer.text());
        answer.expect_problem(422, code);
    }
    kurz.stop().await;
}

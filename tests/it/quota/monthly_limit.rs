//! The monthly hit limit: exact for any number of clients, per UTC month, across restarts.

use std::time::Duration;

use futures_util::future::join_all;
use kurz_core::time::Timestamp;
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    exactly_the_limit_is_served_to_64_clients,
    a_new_month_starts_anew_and_retry_after_says_when,
    used_hits_survive_a_restart,
    head_uses_no_hit,
    a_link_and_a_workspace_and_the_server_each_have_a_limit,
    a_limit_can_be_raised_and_lowered_under_way,
    a_limit_holds_though_memory_forgets_the_link,
);

async fn limited(http: &Http, limit: i64) -> Value {
    let body = json!({ "original_url": "https://example.com/", "hit_limit": limit });
    links::make(http, "main", &body).await
}

/// Each of 64 clients follows the link `times`; how many were served, and how many refused.
async fn visit_all(http: &Http, paths: &[String], times: usize) -> (usize, usize) {
    let clients = (0..64).map(|n| {
        let (http, path) = (http.clone(), paths[n % paths.len()].clone());
        async move {
            let mut statuses = Vec::new();
            for _ in 0..times {
                statuses.push(http.get(&path).await.status);
            }
            statuses
        }
    });
    let statuses: Vec<u16> = join_all(clients).await.into_iter().flatten().collect();
    let count = |status| statuses.iter().filter(|one| **one == status).count();
    assert_eq!(count(302) + count(429), 64 * times, "{statuses:?}");
    (count(302), count(429))
}

// threats: E1
async fn exactly_the_limit_is_served_to_64_clients(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for limit in [1, 2, 50] {
        let link = limited(&http, limit).await;
        // Through both of its addresses: they share one limit.
        let always = format!("/w/main/{}", links::code(&link));
        let paths = [links::short_path(&link), always];
        let served = usize::try_from(limit).unwrap();
        assert_eq!(visit_all(&http, &paths, 2).await, (served, 128 - served), "limit {limit}");
        assert_eq!(visit_all(&http, &paths, 1).await, (0, 64), "limit {limit}");
        let counted = links::counted(&http, &link, limit).await;
        assert_eq!(counted["hits_this_month"], limit);
    }
    kurz.stop().await;
}

// threats: E3
async fn a_new_month_starts_anew_and_retry_after_says_when(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let link = limited(&http, 2).await;
    let path = links::short_path(&link);
    let months = [
        ("2026-03-15T12:00:00Z", (31 - 15) * 86_400 + 43_200),
        ("2026-04-01T00:00:00Z", 30 * 86_400),
        ("2026-12-31T23:59:59.999Z", 1),
        ("2027-01-01T00:00:00Z", 31 * 86_400),
        ("2028-02-29T23:00:00Z", 3_600),
    ];
    for (now, seconds) in months {
        kurz.clock.set(Timestamp::parse_rfc3339(now).unwrap());
        assert_eq!(links::show(&http, &link).await["hits_this_month"], 0, "{now}");
        http.get(&path).await.expect(302);
        http.get(&path).await.expect(302);
        for answer in [http.get(&path).await, http.head(&path).await] {
            let answer = answer.expect(429);
            assert_eq!(answer.header("retry-after"), Some(seconds.to_string().as_str()), "{now}");
        }
    }
    let counted = links::counted(&http, &link, 10).await;
    assert_eq!(counted["hits_this_month"], 2);
    kurz.stop().await;
}

// threats: E9
async fn used_hits_survive_a_restart(kind: Kind) {
    let mut kurz = TestServer::builder().database(kind).start().await;
    let link = limited(&kurz.http(), 5).await;
    let path = links::short_path(&link);
    for used in 1..=5 {
        kurz.http().get(&path).await.expect(302);
        kurz = kurz.restart().await;
        let shown = links::show(&kurz.http(), &link).await;
        assert_eq!(
            (&shown["redirect_count"], &shown["hits_this_month"]),
            (&json!(used), &json!(used))
        );
    }
    kurz.http().get(&path).await.expect(429);
    kurz.clock.advance(Duration::from_hours(20 * 24));
    kurz.http().get(&path).await.expect(302);
    kurz.stop().await;
}

// threats: B11
async fn head_uses_no_hit(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let link = limited(&http, 1).await;
    let path = links::short_path(&link);
    for _ in 0..5 {
        let head = http.head(&path).await.expect(302);
        assert_eq!(head.header("location"), Some("https://example.com/"));
        assert_eq!(head.header("cache-control"), Some("no-store"));
    }
    http.get(&path).await.expect(302);
    http.get(&path).await.expect(429);
    http.head(&path).await.expect(429);
    let kurz = kurz.restart().await;
    let shown = links::show(&kurz.http(), &link).await;
    assert_eq!((&shown["redirect_count"], &shown["hits_this_month"]), (&json!(1), &json!(1)));
    kurz.stop().await;
}

async fn a_link_and_a_workspace_and_the_server_each_have_a_limit(kind: Kind) {
    let kurz = TestServer::builder().database(kind).setting("KURZ_HIT_LIMIT", "3").start().await;
    let http = kurz.http();
    http.post("/api/v1/workspaces", &json!({ "id": "team", "hit_limit": 2 })).await.expect(201);
    let url = "https://example.com/";
    let plain = json!({ "original_url": url, "strategy": "random" });
    let own = json!({ "original_url": url, "strategy": "random", "hit_limit": 1 });
    let free = json!({ "original_url": url, "strategy": "random", "hit_limit": 0 });
    let table = [("main", &plain, 3), ("team", &plain, 2), ("team", &own, 1), ("team", &free, 0)];
    let mut made = Vec::new();
    for (workspace, body, limit) in table {
        let link = links::make(&http, workspace, body).await;
        assert_eq!(link["hit_limit"], limit);
        let path = links::short_path(&link);
        let served = if limit == 0 { 20 } else { limit };
        for _ in 0..served {
            http.get(&path).await.expect(302);
        }
        if limit > 0 {
            http.get(&path).await.expect(429);
        }
        made.push(path);
    }
    // The workspace's limit is raised: at once for the links without one of their own.
    http.patch("/api/v1/workspaces/team", &json!({ "hit_limit": 4 })).await.expect(200);
    http.get(&made[1]).await.expect(302);
    http.get(&made[1]).await.expect(302);
    http.get(&made[1]).await.expect(429);
    http.get(&made[2]).await.expect(429);
    // Taken away: what the server says.
    http.patch("/api/v1/workspaces/team", &json!({ "hit_limit": null })).await.expect(200);
    http.get(&made[1]).await.expect(429);
    kurz.stop().await;
}

async fn a_limit_can_be_raised_and_lowered_under_way(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let link = limited(&http, 1).await;
    let (path, api) = (links::short_path(&link), links::path_of(&link));
    http.get(&path).await.expect(302);
    http.get(&path).await.expect(429);
    for (limit, served) in [(3, 2), (2, 0), (4, 1)] {
        http.patch(&api, &json!({ "hit_limit": limit })).await.expect(200);
        for _ in 0..served {
            http.get(&path).await.expect(302);
        }
        http.get(&path).await.expect(429);
    }
    let shown = http.patch(&api, &json!({ "hit_limit": null })).await.expect(200).json();
    assert_eq!(shown["hit_limit"], 10_000);
    http.get(&path).await.expect(302);
    assert_eq!(kurz.clock.now(), NOON);
    let kurz = kurz.restart().await;
    assert_eq!(links::show(&kurz.http(), &link).await["hits_this_month"], 5);
    kurz.stop().await;
}

async fn a_limit_holds_though_memory_forgets_the_link(kind: Kind) {
    let kurz =
        TestServer::builder().database(kind).setting("KURZ_CACHE_BYTES", "1MiB").start().await;
    let http = kurz.http();
    let link = limited(&http, 5).await;
    // Each takes 8 KB: all of them do not fit.
    let large =
        |n: usize| json!({ "original_url": format!("https://example.com/{n}/{:08000}", 0) });
    let mut others = Vec::new();
    for half in [0..100, 100..200] {
        let batch: Vec<Value> = half.map(large).collect();
        let path = format!("{}/bulk", links::path("team"));
        let answer = http.post(&path, &json!({ "links": batch })).await.expect(200).json();
        let made = answer["results"].as_array().unwrap().iter();
        others.extend(made.map(|result| links::short_path(&result["link"])));
    }
    let mut served = 0;
    for _ in 0..10 {
        served += usize::from(http.get(&links::short_path(&link)).await.status == 302);
        for some in others.chunks(20) {
            for answer in join_all(some.iter().map(|path| http.get(path))).await {
                answer.expect(302);
            }
        }
    }
    assert_eq!(served, 5);
    let counted = links::counted(&http, &link, 5).await;
    assert_eq!(counted["hits_this_month"], 5);
    kurz.stop().await;
}

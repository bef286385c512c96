//! Counting: what a link and the whole platform know of the redirects that were served.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::json;

on_both_databases!(
    every_redirect_is_counted_on_its_link_and_on_the_platform,
    counts_are_written_while_the_server_runs_and_survive_a_crash,
    nobody_is_lost_when_the_server_is_asked_to_end,
);

async fn every_redirect_is_counted_on_its_link_and_on_the_platform(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let empty = http.get("/api/v1/stats").await.expect(200).json();
    assert_eq!(empty, json!({ "total_links": 0, "total_redirects": 0, "avg_redirect_ms": 0.0 }));

    let made = [3, 1, 0].map(|count| (format!("https://example.com/{count}"), count));
    let mut made_links = Vec::new();
    for (url, count) in made {
        let link = links::make(&http, "team", &json!({ "original_url": url })).await;
        assert_eq!(link["redirect_count"], 0);
        assert_eq!(link["avg_redirect_ms"], 0.0);
        assert_eq!(link["last_redirect_at"], json!(null));
        assert_eq!(link["hits_this_month"], 0);
        for n in 0..count {
            kurz.clock.set(NOON.plus(Duration::from_secs(n)));
            http.get(&links::short_path(&link)).await.expect(302);
        }
        made_links.push((link, count));
    }
    // What leads nowhere counts nowhere.
    http.get("/nothing").await.expect(404);

    let mut weighted = 0.0;
    for (link, count) in &made_links {
        let counted = links::counted(&http, link, i64::try_from(*count).unwrap()).await;
        let stats = http.get(&format!("{}/stats", links::path_of(link))).await.expect(200).json();
        for field in [
            "redirect_count",
            "avg_redirect_ms",
            "last_redirect_at",
            "hits_this_month",
            "hit_limit",
        ] {
            assert_eq!(stats[field], counted[field], "{field}");
        }
        assert_eq!(counted["hits_this_month"], *count);
        let mean = counted["avg_redirect_ms"].as_f64().unwrap();
        assert!((mean > 0.0 && mean < 60_000.0) == (*count > 0), "{counted}");
        weighted += mean * f64::from(u32::try_from(*count).unwrap());
        if *count > 0 {
            let last = NOON.plus(Duration::from_secs(count - 1)).to_rfc3339();
            assert_eq!(counted["last_redirect_at"], last);
        }
    }
    let totals = links::totals(&http, 3, 4).await;
    let mean = totals["avg_redirect_ms"].as_f64().unwrap();
    assert!((mean - weighted / 4.0).abs() < 1e-9, "{totals}");

    // Links come and go, redirects stay.
    http.delete(&links::path_of(&made_links[0].0)).await.expect(200);
    links::totals(&http, 2, 4).await;
    kurz.stop().await;
}

async fn counts_are_written_while_the_server_runs_and_survive_a_crash(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let http = served.http();
    let link = links::make(&http, "team", &json!({ "original_url": "https://example.com/" })).await;
    for _ in 0..5 {
        http.get(&links::short_path(&link)).await.expect(302);
    }
    let before = links::counted(&http, &link, 5).await;
    let served = served.kill_9().start();
    let mut after = links::show(&served.http(), &link).await;
    // Its address has another port now.
    after["short_url"] = before["short_url"].clone();
    assert_eq!(after, before);
}

// threats: E9
async fn nobody_is_lost_when_the_server_is_asked_to_end(kind: Kind) {
    // Without a limit: on a slow machine more requests than 10,000 are answered before the end.
    let served = TestServer::builder().database(kind).process().env("KURZ_HIT_LIMIT", "0").start();
    let http = served.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    let link = links::make(&http, "team", &body).await;
    let stop = AtomicBool::new(false);
    let visitors = (0..8).map(|_| async {
        let mut followed = 0_i64;
        // Until the server is gone: a request that was not answered was not counted.
        while let Ok(answer) = http.try_send(reqwest::Method::GET, "/promo", None).await {
            answer.expect(302);
            followed += 1;
            if followed == 50 {
                stop.store(true, Ordering::Release);
            }
        }
        followed
    });
    let visitors = join_all(visitors);
    let operator = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(1));
        while !stop.load(Ordering::Acquire) {
            ticks.tick().await;
        }
        tokio::task::spawn_blocking(move || served.stop()).await.unwrap()
    };
    let (followed, stopped) = tokio::join!(visitors, operator);
    let followed: i64 = followed.into_iter().sum();
    assert!(followed >= 50);
    let served = stopped.start();
    let after = links::show(&served.http(), &link).await;
    assert_eq!(after["redirect_count"], followed);
    assert_eq!(after["hits_this_month"], followed);
    links::totals(&served.http(), 1, followed).await;
}

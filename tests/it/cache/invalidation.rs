//! Changes are seen by the next visitor: whatever the memory in front of the store knew before.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::json;
use tokio::time::interval;

/// Between two questions of a visitor who asks all the time: without it a few of them take the whole
/// machine from the server that they wait for.
const PAUSE: Duration = Duration::from_millis(1);

on_both_databases!(
    a_link_works_at_once_where_there_was_none,
    a_link_works_at_once_though_visitors_ask_all_the_time,
    an_edit_a_deletion_and_a_restoration_are_seen_at_once,
    no_visitor_sees_the_old_target_once_an_edit_is_acknowledged,
    a_purged_link_is_not_found_and_its_code_stays_its_own,
    a_deleted_workspace_comes_back_under_its_name,
);

async fn a_link_works_at_once_where_there_was_none(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for path in ["/promo", "/w/team/promo", "/w/other/promo"] {
        http.get(path).await.expect(404);
    }
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&http, "team", &body).await;
    http.get("/promo").await.expect(302);
    http.get("/w/team/promo").await.expect(302);
    http.get("/w/other/promo").await.expect(404);
    // In a batch, too.
    http.get("/other").await.expect(404);
    let body =
        json!({ "links": [{ "original_url": "https://example.com/", "custom_code": "other" }] });
    http.post("/api/v1/workspaces/team/links/bulk", &body).await.expect(200);
    http.get("/other").await.expect(302);
    kurz.stop().await;
}

async fn a_link_works_at_once_though_visitors_ask_all_the_time(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for round in 0..10 {
        let (code, path) = (format!("code{round}"), format!("/code{round}"));
        let visitors = (0..4).map(|_| {
            let (http, path) = (http.clone(), path.clone());
            async move {
                let mut ticks = interval(PAUSE);
                while http.get(&path).await.status == 404 {
                    ticks.tick().await;
                }
            }
        });
        let maker = async {
            let body = json!({ "original_url": "https://example.com/", "custom_code": code });
            links::make(&http, "team", &body).await;
            http.get(&path).await.expect(302);
        };
        tokio::join!(join_all(visitors), maker);
    }
    kurz.stop().await;
}

async fn an_edit_a_deletion_and_a_restoration_are_seen_at_once(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://one.example/", "custom_code": "promo" });
    let link = links::make(&http, "team", &body).await;
    let api = links::path_of(&link);
    let paths = ["/promo", "/w/team/promo"];
    for path in paths {
        http.get(path).await.expect(302);
    }
    let edit = json!({ "original_url": "https://two.example/", "redirect_status": 308 });
    http.patch(&api, &edit).await.expect(200);
    for path in paths {
        let answer = http.get(path).await.expect(308);
        assert_eq!(answer.header("location"), Some("https://two.example/"));
    }
    http.delete(&api).await.expect(200);
    for path in paths {
        http.get(path).await.expect(404);
    }
    http.post(&format!("{api}/restore"), &json!({})).await.expect(200);
    for path in paths {
        http.get(path).await.expect(308);
    }
    let end = NOON.plus(Duration::from_millis(1)).to_rfc3339();
    http.patch(&api, &json!({ "expires_at": end })).await.expect(200);
    http.get("/promo").await.expect(308);
    kurz.clock.advance(Duration::from_millis(1));
    http.get("/promo").await.expect(410);
    kurz.stop().await;
}

async fn no_visitor_sees_the_old_target_once_an_edit_is_acknowledged(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body =
        json!({ "original_url": "https://example.com/0", "custom_code": "promo", "hit_limit": 0 });
    let link = links::make(&http, "team", &body).await;
    let api = links::path_of(&link);
    let done = AtomicUsize::new(0);
    let rounds = 30;
    let visitors = (0..4).map(|_| async {
        let mut ticks = interval(PAUSE);
        loop {
            ticks.tick().await;
            // What was acknowledged before the question is the oldest that may be the answer.
            let acknowledged = done.load(Ordering::SeqCst);
            let answer = http.get("/promo").await.expect(302);
            let seen = answer.header("location").unwrap().rsplit('/').next().unwrap();
            let seen: usize = seen.parse().unwrap();
            assert!(seen >= acknowledged, "saw {seen} after {acknowledged} was acknowledged");
            if acknowledged == rounds {
                break;
            }
        }
    });
    let editor = async {
        for round in 1..=rounds {
            let edit = json!({ "original_url": format!("https://example.com/{round}") });
            http.patch(&api, &edit).await.expect(200);
            done.store(round, Ordering::SeqCst);
        }
    };
    tokio::join!(join_all(visitors), editor);
    kurz.stop().await;
}

async fn a_purged_link_is_not_found_and_its_code_stays_its_own(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let url = "https://example.com/purged";
    let link = links::make(&http, "team", &json!({ "original_url": url })).await;
    let custom = json!({ "original_url": url, "custom_code": "promo" });
    links::make(&http, "team", &custom).await;
    kurz.home
        .execute(
            "update links set target = '', title = null, tags = null, row_checksum = null, purged_at = 1",
        )
        .await;
    let kurz = kurz.restart().await;
    let http = kurz.http();
    let code = links::code(&link);
    for path in [format!("/{code}"), format!("/w/team/{code}"), format!("/{code}+")] {
        http.get(&path).await.expect(404);
    }
    let api = links::path_of(&link);
    http.get(&api).await.expect_problem(404, "link-not-found");
    http.patch(&api, &json!({})).await.expect_problem(404, "link-not-found");
    http.delete(&api).await.expect_problem(404, "link-not-found");
    http.post(&format!("{api}/restore"), &json!({})).await.expect_problem(410, "link-purged");
    assert_eq!(links::all(&http, "team").await.len(), 0);
    assert_eq!(http.get("/api/v1/stats").await.json()["total_links"], 0);
    // No other URL ever gets these codes …
    for code in [code, "promo"] {
        let body = json!({ "original_url": "https://other.example/", "custom_code": code });
        http.post(&links::path("team"), &body).await.expect_problem(409, "code-taken");
    }
    // … and the same URL may have them back.
    let again = links::make(&http, "team", &json!({ "original_url": url })).await;
    assert_eq!((&again["short_code"], &again["id"]), (&link["short_code"], &link["id"]));
    links::make(&http, "team", &custom).await;
    for path in [links::short_path(&again), "/promo".to_owned()] {
        assert_eq!(http.get(&path).await.expect(302).header("location"), Some(url));
    }
    kurz.stop().await;
}

async fn a_deleted_workspace_comes_back_under_its_name(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let link = links::make(&http, "team", &json!({ "original_url": "https://example.com/" })).await;
    http.delete("/api/v1/workspaces/team").await.expect_problem(409, "workspace-in-use");
    http.get(&links::short_path(&link)).await.expect(302);
    http.delete(&links::path_of(&link)).await.expect(200);
    http.delete("/api/v1/workspaces/team").await.expect(204);
    http.get(&links::path_of(&link)).await.expect_problem(404, "workspace-not-found");
    http.get(&links::short_path(&link)).await.expect(404);
    let again =
        links::make(&http, "team", &json!({ "original_url": "https://example.com/" })).await;
    assert_eq!(again["short_code"], link["short_code"]);
    http.get(&links::short_path(&link)).await.expect(302);
    kurz.stop().await;
}

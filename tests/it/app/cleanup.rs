//! What cleanup leaves: tombstones that guard their codes, and totals that never shrink. What it does
//! not touch: links that were restored or given more time.

use std::time::Duration;

use kurz::app::CleanupEnd;
use kurz_core::time::Timestamp;
use kurz_test_support::cleanup::GRACE;
use kurz_test_support::{Kind, links, on_both_databases};
use serde_json::{Value, json};

use crate::app::start_without_cleanup;

const MINUTE: Duration = Duration::from_mins(1);
const JUST_BEFORE: Duration = GRACE.saturating_sub(Duration::from_secs(20));

on_both_databases! {
    an_expired_link_is_marked_then_purged,
    a_deleted_link_can_be_restored_until_it_is_purged,
    restoring_a_purged_link_says_that_it_was_purged,
    a_purged_code_comes_back_for_its_own_url_only,
    a_link_that_got_more_time_is_not_touched,
    totals_never_shrink,
    many_links_are_purged_in_parts,
}

async fn an_expired_link_is_marked_then_purged(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    let code = server.expiring("https://example.com/", MINUTE).await;
    assert_eq!(server.follow(&code).await, 302);
    let cleaned = server.clean_up().await;
    assert_eq!((cleaned.marked, cleaned.purged, cleaned.end), (0, 0, CleanupEnd::Complete));

    let server = server.pass(MINUTE).await;
    assert_eq!(server.follow(&code).await, 410, "before any job has run");
    let cleaned = server.clean_up().await;
    assert_eq!((cleaned.marked, cleaned.purged), (1, 0));
    assert_eq!(server.follow(&code).await, 410);
    let cleaned = server.clean_up().await;
    assert_eq!((cleaned.marked, cleaned.purged), (0, 0), "each link is marked once");

    let server = server.pass(JUST_BEFORE).await;
    assert_eq!(server.clean_up().await.purged, 0, "the grace is not over");
    assert_eq!(server.follow(&code).await, 410);
    let server = server.pass(MINUTE).await;
    assert_eq!(server.clean_up().await.purged, 1);
    assert_eq!(server.follow(&code).await, 404);
    server.http().get(&format!("/api/v1/workspaces/team/links/{code}")).await.expect(404);
    assert_eq!(server.clean_up().await.purged, 0);
    let bare = "select count(*) from links where purged_at is not null and target = ''
        and title is null and tags is null and claim_hash is null";
    assert_eq!(server.home.number(bare).await, 1);
}

async fn a_deleted_link_can_be_restored_until_it_is_purged(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    let request = json!({ "original_url": "https://example.com/a", "tags": ["x"], "title": "T" });
    let link = links::make(&server.http(), "team", &request).await;
    let code = link["short_code"].as_str().unwrap();
    let path = format!("/api/v1/workspaces/team/links/{code}");
    server.http().delete(&path).await.expect(200);
    assert_eq!(server.follow(code).await, 404);

    let server = server.pass(JUST_BEFORE).await;
    assert_eq!(server.clean_up().await.purged, 0);
    let restored = server.http().post(&format!("{path}/restore"), &json!({})).await.expect(200);
    assert_eq!(restored.json()["tags"], json!(["x"]));
    assert_eq!(server.follow(code).await, 302);
    let server = server.pass(GRACE * 2).await;
    assert_eq!(server.clean_up().await.purged, 0, "it is alive");

    server.http().delete(&path).await.expect(200);
    let server = server.pass(GRACE).await;
    assert_eq!(server.clean_up().await.purged, 1);
    server.http().post(&format!("{path}/restore"), &json!({})).await.expect(410);
    assert_eq!(server.follow(code).await, 404);
    assert_eq!(server.home.number("select count(*) from link_tags").await, 0);
}

async fn restoring_a_purged_link_says_that_it_was_purged(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    let request = json!({ "original_url": "https://example.com/a" });
    let link = links::make(&server.http(), "team", &request).await;
    let code = link["short_code"].as_str().unwrap();
    let path = format!("/api/v1/workspaces/team/links/{code}");
    let deleted = server.http().delete(&path).await.expect(200).json();
    let until = Timestamp::parse_rfc3339(deleted["restorable_until"].as_str().unwrap()).unwrap();
    let at = Timestamp::parse_rfc3339(deleted["updated_at"].as_str().unwrap()).unwrap();
    assert_eq!(until, at.plus(GRACE));

    let server = server.pass(JUST_BEFORE).await;
    assert_eq!(server.clean_up().await.purged, 0, "as it was promised");
    let restore = format!("{path}/restore");
    let restored = server.http().post(&restore, &json!({})).await.expect(200).json();
    assert_eq!(restored["restorable_until"], json!(null));
    server.http().delete(&path).await.expect(200);
    let server = server.pass(GRACE + MINUTE).await;
    assert_eq!(server.clean_up().await.purged, 1);
    let answer = server.http().post(&restore, &json!({})).await;
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("purged") && detail.contains("create it again"), "{detail}");
    answer.expect_problem(410, "link-purged");
    let nothing = "/api/v1/workspaces/team/links/nothing/restore";
    server.http().post(nothing, &json!({})).await.expect_problem(404, "link-not-found");
}

async fn a_purged_code_comes_back_for_its_own_url_only(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    let (own, other) = ("https://example.com/own", "https://example.com/other");
    let custom = |url: &str| json!({ "original_url": url, "custom_code": "promo" });
    let plain =
        links::make(&server.http(), "team", &json!({ "original_url": own, "title": "Old" })).await;
    let chosen = links::make(&server.http(), "main", &custom(own)).await;
    let code = plain["short_code"].as_str().unwrap();
    for path in [format!("team/links/{code}"), "main/links/promo".to_owned()] {
        server.http().delete(&format!("/api/v1/workspaces/{path}")).await.expect(200);
    }
    let server = server.pass(GRACE).await;
    assert_eq!(server.clean_up().await.purged, 2);

    let again = links::make(&server.http(), "team", &json!({ "original_url": own })).await;
    assert_eq!((&again["short_code"], &again["id"]), (&plain["short_code"], &plain["id"]));
    assert_eq!(again["title"], Value::Null, "nothing of the old one is left");
    assert_eq!(server.follow(code).await, 302);

    let links = "/api/v1/workspaces/main/links";
    server.http().post(links, &custom(other)).await.expect(409);
    assert_eq!(server.http().get("/promo").await.status, 404);
    let again = links::make(&server.http(), "main", &custom(own)).await;
    assert_eq!(again["id"], chosen["id"]);
    assert_eq!(server.http().get("/promo").await.expect(302).header("location"), Some(own));
    let elsewhere = server.http().post("/api/v1/workspaces/other/links", &custom(other)).await;
    let url = elsewhere.expect(201).json()["short_url"].as_str().unwrap().to_owned();
    assert!(url.ends_with("/w/other/promo"), "{url}: the first holder keeps the bare code");
}

async fn a_link_that_got_more_time_is_not_touched(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    let code = server.expiring("https://example.com/", MINUTE).await;
    let server = server.pass(MINUTE).await;
    assert_eq!(server.clean_up().await.marked, 1);
    let path = format!("/api/v1/workspaces/team/links/{code}");
    server.http().patch(&path, &json!({ "title": "Still over" })).await.expect(200);
    assert_eq!(server.follow(&code).await, 410);
    server.http().patch(&path, &json!({ "expires_at": null })).await.expect(200);
    assert_eq!(server.follow(&code).await, 302);
    let server = server.pass(GRACE * 2).await;
    let cleaned = server.clean_up().await;
    assert_eq!((cleaned.marked, cleaned.purged), (0, 0));
    assert_eq!(server.follow(&code).await, 302);
}

async fn totals_never_shrink(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    let code = server.expiring("https://example.com/", MINUTE).await;
    for _ in 0..3 {
        assert_eq!(server.follow(&code).await, 302);
    }
    server.app().flush().await.unwrap();
    let server = server.pass(MINUTE).await;
    server.clean_up().await;
    let server = server.pass(GRACE).await;
    assert_eq!(server.clean_up().await.purged, 1);
    let totals = server.http().get("/api/v1/stats").await.expect(200).json();
    assert_eq!((&totals["total_redirects"], &totals["total_links"]), (&json!(3), &json!(0)));
    assert_eq!(server.home.number("select count(*) from link_stats").await, 0);
}

async fn many_links_are_purged_in_parts(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    let expires_at = server.clock.now().plus(MINUTE).to_rfc3339();
    let all = 1_300;
    for part in 0..2 {
        let links: Vec<Value> = (0..all / 2)
            .map(|at| {
                let url = format!("https://example.com/{part}/{at}");
                json!({ "original_url": url, "expires_at": expires_at, "tags": ["t"] })
            })
            .collect();
        let bulk = json!({ "links": links });
        let made = server.http().post("/api/v1/workspaces/team/links/bulk", &bulk).await;
        assert!(made.status < 300, "{}", made.text());
    }
    let server = server.pass(MINUTE).await;
    assert_eq!(server.clean_up().await.marked, all);
    let server = server.pass(GRACE).await;
    assert_eq!(server.clean_up().await.purged, all);
    assert_eq!(server.home.number("select count(*) from link_tags").await, 0);
    assert_eq!(server.home.number("select count(*) from links where target <> ''").await, 0);
}

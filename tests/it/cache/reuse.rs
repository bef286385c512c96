//! Asking again for a link that exists: answered from memory, and yet never with anything that the
//! store would not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kurz::app::{Created, LinkPatch, LinkRequest};
use kurz_core::account::Caller;
use kurz_core::code::WorkspaceId;
use kurz_test_support::accounts::{code, email, join};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::store::outage::set_open;

on_both_databases!(
    a_change_is_seen_by_whoever_asks_after_it,
    a_repeat_shows_counts_that_are_not_old,
    only_what_follows_from_the_request_is_a_repeat,
);

const TEAM: &str = "/api/v1/workspaces/team/links";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_is_not_needed_for_what_exists() {
    let kurz = TestServer::builder().database(Kind::Postgres).start().await;
    let http = kurz.http();
    let plain = json!({ "original_url": "https://example.com/a?b=1&a=2" });
    let chosen = json!({ "original_url": "https://example.com/", "custom_code": "chosen" });
    let both = json!({ "links": [&plain, &chosen] });
    let mut made = Vec::new();
    for body in [&plain, &chosen] {
        made.push(links::make(&http, "team", body).await);
    }

    set_open(&kurz.home.store(), false).await;
    for (body, made) in [&plain, &chosen].into_iter().zip(&made) {
        assert_eq!(http.post(TEAM, body).await.expect(200).json(), *made);
    }
    // The same URL in other words.
    let other = json!({ "original_url": "HTTPS://EXAMPLE.com:443/a?a=2&b=1#top" });
    assert_eq!(http.post(TEAM, &other).await.expect(200).json(), made[0]);
    let many = http.post(&format!("{TEAM}/bulk"), &both).await.expect(200).json();
    assert_eq!((&many["results"][0]["link"], &many["results"][1]["link"]), (&made[0], &made[1]));
    let new = json!({ "original_url": "https://example.com/new" });
    http.post(TEAM, &new).await.expect_problem(503, "store-unavailable");

    set_open(&kurz.home.store(), true).await;
    let start = Instant::now();
    while http.get("/readyz").await.status != 200 {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not find its store again");
        sleep(Duration::from_millis(50)).await;
    }
    kurz.stop().await;
}

/// What four callers are told who ask for the same URL again and again while `change` is made: those
/// that began after it was acknowledged. At least twenty of them.
async fn told_after<F>(kurz: &TestServer, request: &LinkRequest, change: F) -> Vec<Created>
where
    F: Future<Output = ()>,
{
    let (changed, stop) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let mut callers = JoinSet::new();
    for _ in 0..4 {
        let (app, request) = (Arc::clone(kurz.app()), request.clone());
        let (changed, stop) = (Arc::clone(&changed), Arc::clone(&stop));
        callers.spawn(async move {
            let team = WorkspaceId::parse("team").unwrap();
            let mut told = Vec::new();
            while told.len() < 5 && !stop.load(Ordering::SeqCst) {
                let late = changed.load(Ordering::SeqCst);
                let created = app.create_link(&Caller::OPEN, &team, &request).await.unwrap();
                if late {
                    told.push(created);
                }
                tokio::task::yield_now().await;
            }
            told
        });
    }
    change.await;
    changed.store(true, Ordering::SeqCst);
    let told = callers.join_all().await.concat();
    stop.store(true, Ordering::SeqCst);
    assert_eq!(told.len(), 20);
    told
}

async fn a_change_is_seen_by_whoever_asks_after_it(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let team = WorkspaceId::parse("team").unwrap();
    for round in 0..15 {
        let request = LinkRequest {
            original_url: format!("https://example.com/{round}"),
            ..LinkRequest::default()
        };
        let app = kurz.app();
        let made = app.create_link(&Caller::OPEN, &team, &request).await.unwrap().link.link;
        let code = made.code.as_str();
        let delete =
            async { app.delete_link(&Caller::OPEN, &team, code).await.map(|_| ()).unwrap() };
        for told in told_after(&kurz, &request, delete).await {
            assert_eq!(told.link.link.id, made.id);
            assert!(told.link.link.version > made.version, "a deleted link was given out");
        }
        let elsewhere = format!("https://example.com/elsewhere/{round}");
        let patch = LinkPatch { original_url: Some(elsewhere), ..LinkPatch::default() };
        let edit = async {
            // Whoever comes back from the dead meanwhile may be in the way.
            while app.edit_link(&Caller::OPEN, &team, code, &patch).await.is_err() {}
        };
        for told in told_after(&kurz, &request, edit).await {
            assert_ne!(told.link.link.id, made.id, "it leads elsewhere by now");
            assert_eq!(told.link.link.target, request.original_url);
        }
    }
    kurz.stop().await;
}

async fn a_repeat_shows_counts_that_are_not_old(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/" });
    let made = links::make(&http, "team", &body).await;
    for _ in 0..3 {
        http.post(TEAM, &body).await.expect(200);
        http.get(&links::short_path(&made)).await.expect(302);
    }
    let start = Instant::now();
    while http.post(TEAM, &body).await.expect(200).json()["hits_this_month"] != 3 {
        assert!(start.elapsed() < Duration::from_secs(20), "the counts stay old");
        sleep(Duration::from_millis(50)).await;
    }
    kurz.stop().await;
}

async fn only_what_follows_from_the_request_is_a_repeat(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let end = kurz.clock.now().plus(Duration::from_mins(1)).to_rfc3339();
    let mortal = json!({ "original_url": "https://example.com/", "expires_at": end });
    let made = links::make(&http, "team", &mortal).await;
    let plain = json!({ "original_url": "https://example.com/" });
    assert_eq!(http.post(TEAM, &plain).await.expect(200).json()["expires_at"], end);
    // Not the fields of the link that exists, but those that were sent are looked at.
    let bad = json!({ "original_url": "https://example.com/", "redirect_status": 200 });
    http.post(TEAM, &bad).await.expect(422);
    let other = "/api/v1/workspaces/other/links";
    assert_ne!(http.post(other, &plain).await.expect(201).json()["id"], made["id"]);
    for strategy in ["random", "counter"] {
        let body = json!({ "original_url": "https://example.com/", "strategy": strategy });
        http.post(TEAM, &body).await.expect(201);
        http.post(TEAM, &body).await.expect(201);
    }
    let chosen = |fragment: &str| json!({ "original_url": format!("https://example.com/{fragment}"), "custom_code": "chosen" });
    links::make(&http, "team", &chosen("#a")).await;
    http.post(TEAM, &chosen("#a")).await.expect(200);
    http.post(TEAM, &chosen("#b")).await.expect(409);

    // From the millisecond of its end on it is no answer any more.
    kurz.clock.advance(Duration::from_mins(1));
    let back = http.post(TEAM, &plain).await.expect(201).json();
    assert_eq!((&back["id"], &back["status"]), (&made["id"], &json!("ACTIVE")));
    // A workspace that makes other codes from now on makes them for known URLs as well.
    let random = json!({ "strategy": "random", "hit_limit": 7 });
    http.patch("/api/v1/workspaces/team", &random).await.expect(200);
    assert_eq!(http.post(TEAM, &plain).await.expect(201).json()["hit_limit"], 7);
    let again = json!({ "original_url": "https://example.com/", "strategy": "deterministic" });
    assert_eq!(http.post(TEAM, &again).await.expect(200).json()["hit_limit"], 7);
    kurz.stop().await;
}

#[tokio::test]
async fn who_may_not_make_a_link_does_not_get_the_one_that_exists() {
    let server = TestServer::builder().accounts().process().start();
    let (ada, bob) = (server.register("ada").await, server.register("bob").await);
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    let body = json!({ "original_url": "https://example.com/" });
    let chosen = json!({ "original_url": "https://example.com/", "custom_code": "chosen" });
    for body in [&body, &chosen] {
        ada.post(TEAM, body).await.expect(201);
        ada.post(TEAM, body).await.expect(200);
        bob.post(TEAM, body).await.expect(404);
        server.http().post(TEAM, body).await.expect(401);
    }
    let members = "/api/v1/workspaces/team/members";
    join(&ada, "team", ("bob", &bob), "member").await;
    bob.post(TEAM, &body).await.expect(200);
    let bobs = format!("{members}/{}", email("bob"));
    ada.patch(&bobs, &json!({ "role": "viewer" })).await.expect(200);
    assert_eq!(code(&bob.post(TEAM, &body).await.expect(403)), "missing-role");
    ada.patch(&bobs, &json!({ "role": "member" })).await.expect(200);
    bob.post(TEAM, &body).await.expect(200);
    ada.delete(&bobs).await.expect(204);
    bob.post(TEAM, &body).await.expect(404);

    let main = "/api/v1/links";
    for (body, taken) in [
        (chosen, "code-taken"),
        (
            json!({ "original_url": "https://example.com/", "strategy": "deterministic" }),
            "url-taken",
        ),
    ] {
        ada.post(main, &body).await.expect(201);
        ada.post(main, &body).await.expect(200);
        assert_eq!(code(&bob.post(main, &body).await.expect(409)), taken);
        server.http().post(main, &body).await.expect(401);
    }
    let read = json!({ "name": "r", "scopes": ["read"] });
    let key = ada.post("/api/v1/keys", &read).await.expect(201).json();
    let reader = server.http().bearer(key["key"].as_str().unwrap());
    reader.post(TEAM, &json!({ "original_url": "https://example.com/" })).await.expect(403);
}

//! Links that come back: whoever asks again for the URL of a dead link gets the same code, working.

use std::time::Duration;

use futures_util::future::join_all;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    a_deleted_or_expired_url_comes_back_under_its_code,
    a_link_that_comes_back_goes_on_with_its_counts_and_its_quota,
    a_link_that_comes_back_is_what_the_new_request_says,
    a_dead_custom_code_is_for_its_url_alone,
    of_many_who_bring_a_link_back_one_does,
    a_link_that_dies_while_it_is_asked_for_comes_back,
    a_chosen_code_of_the_same_url_is_the_same_link,
);

async fn a_deleted_or_expired_url_comes_back_under_its_code(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let soon = |after| NOON.plus(Duration::from_secs(after)).to_rfc3339();
    for (n, body) in [
        (1, json!({ "original_url": "https://example.com/d" })),
        (2, json!({ "original_url": "https://example.com/c", "custom_code": "promo" })),
    ] {
        let link = links::make(&http, "team", &body).await;
        let path = links::short_path(&link);
        for round in 0..2 {
            // Visitors asked before, between and after.
            http.get(&path).await.expect(302);
            http.delete(&links::path_of(&link)).await.expect(200);
            http.get(&path).await.expect(404);
            let again = links::make(&http, "team", &body).await;
            assert_eq!(
                (&again["id"], &again["short_code"]),
                (&link["id"], &link["short_code"]),
                "{round}"
            );
            assert_eq!(
                (&again["short_url"], &again["status"]),
                (&link["short_url"], &json!("ACTIVE"))
            );
            http.get(&path).await.expect(302);
        }
        let edit = json!({ "expires_at": soon(n) });
        http.patch(&links::path_of(&link), &edit).await.expect(200);
        kurz.clock.set(NOON.plus(Duration::from_secs(n)));
        http.get(&path).await.expect(410);
        let again = links::make(&http, "team", &body).await;
        assert_eq!((&again["id"], &again["expires_at"]), (&link["id"], &json!(null)));
        assert_eq!(again["created_at"], soon(n));
        http.get(&path).await.expect(302);
        assert_eq!(
            http.post(&links::path("team"), &body).await.expect(200).json()["id"],
            link["id"]
        );
    }
    assert_eq!(links::all(&http, "team").await.len(), 2);
    kurz.stop().await;
}

async fn a_link_that_comes_back_goes_on_with_its_counts_and_its_quota(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "hit_limit": 3 });
    let link = links::make(&http, "team", &body).await;
    let path = links::short_path(&link);
    http.get(&path).await.expect(302);
    http.get(&path).await.expect(302);
    links::counted(&http, &link, 2).await;
    http.delete(&links::path_of(&link)).await.expect(200);
    let again = links::make(&http, "team", &body).await;
    assert_eq!((&again["redirect_count"], &again["hits_this_month"]), (&json!(2), &json!(2)));
    assert_eq!(again["last_redirect_at"], NOON.to_rfc3339());
    assert_eq!(links::show(&http, &link).await, again);
    http.get(&path).await.expect(302);
    http.get(&path).await.expect(429);
    kurz.stop().await;
}

async fn a_link_that_comes_back_is_what_the_new_request_says(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({
        "original_url": "https://example.com/#old", "title": "Old", "tags": ["old", "both"],
        "hit_limit": 1, "redirect_status": 301,
    });
    let link = links::make(&http, "team", &body).await;
    http.delete(&links::path_of(&link)).await.expect(200);
    let body = json!({ "original_url": "https://Example.com/#new", "tags": ["both", "new"] });
    let again = links::make(&http, "team", &body).await;
    assert_eq!(again["id"], link["id"]);
    assert_eq!((&again["title"], &again["tags"]), (&json!(null), &json!(["both", "new"])));
    assert_eq!((&again["hit_limit"], &again["redirect_status"]), (&json!(10_000), &json!(302)));
    let followed = http.get(&links::short_path(&link)).await.expect(302);
    assert_eq!(followed.header("location"), Some("https://Example.com/#new"));
    for (tag, found) in [("old", 0), ("both", 1), ("new", 1)] {
        let list = http.get(&format!("{}?tag={tag}", links::path("team"))).await.json();
        assert_eq!(list["links"].as_array().unwrap().len(), found, "{tag}");
    }
    kurz.stop().await;
}

async fn a_dead_custom_code_is_for_its_url_alone(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let promo = |url: &str| json!({ "original_url": url, "custom_code": "promo" });
    let link = links::make(&http, "team", &promo("https://example.com/")).await;
    http.delete(&links::path_of(&link)).await.expect(200);
    let other = http.post(&links::path("team"), &promo("https://other.example/")).await;
    other.expect_problem(409, "code-taken");
    let edit = json!({ "expires_at": NOON.plus(Duration::from_secs(1)).to_rfc3339() });
    http.post(&format!("{}/restore", links::path_of(&link)), &json!({})).await.expect(200);
    http.patch(&links::path_of(&link), &edit).await.expect(200);
    kurz.clock.advance(Duration::from_secs(1));
    let other = http.post(&links::path("team"), &promo("https://other.example/")).await;
    other.expect_problem(409, "code-taken");
    links::make(&http, "team", &promo("https://example.com/")).await;
    kurz.stop().await;
}

async fn of_many_who_bring_a_link_back_one_does(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for body in [
        json!({ "original_url": "https://example.com/d", "tags": ["t"] }),
        json!({ "original_url": "https://example.com/c", "tags": ["t"], "custom_code": "promo" }),
    ] {
        let link = links::make(&http, "team", &body).await;
        for _ in 0..3 {
            http.delete(&links::path_of(&link)).await.expect(200);
            let path = links::path("team");
            let answers = join_all((0..32).map(|_| http.post(&path, &body))).await;
            let made = answers.iter().filter(|answer| answer.status == 201).count();
            let found = answers.iter().filter(|answer| answer.status == 200).count();
            assert_eq!((made, found), (1, 31), "{body}");
            assert!(answers.iter().all(|answer| answer.json()["id"] == link["id"]));
        }
        http.get(&links::short_path(&link)).await.expect(302);
    }
    let tagged = http.get(&format!("{}?tag=t", links::path("team"))).await.json();
    assert_eq!(tagged["links"].as_array().unwrap().len(), 2);
    kurz.stop().await;
}

async fn a_link_that_dies_while_it_is_asked_for_comes_back(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    // The clock moves on while requests are under way: some find the link alive, some dead, some
    // in between, and all of them get one that works for them.
    for round in 0..10 {
        let end = kurz.clock.now().plus(Duration::from_millis(20)).to_rfc3339();
        let url = format!("https://example.com/{round}");
        let mortal = json!({ "original_url": url, "expires_at": end });
        links::make(&http, "team", &mortal).await;
        let path = links::path("team");
        let body = json!({ "original_url": url });
        let ask = async {
            for _ in 0..20 {
                let answers = join_all((0..4).map(|_| http.post(&path, &body))).await;
                for answer in answers {
                    assert!([200, 201].contains(&answer.status), "{}", answer.text());
                }
                kurz.clock.advance(Duration::from_millis(1));
            }
        };
        let tick = async {
            for _ in 0..20 {
                tokio::task::yield_now().await;
                kurz.clock.advance(Duration::from_millis(1));
            }
        };
        tokio::join!(ask, tick);
    }
    kurz.stop().await;
}

async fn a_chosen_code_of_the_same_url_is_the_same_link(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let url = "https://example.com/";
    let canonical = kurz_core::code::canonicalise(url).unwrap();
    let team = kurz_core::code::WorkspaceId::parse("team").unwrap();
    let code = kurz_core::code::deterministic::code(&canonical, &team, 0).to_string();
    // Somebody chose, for this very URL, the code that it would have got: it is not taken by
    // another URL.
    let custom =
        links::make(&http, "team", &json!({ "original_url": url, "custom_code": code })).await;
    let plain = json!({ "original_url": url });
    let found: Value = http.post(&links::path("team"), &plain).await.expect(200).json();
    assert_eq!(found, custom);
    http.delete(&links::path_of(&custom)).await.expect(200);
    let again = links::make(&http, "team", &plain).await;
    assert_eq!((&again["id"], &again["strategy"]), (&custom["id"], &json!("deterministic")));
    assert_eq!(links::all(&http, "team").await, [again]);
    kurz.stop().await;
}

//! Show, edit, delete, restore.

use std::time::Duration;

use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::json;

on_both_databases!(
    what_an_edit_leaves_out_stays_and_what_is_null_goes,
    a_new_target_makes_a_deterministic_link_a_custom_one,
    a_bad_edit_changes_nothing,
    a_deleted_link_is_gone_from_lists_until_it_is_restored,
    edits_at_the_same_time_are_all_made,
    what_is_not_there_cannot_be_changed,
);

async fn what_an_edit_leaves_out_stays_and_what_is_null_goes(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({
        "original_url": "https://example.com/", "custom_code": "promo", "title": "Sale",
        "tags": ["a", "b"], "expires_at": "2027-01-01T00:00:00Z", "hit_limit": 5,
        "redirect_status": 308,
    });
    let mut expected = links::make(&http, "team", &body).await;
    let api = links::path_of(&expected);
    let table = [
        (json!({}), json!({})),
        (json!({ "title": "Other" }), json!({ "title": "Other" })),
        (json!({ "title": null }), json!({ "title": null })),
        (json!({ "tags": ["c"] }), json!({ "tags": ["c"] })),
        (json!({ "tags": null }), json!({ "tags": [] })),
        (
            json!({ "expires_at": "2028-01-01T00:00:00Z" }),
            json!({ "expires_at": "2028-01-01T00:00:00.000Z" }),
        ),
        (json!({ "expires_at": null }), json!({ "expires_at": null })),
        (json!({ "hit_limit": 0 }), json!({ "hit_limit": 0 })),
        (json!({ "hit_limit": null }), json!({ "hit_limit": 10_000 })),
        (json!({ "redirect_status": 301 }), json!({ "redirect_status": 301 })),
        (json!({ "redirect_status": null }), json!({ "redirect_status": 302 })),
        (
            json!({ "original_url": "HTTPS://Two.example/?b&a", "title": "Both" }),
            json!({
                "original_url": "HTTPS://Two.example/?b&a",
                "normalized_url": "https://two.example/?a&b", "title": "Both",
            }),
        ),
    ];
    for (edit, changes) in table {
        kurz.clock.advance(Duration::from_secs(1));
        let edited = http.patch(&api, &edit).await.expect(200).json();
        for (field, value) in changes.as_object().unwrap() {
            expected[field] = value.clone();
        }
        expected["updated_at"] = json!(kurz.clock.now().to_rfc3339());
        assert_eq!(edited, expected, "{edit}");
        assert_eq!(links::show(&http, &edited).await, expected, "{edit}");
    }
    kurz.stop().await;
}

async fn a_new_target_makes_a_deterministic_link_a_custom_one(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let one = json!({ "original_url": "https://example.com/1" });
    let link = links::make(&http, "team", &one).await;
    // Another spelling of the same URL is the same URL.
    let api = links::path_of(&link);
    let edit = json!({ "original_url": "https://EXAMPLE.com/1#part" });
    let edited = http.patch(&api, &edit).await.expect(200).json();
    assert_eq!(
        (&edited["strategy"], &edited["short_code"]),
        (&json!("deterministic"), &link["short_code"])
    );
    assert_eq!(http.post(&links::path("team"), &one).await.expect(200).json()["id"], link["id"]);

    let edit = json!({ "original_url": "https://example.com/2" });
    let edited = http.patch(&api, &edit).await.expect(200).json();
    assert_eq!(
        (&edited["strategy"], &edited["short_code"]),
        (&json!("custom"), &link["short_code"])
    );
    // The first URL gets a link again, with the code of its next attempt; so does the second.
    let again = links::make(&http, "team", &one).await;
    assert_ne!(again["short_code"], link["short_code"]);
    assert_eq!(http.post(&links::path("team"), &one).await.expect(200).json(), again);
    links::make(&http, "team", &edit).await;
    // Sent back, the old link is one of its URL's two: the deterministic one is the answer.
    http.patch(&api, &one).await.expect(200);
    assert_eq!(http.post(&links::path("team"), &one).await.expect(200).json(), again);
    for (link, target) in [(&edited, "https://example.com/1"), (&again, "https://example.com/1")] {
        let answer = http.get(&links::short_path(link)).await.expect(302);
        assert_eq!(answer.header("location"), Some(target));
    }
    kurz.stop().await;
}

async fn a_bad_edit_changes_nothing(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "title": "Sale", "tags": ["a"] });
    let link = links::make(&http, "team", &body).await;
    let table = [
        (json!({ "original_url": "ftp://example.com/" }), "url-scheme-not-allowed"),
        (json!({ "original_url": "" }), "url-empty"),
        (json!({ "title": "x".repeat(513) }), "title-invalid"),
        (json!({ "tags": [" "] }), "tag-invalid"),
        (json!({ "hit_limit": -1 }), "hit-limit-invalid"),
        (json!({ "redirect_status": 200 }), "redirect-status-invalid"),
        (json!({ "expires_at": NOON.to_rfc3339() }), "expires-at-past"),
        (json!({ "title": "New", "hit_limit": -1, "tags": [""] }), "validation-failed"),
        (json!({ "original_url": null }), "url-invalid"),
        (json!({ "short_code": null }), "body-invalid"),
        (json!({ "short_code": "a b", "title": "New" }), "code-invalid"),
        (json!({ "custom_code": "other" }), "body-invalid"),
        (json!([]), "body-invalid"),
    ];
    for (edit, code) in table {
        let answer = http.patch(&links::path_of(&link), &edit).await;
        assert_eq!(answer.status, 422, "{edit}: {}", answer.text());
        answer.expect_problem(422, code);
    }
    assert_eq!(links::show(&http, &link).await, link);
    kurz.stop().await;
}

async fn a_deleted_link_is_gone_from_lists_until_it_is_restored(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "tags": ["a"], "title": "Sale" });
    let link = links::make(&http, "team", &body).await;
    let (api, restore) = (links::path_of(&link), format!("{}/restore", links::path_of(&link)));
    http.post(&restore, &json!({})).await.expect_problem(409, "not-deleted");
    let answer = http.delete(&api).await.expect(200).json();
    assert_eq!(
        (&answer["status"], &answer["short_code"]),
        (&json!("DELETED"), &link["short_code"])
    );
    assert!(answer["restorable_until"].is_string(), "{answer}");
    let shown = http.get(&api).await.expect(200).json();
    assert_eq!(shown["restorable_until"], answer["restorable_until"]);
    http.delete(&api).await.expect_problem(404, "link-not-found");
    http.patch(&api, &json!({ "title": "x" })).await.expect_problem(404, "link-not-found");
    assert!(links::all(&http, "team").await.is_empty());
    assert_eq!(http.get("/api/v1/stats").await.json()["total_links"], 0);
    let mut deleted = link.clone();
    deleted["status"] = json!("DELETED");
    deleted["restorable_until"] = answer["restorable_until"].clone();
    assert_eq!(links::show(&http, &link).await, deleted);
    assert_eq!(http.post(&restore, &json!({})).await.expect(200).json(), link);
    assert_eq!(links::all(&http, "team").await, [link]);
    kurz.stop().await;
}

async fn edits_at_the_same_time_are_all_made(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let link = links::make(&http, "team", &json!({ "original_url": "https://example.com/" })).await;
    // Each changes a field of its own: none undoes another.
    let edits = [
        json!({ "title": "Sale" }),
        json!({ "tags": ["a"] }),
        json!({ "hit_limit": 7 }),
        json!({ "redirect_status": 307 }),
    ];
    let api = links::path_of(&link);
    let calls = edits.iter().map(|edit| http.patch(&api, edit));
    for answer in futures_util::future::join_all(calls).await {
        answer.expect(200);
    }
    let after = links::show(&http, &link).await;
    assert_eq!((&after["title"], &after["tags"]), (&json!("Sale"), &json!(["a"])));
    assert_eq!((&after["hit_limit"], &after["redirect_status"]), (&json!(7), &json!(307)));
    kurz.stop().await;
}

async fn what_is_not_there_cannot_be_changed(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    links::make(&http, "team", &json!({ "original_url": "https://example.com/" })).await;
    for (path, code) in [
        ("/api/v1/workspaces/nobody/links/abc", "workspace-not-found"),
        ("/api/v1/workspaces/team/links/abc", "link-not-found"),
        ("/api/v1/workspaces/team/links/a%20b", "link-not-found"),
    ] {
        http.get(path).await.expect_problem(404, code);
        http.get(&format!("{path}/stats")).await.expect_problem(404, code);
        http.patch(path, &json!({})).await.expect_problem(404, code);
        http.delete(path).await.expect_problem(404, code);
        http.post(&format!("{path}/restore"), &json!({})).await.expect_problem(404, code);
    }
    kurz.stop().await;
}

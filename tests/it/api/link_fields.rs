//! Notes, archived links, long titles, many tags, and the length of random codes.

use std::time::Duration;

use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    a_note_is_kept_found_and_never_public,
    an_archived_link_redirects_and_is_left_out_of_lists,
    titles_and_tags_have_room_and_bounds,
    a_random_code_has_the_length_that_was_asked_for,
);

async fn a_note_is_kept_found_and_never_public(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/a", "custom_code": "noted",
        "note": "  Ordered by\r\nMargarete \u{2028}  " });
    let link = links::make(&http, "team", &body).await;
    assert_eq!(link["note"], "Ordered by\nMargarete");
    let api = links::path_of(&link);
    for text in ["margarete", "BY\nMARG", "ma"] {
        let query: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let found = http.get(&format!("{}?q={query}", links::path("team"))).await.expect(200);
        assert_eq!(found.json()["links"][0]["short_code"], "noted", "{text:?}");
    }
    let preview = http.get("/w/team/noted+").await.expect(200).text();
    assert!(!preview.contains("Margarete"), "{preview}");
    let edited = http.patch(&api, &json!({ "note": "other" })).await.expect(200).json();
    assert_eq!(edited["note"], "other");
    let gone = http.get(&format!("{}?q=margarete", links::path("team"))).await.expect(200).json();
    assert_eq!(gone["links"], json!([]));
    assert_eq!(
        http.patch(&api, &json!({ "note": null })).await.expect(200).json()["note"],
        Value::Null
    );
    for bad in ["x".repeat(2049), "a\u{0}b".to_owned(), "a\u{1b}[31m".to_owned()] {
        let answer = http.patch(&api, &json!({ "note": bad })).await;
        answer.expect_problem(422, "note-invalid");
    }
    http.patch(&api, &json!({ "note": "ü".repeat(2048) })).await.expect(200);
    kurz.stop().await;
}

async fn an_archived_link_redirects_and_is_left_out_of_lists(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for code in ["plain", "put-away"] {
        let body = json!({ "original_url": "https://example.com/", "custom_code": code });
        links::make(&http, "team", &body).await;
    }
    let api = format!("{}/put-away", links::path("team"));
    let archived = http.patch(&api, &json!({ "archived": true })).await.expect(200).json();
    let since = archived["archived_at"].clone();
    assert_eq!(since, json!(kurz.clock.now().to_rfc3339()));
    kurz.clock.advance(Duration::from_secs(5));
    let again = http.patch(&api, &json!({ "archived": true })).await.expect(200).json();
    assert_eq!(again["archived_at"], since, "it stays the first time");
    assert_eq!(again["status"], "ACTIVE");
    http.get("/w/team/put-away").await.expect(302);

    let codes = async |query: &str| {
        let page = http.get(&format!("{}{query}", links::path("team"))).await.expect(200).json();
        let links = page["links"].as_array().unwrap().clone();
        let mut codes: Vec<String> =
            links.iter().map(|link| links::code(link).to_owned()).collect();
        codes.sort();
        codes.join(" ")
    };
    assert_eq!(codes("").await, "plain");
    assert_eq!(codes("?q=put-away").await, "");
    assert_eq!(codes("?archived=false").await, "plain");
    assert_eq!(codes("?archived=true").await, "plain put-away");
    assert_eq!(codes("?archived=only").await, "put-away");
    let bad = http.get(&format!("{}?archived=maybe", links::path("team"))).await;
    bad.expect_problem(422, "archived-invalid");
    http.delete(&api).await.expect(200);
    assert_eq!(codes("?status=DELETED").await, "put-away", "whoever looks for it finds it");
    http.post(&format!("{api}/restore"), &json!({})).await.expect(200);
    let back = http.patch(&api, &json!({ "archived": false })).await.expect(200).json();
    assert_eq!(back["archived_at"], Value::Null);
    assert_eq!(codes("").await, "plain put-away");
    kurz.stop().await;
}

async fn titles_and_tags_have_room_and_bounds(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let tags: Vec<String> = (0..100).map(|n| format!("{n:03}{}", "t".repeat(252))).collect();
    let body =
        json!({ "original_url": "https://example.com/", "title": "ü".repeat(512), "tags": tags });
    let link = links::make(&http, "team", &body).await;
    assert_eq!(link["tags"], json!(tags), "all of them, in their order");
    assert_eq!(links::show(&http, &link).await["tags"], json!(tags));
    let found = http.get(&format!("{}?tag={}", links::path("team"), tags[99])).await.expect(200);
    assert_eq!(found.json()["links"].as_array().unwrap().len(), 1);
    let api = links::path_of(&link);
    let many: Vec<String> = (0..101).map(|n| n.to_string()).collect();
    for (edit, code) in [
        (json!({ "title": "ü".repeat(513) }), "title-invalid"),
        (json!({ "tags": many }), "tags-too-many"),
        (json!({ "tags": ["t".repeat(256)] }), "tag-invalid"),
    ] {
        http.patch(&api, &edit).await.expect_problem(422, code);
    }
    kurz.stop().await;
}

async fn a_random_code_has_the_length_that_was_asked_for(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = |length: Value| {
        json!({ "original_url": "https://example.com/", "strategy": "random",
        "length": length })
    };
    for length in [4, 10, 64] {
        let link = links::make(&http, "team", &body(json!(length))).await;
        assert_eq!(links::code(&link).len(), length);
    }
    for length in [0, 3, 65, 255] {
        let answer = http.post(&links::path("team"), &body(json!(length))).await;
        answer.expect_problem(422, "length-invalid");
    }
    for length in [json!(-1), json!(256), json!("9")] {
        http.post(&links::path("team"), &body(length)).await.expect_problem(422, "body-invalid");
    }
    let other = json!({ "original_url": "https://example.com/", "length": 9 });
    let answer = http.post(&links::path("team"), &other).await;
    answer.expect_problem(422, "length-without-random");
    kurz.stop().await;
}

//! Tags as things of their own: counts, other names, deleting them.

use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    tags_have_counts_names_and_an_end,
    in_main_everybody_has_tags_of_their_own,
    a_tag_of_many_links_is_renamed_at_once,
    tags_can_be_any_text,
);

const TAGS: &str = "/api/v1/workspaces/team/tags";

async fn tags_have_counts_names_and_an_end(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = |code: &str, tags: &[&str]| {
        json!({ "original_url": "https://example.com/",
        "custom_code": code, "tags": tags })
    };
    let first = links::make(&http, "team", &body("first", &["red", "blue", "green"])).await;
    links::make(&http, "team", &body("second", &["red"])).await;
    links::make(&http, "other", &body("third", &["red"])).await;
    http.get("/first").await.expect(302);
    links::counted(&http, &first, 1).await;
    let list = http.get(&format!("{TAGS}?stats=true")).await.expect(200).json();
    let row = |tag: &str, links: i64, clicks: i64| json!({ "tag": tag, "links": links, "clicks": clicks });
    assert_eq!(list["tags"], json!([row("blue", 1, 1), row("green", 1, 1), row("red", 2, 1)]));
    let page = http.get(&format!("{TAGS}?limit=2")).await.expect(200).json();
    assert_eq!(
        page["tags"],
        json!([{ "tag": "blue", "links": 1 }, { "tag": "green", "links": 1 }])
    );
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = http.get(&format!("{TAGS}?limit=2&cursor={cursor}")).await.expect(200).json();
    assert_eq!((&rest["tags"][0]["tag"], &rest["next_cursor"]), (&json!("red"), &Value::Null));

    // The answer from memory has the new name as well.
    http.post(&links::path("team"), &body("first", &[])).await.expect(200);
    let renamed = http.patch(&format!("{TAGS}/red"), &json!({ "name": " scarlet " })).await;
    assert_eq!(renamed.expect(200).json(), json!({ "tag": "scarlet" }));
    let again = http.post(&links::path("team"), &body("first", &[])).await.expect(200).json();
    assert_eq!(again["tags"], json!(["scarlet", "blue", "green"]), "in its place");
    assert_eq!(links::show(&http, &first).await["tags"], again["tags"]);
    let found = http.get(&format!("{}?tag=scarlet", links::path("team"))).await.expect(200).json();
    assert_eq!(found["links"].as_array().unwrap().len(), 2);
    let elsewhere = http.get("/api/v1/workspaces/other/links/third").await.expect(200).json();
    assert_eq!(elsewhere["tags"], json!(["red"]), "another workspace's is another tag");
    // An edit of something else leaves the name.
    http.patch(&links::path_of(&first), &json!({ "title": "T" })).await.expect(200);
    assert_eq!(links::show(&http, &first).await["tags"], json!(["scarlet", "blue", "green"]));

    let taken = http.patch(&format!("{TAGS}/scarlet"), &json!({ "name": "blue" })).await;
    taken.expect_problem(409, "tag-taken");
    http.patch(&format!("{TAGS}/red"), &json!({ "name": "x" }))
        .await
        .expect_problem(404, "tag-not-found");
    let bad = http.patch(&format!("{TAGS}/blue"), &json!({ "name": "t".repeat(256) })).await;
    bad.expect_problem(422, "tag-invalid");
    http.delete(&format!("{TAGS}/scarlet")).await.expect(204);
    http.delete(&format!("{TAGS}/scarlet")).await.expect_problem(404, "tag-not-found");
    assert_eq!(links::show(&http, &first).await["tags"], json!(["blue", "green"]));
    http.get("/first").await.expect(302);
    // One that only a deleted link has counts none, and comes back with it.
    http.delete(&links::path_of(&first)).await.expect(200);
    let list = http.get(TAGS).await.expect(200).json();
    assert_eq!(list["tags"][0], json!({ "tag": "blue", "links": 0 }));
    kurz.stop().await;
}

async fn in_main_everybody_has_tags_of_their_own(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().process().start();
    let (ada, bob) = (server.register("ada").await, server.register("bob").await);
    let body =
        |tag: &str| json!({ "original_url": "https://example.com/", "tags": ["shared", tag] });
    let of_ada = links::make(&ada, "main", &body("ada")).await;
    let of_bob = links::make(&bob, "main", &body("bob")).await;
    let tags = "/api/v1/workspaces/main/tags";
    let list = ada.get(tags).await.expect(200).json();
    assert_eq!(
        list["tags"],
        json!([{ "tag": "ada", "links": 1 }, { "tag": "shared", "links": 1 }])
    );
    // That somebody else has the name is not in the way, and not told.
    ada.patch(&format!("{tags}/shared"), &json!({ "name": "bob" })).await.expect(200);
    bob.delete(&format!("{tags}/ada")).await.expect_problem(404, "tag-not-found");
    assert_eq!(links::show(&ada, &of_ada).await["tags"], json!(["bob", "ada"]));
    assert_eq!(links::show(&bob, &of_bob).await["tags"], json!(["shared", "bob"]));
    bob.delete(&format!("{tags}/bob")).await.expect(204);
    assert_eq!(links::show(&ada, &of_ada).await["tags"], json!(["bob", "ada"]));
}

async fn a_tag_of_many_links_is_renamed_at_once(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for part in 0..4 {
        let links: Vec<Value> = (0..500)
            .map(|n| json!({ "original_url": format!("https://example.com/{part}/{n}"), "tags": ["a", "many"] }))
            .collect();
        let bulk = format!("{}/bulk", links::path("team"));
        http.post(&bulk, &json!({ "links": links })).await.expect(200);
    }
    // Edits and new links at the same time.
    let edited = json!({ "original_url": "https://example.com/own", "custom_code": "own", "tags": ["many"] });
    let own = links::make(&http, "team", &edited).await;
    let path = format!("{TAGS}/many");
    let (rename, api) = (json!({ "name": "lots" }), links::path_of(&own));
    let title = json!({ "title": "T" });
    let (renamed, titled) = tokio::join!(http.patch(&path, &rename), http.patch(&api, &title));
    renamed.expect(200);
    titled.expect(200);
    let list = http.get(TAGS).await.expect(200).json();
    assert_eq!(
        list["tags"],
        json!([{ "tag": "a", "links": 2000 }, { "tag": "lots", "links": 2001 }])
    );
    let shown = links::show(&http, &own).await;
    assert_eq!((&shown["tags"], &shown["title"]), (&json!(["lots"]), &json!("T")));
    kurz.stop().await;
}

async fn tags_can_be_any_text(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let odd = ["a/b", "50% off", "ü, ö", "'; drop table links; --", "..", "<b>", "%00", "日本"];
    let body = json!({ "original_url": "https://example.com/", "tags": odd });
    let link = links::make(&http, "team", &body).await;
    for (number, tag) in odd.iter().enumerate() {
        let name: String = url::form_urlencoded::byte_serialize(tag.as_bytes()).collect();
        let name = name.replace('+', "%20").replace("..", "%2E%2E");
        let rename = json!({ "name": format!("n{number}") });
        let answer = http.patch(&format!("{TAGS}/{name}"), &rename).await;
        if *tag == ".." {
            // Clients take such a segment out of a path, however it is written.
            continue;
        }
        answer.expect(200);
    }
    let tags = links::show(&http, &link).await["tags"].clone();
    assert_eq!(tags, json!(["n0", "n1", "n2", "n3", "..", "n5", "n6", "n7"]));
    http.delete(&format!("{TAGS}/%00")).await.expect_problem(404, "tag-not-found");
    kurz.stop().await;
}

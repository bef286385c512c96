//! Aliases and changing a code: one link under several codes, whatever happens to it.

use std::time::Duration;

use kurz_test_support::http::Http;
use kurz_test_support::servers::Redis;
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use reqwest::header::HOST;
use serde_json::{Value, json};

use crate::app::start_without_cleanup;

const TEAM: &str = "/api/v1/workspaces/team/links";
const GRACE: Duration = Duration::from_hours(24 * 90);

on_both_databases!(
    an_alias_leads_where_its_link_leads_and_counts_as_it_counts,
    a_changed_code_leaves_the_old_one_as_an_alias,
    a_code_of_another_workspace_is_not_in_the_way_of_a_new_one,
    every_change_of_a_link_is_one_of_its_aliases,
    no_code_of_a_link_is_given_to_another,
    codes_that_are_wanted_at_once_go_to_one_link,
    purged_links_leave_their_aliases_taken,
    an_alias_that_was_damaged_leads_nowhere,
    aliases_count_as_custom_codes,
);

async fn location(http: &Http, path: &str) -> Option<String> {
    let answer = http.get(path).await;
    (answer.status == 302).then(|| answer.header("location").unwrap().to_owned())
}

fn promo(target: &str) -> Value {
    json!({ "original_url": target, "custom_code": "promo" })
}

async fn an_alias_leads_where_its_link_leads_and_counts_as_it_counts(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body =
        json!({ "original_url": "https://example.com/", "custom_code": "promo", "hit_limit": 4 });
    let link = links::make(&http, "team", &body).await;
    // Asked for before it exists.
    http.get("/spring").await.expect(404);
    let aliases = format!("{TEAM}/promo/aliases");
    let added = http.post(&aliases, &json!({ "code": "spring" })).await.expect(201).json();
    assert_eq!((&added["id"], &added["aliases"]), (&link["id"], &json!(["spring"])));
    let again = http.post(&aliases, &json!({ "code": "spring" })).await.expect(201).json();
    assert_eq!(again["aliases"], json!(["spring"]), "it has it");
    for path in ["/spring", "/w/team/spring", "/promo", "/w/team/promo"] {
        assert_eq!(location(&http, path).await.as_deref(), Some("https://example.com/"), "{path}");
    }
    http.get("/spring").await.expect(429);
    http.get("/promo").await.expect(429);
    let counted = links::counted(&http, &link, 4).await;
    assert_eq!(counted["hits_this_month"], 4);
    assert_eq!(http.get(&format!("{TEAM}/spring")).await.expect(200).json(), counted);
    http.get("/spring+").await.expect(200);
    http.get(&format!("{TEAM}/spring/qr")).await.expect(200);
    let listed = http.get(TEAM).await.expect(200).json();
    assert_eq!(listed["links"], json!([counted]), "one link, with its aliases");
    let totals = http.get("/api/v1/stats").await.expect(200).json();
    assert_eq!(totals["total_links"], 1);

    let host = json!({ "host": "go.example.com" });
    http.post("/api/v1/workspaces/team/hosts", &host).await.expect(201);
    let at_host = http.with(HOST, "go.example.com");
    at_host.get("/spring").await.expect(429);

    http.delete(&format!("{aliases}/spring")).await.expect(204);
    http.get("/spring").await.expect(404);
    http.delete(&format!("{aliases}/spring")).await.expect_problem(404, "alias-not-found");
    http.delete(&format!("{aliases}/promo")).await.expect_problem(404, "alias-not-found");
    http.get("/promo").await.expect(429);
    for (code, problem) in [
        ("ab", "code-invalid"),
        ("a/b", "code-invalid"),
        ("api", "code-reserved"),
        ("é", "code-invalid"),
    ] {
        let answer = http.post(&aliases, &json!({ "code": code })).await;
        answer.expect_problem(422, problem);
    }
    kurz.stop().await;
}

async fn a_changed_code_leaves_the_old_one_as_an_alias(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let url = json!({ "original_url": "https://example.com/page" });
    let link = links::make(&http, "team", &url).await;
    let old = links::code(&link).to_owned();
    http.get(&format!("/{old}")).await.expect(302);
    let edit = json!({ "short_code": "summer", "title": "T" });
    let renamed = http.patch(&links::path_of(&link), &edit).await.expect(200).json();
    assert_eq!(
        [
            &renamed["id"],
            &renamed["short_code"],
            &renamed["title"],
            &renamed["strategy"],
            &renamed["aliases"]
        ],
        [&link["id"], &json!("summer"), &json!("T"), &json!("custom"), &json!([old])],
    );
    for path in [format!("/{old}"), format!("/w/team/{old}"), "/summer".to_owned()] {
        assert_eq!(
            location(&http, &path).await.as_deref(),
            Some("https://example.com/page"),
            "{path}"
        );
    }
    // The same URL again is the same link: its code is an alias of it.
    let again = http.post(TEAM, &url).await.expect(200).json();
    assert_eq!((&again["id"], &again["short_code"]), (&link["id"], &json!("summer")));
    // And back, by its old name.
    let back = http
        .patch(&format!("{TEAM}/{old}"), &json!({ "short_code": old }))
        .await
        .expect(200)
        .json();
    assert_eq!((&back["short_code"], &back["aliases"]), (&json!(old), &json!(["summer"])));
    assert!(
        location(&http, "/summer").await.is_some()
            && location(&http, &format!("/{old}")).await.is_some()
    );
    links::make(
        &http,
        "team",
        &json!({ "original_url": "https://b.example/", "custom_code": "taken" }),
    )
    .await;
    let taken = json!({ "short_code": "taken", "title": "not this" });
    http.patch(&links::path_of(&link), &taken).await.expect_problem(409, "code-taken");
    assert_eq!(links::show(&http, &link).await["title"], "T", "nothing half done");
    http.patch(&links::path_of(&link), &json!({ "short_code": null }))
        .await
        .expect_problem(422, "body-invalid");
    kurz.stop().await;
}

async fn a_code_of_another_workspace_is_not_in_the_way_of_a_new_one(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let url = json!({ "original_url": "https://example.com/page" });
    let link = links::make(&http, "team", &url).await;
    links::make(
        &http,
        "other",
        &json!({ "original_url": "https://c.example/", "custom_code": "shared" }),
    )
    .await;
    let shared = http
        .patch(&links::path_of(&link), &json!({ "short_code": "shared" }))
        .await
        .expect(200)
        .json();
    assert!(shared["short_url"].as_str().unwrap().ends_with("/w/team/shared"), "{shared}");
    assert_eq!(location(&http, "/shared").await.as_deref(), Some("https://c.example/"));
    assert_eq!(
        location(&http, "/w/team/shared").await.as_deref(),
        Some("https://example.com/page")
    );
    kurz.stop().await;
}

async fn every_change_of_a_link_is_one_of_its_aliases(kind: Kind) {
    let kurz = start_without_cleanup(kind).await;
    let http = kurz.http();
    links::make(&http, "team", &promo("https://example.com/1")).await;
    for alias in ["first", "second"] {
        http.post(&format!("{TEAM}/promo/aliases"), &json!({ "code": alias })).await.expect(201);
    }
    let all = ["/promo", "/first", "/second", "/w/team/first"];
    let expect = async |status: u16, target: Option<&str>| {
        for path in all {
            let answer = http.get(path).await;
            assert_eq!((answer.status, answer.header("location")), (status, target), "{path}");
        }
    };
    expect(302, Some("https://example.com/1")).await;
    http.patch(&format!("{TEAM}/second"), &json!({ "original_url": "https://example.com/2" }))
        .await
        .expect(200);
    expect(302, Some("https://example.com/2")).await;
    http.delete(&format!("{TEAM}/first")).await.expect(200);
    expect(404, None).await;
    http.post(&format!("{TEAM}/first/aliases"), &json!({ "code": "third" })).await.expect(404);
    http.post(&format!("{TEAM}/first/restore"), &json!({})).await.expect(200);
    expect(302, Some("https://example.com/2")).await;
    http.post(&format!("{TEAM}/first/disable"), &json!({ "reason": "abuse" })).await.expect(200);
    expect(410, None).await;
    http.post(&format!("{TEAM}/first/enable"), &json!({})).await.expect(204);
    expect(302, Some("https://example.com/2")).await;
    // Deleted and asked for again: it comes back, and its aliases with it.
    http.delete(&format!("{TEAM}/promo")).await.expect(200);
    expect(404, None).await;
    let revived = http.post(TEAM, &promo("https://example.com/2")).await.expect(201).json();
    assert_eq!(revived["aliases"], json!(["first", "second"]));
    expect(302, Some("https://example.com/2")).await;
    let kurz = kurz.restart().await;
    let http = kurz.http();
    assert_eq!(location(&http, "/second").await.as_deref(), Some("https://example.com/2"));
    kurz.stop().await;
}

async fn no_code_of_a_link_is_given_to_another(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    links::make(&http, "team", &promo("https://example.com/1")).await;
    let aliases = format!("{TEAM}/promo/aliases");
    http.post(&aliases, &json!({ "code": "alias" })).await.expect(201);
    let other = json!({ "original_url": "https://other.example/", "custom_code": "alias" });
    http.post(TEAM, &other).await.expect_problem(409, "code-taken");
    let own = json!({ "original_url": "https://other.example/", "custom_code": "own" });
    links::make(&http, "team", &own).await;
    http.post(&format!("{TEAM}/own/aliases"), &json!({ "code": "alias" }))
        .await
        .expect_problem(409, "code-taken");
    http.post(&aliases, &json!({ "code": "own" })).await.expect_problem(409, "code-taken");
    // Of another workspace it is the code, but not on the main host.
    let elsewhere = http.post("/api/v1/workspaces/other/links", &other).await.expect(201).json();
    assert!(elsewhere["short_url"].as_str().unwrap().ends_with("/w/other/alias"), "{elsewhere}");
    http.delete(&format!("{aliases}/alias")).await.expect(204);
    http.post(TEAM, &other).await.expect_problem(409, "code-taken");
    let same = json!({ "original_url": "https://example.com/1", "custom_code": "alias" });
    http.post(TEAM, &same).await.expect_problem(409, "code-taken");
    http.post(&aliases, &json!({ "code": "alias" })).await.expect_problem(409, "code-taken");
    http.get(&format!("{TEAM}/alias")).await.expect(404);
    // Too many are refused.
    for number in 0..100 {
        http.post(&aliases, &json!({ "code": format!("more-{number}") })).await.expect(201);
    }
    let last = http.post(&aliases, &json!({ "code": "one-more" })).await;
    last.expect_problem(422, "aliases-too-many");
    let renamed = http.patch(&format!("{TEAM}/promo"), &json!({ "short_code": "one-more" })).await;
    renamed.expect_problem(422, "aliases-too-many");
    http.patch(&format!("{TEAM}/promo"), &json!({ "short_code": "more-7" })).await.expect(200);
    kurz.stop().await;
}

async fn codes_that_are_wanted_at_once_go_to_one_link(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for code in ["one", "two", "six"] {
        let body =
            json!({ "original_url": format!("https://{code}.example/"), "custom_code": code });
        links::make(&http, "team", &body).await;
    }
    for round in 0..10 {
        let wanted = format!("wanted-{round}");
        let alias = json!({ "code": wanted });
        let create = json!({ "original_url": "https://new.example/", "custom_code": wanted });
        let rename = json!({ "short_code": wanted });
        let (first, second) = (format!("{TEAM}/one/aliases"), format!("{TEAM}/two/aliases"));
        let third = format!("{TEAM}/six");
        let (a, b, c, d) = tokio::join!(
            http.post(&first, &alias),
            http.post(&second, &alias),
            http.post(TEAM, &create),
            http.patch(&third, &rename),
        );
        let statuses = [a.status, b.status, c.status, d.status];
        let won = statuses.iter().filter(|status| matches!(status, 200 | 201)).count();
        let lost = statuses.iter().filter(|status| **status == 409).count();
        assert_eq!((won, lost), (1, 3), "{statuses:?}");
        let shown = http.get(&format!("{TEAM}/{wanted}")).await.expect(200).json();
        let target = location(&http, &format!("/{wanted}")).await;
        assert_eq!(target.as_deref(), shown["original_url"].as_str());
    }
    // Two aliases of one link at once are both added.
    let path = format!("{TEAM}/one/aliases");
    let bodies: Vec<Value> = (0..4).map(|n| json!({ "code": format!("both-{n}") })).collect();
    let added =
        futures_util::future::join_all(bodies.iter().map(|body| http.post(&path, body))).await;
    for answer in added {
        answer.expect(201);
    }
    let shown = http.get(&format!("{TEAM}/one")).await.expect(200).json();
    for number in 0..4 {
        let alias = json!(format!("both-{number}"));
        assert!(shown["aliases"].as_array().unwrap().contains(&alias), "{shown}");
    }
    kurz.stop().await;
}

async fn purged_links_leave_their_aliases_taken(kind: Kind) {
    let kurz = start_without_cleanup(kind).await;
    let http = kurz.http();
    links::make(&http, "team", &promo("https://example.com/")).await;
    http.post(&format!("{TEAM}/promo/aliases"), &json!({ "code": "alias" })).await.expect(201);
    http.delete(&format!("{TEAM}/promo")).await.expect(200);
    let kurz = kurz.pass(GRACE).await;
    let http = kurz.http();
    assert_eq!(kurz.clean_up().await.purged, 1, "the alias is no link of its own");
    http.get("/alias").await.expect(404);
    for target in ["https://example.com/", "https://other.example/"] {
        let body = json!({ "original_url": target, "custom_code": "alias" });
        http.post(TEAM, &body).await.expect_problem(409, "code-taken");
    }
    let revived = http.post(TEAM, &promo("https://example.com/")).await.expect(201).json();
    assert_eq!(revived["aliases"], json!([]), "it may be somebody else's now");
    http.get("/alias").await.expect(404);
    http.get("/promo").await.expect(302);
}

async fn an_alias_that_was_damaged_leads_nowhere(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    links::make(&http, "team", &promo("https://example.com/")).await;
    let other = json!({ "original_url": "https://other.example/", "custom_code": "other" });
    let other = links::make(&http, "team", &other).await;
    http.post(&format!("{TEAM}/promo/aliases"), &json!({ "code": "alias" })).await.expect(201);
    assert_eq!(kurz.open_store().await.list_damaged().await.unwrap(), []);
    let damage = format!("update links set alias_of = {} where code = 'alias'", other["id"]);
    kurz.execute(&damage).await;
    let kurz = kurz.restart().await;
    kurz.http().get("/alias").await.expect(503);
    assert_eq!(kurz.open_store().await.list_damaged().await.unwrap().len(), 1);
    kurz.http().get("/promo").await.expect(302);
    kurz.stop().await;
}

async fn aliases_count_as_custom_codes(kind: Kind) {
    let server =
        TestServer::builder().database(kind).accounts().setting("KURZ_CUSTOM_CODE_LIMIT", "2");
    let server = server.process().start();
    let ada = server.register("ada").await;
    let main = "/api/v1/workspaces/main/links";
    let link = links::make(&ada, "main", &json!({ "original_url": "https://example.com/" })).await;
    let aliases = format!("{}/aliases", links::path_of(&link));
    ada.post(&aliases, &json!({ "code": "ada-one" })).await.expect(201);
    ada.patch(&links::path_of(&link), &json!({ "short_code": "ada-two" })).await.expect(200);
    ada.post(&aliases, &json!({ "code": "ada-three" }))
        .await
        .expect_problem(429, "custom-code-limit");
    let custom = json!({ "original_url": "https://example.com/", "custom_code": "ada-three" });
    ada.post(main, &custom).await.expect_problem(429, "custom-code-limit");
    let renamed = ada.patch(&links::path_of(&link), &json!({ "short_code": "ada-three" })).await;
    renamed.expect_problem(429, "custom-code-limit");
    // To a code that it has is no new code.
    ada.patch(&links::path_of(&link), &json!({ "short_code": "ada-one" })).await.expect(200);
}

// threats: E11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_code_works_on_a_second_instance_and_the_old_one_goes_on() {
    let redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(2);
    let (here, there) = (instances.http(0), instances.http(1));
    let body =
        json!({ "original_url": "https://example.com/0", "custom_code": "code-0", "hit_limit": 0 });
    links::make(&here, "main", &body).await;
    for round in 0..20 {
        let (old, new) = (format!("code-{round}"), format!("code-{}", round + 1));
        // Both are in memory there: the one as a link, the other as absent.
        there.get(&format!("/{old}")).await.expect(302);
        there.get(&format!("/{new}")).await.expect(404);
        let api = format!("/api/v1/workspaces/main/links/{old}");
        here.patch(&api, &json!({ "short_code": new })).await.expect(200);
        let watch = kurz::clock::Stopwatch::start();
        while there.get(&format!("/{new}")).await.status != 302 {
            there.get(&format!("/{old}")).await.expect(302);
            assert!(watch.elapsed() < Duration::from_secs(1), "{new} is not known after a second");
        }
        there.get(&format!("/{old}")).await.expect(302);
    }
    // An edit reaches every code.
    let target = "https://example.com/last";
    here.patch("/api/v1/workspaces/main/links/code-3", &json!({ "original_url": target }))
        .await
        .expect(200);
    let watch = kurz::clock::Stopwatch::start();
    for round in 0..=20 {
        let path = format!("/code-{round}");
        while location(&there, &path).await.as_deref() != Some(target) {
            assert!(watch.elapsed() < Duration::from_secs(1), "{path} leads to the old target");
        }
    }
}

//! Rules and the other settings of a plan over the API: set, shown, refused, tried and followed.

use http::{Method, header};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    a_plan_is_flat_on_its_link_and_its_secrets_are_not_shown,
    the_simulator_says_what_a_redirect_does,
    an_edit_names_the_rules_that_changed_and_keeps_the_rest,
    defaults_of_a_workspace_hold_for_links_that_say_nothing,
    a_link_that_exists_is_no_answer_to_a_request_with_another_plan,
);

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, \
    like Gecko) Version/17.4 Mobile/15E148 Safari/604.1";

fn rules() -> Value {
    json!([
        { "name": "app", "when": { "os": ["ios"], "language": ["de"] }, "to": "https://apps.example/de" },
        { "name": "test", "when": { "query": { "ab": "1" } }, "split": [
            { "name": "old", "weight": 1, "to": "https://example.com/a" },
            { "name": "new", "weight": 1, "to": "https://example.com/b" } ] },
        { "name": "away", "when": { "query": { "away": true } }, "block": 451 },
    ])
}

async fn a_plan_is_flat_on_its_link_and_its_secrets_are_not_shown(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let plain =
        links::make(&http, "team", &json!({ "original_url": "https://example.com/plain" })).await;
    assert!(plain.get("rules").is_none() && plain.get("has_password").is_none(), "{plain}");
    let body = json!({
        "original_url": "https://example.com/", "rules": rules(), "password": "open sesame",
        "click_limit": 50, "valid_from": "2020-01-01T00:00:00Z", "expired_url": "https://example.com/over",
        "query": "merge", "utm": { "source": "{code}" }, "consent": "once", "robots": "index",
        "card": { "title": "A title" },
    });
    let link = links::make(&http, "team", &body).await;
    assert_eq!((&link["rules"], &link["has_password"]), (&rules(), &json!(true)), "{link}");
    assert_eq!(link["valid_from"], "2020-01-01T00:00:00.000Z");
    assert_eq!(
        [&link["click_limit"], &link["consent"], &link["utm"], &link["card"]],
        [
            &json!(50),
            &json!("once"),
            &json!({ "source": "{code}" }),
            &json!({ "title": "A title" })
        ]
    );
    let text = links::show(&http, &link).await.to_string();
    assert!(!text.contains("sesame") && !text.contains("$2b$") && !text.contains("key"), "{text}");
    let shown = http.get(&format!("{}/rules", links::path_of(&link))).await.expect(200).json();
    assert_eq!((&shown["rules"], &shown["cost"]), (&rules(), &json!("page")), "{shown}");
    assert!(shown["compiled_bytes"].as_u64().unwrap() > 500);
    let results = http.get(&format!("{}/split", links::path_of(&link))).await.expect(200).json();
    let variant = &results["splits"][0]["variants"][1];
    assert_eq!(
        (&variant["name"], &variant["share_aimed_at"]),
        (&json!("new"), &json!(0.5)),
        "{results}"
    );
    kurz.stop().await;
}

async fn the_simulator_says_what_a_redirect_does(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "rules": rules() });
    let link = links::make(&http, "main", &body).await;
    let (simulate, short) =
        (format!("{}/simulate", links::path_of(&link)), links::short_path(&link));
    for (language, agent, query) in [
        ("de-AT", IPHONE, ""),
        ("fr", IPHONE, ""),
        ("de", "Mozilla/5.0", "ab=1"),
        ("", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "ab=1&x=2"),
        ("", "Mozilla/5.0", "away"),
        ("", "Mozilla/5.0", "ab=2"),
    ] {
        let visit =
            json!({ "ip": "127.0.0.1", "language": language, "user_agent": agent, "query": query });
        let said = http.post(&simulate, &visit).await.expect(200).json();
        let visitor = http.with(header::USER_AGENT, agent).with(header::ACCEPT_LANGUAGE, language);
        let answer = visitor.get(&format!("{short}?{query}")).await;
        let status = u16::try_from(said["status"].as_u64().unwrap()).unwrap();
        let answer = answer.expect(status);
        assert_eq!(said["location"].as_str(), answer.header("location"), "{visit} {said}");
        assert_eq!(said["would_count"], status == 302);
    }
    let app = http.post(&simulate, &json!({ "language": "de", "user_agent": IPHONE })).await.json();
    assert_eq!((&app["step"], &app["rule"]), (&json!(13), &json!({ "index": 0, "name": "app" })));
    assert_eq!(
        app["why"][1],
        json!({ "rule": 0, "test": "language", "value": "de", "holds": true })
    );
    let unknown = http.post(&simulate, &json!({})).await.expect(200).json();
    assert_eq!((&unknown["why"][0]["holds"], &unknown["rule"]), (&json!("unknown"), &Value::Null));
    // Rules to try are not stored, and a wrong one is refused like anywhere.
    let tried =
        json!({ "rules": [{ "when": { "country": ["DE"] }, "block": 403 }], "country": "DE" });
    assert_eq!(http.post(&simulate, &tried).await.expect(200).json()["status"], 403);
    assert_eq!(links::show(&http, &link).await["rules"], rules());
    let wrong = json!({ "rules": [{ "when": { "country": ["UK"] }, "block": 403 }] });
    let problem = http.post(&simulate, &wrong).await.expect(422).json();
    assert_eq!(problem["errors"][0]["field"], "rules[0].when.country[0]", "{problem}");
    assert!(problem["errors"][0]["detail"].as_str().unwrap().contains("GB"), "{problem}");
    http.post(&simulate, &json!({ "ip": "home" })).await.expect(422);
    kurz.stop().await;
}

async fn an_edit_names_the_rules_that_changed_and_keeps_the_rest(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body =
        json!({ "original_url": "https://example.com/", "rules": rules(), "click_limit": 9 });
    let link = links::make(&http, "team", &body).await;
    let api = links::path_of(&link);
    for (patch, code, field) in [
        (json!({ "redirect_status": 301 }), "status-permanent", "redirect_status"),
        (
            json!({ "rules": [{ "to": "ftp://a.example/" }] }),
            "url-scheme-not-allowed",
            "rules[0].to",
        ),
        (json!({ "expired_url": "javascript:alert(1)" }), "url-scheme-not-allowed", "expired_url"),
        (json!({ "fallback_url": "https://example.com/down" }), "health-off", "fallback_url"),
        (json!({ "cloak": true }), "cloaking-refused", "cloak"),
        (json!({ "password": "abc" }), "link-password-invalid", "password"),
        (json!({ "rules": [{ "block": 404 }, { "block": 403 }] }), "rule-unreachable", "rules[1]"),
        (json!({ "utm": { "source": "{city}" } }), "placeholder-unknown", "utm.source"),
    ] {
        let problem = http.patch(&api, &patch).await.expect(422).json();
        let error = &problem["errors"][0];
        assert_eq!((&error["code"], &error["field"]), (&json!(code), &json!(field)), "{problem}");
    }
    let own = format!("{}/abcdef", kurz.base_url());
    let problem = http.patch(&api, &json!({ "expired_url": own })).await.expect(422).json();
    assert_eq!(problem["errors"][0]["code"], "url-own", "{problem}");
    assert_eq!(links::show(&http, &link).await, link, "a refused edit changes nothing");
    let mut changed = rules();
    changed[1]["split"][0]["weight"] = json!(9);
    let edit = json!({ "rules": changed, "click_limit": null });
    let edited = http.patch(&api, &edit).await.expect(200).json();
    assert_eq!(edited["rules"], changed);
    assert!(edited.get("click_limit").is_none(), "{edited}");
    let audit = http.get("/api/v1/admin/audit?action=edited").await.expect(200).text();
    assert!(audit.contains("rules[1] (test)") && audit.contains("click_limit"), "{audit}");
    assert!(!audit.contains("rules[0] (app)"), "{audit}");
    let titled = http.patch(&api, &json!({ "title": "T" })).await.expect(200).json();
    assert_eq!(titled["rules"], changed, "what an edit leaves out stays");
    let bare = http.patch(&api, &json!({ "rules": null })).await.expect(200).json();
    assert!(bare.get("rules").is_none() && bare.get("has_password").is_none(), "{bare}");
    kurz.stop().await;
}

async fn defaults_of_a_workspace_hold_for_links_that_say_nothing(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let plain =
        links::make(&http, "team", &json!({ "original_url": "https://example.com/a" })).await;
    let own = json!({ "original_url": "https://example.com/b", "utm": { "source": "own" } });
    let own = links::make(&http, "team", &own).await;
    let api = "/api/v1/workspaces/team/defaults";
    let location = async |link: &Value| {
        let answer = http.get(&links::short_path(link)).await.expect(302);
        answer.header("location").unwrap().to_owned()
    };
    assert_eq!(location(&plain).await, "https://example.com/a");
    let defaults = json!({ "utm": { "source": "team", "medium": "short" } });
    let set = http.send(Method::PUT, api, Some(&defaults)).await.expect(200).json();
    assert_eq!((&set["utm"], &set["query"]), (&defaults["utm"], &Value::Null));
    assert_eq!(http.get(api).await.expect(200).json(), set);
    assert_eq!(location(&plain).await, "https://example.com/a?utm_source=team&utm_medium=short");
    assert_eq!(location(&own).await, "https://example.com/b?utm_source=own&utm_medium=short");
    let bad = json!({ "expired_url": "nowhere" });
    http.send(Method::PUT, api, Some(&bad)).await.expect(422);
    http.send(Method::PUT, api, Some(&json!({ "rules": [] })))
        .await
        .expect_problem(422, "body-invalid");
    http.delete(api).await.expect(204);
    assert_eq!(location(&plain).await, "https://example.com/a");
    kurz.stop().await;
}

async fn a_link_that_exists_is_no_answer_to_a_request_with_another_plan(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let plain = json!({ "original_url": "https://example.com/" });
    let link = links::make(&http, "team", &plain).await;
    let locked = json!({ "original_url": "https://example.com/", "password": "open sesame" });
    http.post(&links::path("team"), &locked).await.expect_problem(409, "link-exists");
    assert_eq!(http.post(&links::path("team"), &plain).await.expect(200).json(), link);
    let bulk = json!({ "links": [
        { "original_url": "https://example.com/x", "click_limit": 1 },
        { "original_url": "https://example.com/x", "click_limit": 2 },
        { "original_url": "https://example.com/y", "rules": [{ "block": 500 }] },
    ] });
    let answer =
        http.post(&format!("{}/bulk", links::path("team")), &bulk).await.expect(200).json();
    let statuses: Vec<_> =
        answer["results"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!(statuses, [201, 409, 422], "{answer}");
    assert_eq!(answer["results"][0]["link"]["click_limit"], 1);
    kurz.stop().await;
}

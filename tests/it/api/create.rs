//! `POST …/links`: every strategy, every refusal.

use kurz_core::code::counter::{LENGTH, Scramble, Scrambler};
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    each_strategy_makes_its_own_kind_of_code,
    counter_codes_follow_the_counter_across_restarts,
    a_custom_code_is_new_or_found_or_taken,
    words_that_are_pages_are_no_codes_in_any_case,
    a_bad_field_is_named_with_its_code_and_nothing_is_stored,
    sixty_four_creators_of_one_custom_code_make_it_once,
    a_body_that_cannot_be_read_is_refused,
);

async fn each_strategy_makes_its_own_kind_of_code(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let url = "https://example.com/path";
    let table = [
        (json!({ "original_url": url }), "random", 7),
        (json!({ "original_url": url, "strategy": "random" }), "random", 7),
        (json!({ "original_url": url, "strategy": "counter" }), "counter", 7),
        (json!({ "original_url": url, "strategy": "deterministic" }), "deterministic", 10),
        (json!({ "original_url": url, "custom_code": "My_Code-1" }), "custom", 9),
        (json!({ "original_url": url, "custom_code": "c-2", "strategy": "counter" }), "custom", 3),
        (json!({ "original_url": url, "custom_code": "c-3", "strategy": "custom" }), "custom", 3),
    ];
    for (body, strategy, length) in table {
        let link = http.post("/api/v1/links", &body).await.expect(201).json();
        assert_eq!(link["strategy"], strategy, "{body}");
        assert_eq!(links::code(&link).len(), length, "{body}");
        assert_eq!(link["workspace"], "main");
        assert_eq!(
            http.get(&links::short_path(&link)).await.expect(302).header("location"),
            Some(url)
        );
        let year =
            if strategy == "counter" { json!("2027-03-15T12:00:00.000Z") } else { json!(null) };
        assert_eq!(link["expires_at"], year);
        let expected = json!({
            "id": link["id"], "workspace": "main", "short_code": link["short_code"],
            "short_url": link["short_url"], "original_url": url, "normalized_url": url,
            "strategy": strategy, "link_type": "PERMANENT", "status": "ACTIVE", "title": null,
            "note": null, "aliases": [], "archived_at": null, "tags": [], "created_at": NOON.to_rfc3339(), "updated_at": NOON.to_rfc3339(),
            "expires_at": year, "redirect_count": 0, "avg_redirect_ms": 0.0,
            "last_redirect_at": null, "hit_limit": 10_000, "hits_this_month": 0,
            "destination_status": null, "destination_http_status": null, "last_checked_at": null, "redirect_status": 302, "restorable_until": null,
            "idn_suspicious": false, "disabled_reason": null, "disabled_at": null,
            "disabled_note": null,
        });
        assert_eq!(link, expected);
    }
    // Every field, as it was given.
    let body = json!({
        "original_url": url, "custom_code": "full", "title": " A title ", "tags": ["b", "ä", "b"],
        "expires_at": "2026-03-16T00:00:00+01:00", "hit_limit": 7, "redirect_status": 307,
    });
    let link = links::make(&http, "main", &body).await;
    assert_eq!(link["title"], "A title");
    assert_eq!(link["tags"], json!(["b", "ä"]));
    assert_eq!(link["expires_at"], "2026-03-15T23:00:00.000Z");
    assert_eq!((&link["hit_limit"], &link["redirect_status"]), (&json!(7), &json!(307)));
    assert_eq!(links::show(&http, &link).await, link);
    kurz.stop().await;
}

async fn counter_codes_follow_the_counter_across_restarts(kind: Kind) {
    let settings = [("KURZ_COUNTER_SALT", "unit_test_salt"), ("KURZ_COUNTER_TTL", "0")];
    let mut kurz = TestServer::builder().database(kind).settings(&settings).start().await;
    let scrambler =
        Scrambler::new(Scramble::Affine, "unit_test_salt", 1_315_423_911, LENGTH).unwrap();
    let body = json!({ "original_url": "https://example.com/", "strategy": "counter" });
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..3 {
        for number in 1..=3 {
            let link = links::make(&kurz.http(), "team", &body).await;
            assert_eq!(link["expires_at"], json!(null));
            if round == 0 {
                assert_eq!(links::code(&link), scrambler.code(number).as_str());
            }
            assert!(seen.insert(links::code(&link).to_owned()), "a number was given twice");
        }
        kurz = kurz.restart().await;
    }
    kurz.stop().await;
}

async fn a_custom_code_is_new_or_found_or_taken(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let ask = |url: &str| {
        let body = json!({ "original_url": url, "custom_code": "promo", "title": url });
        let (http, path) = (http.clone(), links::path("team"));
        async move { http.post(&path, &body).await }
    };
    let link = ask("https://example.com/a?x=1&y=2#top").await.expect(201).json();
    for same in ["https://example.com/a?x=1&y=2#top", "HTTPS://EXAMPLE.com:443/a?y=2&x=1#top"] {
        assert_eq!(ask(same).await.expect(200).json(), link, "{same}");
    }
    for other in
        ["https://example.com/a?x=1&y=2", "https://example.com/a?x=1&y=2#end", "https://e.com/"]
    {
        ask(other).await.expect_problem(409, "code-taken");
    }
    assert_eq!(links::all(&http, "team").await, [link]);
    // Codes know capital letters.
    let body = json!({ "original_url": "https://other.example/", "custom_code": "PROMO" });
    links::make(&http, "team", &body).await;
    kurz.stop().await;
}

// threats: B1
async fn words_that_are_pages_are_no_codes_in_any_case(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    for word in ["api", "API", "Healthz", "readyz", "metrics", "robots", "app", "login"] {
        let body = json!({ "original_url": "https://example.com/", "custom_code": word });
        let problem = http.post("/api/v1/links", &body).await.expect_problem(422, "code-reserved");
        assert_eq!(problem["errors"][0]["field"], "custom_code");
    }
    assert_eq!(links::all(&http, "main").await.len(), 0);
    kurz.stop().await;
}

async fn a_bad_field_is_named_with_its_code_and_nothing_is_stored(kind: Kind) {
    let kurz = TestServer::builder()
        .database(kind)
        .setting("KURZ_PRIVATE_TARGETS", "refuse")
        .start()
        .await;
    let http = kurz.http();
    let long = "x".repeat(513);
    let many: Vec<String> = (0..101).map(|n| n.to_string()).collect();
    let table = [
        (json!({ "original_url": "ftp://example.com" }), "original_url", "url-scheme-not-allowed"),
        (json!({ "original_url": "https://localhost/" }), "original_url", "url-private-address"),
        (json!({ "original_url": "https://example.com:0/" }), "original_url", "url-port-invalid"),
        (json!({ "custom_code": "ab" }), "custom_code", "code-invalid"),
        (json!({ "custom_code": "a/b" }), "custom_code", "code-invalid"),
        (json!({ "custom_code": "abc\u{0}" }), "custom_code", "code-invalid"),
        (json!({ "custom_code": "x".repeat(65) }), "custom_code", "code-invalid"),
        (json!({ "strategy": "custom" }), "custom_code", "code-missing"),
        (json!({ "title": long }), "title", "title-invalid"),
        (json!({ "title": "a\u{0}b" }), "title", "title-invalid"),
        (json!({ "tags": many }), "tags", "tags-too-many"),
        (json!({ "tags": [""] }), "tags", "tag-invalid"),
        (json!({ "tags": ["a\nb"] }), "tags", "tag-invalid"),
        (json!({ "tags": ["x".repeat(256)] }), "tags", "tag-invalid"),
        (json!({ "hit_limit": -1 }), "hit_limit", "hit-limit-invalid"),
        (json!({ "hit_limit": 1_000_000_000_001_i64 }), "hit_limit", "hit-limit-invalid"),
        (json!({ "redirect_status": 303 }), "redirect_status", "redirect-status-invalid"),
        (json!({ "redirect_status": 0 }), "redirect_status", "redirect-status-invalid"),
        (json!({ "expires_at": NOON.to_rfc3339() }), "expires_at", "expires-at-past"),
        (json!({ "expires_at": "1969-12-31T23:59:59Z" }), "expires_at", "expires-at-past"),
    ];
    let with_url = |body: &Value| {
        let mut body = body.clone();
        if body.get("original_url").is_none() {
            body["original_url"] = json!("https://example.com/");
        }
        body
    };
    for (body, field, code) in &table {
        let answer = http.post("/api/v1/workspaces/fresh/links", &with_url(body)).await;
        let problem = answer.expect_problem(422, code);
        assert_eq!(problem["errors"].as_array().unwrap().len(), 1, "{problem}");
        assert_eq!(
            (&problem["errors"][0]["field"], &problem["errors"][0]["code"]),
            (&json!(field), &json!(code))
        );
    }
    let several = json!({ "original_url": "", "title": long, "hit_limit": -1 });
    let answer = http.post("/api/v1/workspaces/fresh/links", &several).await;
    let problem = answer.expect_problem(422, "validation-failed");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 3, "{problem}");
    let bad_id = http.post("/api/v1/workspaces/a.b/links", &with_url(&json!({}))).await;
    bad_id.expect_problem(422, "workspace-id-invalid");
    // Not even the workspace that a first link would have made.
    http.get("/api/v1/workspaces/fresh").await.expect_problem(404, "workspace-not-found");
    assert_eq!(http.get("/api/v1/stats").await.json()["total_links"], 0);
    kurz.stop().await;
}

// threats: B8
async fn sixty_four_creators_of_one_custom_code_make_it_once(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let create = |n: usize| {
        let body =
            json!({ "original_url": format!("https://{n}.example/"), "custom_code": "promo" });
        let http = http.clone();
        // From several workspaces: each has its own `promo`, the main host has one.
        let path = links::path(&format!("team{}", n % 4));
        async move { http.post(&path, &body).await }
    };
    let answers = futures_util::future::join_all((0..64).map(create)).await;
    let made: Vec<Value> =
        answers.iter().filter(|answer| answer.status == 201).map(|answer| answer.json()).collect();
    assert_eq!(made.len(), 4);
    assert_eq!(answers.iter().filter(|answer| answer.status == 409).count(), 60);
    let bare = made.iter().filter(|link| links::short_path(link) == "/promo").count();
    assert_eq!(bare, 1, "{made:?}");
    for link in &made {
        let answer = http.get(&links::short_path(link)).await.expect(302);
        assert_eq!(answer.header("location"), link["original_url"].as_str());
    }
    kurz.stop().await;
}

async fn a_body_that_cannot_be_read_is_refused(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let path = "/api/v1/workspaces/fresh/links";
    let url = r#""original_url":"https://example.com/""#;
    let table: [(Vec<u8>, u16, &str); 14] = [
        (b"".to_vec(), 400, "json-malformed"),
        (b"{".to_vec(), 400, "json-malformed"),
        (b"original_url=https://example.com/".to_vec(), 400, "json-malformed"),
        (format!("{{{url}}} {{}}").into_bytes(), 400, "json-malformed"),
        (b"{\"original_url\":\"https://example.com/\xff\"}".to_vec(), 400, "body-not-utf8"),
        (b"[]".to_vec(), 422, "body-invalid"),
        (b"{}".to_vec(), 422, "body-invalid"),
        (b"{\"original_url\":7}".to_vec(), 422, "body-invalid"),
        (format!("{{{url},{url}}}").into_bytes(), 422, "body-invalid"),
        (format!("{{{url},\"Title\":\"x\"}}").into_bytes(), 422, "body-invalid"),
        (format!("{{{url},\"strategy\":\"best\"}}").into_bytes(), 422, "body-invalid"),
        (format!("{{{url},\"expires_at\":\"tomorrow\"}}").into_bytes(), 422, "body-invalid"),
        (format!("{{{url},\"tags\":\"a\"}}").into_bytes(), 422, "body-invalid"),
        (
            format!("{{{url},\"title\":\"{}\"}}", "x".repeat(64 << 10)).into_bytes(),
            413,
            "body-too-large",
        ),
    ];
    for (body, status, code) in table {
        let answer = http.post_bytes(path, body.clone()).await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        assert_eq!(answer.status, status, "{shown}: {}", answer.text());
        answer.expect_problem(status, code);
    }
    http.get("/api/v1/workspaces/fresh").await.expect_problem(404, "workspace-not-found");
    // A body is read whatever its type is said to be; null is the same as nothing.
    let body =
        format!("{{{url},\"title\":null,\"tags\":null,\"custom_code\":null,\"hit_limit\":null}}");
    http.post_bytes(path, body).await.expect(201);
    kurz.stop().await;
}

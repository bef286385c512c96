//! The log of changes: whatever people and keys change is in it, with who, what, when and from where.

use std::time::Duration;

use kurz_test_support::accounts::{PASSWORD, email, invite, join};
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, Process, TestServer, on_both_databases};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

on_both_databases!(the_log_is_kept_for_as_long_as_the_setting_says);

const AUDIT: &str = "/api/v1/admin/audit";

async fn log(http: &Http, query: &str) -> Vec<Value> {
    let page = http.get(&format!("{AUDIT}?{query}")).await.expect(200).json();
    page["changes"].as_array().unwrap().clone()
}

/// What the log holds then, by the alphabet: two changes of one millisecond may stand in either order.
const EXPECTED: [&str; 27] = [
    "host added",
    "host removed",
    "host verified",
    "key made",
    "key revoked",
    "link claimed",
    "link deleted",
    "link deleted",
    "link disabled",
    "link edited",
    "link enabled",
    "link restored",
    "member changed",
    "member invitation-accepted",
    "member invitation-declined",
    "member invitation-revoked",
    "member invited",
    "member invited",
    "member invited",
    "member removed",
    "user password-changed",
    "user registered",
    "user registered",
    "user registered",
    "workspace created",
    "workspace deleted",
    "workspace edited",
];

/// Change everything that a team has.
async fn change_a_team(ada: &Http, bob: &Http, with_key: &Http, root: &Http) {
    ada.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    ada.patch("/api/v1/workspaces/acme", &json!({ "hit_limit": 5 })).await.expect(200);
    let hosts = "/api/v1/workspaces/acme/hosts";
    ada.post(hosts, &json!({ "host": "go.acme.example" })).await.expect(201);
    root.post(&format!("{hosts}/go.acme.example/approve"), &json!({})).await.expect(200);
    ada.delete(&format!("{hosts}/go.acme.example")).await.expect(204);
    let members = "/api/v1/workspaces/acme/members";
    let revoked = invite(ada, "acme", "bob", "admin").await;
    ada.delete(&format!("/api/v1/workspaces/acme/invitations/{}", revoked["id"])).await.expect(204);
    let declined = json!({ "token": invite(ada, "acme", "bob", "viewer").await["token"] });
    bob.post("/api/v1/me/invitations/decline", &declined).await.expect(204);
    join(ada, "acme", ("bob", bob), "viewer").await;
    let bob = format!("{members}/{}", email("bob"));
    ada.patch(&bob, &json!({ "role": "member" })).await.expect(200);
    ada.delete(&bob).await.expect(204);
    let links = "/api/v1/workspaces/acme/links";
    let made = json!({ "original_url": "https://example.com/old", "custom_code": "promo" });
    with_key.post(links, &made).await.expect(201);
    let link = format!("{links}/promo");
    with_key.patch(&link, &json!({ "original_url": "https://example.com/new" })).await.expect(200);
    ada.delete(&link).await.expect(200);
    ada.post(&format!("{link}/restore"), &json!({})).await.expect(200);
    root.post(&format!("{link}/disable"), &json!({ "reason": "legal" })).await.expect(200);
    root.post(&format!("{link}/enable"), &json!({})).await.expect(204);
    ada.delete(&link).await.expect(200);
    ada.delete("/api/v1/workspaces/acme").await.expect(204);
}

// threats: A16
#[tokio::test]
async fn every_change_is_written_down_with_who_what_when_and_from_where() {
    let server = TestServer::builder().accounts().process().start();
    let root = server.administrator("root").await;
    let ada = server.register("ada").await;
    let bob = server.register("bob").await;
    let anonymous = json!({ "original_url": "https://example.com/claimed" });
    let claimed = server.http().post("/api/v1/links", &anonymous).await.expect(201).json();
    let claim = json!({ "links": [{ "short_code": claimed["short_code"],
        "claim_token": claimed["claim_token"] }] });
    ada.post("/api/v1/links/claim", &claim).await.expect(200);
    let key = json!({ "name": "k", "scopes": ["read", "create", "manage"] });
    let key = ada.post("/api/v1/keys", &key).await.expect(201).json();
    let with_key = server.http().bearer(key["key"].as_str().unwrap());

    change_a_team(&ada, &bob, &with_key, &root).await;
    ada.delete(&format!("/api/v1/keys/{}", key["id"])).await.expect(204);
    let password = json!({ "current_password": PASSWORD, "new_password": "another-password-1" });
    let fresh = ada.patch("/api/v1/me/password", &password).await;
    assert!((200..300).contains(&fresh.status), "{}", fresh.text());

    let mut seen: Vec<String> = log(&root, "limit=1000")
        .await
        .iter()
        .map(|change| {
            format!("{} {}", change["kind"].as_str().unwrap(), change["action"].as_str().unwrap())
        })
        .collect();
    seen.sort();
    assert_eq!(seen, EXPECTED);

    let edited = &log(&root, "action=edited&kind=link").await[0];
    assert_eq!(edited["email"], email("ada"));
    assert_eq!(edited["key_id"], key["id"]);
    assert_eq!(
        (&edited["subject"], &edited["client"]),
        (&json!("acme/promo"), &json!("127.0.0.1"))
    );
    assert_eq!(edited["detail"]["old_target"], "https://example.com/old");
    let disabled = &log(&root, "action=disabled").await[0];
    assert_eq!(disabled["email"], email("root"));
    assert_eq!(disabled["detail"]["target"], "https://example.com/new");
    assert_eq!(disabled["detail"]["made_from"], "127.0.0.1");
    let promoted = log(&root, "user=root@example.com").await;
    assert_eq!(promoted.len(), 3, "{promoted:?}");
    let registered = log(&root, "action=registered").await;
    let first = registered.last().unwrap();
    assert_eq!(first["client"], "command line");
    assert_eq!(first["subject"], email("root"));

    look_at_what_was_made(&root, &key["id"]).await;
    look_a_page_at_a_time(&server, &root).await;
}

/// The making of links comes from the links themselves.
async fn look_at_what_was_made(root: &Http, key: &Value) {
    let made = log(root, "action=created").await;
    assert_eq!(made.len(), 2);
    assert_eq!((&made[0]["subject"], &made[0]["key_id"]), (&json!("acme/promo"), key));
    assert_eq!(
        (&made[0]["email"], &made[0]["client"]),
        (&json!(email("ada")), &json!("127.0.0.1"))
    );
    let own = log(root, "action=created&user=ada@example.com").await;
    assert_eq!(own.len(), 1);
}

/// And for administrators alone.
async fn look_a_page_at_a_time(server: &Process, root: &Http) {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = root.get(&format!("{AUDIT}?limit=4{cursor}")).await.expect(200).json();
        all.extend(page["changes"].as_array().unwrap().clone());
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(all, log(root, "limit=1000").await);
    let fresh = server.log_in("ada", "another-password-1").await.expect(200).json();
    let ada = server.http().bearer(fresh["token"].as_str().unwrap());
    ada.get(AUDIT).await.expect_problem(404, "not-found");
    server.http().get(AUDIT).await.expect(401);
    root.get(&format!("{AUDIT}?cursor=nonsense")).await.expect_problem(422, "cursor-invalid");
    // What cannot be filtered by is reported under its own name.
    for field in ["action", "kind"] {
        let bad = format!("{AUDIT}?{field}={}", "x".repeat(65));
        let problem = root.get(&bad).await.expect(422).json();
        assert_eq!(problem["errors"][0]["field"], field);
    }
}

// threats: A16
async fn the_log_is_kept_for_as_long_as_the_setting_says(kind: Kind) {
    let settings = [("KURZ_AUDIT_KEEP", "30d"), ("KURZ_CLEANUP_DELAY", "1d")];
    let kurz = TestServer::builder().database(kind).settings(&settings).start().await;
    let http = kurz.http();
    let made = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    http.post("/api/v1/links", &made).await.expect(201);
    let path = "/api/v1/workspaces/main/links/promo";
    http.patch(path, &json!({ "title": "a" })).await.expect(200);
    let times = kurz::app::CleanupTimes {
        lock_at_least: Duration::ZERO,
        lock_at_most: Duration::from_mins(1),
        purge_grace: Duration::from_mins(1),
    };
    kurz.clock.advance(Duration::from_hours(24 * 29));
    http.patch(path, &json!({ "title": "b" })).await.expect(200);
    kurz.app().clean_up(times, &CancellationToken::default()).await.unwrap();
    assert_eq!(log(&http, "").await.len(), 2);
    kurz.clock.advance(Duration::from_hours(25));
    kurz.app().clean_up(times, &CancellationToken::default()).await.unwrap();
    assert_eq!(log(&http, "").await.len(), 1);
    kurz.stop().await;
}

// threats: A16
#[tokio::test]
async fn many_targets_changed_in_a_minute_raise_an_alarm() {
    let server = TestServer::builder().accounts().process().start();
    let ada = server.register("ada").await;
    let made = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    ada.post("/api/v1/workspaces/main/links", &made).await.expect(201);
    let path = "/api/v1/workspaces/main/links/promo";
    for number in 0..101 {
        let change = json!({ "original_url": format!("https://example.com/{number}") });
        ada.patch(path, &change).await.expect(200);
    }
    server.wait_for_log("more than 100 links elsewhere within a minute");
    let metrics = server.admin().get("/metrics").await.text();
    assert!(metrics.contains("kurz_bulk_target_changes_total 1"), "{metrics}");
}

// threats: A16
#[tokio::test]
async fn where_targets_are_fixed_no_link_is_led_elsewhere() {
    let server =
        TestServer::builder().accounts().setting("KURZ_TARGETS", "fixed").process().start();
    let ada = server.register("ada").await;
    let made = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    ada.post("/api/v1/workspaces/main/links", &made).await.expect(201);
    let path = "/api/v1/workspaces/main/links/promo";
    let other = json!({ "original_url": "https://example.com/x" });
    ada.patch(path, &other).await.expect_problem(422, "target-fixed");
    // Nor by rules.
    let rules = json!({ "rules": [{ "when": { "os": ["ios"] }, "to": "https://example.com/x" }] });
    let problem = ada.patch(path, &rules).await.expect_problem(422, "target-fixed");
    assert_eq!(problem["errors"][0]["field"], "rules[0].to", "{problem}");
    let with_rules = json!({ "original_url": "https://example.com/y", "rules": rules["rules"] });
    ada.post("/api/v1/workspaces/main/links", &with_rules).await.expect(201);
    ada.patch(path, &json!({ "original_url": "https://EXAMPLE.com", "title": "t" }))
        .await
        .expect(200);
    assert_eq!(
        server.http().get("/promo").await.expect(302).header("location"),
        Some("https://EXAMPLE.com")
    );
}

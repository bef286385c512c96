//! Links and people that whoever runs the server disables: at once, with a reason, and not to be undone
//! by anybody else.

use std::time::Duration;

use kurz_test_support::accounts::{PASSWORD, email, shorten};
use kurz_test_support::http::Http;
use kurz_test_support::{Process, Program, TestServer};
use reqwest::header::HeaderName;
use serde_json::{Value, json};
use tokio::time::Instant;

const LINKS: &str = "/api/v1/workspaces/acme/links";

/// Ask until the answer has a status: what somebody is known by is believed for a second.
async fn until(http: &Http, path: &str, status: u16) {
    let end = Instant::now() + Duration::from_mins(1);
    while http.get(path).await.status != status {
        assert!(Instant::now() < end, "{path} does not answer {status}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn team(http: &Http) {
    http.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
}

/// In their own language, and without what is for the owner.
async fn visitors_read_why(server: &Process, page: &str) {
    let browser = server.http().with(HeaderName::from_static("accept"), "text/html");
    for (language, words) in
        [("en", "Link disabled"), ("de", "Link gesperrt"), ("es", "desactivado")]
    {
        let visitor = browser.with(HeaderName::from_static("accept-language"), language);
        let shown = visitor.get(page).await.expect(410).text();
        assert!(shown.contains(words) && !shown.contains("a bank"), "{shown}");
    }
}

// threats: B7
#[tokio::test]
async fn a_disabled_link_cannot_be_brought_back_by_its_owner() {
    let settings = [
        ("KURZ_PURGE_GRACE", "0"),
        ("KURZ_CLEANUP_DELAY", "0"),
        ("KURZ_CLEANUP_INTERVAL", "100ms"),
        ("KURZ_CLEANUP_LOCK_AT_LEAST", "0"),
    ];
    let server = TestServer::builder().accounts().settings(&settings).process().start();
    let root = server.administrator("root").await;
    let ada = server.register("ada").await;
    team(&ada).await;
    let body = json!({ "original_url": "https://example.com/bait" });
    let link = ada.post(LINKS, &body).await.expect(201).json();
    let code = link["short_code"].as_str().unwrap();
    let (path, page) = (format!("{LINKS}/{code}"), format!("/{code}"));
    server.http().get(&page).await.expect(302);

    // Neither owners nor strangers can do it, nor learn that it can be done.
    let reason = json!({ "reason": "phishing", "note": "pretends to be a bank" });
    for http in [&ada, &server.register("eve").await] {
        http.post(&format!("{path}/disable"), &reason).await.expect_problem(404, "not-found");
        http.post(&format!("{path}/enable"), &json!({})).await.expect_problem(404, "not-found");
    }
    server.http().post(&format!("{path}/disable"), &reason).await.expect(401);
    for bad in [
        json!({ "reason": "boredom" }),
        json!({ "reason": "blocked" }),
        json!({ "reason": "other", "note": "x".repeat(501) }),
    ] {
        root.post(&format!("{path}/disable"), &bad).await.expect(422);
    }
    root.post(&format!("{path}/enable"), &json!({})).await.expect_problem(409, "not-disabled");
    root.post(&format!("{path}/disable"), &reason).await.expect(200);

    // At once, with the reason, in the visitor's language.
    let problem = server.http().get(&page).await.expect_problem(410, "link-disabled");
    assert!(problem["detail"].as_str().unwrap().contains("pretends to be another"));
    visitors_read_why(&server, &page).await;
    server.http().get(&format!("{page}+")).await.expect(410);

    // Its owner sees it, and cannot undo it.
    let shown = ada.get(&path).await.expect(200).json();
    assert_eq!(shown["status"], "DISABLED");
    assert_eq!(shown["disabled_reason"], "phishing");
    assert_eq!(shown["disabled_note"], "pretends to be a bank");
    let listed = ada.get(&format!("{LINKS}?status=DISABLED")).await.expect(200).json();
    assert_eq!(listed["links"].as_array().unwrap().len(), 1);
    let listed = ada.get(&format!("{LINKS}?status=ACTIVE")).await.expect(200).json();
    assert_eq!(listed["links"], json!([]));
    for change in [json!({ "original_url": "https://example.com/other" }), json!({ "title": "x" })]
    {
        ada.patch(&path, &change).await.expect_problem(403, "link-locked");
    }
    ada.post(LINKS, &body).await.expect_problem(403, "link-locked");
    ada.delete(&path).await.expect(200);
    server.http().get(&page).await.expect(404);
    ada.post(LINKS, &body).await.expect_problem(403, "link-locked");
    // Purged or not yet: restoring brings back a link that is still disabled.
    let restored = ada.post(&format!("{path}/restore"), &json!({})).await;
    if restored.status == 200 {
        assert_eq!(restored.json()["status"], "DISABLED");
        ada.delete(&path).await.expect(200);
    }
    until(&ada, &path, 404).await;
    ada.post(LINKS, &body).await.expect_problem(403, "link-locked");
    let custom = json!({ "original_url": body["original_url"], "custom_code": code });
    ada.post(LINKS, &custom).await.expect_problem(403, "link-locked");

    // Whoever disabled it can let it go.
    root.post(&format!("{path}/enable"), &json!({})).await.expect(204);
    let again = ada.post(LINKS, &body).await.expect(201).json();
    assert_eq!(again["short_code"], link["short_code"]);
    server.http().get(&page).await.expect(302);
}

#[tokio::test]
async fn a_disabled_account_is_out_within_a_second_and_its_links_as_asked() {
    let server = TestServer::builder().accounts().process().start();
    let root = server.administrator("root").await;
    let eve = server.register("eve").await;
    team(&eve).await;
    let key = json!({ "name": "k", "scopes": ["read", "create"] });
    let key = eve.post("/api/v1/keys", &key).await.expect(201).json();
    let key = server.http().bearer(key["key"].as_str().unwrap());
    let mine = shorten(&eve, "https://example.com/a").await;
    let team = eve.post(LINKS, &json!({ "original_url": "https://example.com/b" })).await.json();
    let pages = [&mine, &team].map(|link| format!("/{}", link["short_code"].as_str().unwrap()));

    let users = "/api/v1/admin/users";
    let none = json!({});
    eve.post(&format!("{users}/{}/disable", email("root")), &none).await.expect(404);
    let listed = root.get(users).await.expect(200).json();
    assert_eq!(listed["users"].as_array().unwrap().len(), 2);
    root.post(&format!("{users}/{}/disable", email("root")), &none).await.expect(404);
    root.post(&format!("{users}/{}/disable", email("eve")), &none).await.expect(204);
    // At once where it was done.
    eve.get("/api/v1/me").await.expect(401);
    key.get("/api/v1/me").await.expect(401);
    server.log_in("eve", PASSWORD).await.expect(401);
    for page in &pages {
        server.http().get(page).await.expect(302);
    }
    let with_links = json!({ "links": true });
    root.post(&format!("{users}/{}/disable", email("eve")), &with_links).await.expect(204);
    for page in &pages {
        let problem = server.http().get(page).await.expect_problem(410, "link-disabled");
        assert!(problem["detail"].as_str().unwrap().contains("account"));
    }
    // One that was disabled for itself stays so when the account comes back.
    let path = format!("/api/v1/workspaces/main/links/{}", mine["short_code"].as_str().unwrap());
    root.post(&format!("{path}/disable"), &json!({ "reason": "malware" })).await.expect(200);
    root.post(&format!("{users}/{}/enable", email("eve")), &with_links).await.expect(204);
    server.http().get(&pages[0]).await.expect(410);
    server.http().get(&pages[1]).await.expect(302);
    eve.get("/api/v1/me").await.expect(200);

    // By the command line on the store itself: within a second.
    server.kurz(&["user", "disable", &email("eve")], "");
    until(&eve, "/api/v1/me", 401).await;
    until(&key, "/api/v1/me", 401).await;
}

#[tokio::test]
async fn the_command_line_disables_and_enables() {
    let server = TestServer::builder().accounts().process().start();
    let root = server.administrator("root").await;
    let key = json!({ "name": "ops", "scopes": ["read", "manage"] });
    let key = root.post("/api/v1/keys", &key).await.expect(201).json();
    let key = key["key"].as_str().unwrap().to_owned();
    let kurz = |args: &[&str]| {
        let program = Program::kurz(args).env("KURZ_URL", server.base_url());
        program.env("KURZ_API_KEY", &key).run("")
    };
    let eve = server.register("eve").await;
    let link = shorten(&eve, "https://example.com/a").await;
    let code = link["short_code"].as_str().unwrap();
    let done = kurz(&["links", "disable", code, "--reason", "legal", "--note", "a letter"]);
    assert_eq!(String::from_utf8_lossy(&done.stdout), format!("disabled {code}\n"));
    let shown = eve.get(&format!("/api/v1/workspaces/main/links/{code}")).await.expect(200).json();
    assert_eq!(
        (&shown["disabled_reason"], &shown["disabled_note"]),
        (&json!("legal"), &json!("a letter"))
    );
    server.http().get(&format!("/{code}")).await.expect(410);
    assert!(kurz(&["links", "enable", code]).status.success());
    server.http().get(&format!("/{code}")).await.expect(302);
    assert!(kurz(&["user", "disable", &email("eve"), "--links"]).status.success());
    server.http().get(&format!("/{code}")).await.expect(410);
    eve.get("/api/v1/me").await.expect(401);
    assert!(kurz(&["user", "enable", &email("eve"), "--links"]).status.success());
    server.http().get(&format!("/{code}")).await.expect(302);
    let refused = kurz(&["links", "disable", code, "--reason", "boredom"]);
    assert_eq!(refused.status.code(), Some(2));
    let _: Value = eve.get("/api/v1/me").await.expect(200).json();
}

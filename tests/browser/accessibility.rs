//! How every page looks: light, dark and on a phone, in a picture to be looked at; and that
//! axe-core finds nothing against any of them, in either colour scheme.

use kurz_test_support::accounts::{invite, join};
use kurz_test_support::http::Http;
use kurz_test_support::{TestServer, links};
use serde_json::{Value, json};

use super::browser::{Browser, Screen};

/// A server that has something to show.
async fn furnished() -> (TestServer, Http) {
    let settings = [("KURZ_PUBLIC_URL", "https://kurz.example")];
    let server = TestServer::builder().accounts().from_now().settings(&settings).start().await;
    server.administrator("ada").await;
    let http = server.log_in("ada").await;
    server.sign_up("grace").await;
    let grace = server.log_in("grace").await;
    http.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let hosts = "/api/v1/workspaces/acme/hosts";
    http.post(hosts, &json!({ "host": "go.acme.example" })).await.expect(201);
    join(&http, "acme", ("grace", &grace), "admin").await;
    invite(&http, "acme", "heidi", "viewer").await;
    let pending = json!({ "host": "links.acme.example" });
    server.log_in("grace").await.post(hosts, &pending).await.expect(201);
    http.post("/api/v1/keys", &json!({ "name": "laptop", "scopes": ["read", "create"] }))
        .await
        .expect(201);
    let table = [
        (
            "spring",
            "https://shop.example.com/sale/spring?utm_source=poster",
            "Spring sale",
            "sale,poster",
        ),
        ("handbook", "https://wiki.example.com/people/handbook", "Staff handbook", "team"),
        (
            "launch",
            "https://blog.example.com/2026/11/we-launched-a-thing",
            "We launched",
            "blog,news",
        ),
        ("map", "https://maps.example.org/?q=52.5200,13.4050&zoom=14", "How to find us", "office"),
        (
            "talk",
            "https://video.example.net/watch?v=rust-in-production",
            "Conference talk",
            "talks,news",
        ),
    ];
    for (code, url, title, tags) in table {
        let tags: Vec<&str> = tags.split(',').collect();
        let request = json!({
            "original_url": url, "custom_code": code, "title": title, "tags": tags,
        });
        links::make(&http, "main", &request).await;
        links::make(&http, "acme", &request).await;
    }
    let change = json!({ "original_url": "https://shop.example.com/sale/spring?utm_source=flyer" });
    http.patch("/api/v1/workspaces/main/links/spring", &change).await.expect(200);
    add_fields(&http).await;
    let old = json!({ "original_url": "https://example.com/old", "custom_code": "old" });
    links::make(&http, "main", &old).await;
    http.delete("/api/v1/workspaces/main/links/old").await.expect(200);
    let fake = json!({ "original_url": "https://аррӏе.com/", "custom_code": "fake" });
    links::make(&http, "main", &fake).await;
    let report = [
        ("address", "https://kurz.example/talk"),
        ("reason", "phishing"),
        ("words", "It asks for a password."),
    ];
    kurz_test_support::pages::post_form(&server.visitor(), "/app/report", &report)
        .await
        .expect(303);
    for _ in 0..30 {
        server.http().get("/spring").await.expect(302);
    }
    (server, http)
}

/// A link with a note and an alias, and one that is archived.
async fn add_fields(http: &Http) {
    let spring = "/api/v1/workspaces/main/links/spring";
    http.post(&format!("{spring}/aliases"), &json!({ "code": "blossom" })).await.expect(201);
    let note = json!({ "note": "Printed on 2,000 posters.\nAsk Grace before it is changed." });
    http.patch(spring, &note).await.expect(200);
    let archived = json!({ "archived": true });
    http.patch("/api/v1/workspaces/main/links/talk", &archived).await.expect(200);
}

/// Give the chart something to show, whatever time it is.
async fn with_history(server: &TestServer, http: &Http) {
    let link = http.get("/api/v1/workspaces/main/links/spring").await.expect(200).json();
    let (id, hour) = (link["id"].as_i64().unwrap(), server.clock.now().as_ms() / 3_600_000);
    let rows: Vec<String> = (1..700)
        .map(|back| (back, (back * 7919 % 23) + (back / 24 * 31 % 17)))
        .map(|(back, hits)| format!("({}, {id}, {hits}, {})", hour - back, hits / 5))
        .collect();
    let sql =
        format!("insert into link_hours (hour, link_id, hits, others) values {}", rows.join(", "));
    server.execute(&sql).await;
}

const PUBLIC: &[(&str, &str)] = &[
    ("front", "/"),
    ("register", "/register"),
    ("login", "/login"),
    ("preview", "/spring+"),
    ("preview-lookalike", "/fake+"),
    ("report", "/app/report?link=https://kurz.example/spring"),
    ("missing", "/app/nothing/here"),
    ("docs", "/api/docs"),
];

const INSIDE: &[(&str, &str)] = &[
    ("front-signed-in", "/"),
    ("links", "/app/w/main"),
    ("links-empty", "/app/w/main?q=nothing-like-this"),
    ("links-deleted", "/app/w/main?deleted=old"),
    ("new", "/app/w/main/new"),
    ("bulk", "/app/w/main/bulk"),
    ("link", "/app/w/main/l/spring"),
    ("links-archived", "/app/w/main?archived=only"),
    ("tags", "/app/w/acme/tags"),
    ("link-hours", "/app/w/main/l/spring?by=hour"),
    ("edit", "/app/w/main/l/spring/edit"),
    ("rules", "/app/w/main/l/spring/rules?new=1"),
    ("try", "/app/w/main/l/spring/try"),
    ("workspaces", "/app/workspaces"),
    ("workspace", "/app/w/acme"),
    ("settings", "/app/w/acme/settings"),
    ("account", "/app/account"),
    ("admin", "/app/admin"),
    ("link-disabled", "/app/w/main/l/fake"),
    ("reports", "/app/admin/reports"),
    ("audit", "/app/admin/audit"),
];

/// Take the pictures of a page; what there is against it.
pub(super) async fn look(browser: &Browser, name: &str) -> String {
    let mut faults = String::new();
    for scheme in ["light", "dark"] {
        browser.scheme(scheme).await;
        browser.fit(Screen::Desk).await;
        browser.picture(&format!("{name}-{scheme}")).await;
        faults.push_str(&browser.faults().await);
    }
    browser.scheme("light").await;
    browser.fit(Screen::Phone).await;
    browser.picture(&format!("{name}-phone")).await;
    faults.push_str(&browser.faults().await);
    let wide = "return document.documentElement.scrollWidth > window.innerWidth";
    if browser.script(wide).await != Value::Bool(false) {
        faults.push_str("it is wider than a phone\n");
    }
    browser.fit(Screen::Desk).await;
    if faults.is_empty() { faults } else { format!("{name}: {faults}") }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_fit_to_be_seen_in_both_schemes_and_on_a_phone() {
    let (server, http) = furnished().await;
    with_history(&server, &http).await;
    let browser = Browser::open(&server.base_url(), Screen::Desk).await;
    let mut faults = String::new();
    for (name, path) in PUBLIC {
        browser.go(path).await;
        faults.push_str(&look(&browser, name).await);
    }
    browser.go("/").await;
    browser.fill("#url", "example.com/a/very/long/address?with=a&query=string").await;
    browser.click("main form button").await;
    browser.see(".result").await;
    faults.push_str(&look(&browser, "front-result").await);
    browser.small_picture("readme-front", 1000).await;

    browser.sign_in("ada", kurz_test_support::accounts::PASSWORD).await;
    browser.at("/app/w/main").await;
    browser.until("localStorage.getItem('kurz.links') === null").await;
    browser.go("/app/w/main").await;
    browser.small_picture("readme-links", 1000).await;
    browser.scheme("dark").await;
    browser.go("/app/w/main/l/spring").await;
    browser.small_picture("readme-link", 1230).await;
    let reason = json!({ "reason": "phishing", "note": "Letters of another alphabet." });
    let fake = "/api/v1/workspaces/main/links/fake/disable";
    http.post(fake, &reason).await.expect(200);
    for (name, path) in INSIDE {
        browser.go(path).await;
        faults.push_str(&look(&browser, name).await);
    }
    assert_eq!(faults, "");
    browser.close().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_visitor_of_a_dead_link_sees_is_fit_to_be_seen() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.sign_up("ada").await;
    let http = server.log_in("ada").await;
    let soon = server.clock.now().plus(std::time::Duration::from_mins(1)).to_rfc3339();
    let gone =
        json!({ "original_url": "https://example.com", "custom_code": "gone", "expires_at": soon });
    links::make(&http, "main", &gone).await;
    let once =
        json!({ "original_url": "https://example.com", "custom_code": "once", "hit_limit": 1 });
    links::make(&http, "main", &once).await;
    server.http().get("/once").await.expect(302);
    server.administrator("root").await;
    let root = server.log_in("root").await;
    let bad = json!({ "original_url": "https://example.com", "custom_code": "bad" });
    links::make(&http, "main", &bad).await;
    let reason = json!({ "reason": "malware" });
    root.post("/api/v1/workspaces/main/links/bad/disable", &reason).await.expect(200);
    server.advance(std::time::Duration::from_secs(61));
    let browser = Browser::open(&server.base_url(), Screen::Desk).await;
    let mut faults = String::new();
    for (name, path) in [
        ("404", "/no-such-code"),
        ("410", "/gone"),
        ("429", "/once"),
        ("410-preview", "/gone+"),
        ("410-disabled", "/bad"),
    ] {
        browser.go(path).await;
        faults.push_str(&look(&browser, name).await);
    }
    assert_eq!(faults, "");
    browser.close().await;
    server.stop().await;
}

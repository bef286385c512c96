//! Numbers and short words stand on one line, on every page, in every language, from a phone to a desk.

use std::fmt::Write;

use kurz_test_support::{TestServer, links};
use serde_json::{Value, json};

use super::browser::{Browser, Screen};

/// Words of at most 14 letters that stand on more than one line.
const BROKEN: &str = r#"
    const broken = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const parent = node.parentElement;
      if (!parent || parent.closest("script, style, option, textarea, [hidden], .skip, thead")) continue;
      for (const match of node.data.matchAll(/(?<!\S)([^\s\/\-–…?&=.:@]{1,14}|[\d.:,-]{1,14})(?!\S)/g)) {
        const range = document.createRange();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        const tops = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
        if (tops.size > 1) broken.push(match[0]);
      }
    }
    return broken"#;

async fn server_with_large_numbers() -> TestServer {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.administrator("ada").await;
    let http = server.log_in("ada").await;
    http.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let key = json!({ "name": "laptop", "scopes": ["read", "create"], "workspace": "acme" });
    http.post("/api/v1/keys", &key).await.expect(201);
    for (code, title) in [("spring", "Spring sale"), ("a-rather-long-code-for-a-short-link", "")] {
        let long = format!("https://shop.example.com/{}?q=1", "very-long-".repeat(12));
        let link =
            json!({ "original_url": long, "custom_code": code, "title": title, "tags": ["sale"] });
        links::make(&http, "main", &link).await;
    }
    let link = http.get("/api/v1/workspaces/main/links/spring").await.expect(200).json();
    let id = link["id"].as_i64().unwrap();
    let stats = format!(
        "insert into link_stats (link_id, list_scope, redirect_count, avg_redirect_ms, last_redirect_at, month, month_hits)
         select {id}, list_scope, 1234567, 0.012, created_at, 24323, 9876 from links where id = {id}
         on conflict (link_id) do update set redirect_count = 1234567, avg_redirect_ms = 0.012"
    );
    server.execute(&stats).await;
    http.patch("/api/v1/workspaces/main/links/spring", &json!({ "hit_limit": 12_345_678 }))
        .await
        .expect(200);
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_and_short_words_stay_on_one_line() {
    let server = server_with_large_numbers().await;
    let browser = Browser::open(&server.base_url(), Screen::Phone).await;
    browser.sign_in("ada", kurz_test_support::accounts::PASSWORD).await;
    browser.at("/app/w/main").await;
    let mut faults = String::new();
    for language in ["en", "de", "es"] {
        browser.go("/").await;
        let choose = format!(
            "const select = document.querySelector('#language'); select.value = {language:?};
             document.documentElement.dataset.old = 'yes'; select.form.requestSubmit()"
        );
        browser.script(&choose).await;
        let chosen = format!(
            "!document.documentElement.dataset.old && document.documentElement.lang === {language:?}"
        );
        browser.until(&chosen).await;
        for path in [
            "/",
            "/app/w/main",
            "/app/w/main/l/spring",
            "/app/w/main/bulk",
            "/app/w/main/new",
            "/app/workspaces",
            "/app/w/acme/settings",
            "/app/account",
            "/app/admin",
            "/app/admin/audit",
            "/app/nothing/here",
        ] {
            for width in [320, 390, 768, 1024] {
                let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500 });
                browser.tell("Emulation.setDeviceMetricsOverride", size).await;
                browser.go(path).await;
                let broken = browser.script(BROKEN).await;
                if broken != json!([]) {
                    writeln!(faults, "{language} {path} at {width}: {broken}").unwrap();
                }
                let wide = "return document.documentElement.scrollWidth > window.innerWidth";
                if browser.script(wide).await != Value::Bool(false) {
                    writeln!(faults, "{language} {path} is wider than {width}").unwrap();
                }
            }
        }
    }
    assert_eq!(faults, "");
    browser.close().await;
    server.stop().await;
}

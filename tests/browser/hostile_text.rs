//! What users write is text, on every page: no dialog opens, no page breaks, nothing is loaded from
//! elsewhere.

use kurz_test_support::{TestServer, links};
use serde_json::json;

use super::browser::{Browser, Screen};

const PAYLOADS: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg onload=alert(1)>",
    "</title><script>alert(1)</script>",
    "javascript:alert(1)//",
    "{{constructor.constructor('alert(1)')()}}",
    "<a href=\"javascript:alert(1)\">x</a>",
    "\u{202e}txt.exe",
    "<!--",
    "]]>",
    "&lt;b&gt;",
    "\u{fffe}",
    "ａｌｅｒｔ＜１＞",
];

/// Somebody with a hostile name, links with hostile everything, and visits from hostile places.
async fn furnish(server: &TestServer) {
    let name = "<script>alert(document.domain)</script>";
    let register = json!({ "email": "ada@example.com", "password": kurz_test_support::accounts::PASSWORD, "name": name });
    server.http().post("/api/v1/auth/register", &register).await.expect(201);
    let http = server.log_in("ada").await;
    for (at, payload) in PAYLOADS.iter().enumerate() {
        let short: String = payload.chars().take(50).collect();
        let link = json!({
            "original_url": format!("https://example.com/?q={payload}#{payload}"),
            "custom_code": format!("evil-{at}"), "title": payload, "tags": [short],
        });
        links::make(&http, "main", &link).await;
        let edit = json!({ "original_url": format!("https://example.com/{at}") });
        http.patch(&format!("/api/v1/workspaces/main/links/evil-{at}"), &edit).await.expect(200);
        let back = json!({ "original_url": format!("https://example.com/?q={payload}") });
        http.patch(&format!("/api/v1/workspaces/main/links/evil-{at}"), &back).await.expect(200);
        let referrer = server.http().with(
            reqwest::header::REFERER,
            &format!("https://evil.example/{}", payload.escape_default()),
        );
        referrer.get(&format!("/evil-{at}")).await.expect(302);
    }
}

// threats: H15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_titles_tags_targets_names_and_referrers_stay_text() {
    let server = TestServer::builder().accounts().from_now().start().await;
    furnish(&server).await;
    let browser = Browser::open(&server.base_url(), Screen::Desk).await;
    browser.watch().await;
    browser.sign_in("ada", kurz_test_support::accounts::PASSWORD).await;
    browser.at("/app/w/main").await;

    let mut paths: Vec<String> = [
        "/app/w/main",
        "/app/account",
        "/app/w/main?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/app/w/main?tag=%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "/app/w/main?deleted=%3Cscript%3E",
        "/login?next=javascript:alert(1)",
    ]
    .map(str::to_owned)
    .to_vec();
    for at in 0..PAYLOADS.len() {
        paths.push(format!("/app/w/main/l/evil-{at}"));
        paths.push(format!("/app/w/main/l/evil-{at}/edit"));
        paths.push(format!("/evil-{at}+"));
    }
    for path in paths {
        browser.go(&path).await;
        let whole = "document.querySelector('footer.bottom') !== null \
            && document.querySelectorAll('main').length === 1 \
            && document.querySelectorAll('script:not([src^=\"/assets/\"])').length === 0 \
            && document.querySelectorAll('[onerror], [onload]').length === 0 \
            && [...document.querySelectorAll('a')].every((a) => /^https?:$/.test(a.protocol))";
        assert_eq!(browser.script(&format!("return {whole}")).await, json!(true), "{path}");
        assert_eq!(browser.script("return window.__broken").await, json!([]), "{path}");
    }
    // The front page, typed in.
    browser.go("/").await;
    for payload in
        ["<script>alert(1)</script>", "javascript:alert(1)", "\"><img src=x onerror=alert(1)>"]
    {
        browser.fill("#url", payload).await;
        browser.click("main form button").await;
        browser.see("footer.bottom").await;
        assert_eq!(browser.script("return window.__broken").await, json!([]), "{payload}");
        browser.go("/").await;
    }
    browser.close().await;
    server.stop().await;
}

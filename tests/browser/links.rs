//! Managing links in a browser: make, find, edit, delete and undo, tag many, paste many, QR.

use kurz_test_support::{TestServer, links};
use serde_json::json;

use super::browser::{Browser, Screen, on_both_screens};

on_both_screens!(
    a_link_is_made_with_everything_edited_deleted_and_brought_back,
    many_are_pasted_with_progress_found_selected_and_changed,
    a_qr_code_takes_size_and_colours_and_copying_says_so,
);

async fn a_link_is_made_with_everything_edited_deleted_and_brought_back(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.register("ada").await;
    browser.read("There is nothing here yet.").await;
    browser.click(".empty a").await;
    browser.fill("#original_url", "example.com/spring").await;
    browser.fill("#custom_code", "a").await;
    browser.click("main form button").await;
    browser.read("A code is 3 to 64").await;
    browser.fill("#custom_code", "spring").await;
    browser.fill("#title", "Spring sale").await;
    browser.fill("#tags", "sale, poster").await;
    browser.fill("#hit_limit", "5").await;
    let date = "document.querySelector('#expires_at').value = '2099-12-31T23:59'";
    browser.script(date).await;
    browser.click("main form button").await;
    browser.at("/app/w/main/l/spring").await;
    for text in ["The link is there.", "Spring sale", "2099-12-31 23:59 UTC", "0 of 5", "5 left"] {
        browser.read(text).await;
    }
    let answer = server.http().get("/spring").await.expect(302);
    assert_eq!(answer.header("location"), Some("https://example.com/spring"));

    browser.click("a[href$='/edit']").await;
    browser.fill("#original_url", "https://example.com/summer").await;
    browser.click("main form button").await;
    browser.read("Saved.").await;
    browser.read("ada@example.com changed: address").await;
    browser.read("before that it led to https://example.com/spring").await;
    let answer = server.http().get("/spring").await.expect(302);
    assert_eq!(answer.header("location"), Some("https://example.com/summer"));

    browser.click("button.danger").await;
    browser.read("spring is deleted.").await;
    server.http().get("/spring").await.expect(404);
    browser.click(".note button").await;
    browser.read("spring is back.").await;
    server.http().get("/spring").await.expect(302);
    browser.close().await;
    server.stop().await;
}

async fn many_are_pasted_with_progress_found_selected_and_changed(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.register("ada").await;
    browser.go("/app/w/main/bulk").await;
    let lines: Vec<String> = (0..120)
        .map(|at| match at {
            7 => "javascript:alert(1)".to_owned(),
            8 => "example.com/named my-code".to_owned(),
            _ => format!("example.com/page/{at}"),
        })
        .collect();
    let paste = format!(
        "document.querySelector('#lines').value = {}",
        serde_json::to_string(&lines.join("\n")).unwrap()
    );
    browser.script(&paste).await;
    browser.click("main form button").await;
    browser.read("119 links, 1 refused").await;
    browser.until("document.querySelectorAll('.results tbody tr').length === 120").await;

    browser.go("/app/w/main").await;
    browser.fill("#q", "my-code").await;
    browser.click(".filters button").await;
    browser.until("document.querySelectorAll('.links tbody tr').length === 1").await;
    browser.go("/app/w/main").await;
    browser.until("document.querySelectorAll('.links tbody tr').length === 50").await;
    browser.click("[data-all]").await;
    browser.fill(".acts input[name=tag]", "batch").await;
    browser.click(".acts button[value=tag]").await;
    browser.read("50 links were changed.").await;
    browser.click(".tag").await;
    browser.until("document.querySelectorAll('.links tbody tr').length === 50").await;
    browser.click("[data-all]").await;
    browser.click(".acts button[value=delete]").await;
    browser.read("50 links were changed.").await;
    let select = "const s = document.querySelector('#status'); s.value = 'DELETED'; \
                  s.dispatchEvent(new Event('change', { bubbles: true }))";
    browser.script(select).await;
    browser.until("location.search.includes('DELETED') && document.querySelectorAll('.badge.gone').length === 50").await;
    browser.click("[data-all]").await;
    browser.click(".acts button[value=restore]").await;
    browser.read("50 links were changed.").await;
    browser.close().await;
    server.stop().await;
}

async fn a_qr_code_takes_size_and_colours_and_copying_says_so(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.sign_up("ada").await;
    let http = server.log_in("ada").await;
    let link = json!({ "original_url": "https://example.com", "custom_code": "promo" });
    links::make(&http, "main", &link).await;
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.sign_in("ada", kurz_test_support::accounts::PASSWORD).await;
    browser.at("/app/w/main").await;
    browser.go("/app/w/main/l/promo").await;
    browser.until("document.querySelector('img.qr').naturalWidth === 256").await;
    browser.fill("#size", "512").await;
    browser.script("document.querySelector('#dark').value = '#aa0000'").await;
    browser.click(".look button").await;
    browser.until("document.querySelector('img.qr').naturalWidth === 512").await;
    browser.until("document.querySelector('a[download$=png]').href.includes('dark=aa0000')").await;
    let allow = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": server.base_url() });
    browser.tell("Browser.grantPermissions", allow).await;
    browser.click("[data-copy]").await;
    browser.read("Copied").await;
    browser.close().await;
    server.stop().await;
}

//! After a form is sent: the new key, or what is wrong, is in view and has the focus, also without scripts.

use kurz_test_support::TestServer;
use serde_json::json;

use super::browser::{Browser, Screen, on_both_screens};

on_both_screens!(
    a_new_key_is_in_view_and_focused,
    form_errors_are_in_view_and_their_fields_focused,
);

/// Whether all of an element is in the window.
async fn assert_in_view(browser: &Browser, selector: &str) {
    let in_view = format!(
        "const box = document.querySelector({selector:?}).getBoundingClientRect();
         return box.top >= 0 && box.bottom <= window.innerHeight && box.height > 0"
    );
    assert_eq!(browser.script(&in_view).await, json!(true), "{selector} is not in view");
}

async fn assert_focused(browser: &Browser, selector: &str) {
    let focused = format!("document.activeElement === document.querySelector({selector:?})");
    browser.until(&focused).await;
    assert_in_view(browser, selector).await;
}

async fn a_new_key_is_in_view_and_focused(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.register("ada").await;
    // Many keys: the page is several windows long.
    let http = server.log_in("ada").await;
    for at in 0..20 {
        let key = json!({ "name": format!("key {at}"), "scopes": ["read"] });
        http.post("/api/v1/keys", &key).await.expect(201);
    }
    browser.go("/app/account").await;
    browser.fill("#key-name", "laptop").await;
    browser.click("form[action='/app/keys'] button").await;
    browser.see(".secret").await;
    assert_focused(&browser, ".fresh-key").await;
    assert_in_view(&browser, ".secret").await;
    browser.picture(&format!("key-made-{screen:?}")).await;
    browser.close().await;
    server.stop().await;
}

async fn form_errors_are_in_view_and_their_fields_focused(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.register("ada").await;

    // The front page.
    browser.go("/").await;
    browser.fill("#url", "javascript:alert(1)").await;
    browser.click("main form button").await;
    browser.read("A link cannot lead to a javascript address").await;
    assert_focused(&browser, "#url").await;
    assert_in_view(&browser, "#url-error").await;

    // A form of several windows: the field far down, and the first of two.
    browser.go("/app/w/main/new").await;
    browser.fill("#original_url", "https://example.com/").await;
    browser.fill("#tags", &"x".repeat(300)).await;
    browser.click("form.stack button").await;
    assert_focused(&browser, "#tags").await;
    assert_in_view(&browser, "#tags-error").await;
    browser.fill("#custom_code", "a b").await;
    browser.click("form.stack button").await;
    assert_focused(&browser, "#custom_code").await;
    browser.picture(&format!("form-error-{screen:?}")).await;

    browser.go("/app/w/main/bulk").await;
    browser.script("document.querySelector('#lines').removeAttribute('required')").await;
    browser.click("form.stack button").await;
    browser.read("Enter 1 to 1,000 lines.").await;

    // The account: two forms, each with its error.
    browser.go("/app/account").await;
    browser.fill("#confirm", "not-the-password").await;
    browser.click("form[action$=delete] button").await;
    browser.read("The password is wrong.").await;
    assert_focused(&browser, "form[action$=delete] .error").await;
    browser.fill("#current", "not-the-password").await;
    browser.fill("#new", "another-password-42").await;
    browser.click("form[action$=password] button").await;
    browser.read("The password is wrong.").await;
    assert_focused(&browser, "form[action$=password] .error").await;
    let none =
        "document.querySelectorAll('[name=scope]').forEach((box) => { box.checked = false })";
    browser.script(none).await;
    browser.click("form[action='/app/keys'] button").await;
    browser.read("Choose at least one scope.").await;
    assert_focused(&browser, "form[action='/app/keys'] .error").await;

    // Workspaces and their settings.
    browser.go("/app/workspaces").await;
    browser.fill("#id", "main").await;
    browser.click("form.stack button").await;
    browser.read("A workspace with this name already exists.").await;
    assert_focused(&browser, "form.stack .error").await;
    browser.fill("#id", "acme").await;
    browser.click("form.stack button").await;
    browser.at("/app/w/acme/settings").await;
    browser.fill("#host", "not a host").await;
    browser.click("form[action$=hosts] button").await;
    assert_focused(&browser, "#host").await;
    assert_in_view(&browser, "#host-error").await;

    // Sign-in and the report.
    browser.click("header form button").await;
    browser.until("location.pathname === '/'").await;
    browser.sign_in("ada", "not-the-password").await;
    browser.read("The email address or the password is wrong.").await;
    assert_focused(&browser, "form .error").await;
    browser.go("/app/report").await;
    browser.fill("#address", "https://example.com/nothing").await;
    browser.click("form.stack button").await;
    assert_focused(&browser, "#address").await;
    browser.close().await;
    server.stop().await;
}

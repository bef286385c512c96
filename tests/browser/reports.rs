//! Abuse in a browser: a visitor reports a link, an administrator looks into it and disables it, its owner
//! sees why.

use kurz_test_support::{TestServer, links};
use serde_json::json;

use super::browser::{Browser, Screen, on_both_screens};

on_both_screens!(a_link_is_reported_looked_into_disabled_and_let_go);

// threats: A17
async fn a_link_is_reported_looked_into_disabled_and_let_go(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.administrator("root").await;
    server.sign_up("eve").await;
    let eve = server.log_in("eve").await;
    for code in ["bait", "fine"] {
        let link = json!({ "original_url": "https://аррӏе.com/pay", "custom_code": code });
        links::make(&eve, "main", &link).await;
    }

    // Anybody, from the preview, in their own words; it works without scripts.
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.without_scripts().await;
    browser.go("/bait+").await;
    browser.read("xn--80ak6aa92e.com").await;
    browser.read("look like those of another").await;
    browser.click("a[href^='/app/report']").await;
    browser.see("#address").await;
    browser.fill("#words", "It asks for my <b>password</b>").await;
    browser.click("main form button").await;
    browser.read("The report has been received").await;
    browser.go("/app/report").await;
    browser.fill("#address", "no-such-code").await;
    browser.click("main form button").await;
    browser.read("There is no such link on this server").await;
    browser.fill("#address", "fine").await;
    browser.click("main form button").await;
    browser.read("The report has been received").await;
    browser.close().await;

    let browser = Browser::open(&server.base_url(), screen).await;
    browser.sign_in("root", kurz_test_support::accounts::PASSWORD).await;
    browser.at("/app/w/main").await;
    browser.go("/app/admin").await;
    browser.click("a[href='/app/admin/reports']").await;
    browser.read("It asks for my <b>password</b>").await;
    browser.read("https://xn--80ak6aa92e.com/pay").await;
    browser.click("section:has(a[href$='/l/fine']) button[value=dismiss]").await;
    browser.until("!document.querySelector(\"a[href$='/l/fine']\")").await;
    browser.script("document.querySelector('select').value = 'phishing'").await;
    browser.click("section:has(a[href$='/l/bait']) button[value=disable]").await;
    browser.read("Nothing is reported.").await;
    server.http().get("/bait").await.expect_problem(410, "link-disabled");
    server.http().get("/fine").await.expect(302);
    browser.go("/bait").await;
    browser.read("Link disabled").await;
    browser.click("a").await;
    browser.see("#address").await;

    browser.go("/app/admin/audit?action=disabled").await;
    browser.read("main/bait").await;
    browser.read("root@example.com").await;
    browser.close().await;

    let browser = Browser::open(&server.base_url(), screen).await;
    browser.sign_in("eve", kurz_test_support::accounts::PASSWORD).await;
    browser.at("/app/w/main").await;
    browser.go("/app/w/main/l/bait").await;
    browser.read("This link is disabled").await;
    browser.read("pretends to be another site").await;
    browser.until("!document.querySelector(\"form[action$='/enable']\")").await;
    browser.close().await;

    let browser = Browser::open(&server.base_url(), screen).await;
    browser.sign_in("root", kurz_test_support::accounts::PASSWORD).await;
    browser.at("/app/w/main").await;
    browser.go("/app/w/main/l/bait").await;
    browser.click("form[action$='/enable'] button").await;
    browser.see("form[action$='/disable'] button").await;
    server.http().get("/bait").await.expect(302);
    browser.close().await;
    server.stop().await;
}

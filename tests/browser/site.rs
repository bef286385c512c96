//! The front page in a browser: shorten, copy, count down, remember, claim.

use std::time::Duration;

use kurz_test_support::TestServer;
use serde_json::json;

use super::browser::{Browser, Screen, on_both_screens};

on_both_screens!(
    a_link_made_in_the_browser_is_the_accounts_after_registration_and_outlives_its_hours,
    what_cannot_be_claimed_now_is_kept_and_what_is_over_is_dropped,
    without_scripts_one_can_shorten_sign_in_and_manage,
);

async fn shorten(browser: &Browser, url: &str) -> String {
    browser.go("/").await;
    browser.fill("#url", url).await;
    browser.click("main form button").await;
    browser.see(".result .short a").await.text().await.unwrap()
}

async fn a_link_made_in_the_browser_is_the_accounts_after_registration_and_outlives_its_hours(
    screen: Screen,
) {
    let server = TestServer::builder().accounts().from_now().start().await;
    let browser = Browser::open(&server.base_url(), screen).await;
    let short = shorten(&browser, "example.com/first?a=1").await;
    let code = short.rsplit('/').next().unwrap().to_owned();
    browser.read("https://example.com/first?a=1").await;
    browser
        .until("/^[0-9]+ h [0-9]+ min$/.test(document.querySelector('.result time').textContent)")
        .await;
    browser.until("document.querySelector('.result img').naturalWidth > 0").await;
    assert_eq!(browser.path().await, "/", "reloading makes no second link");
    browser.driver.refresh().await.unwrap();
    browser.see("#own li a").await;
    shorten(&browser, "http://example.com/second").await;
    browser.until("document.querySelectorAll('#own li').length === 2").await;

    browser.register("ada").await;
    browser.read("are now yours: 2").await;
    browser.until("localStorage.length === 0").await;
    browser.read(&format!("/{code}")).await;
    server.advance(Duration::from_hours(9));
    let answer = server.http().get(&format!("/{code}")).await.expect(302);
    assert_eq!(answer.header("location"), Some("https://example.com/first?a=1"));
    browser.close().await;
    server.stop().await;
}

async fn what_cannot_be_claimed_now_is_kept_and_what_is_over_is_dropped(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    let browser = Browser::open(&server.base_url(), screen).await;
    shorten(&browser, "example.com/kept").await;
    let over = "const list = JSON.parse(localStorage.getItem('kurz.links')); \
        list.push({ ...list[0], short_code: 'old', expires_at: '2020-01-01T00:00:00.000Z' }); \
        localStorage.setItem('kurz.links', JSON.stringify(list)); return list.length";
    assert_eq!(browser.script(over).await, json!(2));
    browser.go("/").await;
    browser.until("JSON.parse(localStorage.getItem('kurz.links')).length === 1").await;

    // The server does not answer to the claim: the list stays for the next page.
    let urls = json!({ "urls": ["*/app/claim"] });
    browser.tell("Network.enable", json!({})).await;
    browser.tell("Network.setBlockedURLs", urls).await;
    browser.register("ada").await;
    browser.go("/app/account").await;
    browser.until("JSON.parse(localStorage.getItem('kurz.links')).length === 1").await;
    browser.tell("Network.setBlockedURLs", json!({ "urls": [] })).await;
    browser.go("/app/account").await;
    browser.until("localStorage.getItem('kurz.links') === null").await;
    browser.close().await;
    server.stop().await;
}

async fn without_scripts_one_can_shorten_sign_in_and_manage(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.without_scripts().await;
    browser.go("/").await;
    browser.see("#url").await.send_keys("example.com/no/script").await.unwrap();
    browser.click("main form button").await;
    let short = browser.see(".result .short a").await.text().await.unwrap();
    server.http().get(short.strip_prefix(&server.base_url()).unwrap()).await.expect(302);

    browser.go("/register").await;
    browser.see("#email").await.send_keys("ada@example.com").await.unwrap();
    browser.see("#password").await.send_keys(kurz_test_support::accounts::PASSWORD).await.unwrap();
    browser.click("main form button").await;
    browser.at("/app/w/main").await;
    browser.go("/app/w/main/bulk").await;
    browser.see("#lines").await.send_keys("example.com/one\nftp://example.com").await.unwrap();
    browser.click("main form button").await;
    assert_eq!(browser.see(".summary").await.text().await.unwrap(), "1 links, 1 refused");
    browser.go("/app/w/main").await;
    browser.click(".links .code").await;
    browser.click(".danger").await;
    browser.click(".note button").await;
    browser.see(".note").await;
    browser.close().await;
    server.stop().await;
}

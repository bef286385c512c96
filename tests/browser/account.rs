//! The account and the administration in a browser.

use kurz_test_support::TestServer;
use kurz_test_support::accounts::PASSWORD;

use super::browser::{Browser, Screen, on_both_screens};

on_both_screens!(
    one_registers_logs_out_and_in_changes_the_password_makes_a_key_and_leaves,
    an_administrator_sees_the_server_and_locks_somebody_out,
);

async fn one_registers_logs_out_and_in_changes_the_password_makes_a_key_and_leaves(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.register("ada").await;
    browser.click("header form button").await;
    browser.until("location.pathname === '/'").await;
    browser.go("/app/account").await;
    browser.at("/login?next=").await;
    browser.sign_in("ada", "not-the-password").await;
    browser.read("The email address or the password is wrong.").await;
    browser.sign_in("ada", PASSWORD).await;
    browser.at("/app/w/main").await;

    browser.go("/app/account").await;
    browser.read("this browser").await;
    browser.fill("#current", "not-the-password").await;
    browser.fill("#new", "another-password-42").await;
    browser.click("form[action$=password] button").await;
    browser.read("The password is wrong.").await;
    browser.fill("#current", PASSWORD).await;
    browser.fill("#new", "another-password-42").await;
    browser.click("form[action$=password] button").await;
    browser.read("The password is changed.").await;

    browser.fill("#key-name", "laptop").await;
    browser.click("form[action='/app/keys'] button").await;
    let secret = browser.see(".secret").await.text().await.unwrap();
    server.http().bearer(&secret).get("/api/v1/me").await.expect(200);
    browser.click("form[action='/app/keys/revoke'] button").await;
    browser.read("The key is taken back.").await;
    server.http().bearer(&secret).get("/api/v1/me").await.expect(401);

    browser.fill("#confirm", "another-password-42").await;
    browser.click("form[action$=delete] button").await;
    browser.read("The account is deleted.").await;
    browser.sign_in("ada", "another-password-42").await;
    browser.read("The email address or the password is wrong.").await;
    browser.close().await;
    server.stop().await;
}

async fn an_administrator_sees_the_server_and_locks_somebody_out(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.administrator("root").await;
    let eve = server.sign_up("eve").await;
    eve.get("/app/account").await.expect(200);
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.sign_in("root", PASSWORD).await;
    browser.at("/app/w/main").await;
    browser.go("/app/admin").await;
    for text in ["This instance", "SQLite, answers in", "eve@example.com", "administrator"] {
        browser.read(text).await;
    }
    browser.click("button[value=disable]").await;
    browser.see("button[value=enable]").await;
    eve.get("/app/account").await.expect(303);
    browser.click("button[value=enable]").await;
    browser.see("button[value=disable]").await;
    eve.get("/app/account").await.expect(200);
    browser.close().await;
    server.stop().await;
}

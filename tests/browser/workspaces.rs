//! Workspaces in a browser: make one, its settings, members, hosts, keys, links, and its end.

use kurz_test_support::accounts::join;
use kurz_test_support::pages::post_form;
use kurz_test_support::{TestServer, links};

use super::browser::{Browser, Screen, on_both_screens};

on_both_screens!(a_team_gets_its_workspace_members_hosts_keys_and_links);

async fn a_team_gets_its_workspace_members_hosts_keys_and_links(screen: Screen) {
    let server = TestServer::builder().accounts().from_now().start().await;
    let grace = server.sign_up("grace").await;
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.register("ada").await;
    browser.go("/app/workspaces").await;
    browser.fill("#id", "acme").await;
    browser.click("main form button").await;
    browser.read("Workspace created.").await;

    browser.script("document.querySelector('#strategy').value = 'counter'").await;
    browser.fill("#hit_limit", "99").await;
    browser.click("form[action$='/settings'] button").await;
    browser.read("Saved.").await;
    browser.until("document.querySelector('#strategy').value === 'counter'").await;

    browser.fill("#email", "grace@example.com").await;
    browser.click("form[action$='/invitations'] button").await;
    browser.read("Invitation for grace@example.com created").await;
    browser.read("Pending invitations").await;
    let link = browser.see(".secret").await.text().await.unwrap();
    let path = link.split_once("/app/").map(|(_, path)| format!("/app/{path}")).unwrap();
    let shown = grace.get(&path).await.expect(200).text();
    assert!(shown.contains("Invitation to the workspace acme"), "{shown}");
    let token = path.split_once("token=").unwrap().1;
    post_form(&grace, "/app/invitations/accept", &[("token", token)]).await.expect(303);
    browser.go("/app/w/acme/settings").await;
    browser.see("form:has(input[value='grace@example.com']) button[value=remove]").await;
    browser.click("form:has(input[value='ada@example.com']) button[value=remove]").await;
    browser.read("The last admin of acme stays").await;

    browser.fill("#host", "go.acme.example").await;
    browser.click("form[action$='/hosts'] button").await;
    browser.until("[...document.querySelectorAll('code')].some((c) => c.textContent === 'go.acme.example')").await;
    browser.read("not proven yet").await;
    server.administrator("root").await;
    let approve = "/api/v1/workspaces/acme/hosts/go.acme.example/approve";
    server.log_in("root").await.post(approve, &serde_json::json!({})).await.expect(200);

    browser.fill("#key-name", "robot").await;
    browser.click("form[action$='/keys'] button").await;
    let secret = browser.see(".secret").await.text().await.unwrap();
    let robot = server.http().bearer(&secret);
    robot.get("/api/v1/workspaces/acme/links").await.expect(200);
    robot.get("/api/v1/workspaces/main/links").await.expect(403);

    browser.go("/app/w/acme/new").await;
    browser.fill("#original_url", "example.com/team").await;
    browser.click("main form button").await;
    browser.read("a scrambled counter").await;
    browser.read("go.acme.example").await;
    browser.read("0 of 99").await;

    browser.go("/app/w/acme/settings").await;
    browser.click("form[action$='/acme/delete'] button").await;
    browser.read("The workspace still has links.").await;
    browser.close().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_looks_and_changes_nothing() {
    use serde_json::json;
    let server = TestServer::builder().accounts().from_now().start().await;
    server.sign_up("ada").await;
    let ada = server.log_in("ada").await;
    let grace = server.sign_up("grace").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    join(&ada, "acme", ("grace", &server.log_in("grace").await), "viewer").await;
    let link = json!({ "original_url": "https://example.com", "custom_code": "promo" });
    links::make(&ada, "acme", &link).await;
    let list = grace.get("/app/w/acme").await.expect(200).text();
    assert!(list.contains("/app/w/acme/l/promo") && !list.contains("name=\"code\""), "{list}");
    let page = grace.get("/app/w/acme/l/promo").await.expect(200).text();
    assert!(!page.contains("/delete") && !page.contains("/edit"), "{page}");
    for path in ["/app/w/acme/l/promo/delete", "/app/w/acme/invitations", "/app/w/acme/hosts"] {
        let answer = post_form(&grace, path, &[("email", "a@b.c"), ("host", "a.b")]).await;
        assert_eq!(answer.status, 403, "{path}: {}", answer.text());
    }
    let new = [("original_url", "https://example.com")];
    post_form(&grace, "/app/w/acme/new", &new).await.expect(403);
    ada.get("/api/v1/workspaces/acme/links/promo").await.expect(200);
    server.stop().await;
}

//! Who may register, and where the first administrator comes from.

use kurz_test_support::TestServer;
use kurz_test_support::accounts::{PASSWORD, code, email, shorten};
use serde_json::json;

#[tokio::test]
async fn registration_can_be_closed() {
    let server =
        TestServer::builder().accounts().setting("KURZ_SIGNUP", "closed").process().start();
    assert_eq!(code(&server.try_register("ada").await.expect(403)), "signup-closed");
    let body = json!({ "name": "ada", "email": email("ada"), "password": PASSWORD });
    server.http().post("/auth/register", &body).await.expect(403);
    server.kurz(&["user", "add", &email("ada")], PASSWORD);
    server.log_in("ada", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn an_invitation_is_good_once_and_for_one_address() {
    let server =
        TestServer::builder().accounts().setting("KURZ_SIGNUP", "invite").process().start();
    assert_eq!(code(&server.try_register("ada").await.expect(403)), "invite-invalid");
    let printed = server.kurz(&["user", "invite", &email("ada")], "");
    let invite = printed.split_whitespace().next().unwrap();
    let register = |name: &str, invite: &str| {
        let body = json!({ "email": email(name), "password": PASSWORD, "invite": invite });
        let http = server.http().clone();
        async move { http.post("/api/v1/auth/register", &body).await }
    };
    for (name, invite) in [("eve", invite), ("ada", "AAAAAAAAAAAAAAAAAAAAAA"), ("ada", "x")] {
        assert_eq!(code(&register(name, invite).await.expect(403)), "invite-invalid");
    }
    register("ada", invite).await.expect(201);
    register("ada", invite).await.expect(403);
}

// threats: C16
#[tokio::test]
async fn an_administrator_comes_from_the_command_line_and_may_do_everything() {
    let server = TestServer::builder().accounts().process().start();
    server.wait_for_log("kurz user add EMAIL --admin");
    let ada = server.register("ada").await;
    assert_eq!(ada.get("/api/v1/me").await.expect(200).json()["admin"], false);
    let link = shorten(&ada, "https://example.com/").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);

    let root = server.administrator("root").await;
    assert_eq!(root.get("/api/v1/me").await.expect(200).json()["admin"], true);
    let path = format!("/api/v1/workspaces/main/links/{}", link["short_code"].as_str().unwrap());
    root.get(&path).await.expect(200);
    root.patch(&path, &json!({ "title": "seen" })).await.expect(200);
    root.get("/api/v1/workspaces/team").await.expect(200);
    let all = root.get("/api/v1/workspaces").await.expect(200).json();
    assert_eq!(all["workspaces"].as_array().unwrap().len(), 2);

    server.kurz(&["user", "promote", &email("ada")], "");
    assert_eq!(ada.get("/api/v1/me").await.expect(200).json()["admin"], true);
    let list = server.kurz(&["user", "list"], "");
    assert_eq!(list, "ada@example.com\tadmin\tactive\tada\nroot@example.com\tadmin\tactive\t\n");
}

// threats: C16
#[tokio::test]
async fn of_64_who_register_first_none_is_an_administrator() {
    let server = TestServer::builder().accounts().process().start();
    let register = |at: usize| {
        let http = server.http().clone();
        async move {
            let name = format!("first{at}");
            // It says who is an administrator, and is not asked.
            let bold = json!({ "email": email(&name), "password": PASSWORD, "admin": true });
            http.post("/api/v1/auth/register", &bold).await.expect(422);
            let body = json!({ "email": email(&name), "password": PASSWORD });
            let mut answer = http.post("/api/v1/auth/register", &body).await;
            while answer.status == 503 {
                answer = http.post("/api/v1/auth/register", &body).await;
            }
            let token = answer.expect(201).json()["token"].as_str().unwrap().to_owned();
            http.bearer(&token).get("/api/v1/me").await.expect(200).json()["admin"].clone()
        }
    };
    let admins = futures_util::future::join_all((0..64).map(register)).await;
    assert!(admins.iter().all(|admin| *admin == false), "{admins:?}");
}

#[tokio::test]
async fn the_operator_sets_passwords_and_makes_keys() {
    let server = TestServer::builder().accounts().process().start();
    server.try_register("ada").await.expect(201);
    server.kurz(&["user", "passwd", &email("ada")], "quite another one\n");
    server.log_in("ada", PASSWORD).await.expect(401);
    server.log_in("ada", "quite another one").await.expect(200);
    let key = server.kurz(&["key", "create", &email("ada"), "--scope", "read"], "");
    let client = server.http().bearer(key.trim());
    client.get("/api/v1/me").await.expect(200);
    let list = server.kurz(&["key", "list", &email("ada")], "");
    assert!(list.starts_with(&format!("1\t{}…\tread\t", &key[..10])), "{list}");
    server.kurz(&["key", "revoke", &email("ada"), "1"], "");
    // Known for a second at most.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    client.get("/api/v1/me").await.expect(401);
}

#[tokio::test]
async fn an_open_server_needs_no_account_and_still_knows_those_who_have_one() {
    let program = TestServer::builder().process();
    let process = program.start();
    process.wait_for_log("open mode");
    let http = process.http();
    let link = shorten(&http, "https://example.com/").await;
    assert_eq!((&link["link_type"], &link["expires_at"]), (&json!("PERMANENT"), &json!(null)));
    let new = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    http.post("/api/v1/workspaces/springs-up/links", &new).await.expect(201);
    http.get("/api/v1/me").await.expect(401);
    let body = json!({ "email": email("ada"), "password": PASSWORD });
    let answer = http.post("/api/v1/auth/register", &body).await.expect(201).json();
    let ada = http.bearer(answer["token"].as_str().unwrap());
    assert_eq!(ada.get("/api/v1/me").await.expect(200).json()["admin"], false);
    ada.delete("/api/v1/workspaces/springs-up/links/promo").await.expect(200);
    http.bearer("nonsense").get("/api/v1/workspaces").await.expect(401);
}

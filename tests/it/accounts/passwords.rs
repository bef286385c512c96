//! Passwords: their rules in characters, and what a new one does to the keys of the account.

use kurz_test_support::accounts::{PASSWORD, code, email};
use kurz_test_support::http::Http;
use kurz_test_support::pages::{cookie, post_form};
use kurz_test_support::{Kind, TestServer, on_both_databases};
use reqwest::header::COOKIE;
use serde_json::json;

on_both_databases!(a_new_password_says_how_many_keys_still_work_and_revokes_them_when_asked);

async fn key(http: &Http, server: &TestServer) -> Http {
    let made = http.post("/api/v1/keys", &json!({ "scopes": ["read"] })).await.expect(201).json();
    server.http().bearer(made["key"].as_str().unwrap())
}

async fn a_new_password_says_how_many_keys_still_work_and_revokes_them_when_asked(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    let page = server.sign_up("ada").await;
    assert!(
        !page.get("/app/account").await.expect(200).text().contains("revoke_keys"),
        "no keys yet"
    );
    let mut ada = server.log_in("ada").await;
    let (one, two) = (key(&ada, &server).await, key(&ada, &server).await);
    let mut change = async |current: &str, new: &str, more: Option<bool>| {
        let mut body = json!({ "current_password": current, "new_password": new });
        if let Some(revoke) = more {
            body["revoke_keys"] = json!(revoke);
        }
        let answer = ada.patch("/api/v1/me/password", &body).await.expect(200).json();
        ada = server.http().bearer(answer["token"].as_str().unwrap());
        (answer["revoked_keys"].clone(), answer["active_keys"].clone())
    };
    let second = "another-password-2";
    assert_eq!(change(PASSWORD, second, None).await, (json!(0), json!(2)));
    one.get("/api/v1/me").await.expect(200);
    assert_eq!(change(second, PASSWORD, Some(true)).await, (json!(2), json!(0)));
    one.get("/api/v1/me").await.expect(401);
    two.get("/api/v1/me").await.expect(401);
    assert_eq!(ada.get("/api/v1/keys").await.expect(200).json()["keys"], json!([]));

    // The page says so, and offers it.
    let three = key(&ada, &server).await;
    let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
    let login = post_form(&server.visitor(), "/login", &fields).await.expect(303);
    let page = server.visitor().with(COOKIE, &cookie(&login));
    let text = page.get("/app/account").await.expect(200).text();
    assert!(text.contains("API keys keep working") && text.contains("revoke_keys"), "{text}");
    let fields = [("current", PASSWORD), ("new", second)];
    let answer = post_form(&page, "/app/account/password", &fields).await.expect(303);
    let page = server.visitor().with(COOKIE, &cookie(&answer));
    let text = page.get(answer.header("location").unwrap()).await.expect(200).text();
    assert!(text.contains("Your API keys still work"), "{text}");
    three.get("/api/v1/me").await.expect(200);
    let fields = [("current", second), ("new", PASSWORD), ("revoke_keys", "1")];
    let answer = post_form(&page, "/app/account/password", &fields).await.expect(303);
    let page = server.visitor().with(COOKIE, &cookie(&answer));
    let text = page.get(answer.header("location").unwrap()).await.expect(200).text();
    assert!(text.contains("all API keys are revoked"), "{text}");
    three.get("/api/v1/me").await.expect(401);
    server.stop().await;
}

// threats: C7
#[tokio::test]
async fn a_password_has_8_to_71_characters_in_whatever_script() {
    let server = TestServer::builder().accounts().from_now().start().await;
    let register = async |name: &str, password: &str| {
        let body = json!({ "email": email(name), "password": password, "name": "" });
        server.http().post("/api/v1/auth/register", &body).await
    };
    let log_in = async |name: &str, password: &str| {
        let body = json!({ "email": email(name), "password": password });
        server.http().post("/api/v1/auth/login", &body).await.status
    };
    for (at, bad) in ["äääääää".to_owned(), "ä".repeat(72), "x".repeat(72)].iter().enumerate()
    {
        let refused = register(&format!("bad{at}"), bad).await.expect(422);
        assert_eq!(code(&refused), "password-length");
        let detail = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.ends_with("password has 8 to 71 characters"), "{detail}");
    }
    let long = "密".repeat(71);
    for (name, good) in [("short", "ääääääää"), ("long", &long)] {
        register(name, good).await.expect(201);
        assert_eq!(log_in(name, good).await, 200, "{name}");
        let last = good.char_indices().next_back().unwrap().0;
        assert_eq!(
            log_in(name, &format!("{}x", &good[..last])).await,
            401,
            "{name}: its last letter"
        );
        assert_eq!(log_in(name, &good[..last]).await, 401, "{name}: without its last letter");
    }
    server.stop().await;
}

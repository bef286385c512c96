//! Accounts: register, sign in and out, change the password, leave; and that no secret is written
//! down anywhere.

use kurz_test_support::TestServer;
use kurz_test_support::accounts::{PASSWORD, code, email, join, shorten};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn a_registration_answers_with_a_token_for_24_hours_and_takes_the_address() {
    let server = TestServer::builder().accounts().process().start();
    let answer = server.try_register("ada").await.expect(201).json();
    assert_eq!(answer["user"]["email"], "ada@example.com");
    assert_eq!((&answer["user"]["name"], &answer["user"]["admin"]), (&json!("ada"), &json!(false)));
    assert!(answer["expires_at"].as_str().unwrap().ends_with('Z'));
    let me = server.http().bearer(answer["token"].as_str().unwrap()).get("/api/v1/me").await;
    assert_eq!(me.expect(200).json(), answer["user"]);

    let again = server.try_register("ADA").await.expect(409);
    assert_eq!(code(&again), "email-taken");
    let log_in = server.log_in("Ada", PASSWORD).await.expect(200).json();
    assert_eq!(log_in["user"], answer["user"]);
}

#[tokio::test]
async fn bad_addresses_passwords_and_unknown_fields_are_refused_by_name() {
    let server = TestServer::builder().accounts().process().start();
    let long = "x".repeat(72);
    let table = [
        (json!({ "email": "ada", "password": PASSWORD }), "email-invalid"),
        (json!({ "email": "a@b", "password": "1234567" }), "password-length"),
        (json!({ "email": "a@b", "password": long }), "password-length"),
        (json!({ "email": "a@b", "password": "1234567\0" }), "password-characters"),
        (json!({ "email": "a@b", "password": PASSWORD, "name": "a\nb" }), "name-invalid"),
        (json!({ "email": "a", "password": "b" }), "validation-failed"),
        (json!({ "email": "a@b", "password": PASSWORD, "admin": true }), "body-invalid"),
        (json!({ "email": "a@b", "password": PASSWORD, "role": "admin" }), "body-invalid"),
        (json!({ "email": "a@b", "password": PASSWORD, "id": 1 }), "body-invalid"),
        (json!({ "email": "a@b" }), "body-invalid"),
    ];
    for (body, expected) in table {
        let answer = server.http().post("/api/v1/auth/register", &body).await.expect(422);
        assert_eq!(code(&answer), expected, "{body}");
        assert!(!answer.text().contains(PASSWORD), "{}", answer.text());
    }
    let ada = server.register("ada").await;
    for field in ["owner", "owner_id", "workspace", "redirect_count", "status", "claim_token"] {
        let body = json!({ "original_url": "https://example.com/", field: 1 });
        ada.post("/api/v1/links", &body).await.expect(422);
    }
}

#[tokio::test]
async fn an_unknown_user_and_a_wrong_password_get_the_same_answer() {
    let server = TestServer::builder().accounts().process().start();
    server.try_register("ada").await.expect(201);
    let wrong = server.log_in("ada", "not the password").await.expect(401);
    let unknown = server.log_in("nobody", "not the password").await.expect(401);
    assert_eq!(wrong.problem(), unknown.problem());
    let headers = |answer: &kurz_test_support::http::Answer| {
        let mut headers = answer.headers.clone();
        headers.remove("date");
        headers.remove("x-request-id");
        headers
    };
    assert_eq!(headers(&wrong), headers(&unknown));
    assert_eq!(wrong.header("www-authenticate"), Some("Bearer"));
    // What cannot be a password is wrong as well, never cut to fit.
    let cut = format!("{PASSWORD}{}", "x".repeat(80));
    assert_eq!(server.log_in("ada", &cut).await.expect(401).problem(), wrong.problem());
    server.kurz(&["user", "disable", &email("ada")], "");
    assert_eq!(server.log_in("ada", PASSWORD).await.expect(401).problem(), wrong.problem());
    server.kurz(&["user", "enable", &email("ada")], "");
    server.log_in("ada", PASSWORD).await.expect(200);
}

// threats: C6
#[tokio::test]
async fn a_logout_and_a_new_password_end_older_tokens() {
    let server = TestServer::builder().accounts().process().start();
    let ada = server.register("ada").await;
    let other = server.log_in("ada", PASSWORD).await.expect(200).json()["token"].clone();
    let other = server.http().bearer(other.as_str().unwrap());
    let key = ada.post("/api/v1/keys", &json!({ "scopes": ["read"] })).await.expect(201).json();
    let key = server.http().bearer(key["key"].as_str().unwrap());
    ada.post("/api/v1/auth/logout", &json!({})).await.expect(204);
    for client in [&ada, &other] {
        assert_eq!(code(&client.get("/api/v1/me").await.expect(401)), "invalid-token");
    }
    key.get("/api/v1/me").await.expect(200);

    let token = server.log_in("ada", PASSWORD).await.expect(200).json()["token"].clone();
    let ada = server.http().bearer(token.as_str().unwrap());
    let body = json!({ "current_password": "wrong wrong", "new_password": "another one" });
    assert_eq!(code(&ada.patch("/api/v1/me/password", &body).await.expect(403)), "wrong-password");
    let body = json!({ "current_password": PASSWORD, "new_password": "short" });
    ada.patch("/api/v1/me/password", &body).await.expect(422);
    let body = json!({ "current_password": PASSWORD, "new_password": "another one" });
    assert_eq!(code(&key.patch("/api/v1/me/password", &body).await.expect(403)), "sign-in-needed");
    let answer = ada.patch("/api/v1/me/password", &body).await.expect(200).json();
    ada.get("/api/v1/me").await.expect(401);
    let ada = server.http().bearer(answer["token"].as_str().unwrap());
    ada.get("/api/v1/me").await.expect(200);
    server.log_in("ada", PASSWORD).await.expect(401);
    server.log_in("ada", "another one").await.expect(200);
}

#[tokio::test]
async fn who_leaves_takes_their_links_keys_and_memberships_along() {
    let server = TestServer::builder().accounts().process().start();
    let ada = server.register("ada").await;
    let link = shorten(&ada, "https://example.com/").await;
    let path = format!("/{}", link["short_code"].as_str().unwrap());
    server.http().get(&path).await.expect(302);
    let key = ada.post("/api/v1/keys", &json!({ "scopes": ["read"] })).await.expect(201).json();
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    let bob = server.register("bob").await;
    join(&ada, "team", ("bob", &bob), "admin").await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "teams" });
    ada.post("/api/v1/workspaces/team/links", &body).await.expect(201);

    let wrong = json!({ "password": "not it at all" });
    ada.send(Method::DELETE, "/api/v1/me", Some(&wrong)).await.expect(403);
    let body = json!({ "password": PASSWORD });
    ada.send(Method::DELETE, "/api/v1/me", Some(&body)).await.expect(204);
    ada.get("/api/v1/me").await.expect(401);
    server.http().bearer(key["key"].as_str().unwrap()).get("/api/v1/me").await.expect(401);
    server.log_in("ada", PASSWORD).await.expect(401);
    server.http().get(&path).await.expect(404);
    // The team's links are the team's.
    server.http().get("/w/team/teams").await.expect(302);

    // The address is free again; the old token is not good for the new account.
    let fresh = server.register("ada").await;
    ada.get("/api/v1/me").await.expect(401);
    let links = fresh.get("/api/v1/workspaces/main/links").await.expect(200).json();
    assert_eq!(links["links"], json!([]));
    fresh.get("/api/v1/workspaces/team").await.expect(404);
}

#[tokio::test]
async fn no_secret_is_written_down() {
    let server = TestServer::builder()
        .accounts()
        .setting("KURZ_LOG", "trace")
        .setting("KURZ_SIGNUP", "open")
        .process()
        .start();
    let ada = server.register("ada").await;
    let token = server.log_in("ada", PASSWORD).await.expect(200).json()["token"].clone();
    let body = json!({ "scopes": ["read", "create", "manage"] });
    let key = ada.post("/api/v1/keys", &body).await.expect(201).json()["key"].clone();
    server.http().bearer(key.as_str().unwrap()).get("/api/v1/me").await.expect(200);
    let claim = shorten(&server.http(), "https://example.com/").await["claim_token"].clone();
    let invite = server.kurz(&["user", "invite", &email("eve")], "");
    let wrong = server.log_in("ada", &format!("{PASSWORD}-wrong")).await.expect(401).text();
    let malformed = json!({ "email": "ada@example.com", "password": [PASSWORD] });
    let malformed = server.http().post("/api/v1/auth/login", &malformed).await.expect(422).text();
    let broken =
        server.http().bearer(&format!("{}x", key.as_str().unwrap())).get("/api/v1/me").await;
    let told = format!("{wrong}{malformed}{}", broken.expect(401).text());

    let program = server.program().clone();
    let (_, log) = server.terminate();
    let mut stored = Vec::new();
    for file in std::fs::read_dir(program.folder()).unwrap() {
        stored.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    let stored = String::from_utf8_lossy(&stored).into_owned();
    assert!(stored.contains("$2b$12$"), "the hash is bcrypt's, at cost 12");
    let invite = invite.split_whitespace().next().unwrap();
    let secrets =
        [PASSWORD, token.as_str().unwrap(), key.as_str().unwrap(), claim.as_str().unwrap(), invite];
    for secret in secrets {
        assert!(secret.len() > 10);
        for (place, text) in [("store", &stored), ("log", &log), ("errors", &told)] {
            assert!(!text.contains(secret), "the {place} holds a secret");
        }
    }
}

//! What the log says after hostile requests: no line that a visitor wrote, no secret that a user has.

use kurz_test_support::TestServer;
use kurz_test_support::accounts::{PASSWORD, email};
use reqwest::header::{COOKIE, HeaderName, REFERER, USER_AGENT};
use serde_json::{Value, json};

/// Every line is one JSON object: nobody but kurz began it.
#[track_caller]
fn all_lines_are_its_own(log: &str) {
    for line in log.lines().filter(|line| !line.trim().is_empty()) {
        if ["listening on ", "admin on ", "store "].iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let read: Result<Value, _> = serde_json::from_str(line);
        assert!(read.is_ok_and(|line| line["level"].is_string()), "no line of ours: {line:?}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

// threats: H11
#[tokio::test]
async fn nobody_writes_a_line_into_the_log() {
    let server = TestServer::builder()
        .accounts()
        .setting("KURZ_LOG_FORMAT", "json")
        .setting("KURZ_LOG", "trace,hyper=info,h2=info")
        .process()
        .start();
    let ada = server.register("ada").await;
    let poison = "x\u{1b}[31mred\u{202e}\u{2028}{\"level\":\"ERROR\",\"forged\":true}";
    let encoded = "x%0d%0a%7b%22level%22:%22ERROR%22,%22forged%22:true%7d%1b[31m";
    for path in ["/", "/w/main/", "/app/", "/api/v1/workspaces/", "/api/v1/links?q="] {
        server.http().get(&format!("{path}{encoded}")).await;
    }
    let name = |text: &'static str| HeaderName::from_static(text);
    for header in [USER_AGENT, REFERER, COOKIE, name("x-forwarded-for"), name("x-request-id")] {
        let text = "x\\u001b[31m\",\"forged\":true}{\"level\":\"ERROR\"}";
        server.http().with(header, text).get("/nothing").await.expect(404);
    }
    for text in [poison, "a\nb", "a\r\n{\"level\":\"ERROR\"}"] {
        let body = json!({ "email": text, "password": text });
        server.http().post("/api/v1/auth/login", &body).await;
        ada.post("/api/v1/links", &json!({ "original_url": text, "title": text })).await;
        let body = json!({ "original_url": "https://example.com/", "custom_code": text });
        ada.post("/api/v1/links", &body).await;
        ada.post("/api/v1/keys", &json!({ "name": text, "scopes": ["read"] })).await;
    }
    let (status, log) = server.terminate();
    assert!(status.success());
    all_lines_are_its_own(&log);
    assert!(!log.contains("\"forged\":true"), "{log}");
}

// threats: H12
#[tokio::test]
async fn no_secret_is_ever_in_the_log() {
    const SECRET: &str = "planted-jwt-secret-0123456789-abcdefghij";
    let env = [
        ("KURZ_LOG_FORMAT", "json"),
        ("KURZ_LIMITS", "off"),
        ("KURZ_LOG", "trace"),
        ("KURZ_JWT_SECRET", SECRET),
        ("KURZ_COUNTER_SALT", "planted-counter-salt-4711"),
    ];
    let server = TestServer::builder().accounts().settings(&env).process().start();
    let ada = server.register("ada").await;
    let token = server.log_in("ada", PASSWORD).await.expect(200).json()["token"].clone();
    let token = token.as_str().unwrap();
    let key = ada.post("/api/v1/keys", &json!({ "name": "a", "scopes": ["read"] })).await;
    let key = key.expect(201).json()["key"].as_str().unwrap().to_owned();
    let anonymous = json!({ "original_url": "https://example.com/" });
    let claim = server.http().post("/api/v1/links", &anonymous).await.expect(201).json();
    let claim = claim["claim_token"].as_str().unwrap().to_owned();
    // Each where it belongs, where it does not, and damaged.
    let cookie = "planted-cookie-secret-9f8e7d6c5b4a";
    let wrong = "planted-wrong-password-2468";
    let bearer = "planted-bearer-secret-13579";
    for http in [
        server.http().bearer(&key),
        server.http().bearer(token),
        server.http().bearer(bearer),
        server.http().with(COOKIE, &format!("__Host-kurz={cookie}; kurz={cookie}")),
    ] {
        for path in ["/api/v1/me", "/app", "/api/v1/keys", "/nothing", "/healthz"] {
            http.get(path).await;
        }
        http.post("/api/v1/links", &json!({ "original_url": "no url" })).await;
    }
    server.log_in("ada", wrong).await.expect(401);
    server.http().get(&format!("/api/v1/me?token={bearer}&key={key}")).await.expect(401);
    let list = json!({ "links": [{ "short_code": "nothing", "claim_token": claim }] });
    ada.post("/api/v1/links/claim", &list).await.expect(200);
    let change = json!({ "current_password": PASSWORD, "new_password": "planted-new-password-97" });
    ada.patch("/api/v1/me/password", &change).await.expect(200);
    let form = format!("email={}&password={wrong}", email("ada").replace('@', "%40"));
    server.http().post_bytes("/login", form).await;
    let (_, log) = server.terminate();
    assert!(log.contains("listening"), "there is a log");
    let secrets = [
        SECRET,
        "planted-counter-salt-4711",
        PASSWORD,
        token,
        &key,
        &claim,
        cookie,
        wrong,
        bearer,
        "planted-new-password-97",
    ];
    for (at, secret) in secrets.iter().enumerate() {
        assert!(!log.contains(secret), "secret {at} is in the log");
    }
    let signature = token.rsplit('.').next().unwrap();
    assert!(!log.contains(signature), "the token's signature is in the log");
    assert!(!log.contains("$2b$12$"), "a hash is in the log");
}

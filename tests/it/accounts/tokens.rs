//! Tokens that are not good: forged, expired, damaged, too long. All are refused alike.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use kurz_test_support::TestServer;
use kurz_test_support::accounts::{PASSWORD, code, email};
use serde_json::{Value, json};

const SECRET: &str = "a secret that only this test and its server know";

fn signed(algorithm: Algorithm, claims: &Value, secret: &str) -> String {
    encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
}

/// What a good token of the same user would say, with `changes`.
fn claims(good: &str, changes: &Value) -> Value {
    let body = BASE64.decode(good.split('.').nth(1).unwrap()).unwrap();
    let mut claims: Value = serde_json::from_slice(&body).unwrap();
    for (name, value) in changes.as_object().unwrap() {
        if value == "gone" {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

/// Signed with the right secret and wrong all the same.
fn wrong_claims(good: &str) -> Vec<String> {
    let now = claims(good, &json!({}))["iat"].as_i64().unwrap();
    let later = now + 3600;
    let changes = [
        json!({ "exp": now - 3600 }),
        json!({ "exp": now - 6 }),
        json!({ "exp": 0 }),
        json!({ "exp": -1 }),
        json!({ "exp": later.to_string() }),
        json!({ "exp": 1e10 }),
        json!({ "exp": [later] }),
        json!({ "exp": { "at": later } }),
        json!({ "exp": null }),
        json!({ "exp": true }),
        json!({ "exp": "gone" }),
        json!({ "exp": u64::MAX }),
        json!({ "nbf": later }),
        json!({ "nbf": "soon" }),
        json!({ "iat": "gone" }),
        json!({ "sub": "gone" }),
        json!({ "sub": "" }),
        json!({ "sub": 1 }),
        json!({ "sub": "ADA@example.com" }),
        json!({ "sub": email("nobody") }),
        json!({ "sub": ["ada@example.com"] }),
        json!({ "ver": "gone" }),
        json!({ "ver": 1 }),
        json!({ "ver": "1" }),
        json!({ "ver": i64::MAX }),
        json!({ "ver": -1 }),
        json!({ "aud": "elsewhere" }),
        json!({ "admin": true }),
        json!({ "iss": "elsewhere" }),
    ];
    let sign = |changes| signed(Algorithm::HS256, &claims(good, changes), SECRET);
    changes.iter().map(sign).collect()
}

/// The good token with other headers, shortened, or with a letter changed.
fn damaged(good: &str) -> Vec<String> {
    let mut bad = Vec::new();
    let body = good.split('.').nth(1).unwrap();
    let signature = good.split('.').nth(2).unwrap();
    for header in [
        r#"{"alg":"none"}"#,
        r#"{"alg":"NONE","typ":"JWT"}"#,
        r#"{"alg":""}"#,
        r#"{"typ":"JWT"}"#,
        r#"{"alg":"RS256"}"#,
        r#"{"alg":"ES256"}"#,
        r#"{"alg":"HS256","kid":"/dev/null"}"#,
        r#"{"alg":["HS256"]}"#,
        r#"{"alg":"HS256","kid":"../../../../etc/passwd"}"#,
        r#"{"alg":"HS256","jwk":{"kty":"oct","k":"AA"}}"#,
        r#"{"alg":"HS256","jku":"https://evil.example/keys"}"#,
        r#"{"alg":"hs256"}"#,
        r#"{"alg":"HS256 "}"#,
        r#"{"alg":"none","alg":"HS256"}"#,
        "[]",
        "",
    ] {
        bad.push(format!("{}.{body}.", BASE64.encode(header)));
        bad.push(format!("{}.{body}.{signature}", BASE64.encode(header)));
    }
    let start = good.len() - signature.len();
    for end in [start, start + 1, good.len() - 1, good.len() - 10, 20] {
        bad.push(good[..end].to_owned());
    }
    for at in [start, start + 9, start - 3, 3] {
        let mut flipped = good.as_bytes().to_vec();
        flipped[at] = if flipped[at] == b'A' { b'B' } else { b'A' };
        bad.push(String::from_utf8(flipped).unwrap());
    }
    bad
}

fn bad_tokens(good: &str) -> Vec<String> {
    let same = claims(good, &json!({}));
    let mut bad = vec![
        signed(Algorithm::HS384, &same, SECRET),
        signed(Algorithm::HS512, &same, SECRET),
        signed(Algorithm::HS256, &same, "another secret, just as long as that one"),
        signed(Algorithm::HS256, &same, ""),
        "x".to_owned(),
        "..".to_owned(),
        "a.b.c".to_owned(),
        "null".to_owned(),
        "x".repeat(8 << 10),
        format!("{}.{}.{}", "A".repeat(2000), "A".repeat(1500), "A".repeat(500)),
        format!("{good}{}", "A".repeat(5000)),
        format!("{good}."),
        format!(".{good}"),
        format!("{good}.x"),
        good.replace('.', ".."),
        good.replace('.', " "),
        good.to_uppercase(),
        good.chars().rev().collect(),
    ];
    bad.extend(wrong_claims(good));
    bad.extend(damaged(good));
    for key in ["kurz_", "kurz_x", &format!("kurz_{}", "A".repeat(43)), "KURZ_x"] {
        bad.push(key.to_owned());
    }
    bad
}

// threats: C1, C3, C4, C5
#[tokio::test]
async fn no_token_but_the_servers_own_is_good() {
    let server =
        TestServer::builder().accounts().setting("KURZ_JWT_SECRET", SECRET).process().start();
    server.try_register("ada").await.expect(201);
    let answer = server.log_in("ada", PASSWORD).await.expect(200).json();
    let good = answer["token"].as_str().unwrap();
    server.http().bearer(good).get("/api/v1/me").await.expect(200);
    let again = signed(Algorithm::HS256, &claims(good, &json!({})), SECRET);
    server.http().bearer(&again).get("/api/v1/me").await.expect(200);

    let bad = bad_tokens(good);
    assert!(bad.len() >= 80, "{}", bad.len());
    for token in bad {
        let answer = server.http().bearer(&token).get("/api/v1/me").await.expect(401);
        assert_eq!(code(&answer), "invalid-token");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer error=\"invalid_token\""));
        // Not even where no credential is needed: a bad one is never taken for none.
        let body = json!({ "original_url": "https://example.com/" });
        server.http().bearer(&token).post("/api/v1/links", &body).await.expect(401);
    }
    // A query string is no place for a credential.
    server.http().get(&format!("/api/v1/me?token={good}&access_token={good}")).await.expect(401);
    let basic = server.http().with(reqwest::header::AUTHORIZATION, &format!("Basic {good}"));
    basic.get("/api/v1/me").await.expect(401);
}

// threats: C2
#[test]
fn a_weak_secret_stops_the_start_and_is_not_repeated() {
    for weak in ["securekey", "changemechangemechangemechangeme", &"x".repeat(40)] {
        let program = TestServer::builder().accounts().setting("KURZ_JWT_SECRET", weak).process();
        let output = program.run("");
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("KURZ_JWT_SECRET") && !said.contains(weak), "{said}");
    }
}

//! Hostile request bodies: invalid UTF-8, fields that a client may not set, too many of anything.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kurz_test_support::accounts::{PASSWORD, email};
use kurz_test_support::{Kind, TestServer, on_both_databases};
use serde_json::json;
use tokio::task::block_in_place;

/// What is tested here comes faster than a stranger may ask.
const NO_LIMITS: [(&str, &str); 1] = [("KURZ_LIMITS", "off")];

on_both_databases!(
    text_that_is_no_text_is_refused_and_never_mended,
    ranges_lists_and_searches_have_an_end,
);

// threats: A14
async fn text_that_is_no_text_is_refused_and_never_mended(kind: Kind) {
    let kurz = TestServer::builder().database(kind).settings(&NO_LIMITS).start().await;
    let http = kurz.http();
    let body = |middle: &[u8]| {
        [b"{\"original_url\":\"https://example.com/".as_slice(), middle, b"\"}"].concat()
    };
    let not_utf8: [&[u8]; 10] = [
        b"\xff",
        b"\xc0\xaf",
        b"\xc1\x81",
        b"\xe0\x80\xaf",
        b"\xf0\x80\x80\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\x80",
        b"\xe2\x82",
        b"\xfe\xff",
    ];
    for bytes in not_utf8 {
        let answer = http.post_bytes("/api/v1/links", body(bytes)).await;
        answer.expect_problem(400, "body-not-utf8");
    }
    for text in
        ["\\ud800", "\\udfff", "\\ud800\\ud800", "\\udc00\\ud800", "\\uD83D", "\\x41", "\\u00"]
    {
        let answer = http.post_bytes("/api/v1/links", body(text.as_bytes())).await;
        assert!([400, 422].contains(&answer.status), "{text}: {}", answer.text());
    }
    for text in ["\\u0000a", "a\\u0000b", "\\u000d\\u000aSet-Cookie: a", "\\u0009x"] {
        let answer = http.post_bytes("/api/v1/links", body(text.as_bytes())).await;
        answer.expect_problem(422, "url-control-characters");
    }
    let deep = format!("{}{}", "[".repeat(100_000 / 4), "]".repeat(100_000 / 4));
    let answer = http.post_bytes("/api/v1/links", deep).await;
    assert!([400, 422].contains(&answer.status), "{}", answer.text());
    assert_eq!(http.get("/api/v1/stats").await.json()["total_links"], 0);
    // Text that is text comes back as it was, to the byte.
    let strange = "https://example.com/\u{fffd}\u{202e}é\u{301}😀";
    let made = http.post("/api/v1/links", &json!({ "original_url": strange })).await.expect(201);
    assert_eq!(made.json()["original_url"], strange);
    kurz.stop().await;
}

/// Say that a body of so many bytes comes, and send `sent` of them before anything is read; the answers
/// up to the close.
fn flood(base: &str, path: &str, fields: &str, sent: usize) -> String {
    let address = base.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    write!(stream, "POST {path} HTTP/1.1\r\nHost: {address}\r\n{fields}\r\n\r\n").unwrap();
    stream.write_all(&vec![b'x'; sent]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

// threats: A13
#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_too_large_are_refused_before_they_are_read() {
    let server = TestServer::builder().accounts().settings(&NO_LIMITS).process().start();
    let base = server.base_url();
    for (path, bytes) in [
        ("/api/v1/links", 65 << 10),
        ("/api/v1/links", 10 << 20),
        ("/api/v1/auth/login", 1 << 20),
        ("/api/v1/auth/register", 1 << 20),
        ("/api/v1/workspaces/main/links/bulk", (1 << 20) + 1),
    ] {
        let length = format!("Content-Length: {bytes}");
        // Nothing of it is needed to refuse it; and who sends it all first is told so as well.
        for sent in [0, bytes] {
            let answer = block_in_place(|| flood(base, path, &length, sent));
            assert!(answer.starts_with("HTTP/1.1 413 "), "{path}, {sent} of {bytes}: {answer}");
            assert!(answer.contains("\"body-too-large\""), "{answer}");
        }
        // Who asks first whether to send it is not told to go on.
        let asking = format!("{length}\r\nExpect: 100-continue");
        let answer = block_in_place(|| flood(base, path, &asking, 0));
        assert!(answer.starts_with("HTTP/1.1 413 "), "{path}: {answer}");
        // Where no length is given, it is refused where the limit is passed.
        let chunked = "Transfer-Encoding: chunked\r\n\r\nA00000";
        let answer = block_in_place(|| flood(base, path, chunked, bytes));
        assert!(answer.starts_with("HTTP/1.1 413 "), "{path}, chunked: {answer}");
    }
}

// threats: C18
#[tokio::test]
async fn fields_that_are_nobodys_to_set_are_refused_everywhere() {
    let server = TestServer::builder().accounts().settings(&NO_LIMITS).process().start();
    let ada = server.register("ada").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    let link = json!({ "original_url": "https://example.com/", "custom_code": "mine" });
    ada.post("/api/v1/links", &link).await.expect(201);
    let fields = [
        "role",
        "admin",
        "is_admin",
        "workspace",
        "workspace_id",
        "owner",
        "owner_id",
        "user_id",
        "hit_count",
        "redirect_count",
        "id",
        "created_at",
        "updated_at",
        "status",
        "link_type",
        "short_code",
        "normalized_url",
        "claim_hash",
        "version",
        "purged_at",
        "__proto__",
        "constructor",
        "hits_this_month",
        "destination_status",
        "destination_http_status",
    ];
    let person = json!({ "email": email("eve"), "password": PASSWORD, "name": "eve" });
    let posts = [
        ("/api/v1/links", json!({ "original_url": "https://example.com/" })),
        ("/api/v1/workspaces/team/links", json!({ "original_url": "https://example.com/" })),
        ("/api/v1/workspaces/team/links/bulk", json!({ "links": [] })),
        ("/api/v1/auth/register", person),
        ("/api/v1/auth/login", json!({ "email": email("ada"), "password": PASSWORD })),
        ("/api/v1/keys", json!({ "name": "a", "scopes": ["read"] })),
        ("/api/v1/links/claim", json!({ "links": [] })),
        ("/api/urls/public", json!({ "originalUrl": "https://example.com/" })),
        ("/v1/shorten", json!({ "targetUrl": "https://example.com/" })),
        ("/shorten", json!({ "url": "https://example.com/" })),
        ("/workspaces/team/links", json!({ "url": "https://example.com/" })),
    ];
    for field in fields {
        for (path, body) in &posts {
            let mut body = body.clone();
            body[field] = json!(1);
            let answer = ada.post(path, &body).await;
            assert_eq!(answer.status, 422, "{path} {field}: {}", answer.text());
        }
        for path in ["/api/v1/workspaces/main/links/mine", "/api/v1/workspaces/team"] {
            let answer = ada.patch(path, &json!({ field: 1 })).await;
            assert_eq!(answer.status, 422, "{path} {field}: {}", answer.text());
        }
        let item = json!({ "links": [{ "original_url": "https://example.com/", field: 1 }] });
        let answer = ada.post("/api/v1/workspaces/team/links/bulk", &item).await;
        assert_eq!(answer.status, 422, "bulk {field}: {}", answer.text());
    }
    let me = ada.get("/api/v1/me").await.expect(200).json();
    assert!(me.to_string().contains("ada@example.com") && me["admin"] != true, "{me}");
    server.log_in("eve", PASSWORD).await.expect(401);
}

// threats: C7, C8
#[tokio::test]
async fn passwords_that_bcrypt_would_cut_are_refused_and_never_cut() {
    let server = TestServer::builder().accounts().settings(&NO_LIMITS).process().start();
    let long = "p".repeat(71);
    let body = |password: &str| json!({ "email": email("ada"), "password": password, "name": "a" });
    let register = "/api/v1/auth/register";
    for bad in [
        format!("{long}x"),
        format!("{long}xy"),
        "ä".repeat(72),
        "p".repeat(4000),
        "short12".to_owned(),
        "null\0inside".to_owned(),
        "\0\0\0\0\0\0\0\0".to_owned(),
    ] {
        let answer = server.http().post(register, &body(&bad)).await;
        assert_eq!(answer.status, 422, "{}: {}", bad.len(), answer.text());
    }
    server.http().post(register, &body(&long)).await.expect(201);
    server.log_in("ada", &long).await.expect(200);
    for longer in [format!("{long}x"), format!("{long}{long}"), format!("{long}\0"), "p".repeat(72)]
    {
        let answer = server.log_in("ada", &longer).await;
        assert_eq!(answer.status, 401, "{}: {}", longer.len(), answer.text());
    }
    let huge = "p".repeat(1 << 20);
    server.log_in("ada", &huge).await.expect(413);
}

// threats: C17
#[tokio::test]
async fn a_hash_that_is_none_is_nobodys_password() {
    let server = TestServer::builder().accounts().settings(&NO_LIMITS).process().start();
    server.register("ada").await;
    let file = server.program().folder().join("kurz.db");
    let garbage = [
        "",
        "x",
        "$2b$",
        "$2b$12$",
        "$2b$99$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "$2b$12$short",
        "$2x$12$ääääääääääääääääääääää",
        "plain-password-as-it-was-typed",
        "$2b$-1$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "$argon2id$v=19$m=1,t=1,p=1$a$a",
        "$2b$31$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\u{0}",
    ];
    for hash in garbage {
        let db = rusqlite::Connection::open(&file).unwrap();
        db.busy_timeout(Duration::from_secs(10)).unwrap();
        db.execute("update users set password_hash = ?1", [hash]).unwrap();
        drop(db);
        for password in [PASSWORD, "plain-password-as-it-was-typed"] {
            let answer = server.log_in("ada", password).await;
            assert_eq!(answer.status, 401, "{hash}: {}", answer.text());
        }
    }
    server.http().get("/healthz").await.expect(200);
}

// threats: D4
#[tokio::test]
async fn who_may_not_ask_is_told_so_before_what_they_asked_is_looked_at() {
    let server = TestServer::builder().accounts().settings(&NO_LIMITS).process().start();
    for path in
        ["/api/v1/workspaces?cursor=a.b", "/api/v1/workspaces?limit=0", "/api/v1/workspaces"]
    {
        server.http().get(path).await.expect_problem(401, "unauthenticated");
    }
}

// threats: D9
#[tokio::test]
async fn a_claim_names_at_most_a_hundred_links() {
    let server = TestServer::builder().accounts().settings(&NO_LIMITS).process().start();
    let ada = server.register("ada").await;
    let item = |n: usize| json!({ "short_code": format!("code{n}"), "claim_token": "x" });
    for count in [101, 2000] {
        let links: Vec<_> = (0..count).map(item).collect();
        let answer = ada.post("/api/v1/links/claim", &json!({ "links": links })).await;
        assert!([422, 413].contains(&answer.status), "{count}: {}", answer.text());
    }
    let links: Vec<_> = (0..100).map(item).collect();
    let answer = ada.post("/api/v1/links/claim", &json!({ "links": links })).await.expect(200);
    let results = answer.json()["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), 100);
    assert!(results.iter().all(|result| result["status"] == 404), "{results:?}");
}

// threats: H16
async fn ranges_lists_and_searches_have_an_end(kind: Kind) {
    let kurz = TestServer::builder().database(kind).settings(&NO_LIMITS).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "here" });
    http.post("/api/v1/links", &body).await.expect(201);
    let links = "/api/v1/workspaces/main/links";
    for bad in ["limit=0", "limit=-1", "limit=100000", "limit=1e3", "limit=99999999999999999999"] {
        let answer = http.get(&format!("{links}?{bad}")).await;
        assert_eq!(answer.status, 422, "{bad}: {}", answer.text());
    }
    let long = "x".repeat(5000);
    for (name, value) in [
        ("q", long.as_str()),
        ("q", "%25%25%25%25%25%25_%25_%25"),
        ("q", "(a%2B)%2B$"),
        ("tag", long.as_str()),
        ("cursor", long.as_str()),
        ("cursor", "%00"),
        ("sort", "hits;drop"),
        ("status", "%27 or 1=1"),
    ] {
        let answer = http.get(&format!("{links}?{name}={}", value.replace(' ', "%20"))).await;
        assert!([200, 422].contains(&answer.status), "{name}: {} {}", answer.status, answer.text());
    }
    for query in ["from=1900-01-01", "days=36500", "hours=1000000", "to=9999-12-31T00:00:00Z"] {
        let answer = http.get(&format!("{links}/here/stats?{query}")).await;
        assert!([200, 422].contains(&answer.status), "{query}: {}", answer.text());
        assert!(answer.body.len() < 256 << 10, "{query}: {} bytes", answer.body.len());
    }
    kurz.stop().await;
}

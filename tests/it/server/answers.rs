//! What answers say about themselves: methods, caches, other origins, and that nothing a stranger sent
//! comes back in them.

use kurz_test_support::http::{Answer, Http};
use kurz_test_support::{Process, TestServer};
use reqwest::Method;
use reqwest::header::HeaderName;
use serde_json::json;

async fn open() -> (Process, Http) {
    let server = TestServer::builder().default_timeouts().process().start();
    let http = server.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "here" });
    http.post("/api/v1/links", &body).await.expect(201);
    (server, http)
}

fn name(text: &str) -> HeaderName {
    HeaderName::from_bytes(text.as_bytes()).unwrap()
}

// threats: G6
#[tokio::test]
async fn methods_that_nobody_offers_are_405_with_those_that_are() {
    let (_server, http) = open().await;
    let table = [
        ("/here", "GET, HEAD"),
        ("/w/main/here", "GET, HEAD"),
        ("/here+", "GET, HEAD"),
        ("/api/v1/links", "POST"),
        ("/api/v1/stats", "GET, HEAD"),
        ("/healthz", "GET, HEAD"),
    ];
    for (path, expected) in table {
        for method in ["TRACE", "PUT", "PROPFIND", "FOO"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let answer = http.send(method.clone(), path, None).await.expect(405);
            let allowed = answer.header("allow").unwrap_or_default();
            let mut allowed: Vec<&str> = allowed.split(',').map(str::trim).collect();
            allowed.sort_unstable();
            assert_eq!(allowed.join(", "), expected, "{method} {path}");
            assert!(!answer.text().contains("user-agent"), "nothing of the request comes back");
        }
    }
    for path in ["/here", "/api/v1/links"] {
        let answer = http.send(Method::CONNECT, path, None).await;
        assert!((400..500).contains(&answer.status), "CONNECT: {}", answer.status);
    }
}

// threats: G6
#[tokio::test]
async fn a_header_that_names_another_method_is_passed_over() {
    let (_server, http) = open().await;
    for header in ["x-http-method-override", "x-http-method", "x-method-override"] {
        let http = http.with(name(header), "DELETE");
        http.get("/api/v1/workspaces/main/links/here").await.expect(200);
        let post = http.post("/api/v1/workspaces/main/links/here", &json!({})).await;
        post.expect(405);
    }
    http.get("/here").await.expect(302);
    http.get("/here?_method=DELETE").await.expect(302);
}

/// Headers by which a proxy would say for whom it asks.
const FORWARDED: [&str; 8] = [
    "x-forwarded-host",
    "x-forwarded-server",
    "x-original-url",
    "x-rewrite-url",
    "x-host",
    "x-forwarded-prefix",
    "x-forwarded-scheme",
    "forwarded",
];

// threats: G7, D3
#[tokio::test]
async fn no_header_but_host_changes_an_answer_and_none_is_kept_by_caches() {
    let (_server, http) = open().await;
    let body =
        json!({ "original_url": "https://example.com/", "custom_code": "once", "hit_limit": 1 });
    http.post("/api/v1/links", &body).await.expect(201);
    http.get("/once").await.expect(302);
    let addresses =
        [("/here", 302), ("/nothing", 404), ("/once", 429), ("/here+", 200), ("/", 200)];
    for (path, status) in addresses {
        let plain = http.get(path).await.expect(status);
        let kept = plain.header("cache-control").unwrap_or_default();
        assert!(kept.contains("no-store"), "{path}: {kept:?}");
        for header in FORWARDED {
            let value = if header == "forwarded" { "host=evil.example" } else { "evil.example" };
            let answer = http.with(name(header), value).get(path).await.expect(status);
            let location = answer.header("location");
            assert_eq!(location, plain.header("location"), "{header} {path}");
            let text = answer.text();
            assert!(!text.contains("evil.example"), "{header} {path}: {text}");
        }
    }
    for header in FORWARDED {
        let body = json!({ "original_url": "https://example.com/a" });
        let link = http.with(name(header), "evil.example").post("/api/v1/links", &body).await;
        let link = link.expect(201).json();
        assert!(link["short_url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{link}");
    }
    // A link with the name of a file is not the link.
    for path in ["/here.css", "/here.js", "/here/", "/here/x.png", "/here%2e", "/here;x=.css"] {
        let answer = http.get(path).await.expect(404);
        assert!(answer.header("cache-control").unwrap_or_default().contains("no-store"), "{path}");
    }
}

// threats: G9
#[tokio::test]
async fn no_other_origin_may_read_anything() {
    let (_server, http) = open().await;
    let paths = ["/", "/here", "/api/v1/links", "/api/v1/stats", "/api/v1/me", "/api/openapi.json"];
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
        let http = http
            .with(name("origin"), origin)
            .with(name("access-control-request-method"), "POST")
            .with(name("access-control-request-headers"), "authorization");
        for path in paths {
            for method in [Method::OPTIONS, Method::GET, Method::POST] {
                let answer = http.send(method.clone(), path, None).await;
                let allowed = answer.header("access-control-allow-origin");
                assert_eq!(allowed, None, "{method} {path} from {origin}");
                assert_eq!(answer.header("access-control-allow-credentials"), None);
            }
        }
    }
}

const MARK: &str = "zqx\"'><script>alert(1)</script>";

fn is_silent(answer: &Answer, what: &str) {
    let text = answer.text();
    for word in ["zqx", "<script>alert", "panicked", "rusqlite", "insert into", ".rs:", "backtrace"]
    {
        assert!(!text.contains(word), "{what}: {text}");
    }
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{what}");
    let policy = answer.header("content-security-policy").unwrap_or_default();
    assert!(policy.contains("default-src 'none'"), "{what}: {policy}");
}

// threats: G10
#[tokio::test]
async fn errors_do_not_repeat_what_was_asked_and_say_nothing_of_the_inside() {
    let (_server, http) = open().await;
    let encoded = "zqx%22%27%3E%3Cscript%3Ealert(1)%3C/script%3E";
    for accept in ["text/html", "application/json", "*/*"] {
        let http = http.with(name("accept"), accept).with(name("x-mark"), "zqx");
        let http = http.with(name("referer"), "https://zqx.example/<script>alert(1)</script>");
        for path in [
            format!("/{encoded}"),
            format!("/w/main/{encoded}"),
            format!("/w/{encoded}/x"),
            format!("/nothing?q={encoded}"),
            format!("/app/{encoded}"),
            format!("/app/main/links/{encoded}"),
            format!("/api/v1/workspaces/{encoded}"),
            format!("/api/v1/workspaces/main/links/{encoded}"),
            format!("/api/v1/workspaces/main/links?cursor={encoded}"),
            format!("/api/{encoded}"),
            "/%ff%fe".to_owned(),
            "/../../etc/passwd".to_owned(),
        ] {
            let answer = http.get(&path).await;
            assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
            is_silent(&answer, &format!("{accept} {path}"));
        }
        for body in [
            MARK.to_owned(),
            format!("{{\"{}\":1}}", "zqx"),
            json!({ "original_url": MARK }).to_string(),
        ] {
            let answer = http.post_bytes("/api/v1/links", body.clone()).await;
            assert!((400..500).contains(&answer.status), "{body}: {}", answer.status);
            let text = answer.text();
            assert!(!text.contains("<script>alert"), "{body}: {text}");
        }
    }
}

// threats: G12
#[tokio::test]
async fn bodies_that_are_not_json_are_refused_whatever_they_are_called() {
    let (_server, http) = open().await;
    let table = [
        ("application/xml", "<link><original_url>https://example.com/</original_url></link>"),
        (
            "text/xml",
            "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>",
        ),
        ("application/yaml", "original_url: https://example.com/"),
        ("application/x-www-form-urlencoded", "original_url=https%3A%2F%2Fexample.com%2F"),
        (
            "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"original_url\"\r\n\r\nhttps://example.com/\r\n--x--\r\n",
        ),
        ("text/plain", "https://example.com/"),
        ("application/json", "callback({\"original_url\":\"https://example.com/\"})"),
        ("application/json", "{original_url:'https://example.com/'}"),
        ("application/json", "// no\n{\"original_url\":\"https://example.com/\"}"),
        ("application/json", "\u{feff}{\"original_url\":\"https://example.com/\"}"),
        ("application/json", "{\"original_url\":\"https://example.com/\",}"),
        ("application/json", "{\"original_url\":NaN}"),
    ];
    for (kind, body) in table {
        let http = http.with(name("content-type"), kind);
        http.post_bytes("/api/v1/links", body).await.expect_problem(400, "json-malformed");
    }
    // Nobody calls back.
    let answer = http.get("/api/v1/stats?callback=evil&jsonp=evil").await;
    assert!(!answer.text().contains("evil"), "{}", answer.text());
}

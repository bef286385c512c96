//! Hostile targets (`targets.jsonl`: a line each, with the row of the threat and the answer), on creation and
//! on edit, and where the accepted ones lead. `private` is refused where the operator wants it so, and
//! accepted otherwise.

use kurz_test_support::http::{Answer, Http};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    hostile_targets_are_answered_as_the_table_says,
    private_targets_are_accepted_where_the_operator_does_not_mind,
);

struct Case {
    row: String,
    url: String,
    answer: String,
    /// What `Location` says, for those that are accepted.
    location: Option<String>,
}

fn cases() -> Vec<Case> {
    let text = |line: &Value, field: &str| line[field].as_str().map(str::to_owned);
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let (row, url) = (text(&line, "row").unwrap(), text(&line, "url").unwrap());
        Case { row, url, answer: text(&line, "answer").unwrap(), location: text(&line, "location") }
    };
    let mut cases: Vec<Case> = include_str!("targets.jsonl").lines().map(read).collect();
    cases.extend(long_cases());
    cases
}

/// Those that are too long to be looked at in a file.
fn long_cases() -> Vec<Case> {
    let url = |rest: String| format!("https://example.com/{rest}");
    let pairs: Vec<String> = (0..600).map(|n| format!("k{n}={n}")).collect();
    let refused = [
        url("a".repeat(8173)),
        url("a".repeat(20_000)),
        url(format!("?{}", "a=b&".repeat(3000))),
        url(format!("#{}", "x".repeat(9000))),
        url("ä".repeat(3000)),
        format!("https://{}example/", "a.".repeat(4200)),
    ];
    let accepted = [
        url("a".repeat(8172)),
        url(format!("?{}", "a=b&".repeat(2000))),
        url(format!("?{}", pairs.join("&"))),
        url("%25".repeat(1000)),
        url("a/".repeat(2000)),
        url("../".repeat(1000)),
        url(format!("?{}", "&".repeat(4000))),
        url("/".repeat(4000)),
        url("%2e%2e/".repeat(800)),
    ];
    let case = |url: String, answer: &str, location| Case {
        row: "a13 a15".to_owned(),
        url,
        answer: answer.to_owned(),
        location,
    };
    let refused = refused.into_iter().map(|url| case(url, "url-too-long", None));
    let accepted = accepted.into_iter().map(|url| case(url.clone(), "ok", Some(url)));
    refused.chain(accepted).collect()
}

/// Exactly one `Location`, this one, and no header that the target could have brought.
#[track_caller]
fn leads_to(answer: &Answer, location: &str, case: &Case) {
    assert_eq!(answer.status, 302, "{} {:?}", case.row, case.url);
    let locations: Vec<_> = answer.headers.get_all("location").iter().collect();
    assert_eq!(locations, [location], "{} {:?}", case.row, case.url);
    assert!(location.bytes().all(|byte| byte.is_ascii_graphic()), "{location}");
    let names: Vec<&str> = answer.headers.keys().map(reqwest::header::HeaderName::as_str).collect();
    let known = |name: &&str| {
        ["location", "cache-control", "content-length", "date", "referrer-policy"].contains(name)
            || name.starts_with("x-robots")
            || name.starts_with("x-content")
    };
    assert!(names.iter().all(known), "{names:?} for {:?}", case.url);
}

// threats: A1, A2, A3, A4, A5, A6, A8, A9, A10, A13, A15
async fn hostile_targets_are_answered_as_the_table_says(kind: Kind) {
    let kurz = TestServer::builder()
        .database(kind)
        .setting("KURZ_PRIVATE_TARGETS", "refuse")
        .start()
        .await;
    let http = kurz.http();
    let cases = cases();
    assert!(cases.len() >= 300, "{} cases", cases.len());
    let start = json!({ "original_url": "https://safe.example/", "custom_code": "edited" });
    http.post("/api/v1/links", &start).await.expect(201);
    for case in &cases {
        let refused = match case.answer.as_str() {
            "ok" => None,
            "private" => Some("url-private-address"),
            code => Some(code),
        };
        let body = json!({ "original_url": case.url });
        let made = http.post("/api/v1/links", &body).await;
        let edited = http.patch("/api/v1/workspaces/main/links/edited", &body).await;
        let Some(code) = refused else {
            let link = made.expect(201).json();
            edited.expect(200);
            let location = case.location.as_deref().unwrap();
            for path in [links::short_path(&link), "/edited".to_owned()] {
                leads_to(&http.get(&path).await, location, case);
            }
            continue;
        };
        for answer in [made, edited] {
            assert_eq!(answer.status, 422, "{} {:?}: {}", case.row, case.url, answer.text());
            let problem = answer.expect_problem(422, code);
            let detail = problem["detail"].as_str().unwrap();
            assert!(!detail.chars().any(char::is_control), "{detail:?}");
        }
    }
    kurz.stop().await;
}

// threats: A10
async fn private_targets_are_accepted_where_the_operator_does_not_mind(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http: Http = kurz.http();
    for case in cases().iter().filter(|case| case.answer == "private") {
        let link = links::make(&http, "main", &json!({ "original_url": case.url })).await;
        let location = case.location.as_deref().unwrap();
        leads_to(&http.get(&links::short_path(&link)).await, location, case);
    }
    kurz.stop().await;
}

//! The two databases behave alike: the same operations, in the same order, at the same instants, give
//! the same answers to the letter.

use std::time::Duration;

use futures_util::future::join_all;
use kurz::store::{Error, NewAuditEntry, Subject};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, TestServer, links};
use reqwest::Method;
use serde_json::{Value, json};

/// Numbers in a known order.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// One request, or a step of the clock.
#[derive(Debug)]
enum Operation {
    Send(Method, String, Option<Value>),
    Wait(Duration),
}

const WORKSPACES: [&str; 3] = ["main", "red", "blue"];
const CODES: [&str; 6] = ["promo", "PROMO", "sale", "s-1", "s_1", "api"];
const TAGS: [&str; 3] = ["x", "y", "Z"];

fn url(rng: &mut Rng) -> String {
    match rng.below(10) {
        0 => format!("https://EXAMPLE.com:443/{}/#f{}", rng.below(8), rng.below(3)),
        1 => "ftp://example.com/".to_owned(),
        2 => format!("https://example.com/ü{}?b=1&a=%7e", rng.below(3)),
        _ => format!("https://example.com/{}", rng.below(8)),
    }
}

fn new_link(rng: &mut Rng, now_ms: i64) -> Value {
    let mut body = json!({ "original_url": url(rng) });
    match rng.below(6) {
        0 => body["strategy"] = json!("random"),
        1 => body["strategy"] = json!("counter"),
        2 => body["strategy"] = json!("deterministic"),
        3 => body["custom_code"] = json!(rng.pick(&CODES)),
        _ => {}
    }
    if rng.one_in(3) {
        body["tags"] = json!([rng.pick(&TAGS), rng.pick(&TAGS)]);
    }
    if rng.one_in(3) {
        body["title"] = json!(format!("Title 100%_{}", rng.below(5)));
    }
    if rng.one_in(4) {
        let end = now_ms + i64::try_from(rng.below(4)).unwrap() * 1000;
        body["expires_at"] = json!(Timestamp::from_ms(end).to_rfc3339());
    }
    if rng.one_in(4) {
        body["hit_limit"] = json!(rng.below(4));
    }
    body
}

fn edit(rng: &mut Rng) -> Value {
    match rng.below(6) {
        0 => json!({ "original_url": url(rng) }),
        1 => json!({ "tags": [rng.pick(&TAGS)] }),
        2 => json!({ "tags": null, "title": null }),
        3 => json!({ "expires_at": null, "hit_limit": null }),
        4 => json!({ "redirect_status": 300 + rng.below(9) }),
        _ => json!({ "title": "Edited", "hit_limit": rng.below(3) }),
    }
}

/// The next thing to do, given the codes that have been seen so far.
fn next(rng: &mut Rng, codes: &[String], now_ms: i64) -> Operation {
    let workspace = rng.pick(&WORKSPACES);
    let code = if codes.is_empty() { "promo" } else { codes[rng.below(codes.len())].as_str() };
    let links = links::path(workspace);
    let link = format!("{links}/{code}");
    let send = |method, path: String, body| Operation::Send(method, path, body);
    match rng.below(24) {
        0..=5 => send(Method::POST, links, Some(new_link(rng, now_ms))),
        6 | 7 => {
            let batch: Vec<Value> = (0..rng.below(6)).map(|_| new_link(rng, now_ms)).collect();
            let body = json!({ "links": batch, "atomic": rng.one_in(2) });
            send(Method::POST, format!("{links}/bulk"), Some(body))
        }
        8 | 9 => send(Method::PATCH, link, Some(edit(rng))),
        10 => send(Method::DELETE, link, None),
        11 => send(Method::POST, format!("{link}/restore"), None),
        12 => send(Method::GET, link, None),
        13 | 14 => {
            let sort = rng.pick(&[
                "created_at",
                "-created_at",
                "updated_at",
                "-updated_at",
                "short_code",
                "-short_code",
            ]);
            let filter = rng.pick(&[
                "",
                "&tag=x",
                "&tag=Z",
                "&status=DELETED",
                "&status=EXPIRED",
                "&status=ACTIVE",
                "&q=example.com%2F1",
                "&q=100%25_",
                "&q=EDIT",
                "&strategy=custom",
                "&strategy=counter",
            ]);
            send(Method::GET, format!("{links}?limit=1000&sort={sort}{filter}"), None)
        }
        15..=17 => send(Method::GET, format!("/{code}"), None),
        18 => send(Method::GET, format!("/w/{workspace}/{code}"), None),
        19 => send(Method::HEAD, format!("/{code}"), None),
        20 => send(Method::GET, format!("/{code}+"), None),
        21 => send(Method::GET, "/api/v1/workspaces".to_owned(), None),
        22 => Operation::Wait(Duration::from_millis(500)),
        _ => Operation::Wait(Duration::from_millis(1)),
    }
}

/// Codes that an answer names.
fn codes_in(answer: &Value, codes: &mut Vec<String>) {
    match answer {
        Value::Object(fields) => {
            if let Some(code) = fields.get("short_code").and_then(Value::as_str)
                && !codes.iter().any(|seen| seen == code)
            {
                codes.push(code.to_owned());
            }
            fields.values().for_each(|value| codes_in(value, codes));
        }
        Value::Array(values) => values.iter().for_each(|value| codes_in(value, codes)),
        _ => {}
    }
}

/// What a visitor or caller sees, without what may differ: counts that are written when they are
/// written, and how long it took.
fn blur(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for field in
                ["redirect_count", "avg_redirect_ms", "last_redirect_at", "hits_this_month"]
            {
                fields.remove(field);
            }
            fields.values_mut().for_each(blur);
        }
        Value::Array(values) => values.iter_mut().for_each(blur),
        _ => {}
    }
}

async fn answer(http: &Http, operation: &Operation) -> (u16, Option<String>, Value) {
    let Operation::Send(method, path, body) = operation else { return (0, None, Value::Null) };
    let answer = http.send(method.clone(), path, body.as_ref()).await;
    let location = answer.header("location").map(str::to_owned);
    let mut shown = match answer.header("content-type") {
        Some(kind) if kind.contains("json") && !answer.body.is_empty() => answer.json(),
        _ => json!(answer.text()),
    };
    blur(&mut shown);
    (answer.status, location, shown)
}

async fn compare(seed: u64, steps: usize) {
    let settings =
        [("KURZ_PUBLIC_URL", "https://kurz.example"), ("KURZ_COUNTER_SALT", "unit_test_salt")];
    let sqlite = TestServer::builder().database(Kind::Sqlite).settings(&settings).start().await;
    let postgres = TestServer::builder().database(Kind::Postgres).settings(&settings).start().await;
    let (left, right) = (sqlite.http(), postgres.http());
    let mut rng = Rng(seed);
    let mut codes = Vec::new();
    let mut successes = 0;
    for step in 0..steps {
        let operation = next(&mut rng, &codes, sqlite.clock.now().as_ms());
        if let Operation::Wait(span) = operation {
            sqlite.clock.advance(span);
            postgres.clock.advance(span);
            continue;
        }
        let (ours, theirs) = tokio::join!(answer(&left, &operation), answer(&right, &operation));
        assert_eq!(ours, theirs, "seed {seed}, step {step}: {operation:?}");
        assert!(ours.0 < 500, "seed {seed}, step {step}: {operation:?} gave {ours:?}");
        successes += usize::from(ours.0 < 400);
        codes_in(&ours.2, &mut codes);
    }
    assert!(successes > steps / 4, "most of it should do something: {successes}");
    // At the end the counts are written as well, and they are the same.
    let (sqlite, postgres) = (sqlite.restart().await, postgres.restart().await);
    for workspace in WORKSPACES {
        let path = format!("{}?limit=1000&sort=-redirect_count", links::path(workspace));
        let (ours, theirs) = (sqlite.http().get(&path).await, postgres.http().get(&path).await);
        let counts = |answer: &kurz_test_support::http::Answer| {
            let page = answer.json();
            let links = page["links"].as_array().cloned().unwrap_or_default();
            links
                .iter()
                .map(|link| {
                    (
                        links::code(link).to_owned(),
                        link["redirect_count"].clone(),
                        link["hits_this_month"].clone(),
                    )
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(counts(&ours), counts(&theirs), "seed {seed}, {workspace}");
    }
    sqlite.stop().await;
    postgres.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_operations_give_the_same_answers_on_both_databases() {
    for seed in 1..=4 {
        Box::pin(compare(seed, 400)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_at_once_leaves_both_databases_sound() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let kurz = TestServer::builder().database(kind).start().await;
        let http = kurz.http();
        let now = kurz.clock.now().as_ms();
        let clients = (1..=12).map(|seed| {
            let http = http.clone();
            async move {
                let mut rng = Rng(seed);
                let mut codes: Vec<String> = CODES.map(str::to_owned).to_vec();
                for _ in 0..40 {
                    let operation = next(&mut rng, &codes, now);
                    let (status, _, shown) = answer(&http, &operation).await;
                    assert!(status < 500, "{kind:?}: {operation:?} gave {status} {shown}");
                    codes_in(&shown, &mut codes);
                }
            }
        });
        join_all(clients).await;
        // Whatever happened: each deterministic URL once, and every link that is live works.
        for workspace in WORKSPACES {
            let mut seen = std::collections::BTreeSet::new();
            for link in links::all(&http, workspace).await {
                if link["strategy"] == "deterministic" {
                    let url = link["normalized_url"].as_str().unwrap().to_owned();
                    assert!(seen.insert(url), "{kind:?}: twice {link}");
                }
                let expected: &[u16] = match link["status"].as_str().unwrap() {
                    "ACTIVE" => &[301, 302, 307, 308, 429],
                    _ => &[410],
                };
                let answer = http.get(&links::short_path(&link)).await;
                assert!(
                    expected.contains(&answer.status),
                    "{kind:?}: {} for {link}",
                    answer.status
                );
            }
        }
        kurz.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_fails_is_named_with_its_cause() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let staged = TestServer::builder().database(kind).start().await;
        let store = staged.open_store().await;
        staged.home.execute("alter table links rename to elsewhere").await;
        let (main, code) = (WorkspaceId::parse("main").unwrap(), Code::parse("promo").unwrap());
        let read = store.find_link(&main, &code).await.unwrap_err();
        let entry = NewAuditEntry {
            id: 1,
            at: Timestamp::from_ms(1),
            user: None,
            key: None,
            action: "deleted",
            subject: Subject::link(LinkId(1)),
            detail: "{}".to_owned(),
            client: None,
        };
        let write = store.delete_link(LinkId(1), entry.at, &entry).await.unwrap_err();
        for (error, name) in
            [(read, "kurz::store::links::FIND"), (write, "kurz::store::edit::DELETE")]
        {
            let Error::Statement { statement, .. } = &error else { panic!("{kind:?}: {error:?}") };
            assert_eq!(*statement, name, "{kind:?}");
            assert!(matches!(error.kind(), Error::Refused(_)), "{kind:?}: {error}");
            let line = error.to_string();
            assert!(line.contains("links") && line.contains(name), "{kind:?}: {line}");
        }
    }
}

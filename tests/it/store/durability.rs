//! What was acknowledged is there after a crash, and nothing in flight fails when the server is asked
//! to end.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, Process, TestServer, links, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases!(a_server_that_is_asked_to_end_fails_nobody);

/// What clients were told: each code with its target.
type Acknowledged = Vec<(String, String)>;

/// Create links until the server is gone; what was acknowledged. `made` counts along.
async fn create_until_gone(http: Http, name: String, made: &AtomicUsize) -> Acknowledged {
    let mut acknowledged = Vec::new();
    for n in 0.. {
        let url = |m: usize| format!("https://example.com/{name}/{n}/{m}");
        // Every strategy, one by one and in batches.
        let (path, body) = match n % 4 {
            0 => (links::path("team"), json!({ "original_url": url(0) })),
            1 => (
                links::path("team"),
                json!({ "original_url": url(0), "custom_code": format!("{name}-{n}") }),
            ),
            2 => (links::path("team"), json!({ "original_url": url(0), "strategy": "counter" })),
            _ => {
                let batch: Vec<Value> =
                    (0..10).map(|m| json!({ "original_url": url(m) })).collect();
                (format!("{}/bulk", links::path("team")), json!({ "links": batch }))
            }
        };
        let Ok(answer) = http.try_send(Method::POST, &path, Some(&body)).await else { break };
        assert!([200, 201].contains(&answer.status), "{}", answer.text());
        let answer = answer.json();
        let one = [answer.clone()];
        let many: Vec<Value> = answer["results"]
            .as_array()
            .map(|results| results.iter().map(|result| result["link"].clone()).collect())
            .unwrap_or_default();
        for link in if many.is_empty() { &one[..] } else { &many[..] } {
            let target = link["original_url"].as_str().unwrap().to_owned();
            acknowledged.push((links::code(link).to_owned(), target));
            made.fetch_add(1, Ordering::Relaxed);
        }
    }
    acknowledged
}

/// Load from four clients, and after some links `end` the server.
async fn under_load<T: Send + 'static>(
    served: Process,
    round: usize,
    end: impl FnOnce(Process) -> T + Send + 'static,
) -> (Acknowledged, T) {
    let made = AtomicUsize::new(0);
    let http = served.http();
    let clients = (0..4).map(|n| create_until_gone(http.clone(), format!("r{round}c{n}"), &made));
    let killer = async {
        // At another point of the work each time.
        let mut ticks = tokio::time::interval(Duration::from_millis(1));
        while made.load(Ordering::Relaxed) < 3 + round * 5 {
            ticks.tick().await;
        }
        tokio::task::spawn_blocking(move || end(served)).await.unwrap()
    };
    let (acknowledged, ended) = tokio::join!(join_all(clients), killer);
    (acknowledged.concat(), ended)
}

async fn expect_all(http: &Http, acknowledged: &Acknowledged) {
    for (code, target) in acknowledged {
        let answer = http.get(&format!("/w/team/{code}")).await;
        assert_eq!(answer.status, 302, "{code}, which was to lead to {target}");
        assert_eq!(answer.header("location"), Some(target.as_str()));
    }
}

async fn survive_kills(kind: Kind, kills: usize) {
    let mut served = TestServer::builder().database(kind).process().start();
    let mut all = Acknowledged::new();
    for round in 0..kills {
        let (acknowledged, stopped) = under_load(served, round, Process::kill_9).await;
        assert!(acknowledged.len() >= 3, "the load of round {round} was no load");
        served = stopped.start();
        expect_all(&served.http(), &acknowledged).await;
        all.extend(acknowledged);
    }
    expect_all(&served.http(), &all).await;
    let mut codes: Vec<&String> = all.iter().map(|(code, _)| code).collect();
    codes.sort();
    codes.dedup();
    assert_eq!(codes.len(), all.len(), "no code was given twice");
    // The store is sound, and goes on.
    links::make(&served.http(), "team", &json!({ "original_url": "https://example.com/after" }))
        .await;
    if kind == Kind::Sqlite {
        let home = std::sync::Arc::clone(served.home());
        served.kill_9();
        let db = rusqlite::Connection::open(home.sqlite_file()).unwrap();
        let check: String = db.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
    }
}

// threats: F1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_link_is_lost_by_twenty_kills_on_sqlite() {
    survive_kills(Kind::Sqlite, 20).await;
}

// threats: F1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_link_is_lost_by_four_kills_on_postgres() {
    survive_kills(Kind::Postgres, 4).await;
}

async fn a_server_that_is_asked_to_end_fails_nobody(kind: Kind) {
    let mut served = TestServer::builder().database(kind).process().start();
    for round in 0..6 {
        // A client breaks off only where its connection is closed between two requests; an answer
        // other than 200 or 201 would end the test inside `create_until_gone`.
        let (acknowledged, stopped) = under_load(served, round, Process::stop).await;
        served = stopped.start();
        expect_all(&served.http(), &acknowledged).await;
        let stored = stored_codes(&served.http(), round).await;
        let told: BTreeSet<String> = acknowledged.into_iter().map(|(code, _)| code).collect();
        assert_eq!(stored, told, "what was stored was also acknowledged");
    }
}

/// The codes of the links of a round, over all pages.
async fn stored_codes(http: &Http, round: usize) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let path = format!("{}?limit=1000&q=%2Fr{round}c{cursor}", links::path("team"));
        let page = http.get(&path).await.expect(200).json();
        codes.extend(
            page["links"].as_array().unwrap().iter().map(|link| links::code(link).to_owned()),
        );
        let Some(next) = page["next_cursor"].as_str() else { return codes };
        cursor = format!("&cursor={next}");
    }
}

//! Searches through a running server: how many run at once, how long one may take, and that redirects and
//! look-ups do not wait for them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{join, join_all};
use http::HeaderName;
use kurz_test_support::accounts::register;
use kurz_test_support::http::Answer;
use kurz_test_support::postgres::{Database, connect};
use kurz_test_support::{Kind, TestServer, links};
use serde_json::{Value, json};

const SEARCH: &str = "/api/v1/workspaces/main/links?q=zebra";

/// A server on a PostgreSQL database of which a test holds the other end.
async fn start(database: &Database, settings: &[(&str, &str)]) -> TestServer {
    TestServer::builder()
        .accounts()
        .limits()
        .setting("KURZ_STORE", database.url())
        .settings(settings)
        .start()
        .await
}

/// Until so many statements wait for a lock.
async fn wait_for_waiting(sql: &tokio_postgres::Client, expected: i64) {
    let watch = kurz::clock::Stopwatch::start();
    // Jobs of the server may wait as well: the first statement of a list is counted.
    let count = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database() and query like 'select created_at, id from links%'";
    while sql.query_one(count, &[]).await.unwrap().get::<_, i64>(0) < expected {
        assert!(watch.elapsed() < Duration::from_secs(30), "{expected} searches wait");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// While searches cannot go on, because another connection holds the table: so many of one account
/// may wait; the others are told to come back, on pages too; redirects are answered.
#[tokio::test]
async fn searches_beyond_the_limits_are_told_to_come_back() {
    let database = Database::create();
    let server = start(&database, &[("KURZ_LIMIT_SEARCHES_PER_ACCOUNT", "1")]).await;
    let page = server.sign_up("ada").await;
    let ada = server.log_in("ada").await;
    let link = json!({ "original_url": "https://example.com/", "custom_code": "hot-link" });
    links::make(&ada, "main", &link).await;
    server.http().get("/hot-link").await.expect(302);

    let sql = connect(database.url()).await;
    sql.batch_execute("begin; lock table links in access exclusive mode").await.unwrap();
    // A transaction sees the other sessions as they were when it first looked.
    let sessions = connect(database.url()).await;
    let others = async {
        wait_for_waiting(&sessions, 1).await;
        let refused = ada.get(SEARCH).await;
        assert_eq!(refused.header("retry-after"), Some("1"));
        refused.expect_problem(503, "too-many-searches");
        let html = page.with(HeaderName::from_static("accept"), "text/html");
        let refused = html.get("/app/w/main?q=zebra").await.expect(503);
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert!(refused.text().contains("Too many searches"), "{}", refused.text());
        server.http().get("/hot-link").await.expect(302);
        sql.batch_execute("rollback").await.unwrap();
    };
    join(ada.get(SEARCH), others).await.0.expect(200);
    // Nothing is left of them.
    ada.get(SEARCH).await.expect(200);
    server.stop().await;
}

#[tokio::test]
async fn a_search_is_stopped_at_the_statement_timeout_on_postgres() {
    let database = Database::create();
    let server = start(&database, &[("KURZ_STATEMENT_TIMEOUT", "300ms")]).await;
    let ada = register(&server.http(), "ada").await;
    let sql = connect(database.url()).await;
    sql.batch_execute("begin; lock table links in access exclusive mode").await.unwrap();
    ada.get(SEARCH).await.expect_problem(503, "statement-timeout");
    sql.batch_execute("rollback").await.unwrap();
    ada.get(SEARCH).await.expect(200);
    server.stop().await;
}

/// Sixteen searchers of one account: their searches are answered or refused with `Retry-After`; every
/// redirect, of links that are in no cache, and every look-up of a key, a session and a link is answered.
#[tokio::test]
async fn redirects_and_look_ups_are_answered_while_many_search() {
    let server = TestServer::builder().database(Kind::Sqlite).accounts().limits().from_now();
    let server = server
        .setting("KURZ_LIMIT_CALLS_PER_ACCOUNT", "0")
        .setting("KURZ_CUSTOM_CODE_LIMIT", "0")
        .start()
        .await;
    let ada = register(&server.http(), "ada").await;
    let links: Vec<Value> = (0..1000)
        .map(|at| json!({ "original_url": format!("https://example.com/{at}"), "custom_code": format!("c-{at}") }))
        .collect();
    ada.post("/api/v1/workspaces/main/links/bulk", &json!({ "links": links })).await.expect(200);
    for part in 0..4 {
        let links: Vec<Value> = (0..1000)
            .map(|at| json!({ "original_url": format!("https://shop.example/{part}/{at}") }))
            .collect();
        ada.post("/api/v1/workspaces/main/links/bulk", &json!({ "links": links }))
            .await
            .expect(200);
    }
    let done = AtomicBool::new(false);
    let statuses: Mutex<BTreeMap<u16, u32>> = Mutex::default();
    let searchers = join_all((0..16).map(async |at| {
        let texts = ["zz", "nowhere", "shop.example", "e"];
        while !done.load(Ordering::Relaxed) {
            let path = format!("/api/v1/workspaces/main/links?q={}", texts[at % 4]);
            let answer: Answer = ada.get(&path).await;
            let status = answer.status;
            assert!(status == 200 || answer.header("retry-after").is_some(), "{status}");
            *statuses.lock().unwrap().entry(status).or_default() += 1;
        }
    }));
    let visitors = async {
        for at in 0..300 {
            server.http().get(&format!("/c-{at}")).await.expect(302);
            ada.get(&format!("/api/v1/workspaces/main/links/c-{at}")).await.expect(200);
            ada.get("/api/v1/keys").await.expect(200);
        }
        done.store(true, Ordering::Relaxed);
    };
    join(searchers, visitors).await;
    let statuses = statuses.into_inner().unwrap();
    assert!(statuses.contains_key(&200), "{statuses:?}");
    assert!(statuses.keys().all(|status| [200, 503].contains(status)), "{statuses:?}");
    server.stop().await;
}

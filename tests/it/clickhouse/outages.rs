//! ClickHouse that is killed, hangs or is not there: clicks, redirects and answers go on.

use kurz_test_support::clickhouse::{ClickHouse, number};
use kurz_test_support::http::Http;
use kurz_test_support::{NOON, TestServer, links};
use serde_json::{Value, json};

use super::proxy::Proxy;
use super::{EVENTS, cut, write_and_copy};
use crate::clicks::events::{batch, store_block};

const ANALYTICS: &str = "/api/v1/workspaces/team/analytics?from=24h&group=country";

async fn follow(http: &Http, link: &Value, clicks: usize) {
    for _ in 0..clicks {
        http.get(&links::short_path(link)).await.expect(302);
    }
}

async fn clicks(http: &Http) -> u64 {
    let answer = http.get(ANALYTICS).await.expect(200).json();
    answer["total"]["clicks"].as_u64().unwrap() + answer["total"]["bots"].as_u64().unwrap()
}

async fn readiness(http: &Http) -> Value {
    http.get("/readyz").await.expect(200).json()["checks"]["clickhouse"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clickhouse_that_was_killed_gets_every_event_once_when_it_is_back() {
    let mut clickhouse = ClickHouse::start();
    let kurz = TestServer::builder().clickhouse(clickhouse.url().as_str()).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/" });
    let link = links::make(&http, "team", &body).await;
    follow(&http, &link, 5).await;
    write_and_copy(&kurz).await;
    assert_eq!(readiness(&http).await, "ok");
    clickhouse.kill();
    for part in 1..=3 {
        follow(&http, &link, 7).await;
        cut(&kurz).await;
        kurz.app().copy_waiting_events().await.unwrap_err();
        assert_eq!(clicks(&http).await, 5 + 7 * part, "answers come from the store");
    }
    let said = readiness(&http).await;
    assert!(said.as_str().unwrap().contains("answers come from the store"), "{said}");
    clickhouse.start_again();
    kurz.app().copy_waiting_events().await.unwrap();
    assert_eq!(number(&clickhouse.url(), EVENTS).await, 26);
    assert_eq!(readiness(&http).await, "ok");
    // With everything that it had gone it has its table again.
    clickhouse.kill();
    std::fs::remove_dir_all(clickhouse.data()).unwrap();
    clickhouse.start_again();
    follow(&http, &link, 2).await;
    cut(&kurz).await;
    while kurz.app().copy_waiting_events().await.is_err() {}
    assert_eq!(number(&clickhouse.url(), EVENTS).await, 2);
    kurz.stop().await;
}

// threats: F3
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clickhouse_that_hangs_costs_no_redirect_no_count_and_one_wait() {
    let clickhouse = ClickHouse::start();
    let proxy = Proxy::start(&clickhouse.url()).await;
    let kurz = TestServer::builder().clickhouse(proxy.url()).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/" });
    let link = links::make(&http, "team", &body).await;
    let id = link["id"].as_i64().unwrap();
    kurz.app().copy_waiting_events().await.unwrap();
    store_block(&kurz.open_store().await, "team", &batch(id, NOON, &["DE", "FR", "DE"])).await;
    proxy.hang(true);
    let asked = proxy.requests();
    assert_eq!(clicks(&http).await, 3);
    assert_eq!(proxy.requests(), asked + 1, "it was asked, and did not answer in time");
    for _ in 0..20 {
        assert_eq!(clicks(&http).await, 3);
    }
    assert_eq!(proxy.requests(), asked + 1, "then it is not asked for a while");
    follow(&http, &link, 4).await;
    cut(&kurz).await;
    assert_eq!(clicks(&http).await, 7, "nothing waits for it");
    // Nor for a server that stands still.
    proxy.hang(false);
    clickhouse.freeze();
    follow(&http, &link, 4).await;
    cut(&kurz).await;
    assert_eq!(clicks(&http).await, 11);
    clickhouse.thaw();
    while kurz.app().copy_waiting_events().await.is_err() {}
    assert_eq!(number(&clickhouse.url(), EVENTS).await, 8, "each once");
    kurz.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_starts_and_stops_without_its_clickhouse() {
    let nowhere = format!("http://127.0.0.1:{}/kurz", kurz_test_support::servers::free_port());
    let kurz = TestServer::builder().clickhouse(&nowhere).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/" });
    let link = links::make(&http, "team", &body).await;
    follow(&http, &link, 3).await;
    cut(&kurz).await;
    let error = kurz.app().copy_waiting_events().await.unwrap_err().to_string();
    assert!(error.contains("ClickHouse does not answer"), "{error}");
    assert_eq!(clicks(&http).await, 3);
    kurz.stop().await;
}

//! Events of two instances on one database: one visitor on both, and nothing missing or twice.

use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_test_support::events::{StoredEvents, open_store};
use kurz_test_support::{TestServer, links};
use reqwest::header::{HeaderName, USER_AGENT};
use serde_json::json;

const AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_is_the_same_on_every_instance_and_every_click_is_one_event() {
    let builder = TestServer::builder().setting("KURZ_TRUSTED_PROXIES", "127.0.0.1");
    let two = tokio::task::block_in_place(|| builder.start_instances(2));
    let body = json!({ "original_url": "https://example.com/" });
    let link = links::make(&two.http(0), "team", &body).await;
    let address = HeaderName::from_static("x-forwarded-for");
    for at in [0, 1] {
        for _ in 0..10 {
            let http = two.http(at).with(USER_AGENT, AGENT).with(address.clone(), "198.51.100.217");
            http.get(&links::short_path(&link)).await.expect(302);
        }
    }
    let home = std::sync::Arc::clone(two.running[0].as_ref().unwrap().home());
    let store = open_store(&home).await;
    let watch = Stopwatch::start();
    let stored = loop {
        let stored = StoredEvents::read(&store).await;
        if stored.total() >= 20 {
            break stored;
        }
        assert!(watch.elapsed() < Duration::from_secs(30), "{} events", stored.total());
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!((stored.total(), stored.len()), (20, 20));
    let mut visitors: Vec<u64> =
        stored.batches().flat_map(|batch| batch.visitors.iter().copied()).collect();
    visitors.sort_unstable();
    visitors.dedup();
    // At midnight they are two.
    assert!(matches!(visitors.len(), 1 | 2) && !visitors.contains(&0), "{visitors:?}");
    let keys = home.number("select count(*) from visitor_keys").await;
    assert!(visitors.len() == 1 || keys > 1, "{visitors:?}");
    let writers = store.list_event_log_keys().await.unwrap();
    let mut writers: Vec<i64> = writers.into_iter().map(|(writer, _)| writer).collect();
    writers.dedup();
    assert_eq!(writers.len(), 2, "both wrote");
    drop(two);
}

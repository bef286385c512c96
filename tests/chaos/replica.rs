//! A real PostgreSQL that follows another: links that are not in memory come from it, and go on when the
//! one it follows is gone.

use kurz_test_support::servers::{Postgres, Redis, until};
use kurz_test_support::{TestServer, links};
use serde_json::json;

// threats: E10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_answers_for_links_that_nobody_knows_by_heart() {
    let (mut first, redis) = (Postgres::start(), Redis::start());
    let second = Postgres::follow(&first);
    let replica = [("KURZ_REPLICA", second.url())];
    let settings: Vec<(&str, &str)> =
        replica.iter().map(|(name, url)| (*name, url.as_str())).collect();
    let mut instances = TestServer::builder()
        .setting("KURZ_STORE", &first.url())
        .redis(&redis.url())
        // Hits are reserved in the first: without it, a link that was not followed here yet has none.
        .setting("KURZ_QUOTA_ON_OUTAGE", "open")
        .settings(&settings)
        .start_instances(1);
    let make = async |code: &str| {
        let body =
            json!({ "original_url": format!("https://example.com/{code}"), "custom_code": code });
        links::short_path(&links::make(&instances.http(0), "main", &body).await)
    };
    let (cold, path) = (make("cold").await, make("colder").await);
    until("the replica has followed", || second.count("links") == 2);
    // It begins with an empty memory, and with a minute of care about what it has not heard.
    instances.terminate(0);
    instances.start_one(0);
    let http = instances.http(0);
    http.get(&cold).await.expect(302);
    first.kill();
    let careful = kurz::clock::Stopwatch::start();
    let answer = loop {
        let answer = http.get(&path).await;
        if answer.status != 503 {
            break answer;
        }
        assert!(
            careful.elapsed() < std::time::Duration::from_mins(3),
            "the replica is never asked"
        );
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    };
    assert_eq!(answer.expect(302).header("location"), Some("https://example.com/colder"));
    // What the replica does not know may be new: only the first could say that it is not there.
    http.get("/never-made").await.expect(503);
    http.get(&cold).await.expect(302);
    first.start_again();
    let back = kurz::clock::Stopwatch::start();
    while http.get("/never-made").await.status != 404 {
        assert!(back.elapsed() < std::time::Duration::from_mins(1), "the first is back");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

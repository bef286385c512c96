//! A change on one instance is seen on all of them: within a second, and within five without Redis.

use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_test_support::http::Http;
use kurz_test_support::instances::Instances;
use kurz_test_support::servers::Redis;
use kurz_test_support::{TestServer, links};
use reqwest::header::HOST;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(20);

/// How long it takes until all of `clients` see what `seen` looks for at `path`.
async fn until_all(
    clients: &[Http],
    path: &str,
    seen: impl Fn(u16, Option<&str>) -> bool,
) -> Duration {
    let watch = Stopwatch::start();
    for http in clients {
        loop {
            let answer = http.get(path).await;
            if seen(answer.status, answer.header("location")) {
                break;
            }
            assert!(watch.elapsed() < PATIENCE, "{path} still answers {}", answer.status);
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    watch.elapsed()
}

/// Edit, delete and restore a link again and again, each time on another instance; how long each
/// change took to be seen by all, shortest first.
async fn tries(instances: &Instances, count: usize) -> Vec<Duration> {
    let clients: Vec<Http> = (0..3).map(|at| instances.http(at)).collect();
    let body = json!({ "original_url": "https://example.com/first", "hit_limit": 0 });
    let link = links::make(&clients[0], "main", &body).await;
    let (api, short) = (links::path_of(&link), links::short_path(&link));
    let mut taken = Vec::new();
    for number in 0..count {
        // All have it in memory.
        until_all(&clients, &short, |status, _| status == 302).await;
        let http = &clients[number % 3];
        if number % 2 == 0 {
            let target = format!("https://example.com/{number}");
            http.patch(&api, &json!({ "original_url": target })).await.expect(200);
            let seen = |_, location: Option<&str>| location == Some(target.as_str());
            taken.push(until_all(&clients, &short, seen).await);
        } else {
            http.delete(&api).await.expect(200);
            taken.push(until_all(&clients, &short, |status, _| status == 404).await);
            http.post(&format!("{api}/restore"), &Value::Null).await.expect(200);
        }
    }
    taken.sort();
    taken
}

// threats: E11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_and_deletes_are_seen_by_all_within_a_second_and_within_five_without_redis() {
    let mut redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let taken = tries(&instances, 200).await;
    assert!(taken[197] < Duration::from_secs(1), "the 99th percentile: {:?}", taken[197]);
    eprintln!("with Redis: median {:?}, 99th percentile {:?}", taken[100], taken[197]);

    redis.kill();
    let taken = tries(&instances, 20).await;
    assert!(taken[19] < Duration::from_secs(5), "without Redis: {:?}", taken[19]);
    eprintln!("Redis dead: median {:?}, longest {:?}", taken[10], taken[19]);

    redis.start_again();
    for at in 0..3 {
        let (http, watch) = (instances.http(at), Stopwatch::start());
        while http.get("/readyz").await.expect(200).json()["checks"]["redis"] != "ok" {
            assert!(watch.elapsed() < PATIENCE, "Redis is back");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let taken = tries(&instances, 20).await;
    assert!(taken[19] < Duration::from_secs(1), "with Redis again: {:?}", taken[19]);
}

// threats: E11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_redis_is_silent_changes_go_through_the_database() {
    let redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    redis.freeze();
    let taken = tries(&instances, 12).await;
    redis.thaw();
    assert!(taken[11] < Duration::from_secs(5), "{taken:?}");
}

// threats: E11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_postgres_carries_edits_hosts_and_limits() {
    let instances = TestServer::builder().start_instances(3);
    let taken = tries(&instances, 20).await;
    assert!(taken[19] < Duration::from_secs(5), "{taken:?}");
    hosts_and_limits(&instances, Duration::from_secs(5)).await;
}

// threats: E11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_and_limits_of_workspaces_reach_all_instances() {
    let redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    hosts_and_limits(&instances, Duration::from_secs(1)).await;
}

async fn hosts_and_limits(instances: &Instances, within: Duration) {
    let clients: Vec<Http> = (0..3).map(|at| instances.http(at)).collect();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&clients[0], "team", &body).await;
    let hosts = "/api/v1/workspaces/team/hosts";
    clients[1].post(hosts, &json!({ "host": "go.team.example" })).await.expect(201);
    let at_host: Vec<Http> =
        clients.iter().map(|http| http.with(HOST, "go.team.example")).collect();
    let taken = until_all(&at_host, "/promo", |status, _| status == 302).await;
    assert!(taken < within, "a host: {taken:?}");
    let limit = json!({ "hit_limit": 1 });
    clients[2].patch("/api/v1/workspaces/team", &limit).await.expect(200);
    let taken = until_all(&clients, "/w/team/promo", |status, _| status == 429).await;
    assert!(taken < within, "a limit: {taken:?}");
}

//! The monthly limit on many instances: exactly as many redirects as it allows, whoever answers.

use std::time::Duration;

use futures_util::future::{join, join_all};
use kurz::clock::{Clock, Stopwatch};
use kurz_core::link::Month;
use kurz_core::time::Timestamp;
use kurz_test_support::instances::{Instances, shown};
use kurz_test_support::postgres::Database;
use kurz_test_support::servers::{Cluster, Redis};
use kurz_test_support::visitor::follow;
use kurz_test_support::{TestServer, links, plans};
use serde_json::json;

const CONNECTIONS: usize = 64;

/// `rounds` links of each limit, followed three times as often as they may be.
async fn rounds(instances: &Instances, limits: &[u64], rounds: usize) {
    let addresses = instances.addresses();
    for limit in limits {
        for round in 0..rounds {
            let path = instances.limited(*limit).await;
            let requests = (3 * limit).max(CONNECTIONS.try_into().unwrap());
            let answers = follow(&addresses, &path, CONNECTIONS, requests).await;
            let (served, refused) = (answers.count(302), answers.count(429));
            assert_eq!(served, *limit, "limit {limit}, round {round}: {:?}", answers.0);
            assert_eq!(served + refused, requests, "limit {limit}, round {round}: {:?}", answers.0);
        }
    }
}

// threats: E1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_instances_serve_exactly_the_limit() {
    let redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    rounds(&instances, &[1, 50, 1000], 50).await;
}

// threats: E1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_instances_on_a_cluster_of_three_serve_exactly_the_limit() {
    let cluster = Cluster::start();
    let instances = TestServer::builder().redis(&cluster.url()).start_instances(3);
    rounds(&instances, &[1, 50, 1000], 50).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hits_that_one_instance_holds_are_served_by_another() {
    let redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let addresses = instances.addresses();
    for round in 0..10 {
        let path = instances.limited(500).await;
        // All of them get something in reserve, and then only one is asked.
        let first = follow(&addresses, &path, 9, 90).await;
        assert_eq!(first.count(302), 90, "{:?}", first.0);
        let then = follow(&addresses[round % 3..=round % 3], &path, 8, 600).await;
        assert_eq!(then.count(302), 410, "round {round}");
        assert_eq!(then.count(429), 190, "round {round}");
    }
}

// threats: E2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_that_ends_gives_back_what_it_held() {
    let redis = Redis::start();
    let mut instances = TestServer::builder().redis(&redis.url()).start_instances(2);
    let path = instances.limited(1000).await;
    let answers = follow(&instances.addresses(), &path, 8, 200).await;
    assert_eq!(answers.count(302), 200);
    for at in 0..2 {
        instances.terminate(at);
    }
    for at in 0..2 {
        instances.start_one(at);
    }
    instances.wait_for_redis();
    let answers = follow(&instances.addresses(), &path, 8, 1000).await;
    assert_eq!((answers.count(302), answers.count(429)), (800, 200));
}

/// Without Redis at all: the database is enough.
// threats: E1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_instances_without_redis_serve_exactly_the_limit() {
    let instances = TestServer::builder().start_instances(3);
    rounds(&instances, &[1, 50, 1000], 10).await;
}

// threats: E1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hits_of_a_killed_instance_come_back_to_the_others_within_a_minute() {
    const LIMIT: u64 = 1_000;
    let mut instances = TestServer::builder().start_instances(3);
    let path = instances.limited(LIMIT).await;
    let addresses = instances.addresses();
    let mut total = follow(&addresses, &path, 9, 90).await.count(302);
    assert_eq!(total, 90);
    // Until its clicks are written: those of the last moment are lost with it.
    let http = instances.http(1);
    while shown(&http, &path).await["hits_this_month"] != 90 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    instances.kill(0);
    let (others, watch) = (&addresses[1..], Stopwatch::start());
    while total < LIMIT {
        assert!(watch.elapsed() < Duration::from_mins(1), "{total} of {LIMIT}");
        let answers = follow(others, &path, 8, 100).await;
        assert_eq!(answers.count(302) + answers.count(429), 100, "{:?}", answers.0);
        total += answers.count(302);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    eprintln!("all came back {:?} after the kill", watch.elapsed());
    assert_eq!(follow(others, &path, 8, 200).await.count(302), 0);
    assert_eq!(total, LIMIT);
}

/// An instance stands still for so long that its hits went to others; it goes on with new ones.
// threats: E1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_that_stood_still_for_a_minute_does_not_use_what_went_to_others() {
    const LIMIT: u64 = 500;
    let instances = TestServer::builder().start_instances(2);
    let path = instances.limited(LIMIT).await;
    let addresses = instances.addresses();
    let mut total = follow(&addresses, &path, 4, 40).await.count(302);
    let http = instances.http(1);
    while shown(&http, &path).await["hits_this_month"] != 40 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    instances.running[0].as_ref().unwrap().freeze();
    let watch = Stopwatch::start();
    while total < LIMIT {
        assert!(watch.elapsed() < Duration::from_mins(1), "{total} of {LIMIT}");
        total += follow(&addresses[1..], &path, 4, 50).await.count(302);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    instances.running[0].as_ref().unwrap().thaw();
    let answers = follow(&addresses, &path, 4, 200).await;
    assert_eq!(answers.count(429), 200, "{:?}", answers.0);
    assert_eq!(total, LIMIT);
}

/// Fifty changes of the month, on two instances with the same clock: each month has its own hits.
// threats: E3
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_fifty_months_has_exactly_its_limit() {
    const LIMIT: usize = 60;
    let database = Database::create();
    let clock = Clock::manual(Timestamp::parse_rfc3339("2026-01-31T23:59:50Z").unwrap());
    let builder =
        || TestServer::builder().clock(clock.clone()).setting("KURZ_STORE", database.url());
    let servers = [builder().start().await, builder().start().await];
    let body = json!({ "original_url": "https://example.com/", "hit_limit": LIMIT });
    let link = links::make(&servers[0].http(), "main", &body).await;
    let path = links::short_path(&link);
    for round in 0..50 {
        let month = Month::of(clock.now());
        let visit = |at: usize| {
            let (http, path) = (servers[at % 2].http(), path.clone());
            async move { http.get(&path).await.status }
        };
        // Half of them before the month ends, and the others just as it does.
        let before = join_all((0..LIMIT / 2).map(visit)).await;
        assert!(before.iter().all(|status| *status == 302), "round {round}: {before:?}");
        let ending = async {
            clock.set(Timestamp::from_ms(month.end().as_ms() - 1));
            tokio::task::yield_now().await;
            clock.set(month.end());
        };
        let (across, ()) = join(join_all((0..LIMIT / 4).map(visit)), ending).await;
        assert!(across.iter().all(|status| *status == 302), "round {round}: {across:?}");
        // What was served across the end counts in one of the two months: at least so many are left.
        let after = join_all((0..2 * LIMIT).map(visit)).await;
        let served = after.iter().filter(|status| **status == 302).count();
        assert!((LIMIT - LIMIT / 4..=LIMIT).contains(&served), "round {round}: {served}");
        assert_eq!(visit(0).await, 429, "round {round}");
        // The next month begins unused.
        clock.set(Timestamp::from_ms(Month::of(clock.now()).end().as_ms() + 1_000));
    }
    for server in servers {
        server.stop().await;
    }
}

// threats: E1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_often_instances_are_killed_the_limit_is_never_passed() {
    const KILLS: usize = 20;
    let redis = Redis::start();
    let mut instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    for kill in 0..KILLS {
        let limit = [50, 1000][kill % 2];
        let path = instances.limited(limit).await;
        let addresses = instances.addresses();
        let killing = async {
            // Somewhere in the middle of it.
            tokio::time::sleep(Duration::from_millis(5 * u64::try_from(kill).unwrap())).await;
            instances.kill(kill % 3);
            instances.start_one(kill % 3);
        };
        let (first, ()) = join(follow(&addresses, &path, CONNECTIONS, 3 * limit), killing).await;
        instances.running[kill % 3].as_ref().unwrap().wait_for_log("instances talk through Redis");
        let then = follow(&instances.addresses(), &path, CONNECTIONS, 3 * limit).await;
        let served = first.count(302) + then.count(302);
        assert!(served <= limit, "kill {kill}: {served} of {limit}");
        // What the one that was killed held comes back later, and no more is missing than that.
        let lost = limit - served;
        assert!(lost <= limit.div_ceil(2), "kill {kill}: {served} of {limit}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_cost_no_redis_commands() {
    let redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let path = instances.limited(1_000_000).await;
    let before = redis.commands();
    let answers = follow(&instances.addresses(), &path, CONNECTIONS, 30_000).await;
    assert_eq!(answers.count(302), 30_000);
    // Only the instances' heartbeats.
    let commands = redis.commands() - before;
    assert!(commands * 50 <= 30_000, "{commands} commands for 30,000 redirects");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_instances_serve_exactly_a_click_limit_with_and_without_redis() {
    let mut redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let addresses = instances.addresses();
    let store = instances.open_store().await;
    let http = instances.http(0);
    let mut paths = Vec::new();
    for _ in 0..3 {
        let link =
            links::make(&http, "main", &json!({ "original_url": "https://example.com/" })).await;
        plans::set(&store, &http, &link, &json!({ "click_limit": 50 })).await;
        paths.push(links::short_path(&link));
    }
    for (round, path) in paths.iter().enumerate() {
        if round == 2 {
            redis.kill();
        }
        let answers = follow(&addresses, path, 240, 1_000).await;
        assert_eq!(answers.count(302), 50, "round {round}: {:?}", answers.0);
        assert_eq!(answers.count(410), 950, "round {round}: {:?}", answers.0);
    }
}

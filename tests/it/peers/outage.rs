//! Redis or PostgreSQL goes away: hot links go on, no limit is passed, and nobody waits.

use std::time::Duration;

use futures_util::future::join_all;
use kurz::clock::Stopwatch;
use kurz_test_support::http::Http;
use kurz_test_support::instances::{Instances, shown};
use kurz_test_support::servers::{Postgres, Redis};
use kurz_test_support::visitor::{Visitor, follow};
use kurz_test_support::{TestServer, links};
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(30);

/// Visitors that come at a steady pace for `span`: the statuses they got, and how long each took.
async fn stroll(addresses: &[String], path: &str, span: Duration) -> Vec<(u16, Duration)> {
    let visitors = (0..9).map(|number| {
        let address = addresses[number % addresses.len()].clone();
        async move {
            let (mut seen, watch) = (Vec::new(), Stopwatch::start());
            let mut visitor = Visitor::new(&address);
            while watch.elapsed() < span {
                let asked = Stopwatch::start();
                let status = visitor.get(path).await.unwrap_or(0);
                seen.push((status, asked.elapsed()));
                tokio::time::sleep(Duration::from_millis(8)).await;
            }
            seen
        }
    });
    join_all(visitors).await.into_iter().flatten().collect()
}

fn p99(seen: &[(u16, Duration)]) -> Duration {
    let mut taken: Vec<Duration> = seen.iter().map(|(_, taken)| *taken).collect();
    taken.sort();
    taken[taken.len() * 99 / 100]
}

fn served(seen: &[(u16, Duration)]) -> u64 {
    u64::try_from(seen.iter().filter(|(status, _)| *status == 302).count()).unwrap()
}

/// Follow a link until the limit is known to be reached on all; how often it was served.
async fn use_up(addresses: &[String], path: &str) -> u64 {
    let (mut total, watch) = (0, Stopwatch::start());
    loop {
        let answers = follow(addresses, path, 6, 300).await;
        total += answers.count(302);
        if answers.count(429) == 300 {
            return total;
        }
        assert!(watch.elapsed() < PATIENCE, "it is never used up: {:?}", answers.0);
    }
}

/// Wait until every instance says `word` of Redis.
async fn redis_is(instances: &Instances, word: &str) {
    for at in 0..instances.running.len() {
        let (http, watch) = (instances.http(at), Stopwatch::start());
        while http.get("/readyz").await.expect(200).json()["checks"]["redis"] != word {
            assert!(watch.elapsed() < PATIENCE, "it never says: {word}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Redis goes away as `leave` says and comes back as `return_` says; a hot link never notices, and a
/// limited one is served no more often than it may be.
async fn redis_goes_away(
    mut redis: Redis,
    leave: impl Fn(&mut Redis),
    come_back: impl Fn(&mut Redis),
) -> (u64, u64) {
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let addresses = instances.addresses();
    let (hot, limited) = (instances.limited(1_000_000).await, instances.limited(3_000).await);
    let before = stroll(&addresses, &hot, Duration::from_secs(2)).await;
    assert_eq!(served(&before), u64::try_from(before.len()).unwrap());
    let mut total = served(&stroll(&addresses, &limited, Duration::from_secs(1)).await);

    leave(&mut redis);
    let during = stroll(&addresses, &hot, Duration::from_secs(3)).await;
    assert_eq!(served(&during), u64::try_from(during.len()).unwrap(), "a hot link goes on");
    eprintln!("p99 {:?} before, {:?} without Redis", p99(&before), p99(&during));
    redis_is(&instances, "Redis does not answer").await;
    let ready = instances.http(0).get("/readyz").await.expect(200).json();
    assert_eq!(
        ready["checks"]["quota"],
        "without Redis: instances recall hits through the database"
    );
    // The limit is as exact as ever.
    let answers = follow(&addresses, &limited, 12, 6_000).await;
    assert_eq!(answers.count(302) + answers.count(429), 6_000, "{:?}", answers.0);
    total += answers.count(302);

    come_back(&mut redis);
    redis_is(&instances, "ok").await;
    let ready = instances.http(0).get("/readyz").await.expect(200).json();
    assert_eq!(ready["checks"]["quota"], "ok");
    total += use_up(&addresses, &limited).await;
    (total, 3_000)
}

// threats: E5, E7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_is_killed_and_comes_back_empty() {
    let (total, limit) = redis_goes_away(Redis::start(), Redis::kill, Redis::start_again).await;
    assert_eq!(total, limit);
}

// threats: E6
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_stands_still_and_goes_on() {
    let (total, limit) =
        redis_goes_away(Redis::start(), |redis| redis.freeze(), |redis| redis.thaw()).await;
    assert_eq!(total, limit);
}

// threats: E7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_loses_its_data_under_load_and_limits_stay_exact() {
    const LIMIT: u64 = 4_000;
    let mut redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let addresses = instances.addresses();
    let path = instances.limited(LIMIT).await;
    let walking = stroll(&addresses, &path, Duration::from_secs(4));
    let losing = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        redis.ask(&["flushall"]);
        tokio::time::sleep(Duration::from_secs(1)).await;
        tokio::task::block_in_place(|| {
            redis.kill();
            redis.start_again();
        });
    };
    let (seen, ()) = futures_util::future::join(walking, losing).await;
    assert_eq!(seen.iter().filter(|(status, _)| !matches!(status, 302 | 429)).count(), 0);
    assert_eq!(served(&seen) + use_up(&addresses, &path).await, LIMIT);
}

/// Follow every link on every instance; all are redirected.
async fn all_go_on(addresses: &[String], paths: &[String]) {
    for address in addresses {
        let mut visitor = Visitor::new(address);
        for path in paths {
            assert_eq!(visitor.get(path).await.unwrap(), 302, "{path} at {address}");
        }
    }
}

/// Links followed rarely, never on this instance, not for a while, or created during the outage.
// threats: E5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rare_links_are_redirected_by_every_instance_while_redis_is_away() {
    let mut redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let addresses = instances.addresses();
    let mut paths = Vec::new();
    for number in 0..60 {
        let path = instances.limited(10_000).await;
        // Two of three were followed once, on one instance.
        if number % 3 > 0 {
            let at = number % addresses.len();
            assert_eq!(follow(&addresses[at..=at], &path, 1, 1).await.count(302), 1);
        }
        paths.push(path);
    }
    tokio::time::sleep(Duration::from_secs(12)).await;
    redis.kill();
    all_go_on(&addresses, &paths).await;
    redis_is(&instances, "Redis does not answer").await;
    let mut new = Vec::new();
    for _ in 0..20 {
        new.push(instances.limited(10_000).await);
    }
    all_go_on(&addresses, &new).await;
    tokio::time::sleep(Duration::from_secs(12)).await;
    all_go_on(&addresses, &paths).await;
    let metrics = instances.running[0].as_ref().unwrap().admin().get("/metrics").await.text();
    assert!(metrics.contains("kurz_quota_without_redis 1"), "{metrics}");
    assert!(!metrics.contains("kurz_quota_unavailable_total"), "{metrics}");
}

// threats: E6
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_notices_a_redis_that_stands_still_for_five_seconds() {
    let redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let addresses = instances.addresses();
    let mut paths = Vec::new();
    for _ in 0..40 {
        paths.push(instances.limited(10_000).await);
    }
    let visits = async {
        let watch = Stopwatch::start();
        while watch.elapsed() < Duration::from_secs(8) {
            all_go_on(&addresses, &paths).await;
        }
    };
    let pause = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        redis.freeze();
        tokio::time::sleep(Duration::from_secs(5)).await;
        redis.thaw();
    };
    futures_util::future::join(visits, pause).await;
}

// threats: E5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_means_503_at_once_and_open_still_counts_while_the_database_answers() {
    let redis = Redis::start();
    let closed = TestServer::builder()
        .redis(&redis.url())
        .setting("KURZ_QUOTA_ON_OUTAGE", "closed")
        .start_instances(1);
    // On another database of it: channels are named after the store.
    let url = format!("{}/1", redis.url());
    let open = TestServer::builder()
        .redis(&url)
        .setting("KURZ_QUOTA_ON_OUTAGE", "open")
        .start_instances(1);
    let paths = [closed.limited(1000).await, open.limited(1000).await];
    let unlimited = closed.limited(0).await;
    follow(&closed.addresses(), &paths[0], 2, 100).await;
    follow(&open.addresses(), &paths[1], 2, 100).await;
    redis.freeze();
    for instances in [&closed, &open] {
        redis_is(instances, "Redis does not answer").await;
    }
    let answers = follow(&closed.addresses(), &paths[0], 4, 100).await;
    assert_eq!(answers.count(503), 100);
    let refused = closed.http(0).get(&paths[0]).await;
    assert_eq!(refused.header("retry-after"), Some("5"));
    refused.expect_problem(503, "counters-unavailable");
    assert_eq!(follow(&closed.addresses(), &unlimited, 4, 100).await.count(302), 100);
    let answers = follow(&open.addresses(), &paths[1], 4, 2000).await;
    assert_eq!((answers.count(302), answers.count(429)), (900, 1100));
    redis.thaw();
    redis_is(&closed, "ok").await;
    assert_eq!(100 + use_up(&closed.addresses(), &paths[0]).await, 1000);
}

/// The database goes away under a link that nobody has reserved hits of: `share` refuses, `open` goes on.
// threats: E10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_database_open_goes_on_and_the_limit_holds_afterwards() {
    let mut postgres = Postgres::start();
    let instances = TestServer::builder()
        .setting("KURZ_STORE", &postgres.url())
        .setting("KURZ_QUOTA_ON_OUTAGE", "open")
        .start_instances(1);
    let path = instances.limited(100).await;
    let addresses = instances.addresses();
    assert_eq!(follow(&addresses, &path, 1, 1).await.count(302), 1);
    postgres.kill();
    // Half of the limit is reserved; beyond that they go on uncounted.
    let answers = follow(&addresses, &path, 2, 80).await;
    assert_eq!(answers.count(302), 80, "{:?}", answers.0);
    postgres.start_again();
    let watch = Stopwatch::start();
    while instances.http(0).get("/readyz").await.status != 200 {
        assert!(watch.elapsed() < PATIENCE, "it is back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // What was served without a reserved hit is counted once it is written.
    let shown =
        async || shown(&instances.http(0), &path).await["hits_this_month"].as_u64().unwrap();
    while shown().await < 81 {
        assert!(watch.elapsed() < PATIENCE, "it is written");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(use_up(&addresses, &path).await, 19);
}

/// What one instance says in the round `round` in which PostgreSQL is away.
async fn without_postgres(http: &Http, known: &str, round: usize) {
    http.get(known).await.expect(302);
    for path in [format!("/unknown{round}"), format!("/w/main/unknown{round}")] {
        http.get(&path).await.expect_problem(503, "store-unavailable");
    }
    let body = json!({ "original_url": "https://example.com/2" });
    http.post(&links::path("main"), &body).await.expect_problem(503, "store-unavailable");
    let ready = http.get("/readyz").await.expect(503).json();
    assert_eq!(ready["checks"]["store"], "the database does not answer");
    http.get("/healthz").await.expect(200);
}

// threats: E10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_killed_and_all_is_normal_within_ten_seconds_of_its_return() {
    let redis = Redis::start();
    let mut postgres = Postgres::start();
    let instances = TestServer::builder()
        .setting("KURZ_STORE", &postgres.url())
        .redis(&redis.url())
        .start_instances(3);
    let clients: Vec<Http> = (0..3).map(|at| instances.http(at)).collect();
    let known = instances.limited(10_000).await;
    for http in &clients {
        http.get(&known).await.expect(302);
    }
    for round in 0..2 {
        postgres.kill();
        for http in &clients {
            without_postgres(http, &known, round).await;
        }
        postgres.start_again();
        let watch = Stopwatch::start();
        for (at, http) in clients.iter().enumerate() {
            let body = json!({ "original_url": format!("https://example.com/{round}/{at}") });
            let make = async || http.post(&links::path("main"), &body).await.status;
            while http.get("/readyz").await.status != 200 || make().await != 201 {
                assert!(watch.elapsed() < Duration::from_secs(10), "it is back");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            http.get(&known).await.expect(302);
            http.get(&format!("/unknown{round}")).await.expect(404);
        }
        eprintln!("all normal {:?} after its return", watch.elapsed());
        // Once they hear the database again they forget everything, and are told of the link anew.
        stroll(&instances.addresses(), &known, Duration::from_secs(3)).await;
    }
}

//! The monthly limit on many instances: exactly as many redirects as it allows, whoever answers.

use std::time::Duration;

use futures_util::future::join;
use kurz_test_support::TestServer;
use kurz_test_support::instances::{Instances, this_month};
use kurz_test_support::servers::{Cluster, Redis};
use kurz_test_support::visitor::follow;

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
    let keys = redis.ask(&["keys", "links:*"]);
    assert!(keys.ends_with(&format!(":hits:{}", this_month())), "{keys}");
    assert!(redis.ask(&["pttl", &keys]).parse::<i64>().unwrap() > 86_400_000, "it expires");
    for at in 0..2 {
        instances.terminate(at);
    }
    assert_eq!(redis.ask(&["hget", &keys, "granted"]), "200");
    assert_eq!(redis.ask(&["hget", &keys, "used"]), "200");
    for at in 0..2 {
        instances.start_one(at);
    }
    instances.wait_for_redis();
    let answers = follow(&instances.addresses(), &path, 8, 1000).await;
    assert_eq!((answers.count(302), answers.count(429)), (800, 200));
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
        // What the one that was killed held is lost, and no more than that.
        let lost = limit - served;
        assert!(lost <= limit.div_ceil(2), "kill {kill}: {served} of {limit}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hot_link_costs_at_most_one_command_in_fifty_redirects() {
    let redis = Redis::start();
    let instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let path = instances.limited(1_000_000).await;
    let before = redis.commands();
    let answers = follow(&instances.addresses(), &path, CONNECTIONS, 30_000).await;
    assert_eq!(answers.count(302), 30_000);
    let commands = redis.commands() - before;
    assert!(commands * 50 <= 30_000, "{commands} commands for 30,000 redirects");
    // A link without a limit is none of Redis's business.
    let path = instances.limited(0).await;
    let answers = follow(&instances.addresses(), &path, 3, 300).await;
    assert_eq!(answers.count(302), 300);
    let code = path.trim_start_matches('/');
    let id = instances.http(0).get(&format!("/api/v1/workspaces/main/links/{code}")).await;
    let id = id.expect(200).json()["id"].to_string();
    assert_eq!(redis.ask(&["keys", &format!("links:{}:*", id.trim_matches('"'))]), "");
}

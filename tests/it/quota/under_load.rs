//! The monthly hit limit under load: round after round, exactly as many visitors are served as the
//! limit says, also where a month ends in the middle of it, or the server is asked to. `cargo bench
//! --bench endurance` goes more rounds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kurz_core::time::Timestamp;
use kurz_test_support::load::{Counts, Load, Requests};
use kurz_test_support::{Kind, TestServer, on_both_databases};
use tokio::task::block_in_place;

on_both_databases!(
    a_hundred_rounds_of_load_get_exactly_what_small_limits_allow,
    load_over_the_end_of_a_month_gets_the_limit_of_both,
    load_over_a_restart_gets_the_limit_once,
);

const CONNECTIONS: usize = 64;

fn expect_exact(load: &mut Load, limit: u64, rounds: usize) {
    for round in 0..rounds {
        let (served, refused) = load.exhaust(limit);
        assert_eq!(served, limit, "limit {limit}, round {round}");
        assert!(refused >= 2 * limit, "limit {limit}, round {round}: no load at all");
    }
}

// threats: E1
async fn a_hundred_rounds_of_load_get_exactly_what_small_limits_allow(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    block_in_place(|| {
        let mut load = Load::connect(&kurz.base_url(), CONNECTIONS);
        expect_exact(&mut load, 1, 100);
        expect_exact(&mut load, 2, 100);
    });
    kurz.stop().await;
}

// threats: E1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rounds_of_load_get_exactly_what_a_limit_of_a_thousand_allows() {
    let kurz = TestServer::builder().start().await;
    block_in_place(|| {
        let mut load = Load::connect(&kurz.base_url(), CONNECTIONS);
        expect_exact(&mut load, 1_000, 20);
    });
    kurz.stop().await;
}

// threats: E3
async fn load_over_the_end_of_a_month_gets_the_limit_of_both(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let before = Timestamp::parse_rfc3339("2026-03-31T23:59:59.999Z").unwrap();
    let http = kurz.http();
    for (limit, rounds) in [(1, 10), (2, 10), (1_000, 3)] {
        for round in 0..rounds {
            kurz.clock.set(before);
            let mut load = Load::connect(&kurz.base_url(), CONNECTIONS);
            let path = load.make_link(limit);
            let api = format!("/api/v1/workspaces/main/links{path}");
            let counts = Counts::default();
            let times = (6 * limit).div_ceil(64).max(6);
            let requests = Requests { paths: &[path], times, depth: 1 };
            let ended = AtomicBool::new(false);
            // Whoever is refused first ends the month, while all the others go on.
            let seen = |status| {
                if status == 429 && !ended.swap(true, Ordering::AcqRel) {
                    kurz.clock.advance(Duration::from_millis(1));
                }
            };
            assert_eq!(block_in_place(|| load.run(requests, &counts, seen)), CONNECTIONS);
            assert_eq!(counts.served(), 2 * limit, "limit {limit}, round {round}");
            kurz.app().flush_all().await.unwrap();
            let link = http.get(&api).await.expect(200).json();
            assert_eq!(link["redirect_count"], 2 * limit);
            assert_eq!(link["hits_this_month"], limit, "limit {limit}, round {round}");
        }
    }
    kurz.stop().await;
}

// threats: E9
async fn load_over_a_restart_gets_the_limit_once(kind: Kind) {
    let mut served = TestServer::builder().database(kind).process().start();
    for (limit, after) in [(1, 1), (2, 1), (2, 2), (1_000, 100), (1_000, 400), (1_000, 900)] {
        let counts = Counts::default();
        let mut load = Load::connect(served.base_url(), CONNECTIONS);
        let path = [load.make_link(limit)];
        // Until the server is gone: a request that is not answered has used no hit.
        let endless = Requests { paths: &path, times: u64::MAX, depth: 1 };
        let stopped = block_in_place(|| {
            std::thread::scope(|scope| {
                let load = scope.spawn(|| load.run(endless, &counts, |_| ()));
                while counts.served() < after {
                    std::thread::yield_now();
                }
                let stopped = served.stop();
                assert_eq!(load.join().unwrap(), 0);
                stopped
            })
        });
        let before = counts.served();
        served = stopped.start();
        let mut load = Load::connect(served.base_url(), CONNECTIONS);
        let times = (3 * limit).div_ceil(64).max(3);
        let requests = Requests { paths: &path, times, depth: 1 };
        assert_eq!(block_in_place(|| load.run(requests, &counts, |_| ())), CONNECTIONS);
        assert_eq!(counts.served(), limit, "{before} of them before the restart");
    }
}

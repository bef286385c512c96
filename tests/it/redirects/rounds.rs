//! The monthly hit limit under storms: round after round, exactly as many visitors are served as the
//! limit says, also where a month ends in the middle of it, or the server is asked to. `cargo bench
//! --bench endurance` goes more rounds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kurz_core::time::Timestamp;
use tokio::task::block_in_place;

use crate::harness::instance::{Kind, Served, Staged, on_both_databases};
use crate::harness::storm::{Counts, Orders, Storm};

on_both_databases!(
    e1_a_hundred_storms_get_exactly_what_small_limits_allow,
    e3_a_storm_over_the_end_of_a_month_gets_the_limit_of_both,
    e9_a_storm_over_a_restart_gets_the_limit_once,
);

const CONNECTIONS: usize = 64;

fn expect_exact(storm: &mut Storm, limit: u64, rounds: usize) {
    for round in 0..rounds {
        let (served, refused) = storm.exhaust(limit);
        assert_eq!(served, limit, "limit {limit}, round {round}");
        assert!(refused >= 2 * limit, "limit {limit}, round {round}: no storm at all");
    }
}

async fn e1_a_hundred_storms_get_exactly_what_small_limits_allow(kind: Kind) {
    let kurz = Staged::start(kind).await;
    block_in_place(|| {
        let mut storm = Storm::connect(&kurz.base_url(), CONNECTIONS);
        expect_exact(&mut storm, 1, 100);
        expect_exact(&mut storm, 2, 100);
    });
    kurz.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e1_storms_get_exactly_what_a_limit_of_a_thousand_allows() {
    let kurz = Staged::start(Kind::Sqlite).await;
    block_in_place(|| {
        let mut storm = Storm::connect(&kurz.base_url(), CONNECTIONS);
        expect_exact(&mut storm, 1_000, 20);
    });
    kurz.stop().await;
}

async fn e3_a_storm_over_the_end_of_a_month_gets_the_limit_of_both(kind: Kind) {
    let kurz = Staged::start(kind).await;
    let before = Timestamp::parse_rfc3339("2026-03-31T23:59:59.999Z").unwrap();
    let http = kurz.http();
    for (limit, rounds) in [(1, 10), (2, 10), (1_000, 3)] {
        for round in 0..rounds {
            kurz.clock.set(before);
            let mut storm = Storm::connect(&kurz.base_url(), CONNECTIONS);
            let path = storm.make_link(limit);
            let api = format!("/api/v1/workspaces/main/links{path}");
            let counts = Counts::default();
            let times = (6 * limit).div_ceil(64).max(6);
            let orders = Orders { paths: &[path], times, depth: 1 };
            let ended = AtomicBool::new(false);
            // Whoever is refused first ends the month, while all the others go on.
            let seen = |status| {
                if status == 429 && !ended.swap(true, Ordering::AcqRel) {
                    kurz.clock.advance(Duration::from_millis(1));
                }
            };
            assert_eq!(block_in_place(|| storm.rage(orders, &counts, seen)), CONNECTIONS);
            assert_eq!(counts.served(), 2 * limit, "limit {limit}, round {round}");
            kurz.app().flush_all().await.unwrap();
            let link = http.get(&api).await.expect(200).json();
            assert_eq!(link["redirect_count"], 2 * limit);
            assert_eq!(link["hits_this_month"], limit, "limit {limit}, round {round}");
        }
    }
    kurz.stop().await;
}

async fn e9_a_storm_over_a_restart_gets_the_limit_once(kind: Kind) {
    let mut served = Served::start_with(kind, &[("KURZ_LIMITS", "off")]);
    for (limit, after) in [(1, 1), (2, 1), (2, 2), (1_000, 100), (1_000, 400), (1_000, 900)] {
        let counts = Counts::default();
        let mut storm = Storm::connect(served.base_url(), CONNECTIONS);
        let path = [storm.make_link(limit)];
        // Until the server is gone: a request that is not answered has used no hit.
        let endless = Orders { paths: &path, times: u64::MAX, depth: 1 };
        let stopped = block_in_place(|| {
            std::thread::scope(|scope| {
                let storm = scope.spawn(|| storm.rage(endless, &counts, |_| ()));
                while counts.served() < after {
                    std::thread::yield_now();
                }
                let stopped = served.terminate();
                assert_eq!(storm.join().unwrap(), 0);
                stopped
            })
        });
        let before = counts.served();
        served = stopped.start();
        let mut storm = Storm::connect(served.base_url(), CONNECTIONS);
        let times = (3 * limit).div_ceil(64).max(3);
        let orders = Orders { paths: &path, times, depth: 1 };
        assert_eq!(block_in_place(|| storm.rage(orders, &counts, |_| ())), CONNECTIONS);
        assert_eq!(counts.served(), limit, "{before} of them before the restart");
    }
}

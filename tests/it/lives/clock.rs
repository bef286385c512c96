//! Clocks that are moved: links end to the millisecond, in the same order beside a cleanup that never
//! rests, and what was over stays over when a clock is set back.

use std::sync::Arc;
use std::time::Duration;

use kurz::app::CleanupTimes;
use kurz_core::time::Timestamp;
use tokio_util::sync::CancellationToken;

use super::stage::{GRACE, Stage};
use crate::harness::instance::Kind;

const DAY: Duration = Duration::from_hours(24);

fn before(time: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_ms(time.as_ms() - i64::try_from(by.as_millis()).unwrap())
}

#[tokio::test]
async fn a_link_ends_at_its_millisecond() {
    let stage = Stage::start(Kind::Sqlite).await;
    let start = stage.clock.now();
    let code = stage.mortal("https://example.com/", DAY).await;
    let end = start.plus(DAY);
    stage.clock.set(before(end, Duration::from_millis(1)));
    assert_eq!(stage.follow(&code).await, 302);
    stage.clock.set(end);
    assert_eq!(stage.follow(&code).await, 410);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_by_second_beside_a_cleanup_that_never_rests_the_order_holds() {
    let stage = Arc::new(Stage::start(Kind::Sqlite).await);
    let code = stage.mortal("https://example.com/", Duration::from_mins(1)).await;
    let stop = CancellationToken::new();
    let cleanup = {
        let (stage, stop) = (Arc::clone(&stage), stop.clone());
        let times =
            CleanupTimes { lock_at_least: Duration::ZERO, lock_at_most: DAY, purge_grace: GRACE };
        tokio::runtime::Handle::current().spawn(async move {
            while !stop.is_cancelled() {
                stage.program.app().clean_up(times, &stop).await.unwrap();
            }
        })
    };
    let mut seen = vec![stage.follow(&code).await];
    let start = stage.clock.now();
    while seen.last() != Some(&404) {
        stage.clock.advance(Duration::from_secs(1));
        let status = stage.follow(&code).await;
        if seen.last() != Some(&status) {
            seen.push(status);
        }
    }
    let took = stage.clock.now().as_ms() - start.as_ms();
    stop.cancel();
    cleanup.await.unwrap();
    assert_eq!(seen, [302, 410, 404]);
    let least = Duration::from_mins(1) + GRACE;
    assert!(took >= i64::try_from(least.as_millis()).unwrap(), "purged after {took} ms");
}

#[tokio::test]
async fn e13_a_clock_that_is_set_back_brings_no_link_back() {
    let stage = Stage::start(Kind::Sqlite).await;
    let start = stage.clock.now();
    let code = stage.mortal("https://example.com/", Duration::from_secs(1)).await;
    stage.clock.advance(Duration::from_secs(1));
    assert_eq!(stage.follow(&code).await, 410);
    stage.clock.set(before(start, DAY));
    assert_eq!(stage.follow(&code).await, 410, "kurz has seen a later time");

    stage.clock.set(start.plus(Duration::from_secs(2)));
    assert_eq!(stage.clean_up().await.marked, 1);
    let stage = stage.restart(before(start, DAY)).await;
    assert_eq!(stage.follow(&code).await, 410, "the mark is in the store");
    let path = format!("/api/v1/workspaces/team/links/{code}");
    assert_eq!(stage.http().get(&path).await.expect(200).json()["status"], "EXPIRED");

    stage.clock.set(start.plus(GRACE).plus(Duration::from_secs(3)));
    assert_eq!(stage.clean_up().await.purged, 1);
    assert_eq!(stage.follow(&code).await, 404);
    let stage = stage.restart(before(start, DAY)).await;
    assert_eq!(stage.follow(&code).await, 404);
    assert_eq!(stage.clean_up().await.purged, 0, "a lock of the future keeps nobody out");
}

#[tokio::test]
async fn e13_a_clock_that_runs_ahead_for_a_moment_breaks_nothing() {
    let stage = Stage::start(Kind::Sqlite).await;
    let start = stage.clock.now();
    let code = stage.mortal("https://example.com/", 40 * DAY).await;
    stage.clock.advance(31 * DAY);
    assert_eq!(stage.follow(&code).await, 302);
    stage.clock.set(start);
    assert_eq!(stage.follow(&code).await, 302);
    let young = stage.mortal("https://example.com/young", DAY).await;
    let stage = stage.restart(start).await;
    assert_eq!(stage.follow(&young).await, 302);
}

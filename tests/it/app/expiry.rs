//! Clocks that are moved: links end to the millisecond, in the same order beside a cleanup that never
//! rests, and what was over stays over when a clock is set back.

use std::sync::Arc;
use std::time::Duration;

use kurz::app::CleanupTimes;
use kurz::clock::Clock;
use kurz_core::time::Timestamp;
use kurz_test_support::Kind;
use kurz_test_support::cleanup::GRACE;
use tokio_util::sync::CancellationToken;

use crate::app::start_without_cleanup;

const DAY: Duration = Duration::from_hours(24);

fn before(time: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_ms(time.as_ms() - i64::try_from(by.as_millis()).unwrap())
}

#[tokio::test]
async fn a_link_ends_at_its_millisecond() {
    let server = start_without_cleanup(Kind::Sqlite).await;
    let start = server.clock.now();
    let code = server.expiring("https://example.com/", DAY).await;
    let end = start.plus(DAY);
    server.clock.set(before(end, Duration::from_millis(1)));
    assert_eq!(server.follow(&code).await, 302);
    server.clock.set(end);
    assert_eq!(server.follow(&code).await, 410);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_by_second_beside_a_cleanup_that_never_rests_the_order_holds() {
    let server = Arc::new(start_without_cleanup(Kind::Sqlite).await);
    let code = server.expiring("https://example.com/", Duration::from_mins(1)).await;
    let stop = CancellationToken::new();
    let cleanup = {
        let (server, stop) = (Arc::clone(&server), stop.clone());
        let times =
            CleanupTimes { lock_at_least: Duration::ZERO, lock_at_most: DAY, purge_grace: GRACE };
        tokio::runtime::Handle::current().spawn(async move {
            while !stop.is_cancelled() {
                server.app().clean_up(times, &stop).await.unwrap();
            }
        })
    };
    let mut seen = vec![server.follow(&code).await];
    let start = server.clock.now();
    while seen.last() != Some(&404) {
        server.clock.advance(Duration::from_secs(1));
        let status = server.follow(&code).await;
        if seen.last() != Some(&status) {
            seen.push(status);
        }
    }
    let took = server.clock.now().as_ms() - start.as_ms();
    stop.cancel();
    cleanup.await.unwrap();
    assert_eq!(seen, [302, 410, 404]);
    let least = Duration::from_mins(1) + GRACE;
    assert!(took >= i64::try_from(least.as_millis()).unwrap(), "purged after {took} ms");
}

// threats: E13
#[tokio::test]
async fn a_clock_that_is_set_back_brings_no_link_back() {
    let server = start_without_cleanup(Kind::Sqlite).await;
    let start = server.clock.now();
    let code = server.expiring("https://example.com/", Duration::from_secs(1)).await;
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(server.follow(&code).await, 410);
    server.clock.set(before(start, DAY));
    assert_eq!(server.follow(&code).await, 410, "kurz has seen a later time");

    server.clock.set(start.plus(Duration::from_secs(2)));
    assert_eq!(server.clean_up().await.marked, 1);
    let server = server.restart_with(Clock::manual(before(start, DAY))).await;
    assert_eq!(server.follow(&code).await, 410, "the mark is in the store");
    let path = format!("/api/v1/workspaces/team/links/{code}");
    assert_eq!(server.http().get(&path).await.expect(200).json()["status"], "EXPIRED");

    server.clock.set(start.plus(GRACE).plus(Duration::from_secs(3)));
    assert_eq!(server.clean_up().await.purged, 1);
    assert_eq!(server.follow(&code).await, 404);
    let server = server.restart_with(Clock::manual(before(start, DAY))).await;
    assert_eq!(server.follow(&code).await, 404);
    assert_eq!(server.clean_up().await.purged, 0, "a lock of the future keeps nobody out");
}

// threats: E13
#[tokio::test]
async fn a_clock_that_runs_ahead_for_a_moment_breaks_nothing() {
    let server = start_without_cleanup(Kind::Sqlite).await;
    let start = server.clock.now();
    let code = server.expiring("https://example.com/", 40 * DAY).await;
    server.clock.advance(31 * DAY);
    assert_eq!(server.follow(&code).await, 302);
    server.clock.set(start);
    assert_eq!(server.follow(&code).await, 302);
    let young = server.expiring("https://example.com/young", DAY).await;
    let server = server.restart_with(Clock::manual(start)).await;
    assert_eq!(server.follow(&young).await, 302);
}

//! What is known of redirects after the server was asked to end, and after it was killed under load. The
//! figures for a quick machine, and for more of both, are `benches/endurance`.

use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_test_support::events::StoredEvents;
use kurz_test_support::load::{Counts, Load, Requests, make_links, total_redirects, until_killed};
use kurz_test_support::{Home, Kind, TestServer, on_both_databases};
use tokio::sync::Mutex;
use tokio::task::block_in_place;

on_both_databases!(
    every_redirect_under_load_is_counted_once_the_server_was_asked_to_end,
    a_kill_takes_only_the_latest_redirects_and_adds_none,
);

/// So many that they go through the log.
const LINKS: usize = 10_000;

/// kurz promises a second. A machine that runs all tests at once may write late; what is never
/// written is missing after any time.
const LATE: Duration = Duration::from_secs(4);

/// One load at a time: another's would take the processors from the writer that is looked at.
static ALONE: Mutex<()> = Mutex::const_new(());

/// What the store says: the total, the sum over links, over hours, and over events.
async fn sums(home: &Home) -> [i64; 4] {
    let mut sums = [0; 4];
    for (sum, sql) in sums.iter_mut().zip([
        "select count from totals where name = 'redirects'",
        "select cast(coalesce(sum(redirect_count), 0) as bigint) from link_stats",
        "select cast(coalesce(sum(hits), 0) as bigint) from link_hours",
    ]) {
        *sum = home.number(sql).await;
    }
    sums[3] = i64::try_from(StoredEvents::read_from(home).await.total()).unwrap();
    sums
}

// threats: E9
async fn every_redirect_under_load_is_counted_once_the_server_was_asked_to_end(kind: Kind) {
    let _alone = ALONE.lock().await;
    let served = TestServer::builder().database(kind).process().start();
    let redirects = if kind == Kind::Sqlite { 200_000 } else { 50_000 };
    let (stopped, home) = block_in_place(|| {
        let paths = make_links(served.base_url(), LINKS);
        let counts = Counts::default();
        let requests = Requests { paths: &paths, times: redirects / 50, depth: 16 };
        let whole = Load::connect(served.base_url(), 50).run(requests, &counts, |_| ());
        assert_eq!((whole, counts.served()), (50, redirects));
        let home = std::sync::Arc::clone(served.home());
        (served.stop(), home)
    });
    let redirects = i64::try_from(redirects).unwrap();
    assert_eq!(sums(&home).await, [redirects; 4]);
    assert_eq!(home.number("select count(*) from click_log").await, 0);
    let served = stopped.start();
    assert_eq!(i64::try_from(total_redirects(served.base_url())).unwrap(), redirects);
}

// threats: E9
async fn a_kill_takes_only_the_latest_redirects_and_adds_none(kind: Kind) {
    let _alone = ALONE.lock().await;
    let mut served = TestServer::builder().database(kind).process().start();
    let home = std::sync::Arc::clone(served.home());
    let paths = block_in_place(|| make_links(served.base_url(), LINKS));
    let mut known = 0;
    for kill in 1..=3 {
        let base = served.base_url().to_owned();
        let time = LATE + Duration::from_millis(700 + 137 * kill);
        let mut stopped = None;
        let seen = block_in_place(|| {
            until_killed(&base, 16, &paths, time, || stopped = Some(served.kill_9()))
        });
        if kind == Kind::Postgres {
            // Others may be at work there: the dead process is known by its silence.
            let older = "update click_writers set written_at = written_at - 60000";
            home.execute(older).await;
        }
        served = stopped.expect("it was killed").start();
        let total = settled(&home).await;
        assert_eq!(total, total_redirects(served.base_url()));
        let counted = total - known;
        let safe = seen.answered_before(LATE);
        assert!(safe > 0, "no load: {seen:?}");
        assert!(
            counted >= safe,
            "of {} answers the latest {:?} are missing",
            seen.answered,
            seen.missing(counted)
        );
        assert!(counted <= seen.sent, "{counted} are counted of {} that were sent", seen.sent);
        known = total;
    }
}

/// The total, once the sums over links, over hours and over events are the same. They are at the start, unless
/// the database still carries out the last write of the process that was killed.
async fn settled(home: &Home) -> u64 {
    let watch = Stopwatch::start();
    loop {
        let [total, by_link, by_hour, events] = sums(home).await;
        if (total, total, total) == (by_link, by_hour, events) {
            return u64::try_from(total).unwrap();
        }
        let patient = watch.elapsed() < Duration::from_secs(30);
        assert!(patient, "total {total}, by link {by_link}, by hour {by_hour}, {events} events");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

//! Clicks on their way through the store: rows that a dead process left in the log, hours that become
//! days, requests that are no clicks, and a store that is away for a while. Whatever happens, a click
//! counts once.

use std::time::Duration;

use kurz::app::{CleanupEnd, CleanupTimes};
use kurz::clock::Stopwatch;
use kurz::jobs::flush::SILENT;
use kurz::store::{LogRow, LoggedEvents, Store, WriteSeq};
use kurz_core::clicks::ClickTotals;
use kurz_core::link::{Hour, LinkId};
use kurz_core::time::Timestamp;
use kurz_test_support::load::{Counts, Load, Requests, make_links};
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use reqwest::header::{HeaderName, USER_AGENT};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::store::outage::set_open;

on_both_databases!(
    only_rows_that_could_be_read_are_said_to_be_added,
    what_a_dead_process_left_in_the_log_counts_once_and_uses_the_limit,
    a_row_that_cannot_be_read_is_left_alone_and_said,
    old_hours_become_days_and_nothing_is_lost_or_doubled,
    whoever_follows_a_link_uses_a_hit_and_is_counted,
);

fn clicks(link: &Value, clicks: u64, others: u32, at: Timestamp) -> ClickTotals {
    ClickTotals {
        link: id(link),
        hour: Hour::of(at),
        others,
        clicks,
        reserved: 0,
        nanos: clicks * 1_000_000,
        last_at: at,
    }
}

fn id(link: &Value) -> LinkId {
    LinkId(link["id"].as_i64().unwrap())
}

/// A process that logs clicks and is never heard of again; its number.
async fn leave(store: &Store, rows: &[&[ClickTotals]], now: Timestamp) -> i64 {
    let writer = store.take_numbers("writer", 1).await.unwrap();
    store.register_writer(writer, now).await.unwrap();
    for (number, totals) in (1..).zip(rows) {
        let row = LogRow { seq: number, totals };
        for _ in 0..2 {
            // The second time as if the first answer was lost.
            let (seq, events) = (WriteSeq { writer, number }, LoggedEvents::default());
            store.log_totals(seq, row, events, now).await.unwrap();
        }
    }
    writer
}

async fn make(kurz: &TestServer, url: &str, limit: i64) -> Value {
    let body = json!({ "original_url": url, "hit_limit": limit });
    links::make(&kurz.http(), "main", &body).await
}

async fn what_a_dead_process_left_in_the_log_counts_once_and_uses_the_limit(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let (one, two) = (
        make(&kurz, "https://one.example/", 5).await,
        make(&kurz, "https://two.example/", 9).await,
    );
    let store = kurz.open_store().await;
    let first = [clicks(&one, 3, 1, NOON), clicks(&two, 2, 0, NOON)];
    let second = [clicks(&one, 2, 0, NOON)];
    let writer = leave(&store, &[&first, &second], NOON).await;
    let rows = async || kurz.home.number("select count(*) from click_log").await;
    assert_eq!(rows().await, 2);
    // They count in the total from when they are safe.
    links::totals(&kurz.http(), 2, 7).await;
    // While somebody may still be at work on them they are left alone.
    kurz.app().apply_abandoned_clicks(SILENT, false).await.unwrap();
    assert_eq!(rows().await, 2);
    let kurz = match kind {
        // Nobody else can be at work: the next start settles them.
        Kind::Sqlite => {
            drop(store);
            kurz.restart().await
        }
        // An instance that lives does, once the other has been silent; two of them do it once.
        Kind::Postgres => {
            let older = format!(
                "update click_writers set written_at = written_at - {} where writer = {writer}",
                SILENT.as_millis()
            );
            kurz.home.execute(&older).await;
            let (left, right) = tokio::join!(
                kurz.app().apply_abandoned_clicks(SILENT, false),
                store.settle_left(SILENT, kurz.clock.now())
            );
            left.unwrap();
            right.unwrap();
            kurz
        }
    };
    assert_eq!(kurz.home.number("select count(*) from click_log").await, 0);
    let http = kurz.http();
    for (link, clicks) in [(&one, 5), (&two, 2)] {
        let shown = links::show(&http, link).await;
        assert_eq!(shown["redirect_count"], clicks);
        assert_eq!(shown["hits_this_month"], clicks);
        assert_eq!(shown["last_redirect_at"], NOON.to_rfc3339());
        assert!((shown["avg_redirect_ms"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{shown}");
    }
    links::totals(&http, 2, 7).await;
    let hours = "select cast(sum(hits) * 100 + sum(others) as bigint) from link_hours";
    assert_eq!(kurz.home.number(hours).await, 701);
    // The limit goes by it.
    http.get(&links::short_path(&one)).await.expect(429);
    http.get(&links::short_path(&two)).await.expect(302);
    kurz.app().apply_abandoned_clicks(Duration::ZERO, true).await.unwrap();
    links::counted(&http, &two, 3).await;
    links::totals(&http, 2, 8).await;
    kurz.stop().await;
}

async fn a_row_that_cannot_be_read_is_left_alone_and_said(kind: Kind) {
    let served = TestServer::builder().database(kind).process().start();
    let home = std::sync::Arc::clone(served.home());
    let stopped = served.stop();
    let blob = |hex: &str| match kind {
        Kind::Sqlite => format!("x'{hex}'"),
        Kind::Postgres => format!("'\\x{hex}'"),
    };
    // Another format, a row that breaks off, and after them one without anything in it.
    let rows = [("02000000000000", 1), ("010000", 2), ("01", 3)];
    for (hex, seq) in rows {
        let row = format!(
            "insert into click_log (writer, seq, totals) values (900, {seq}, {})",
            blob(hex)
        );
        home.execute(&row).await;
    }
    let served = stopped.start();
    served.wait_for_log("the click log holds a row that cannot be read");
    let left = "select cast(count(*) * 10 + max(seq) as bigint) from click_log where writer = 900";
    assert_eq!(home.number(left).await, 22, "the one behind them is settled");
    // Nobody is kept from anything by it.
    let http = served.http();
    let link = links::make(&http, "team", &json!({ "original_url": "https://example.com/" })).await;
    http.get(&links::short_path(&link)).await.expect(302);
    links::counted(&http, &link, 1).await;
    let served = served.restart();
    served.wait_for_log("the click log holds a row that cannot be read");
    assert_eq!(home.number(left).await, 22);
}

async fn only_rows_that_could_be_read_are_said_to_be_added(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    for (hex, seq) in [("02000000000000", 1), ("01", 2), ("010000", 3)] {
        let blob = match kind {
            Kind::Sqlite => format!("x'{hex}'"),
            Kind::Postgres => format!("'\\x{hex}'"),
        };
        let row = "insert into click_log (writer, seq, totals) values";
        kurz.home.execute(&format!("{row} (900, {seq}, {blob})")).await;
    }
    let store = kurz.open_store().await;
    assert_eq!(store.settle_left(Duration::ZERO, kurz.clock.now()).await.unwrap(), 1);
    assert_eq!(store.settle_left(Duration::ZERO, kurz.clock.now()).await.unwrap(), 0);
    kurz.stop().await;
}

async fn clean_up(kurz: &TestServer, stop: &CancellationToken) -> CleanupEnd {
    let times = CleanupTimes {
        lock_at_least: Duration::ZERO,
        lock_at_most: Duration::from_mins(10),
        purge_grace: Duration::from_mins(15),
    };
    kurz.app().clean_up(times, stop).await.unwrap().expect("nobody else cleans up").end
}

async fn old_hours_become_days_and_nothing_is_lost_or_doubled(kind: Kind) {
    // More links than leave the hours in one transaction.
    const LINKS: i64 = 2_500;
    let kurz =
        TestServer::builder().database(kind).setting("KURZ_CLEANUP_DELAY", "1d").start().await;
    let base = kurz.base_url();
    tokio::task::block_in_place(|| make_links(&base, usize::try_from(LINKS).unwrap()));
    let store = kurz.open_store().await;
    let first = kurz.home.number("select min(id) from links").await;
    let writer = store.take_numbers("writer", 1).await.unwrap();
    store.register_writer(writer, NOON).await.unwrap();
    // At 12 and at 13 of one day, and at 0 of the next.
    let hours = [0, 1, 12].map(|hours| NOON.plus(Duration::from_hours(hours)));
    for (number, at) in (1..).zip(hours) {
        let totals: Vec<ClickTotals> = (first..first + LINKS)
            .map(|link| clicks(&json!({ "id": link }), u64::try_from(number).unwrap(), 1, at))
            .collect();
        store
            .add_totals(WriteSeq { writer, number }, &totals, LoggedEvents::default(), at)
            .await
            .unwrap();
    }
    let sum = async |table: &str| {
        let sql =
            format!("select cast(coalesce(sum(hits * 10 + others), 0) as bigint) from {table}");
        kurz.home.number(&sql).await
    };
    assert_eq!(sum("link_hours").await, LINKS * 63);
    let go_on = CancellationToken::new();
    let days = 31 * 24;
    for (hours, kept) in [
        // Not a minute too early.
        (days, 63),
        (days + 1, 52),
        (days + 2, 31),
        (days + 2, 31),
        (days + 12, 31),
        (days + 13, 0),
    ] {
        kurz.clock.set(NOON.plus(Duration::from_hours(hours)));
        let stopped = CancellationToken::new();
        stopped.cancel();
        let before = sum("link_hours").await;
        assert_eq!(clean_up(&kurz, &stopped).await, CleanupEnd::Stopped);
        assert_eq!(sum("link_hours").await, before);
        assert_eq!(clean_up(&kurz, &go_on).await, CleanupEnd::Complete);
        assert_eq!(sum("link_hours").await, LINKS * kept, "after {hours} hours");
        assert_eq!(sum("link_days").await, LINKS * (63 - kept), "after {hours} hours");
    }
    let day = i64::from(Hour::of(NOON).number()) / 24;
    for link in [first, first + LINKS - 1].map(LinkId) {
        let days = store.list_days(link, 0, day + 100).await.unwrap();
        let days: Vec<_> = days.iter().map(|day| (day.at, day.clicks, day.others)).collect();
        assert_eq!(days, [(day, 3, 2), (day + 1, 3, 1)]);
        assert_eq!(store.count_others(link).await.unwrap(), 3);
    }
    kurz.stop().await;
}

// threats: B11, H10
async fn whoever_follows_a_link_uses_a_hit_and_is_counted(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let link = make(&kurz, "https://example.com/", 5).await;
    let path = links::short_path(&link);
    let purpose = HeaderName::from_static("sec-purpose");
    let visit = async || {
        let bot = http.with(USER_AGENT, "Mozilla/5.0 (compatible; Googlebot/2.1)");
        [
            bot.get(&path).await.status,
            http.with(purpose.clone(), "prefetch").get(&path).await.status,
        ]
    };
    assert_eq!(visit().await, [302, 302]);
    http.head(&path).await.expect(302);
    http.get(&path).await.expect(302);
    let later = NOON.plus(Duration::from_hours(1));
    kurz.clock.set(later);
    assert_eq!(visit().await, [302, 302]);
    assert_eq!(visit().await, [429, 429], "neither a bot nor a prefetch passes the limit");
    http.get(&path).await.expect(429);
    http.head(&path).await.expect(429);
    kurz.app().flush_all().await.unwrap();
    let kurz = kurz.restart().await;
    let shown = links::show(&kurz.http(), &link).await;
    assert_eq!((&shown["redirect_count"], &shown["hits_this_month"]), (&json!(5), &json!(5)));
    assert_eq!(shown["last_redirect_at"], later.to_rfc3339());
    links::totals(&kurz.http(), 1, 5).await;
    // Of these, four were not by people.
    let store = kurz.open_store().await;
    assert_eq!(store.count_others(id(&link)).await.unwrap(), 4);
    let hour = Hour::of(NOON).number();
    let range = (Hour::from_number(hour - 1), Hour::from_number(hour + 5));
    let hours = store.list_hours(id(&link), range.0, range.1).await.unwrap();
    let hours: Vec<_> = hours.iter().map(|hour| (hour.at, hour.clicks, hour.others)).collect();
    let hour = i64::from(hour);
    assert_eq!(hours, [(hour, 3, 2), (hour + 1, 2, 2)]);
    kurz.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_goes_and_comes_back_again_and_again_loses_no_count() {
    const LINKS: usize = 50;
    let kurz = TestServer::builder()
        .database(Kind::Postgres)
        .setting("KURZ_STATEMENT_TIMEOUT", "2s")
        .start()
        .await;
    let base = kurz.base_url();
    let paths = tokio::task::block_in_place(|| make_links(&base, LINKS));
    let counts = Counts::default();
    // All of them come into memory.
    for path in &paths {
        kurz.http().get(path).await.expect(302);
    }
    let load = || {
        let requests = Requests { paths: &paths, times: 200, depth: 4 };
        let mut load = Load::connect(&base, 8).through_outages();
        assert_eq!(load.run(requests, &counts, |_| ()), 8);
    };
    let address = kurz.home.store();
    for round in 0..3 {
        let served = counts.served();
        set_open(&address, false).await;
        tokio::task::block_in_place(load);
        // Later the cache may be empty: messages of peers were missed while the connections were cut.
        assert!(round > 0 || counts.unavailable() == 0, "all links are cached");
        let is_idle = |before: u64| counts.served() == before;
        assert!(kurz.app().flush().await.is_err() || is_idle(served), "nobody is let in");
        tokio::task::block_in_place(load);
        assert!(kurz.app().flush_all().await.is_err() || is_idle(served), "nobody is let in");
        set_open(&address, true).await;
        // Its connections are cut once more while it writes: what became of that it cannot know.
        let (_, ()) = tokio::join!(kurz.app().flush(), set_open(&address, true));
    }
    let clicks = i64::try_from(counts.served()).unwrap() + i64::try_from(LINKS).unwrap();
    assert_eq!(counts.served() + counts.unavailable(), 3 * 2 * 8 * 200);
    // Connections that were cut are found out one by one.
    let watch = Stopwatch::start();
    while let Err(error) = kurz.app().flush_all().await {
        assert!(watch.elapsed() < Duration::from_secs(30), "still {error}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let total = "select count from totals where name = 'redirects'";
    assert_eq!(kurz.home.number(total).await, clicks);
    let by_link = "select cast(sum(redirect_count) as bigint) from link_stats";
    assert_eq!(kurz.home.number(by_link).await, clicks);
    let by_hour = "select cast(sum(hits) as bigint) from link_hours";
    assert_eq!(kurz.home.number(by_hour).await, clicks);
    kurz.stop().await;
}

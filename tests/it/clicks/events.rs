//! Events on their way through the store: as many as clicks, in the log, in blocks, in merged blocks, whoever
//! moves them and however often it is tried.

use std::collections::BTreeMap;
use std::time::Duration;

use kurz::store::{EventLogRow, LoggedEvents, NewEventBlock, Store, WriteSeq};
use kurz_core::analytics::block::{encode_columns, encode_row};
use kurz_core::analytics::{EventBatch, TextColumn, TextValues, day_of};
use kurz_core::clicks::ClickTotals;
use kurz_core::clicks::planner::EncodedEvents;
use kurz_core::code::WorkspaceId;
use kurz_core::link::{Hour, LinkId};
use kurz_core::time::Timestamp;
use kurz_test_support::events::StoredEvents;
use kurz_test_support::load::{Counts, Load, Requests, make_links};
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::json;
use tokio_util::sync::CancellationToken;

on_both_databases!(
    ten_thousand_clicks_are_counted_the_same_in_stats_and_in_events,
    what_a_dead_process_left_in_the_event_log_becomes_blocks_once,
    small_blocks_of_a_day_that_is_over_become_one,
    a_damaged_row_costs_only_itself,
    requests_that_were_refused_are_events_and_no_clicks,
);

/// Events of a link, one for each text, a minute apart.
pub(crate) fn batch(link: i64, at: Timestamp, texts: &[&str]) -> EventBatch {
    let minutes = (0..).map(|minute| at.plus(Duration::from_mins(minute)));
    let mut batch = EventBatch {
        links: vec![LinkId(link); texts.len()],
        times: minutes.take(texts.len()).collect(),
        visitors: (1..).take(texts.len()).collect(),
        nanos: vec![1_000; texts.len()],
        counts: vec![1; texts.len()],
        ..EventBatch::default()
    };
    for (column, values) in TextColumn::ALL.into_iter().zip(&mut batch.texts) {
        *values = match column {
            TextColumn::Class => TextValues::of(texts.iter().map(|_| "person")),
            TextColumn::Answer => TextValues::of(texts.iter().map(|_| "30x")),
            _ => TextValues::of(texts.iter().copied()),
        };
    }
    batch
}

/// Store events of a workspace as a block of their day.
pub(crate) async fn store_block(store: &Store, workspace: &str, batch: &EventBatch) {
    let block = NewEventBlock {
        workspace: WorkspaceId::parse(workspace).unwrap(),
        day: day_of(batch.times[0]),
        seq: store.take_numbers("event_block", 1).await.unwrap(),
        events: i64::try_from(batch.len()).unwrap(),
        columns: encode_columns(batch),
    };
    assert!(store.cut_events(&[], vec![block]).await.unwrap());
}

pub(crate) async fn maintain(kurz: &TestServer) {
    let stop = CancellationToken::new();
    assert!(kurz.app().maintain_events(Duration::ZERO, &stop).await.unwrap());
}

async fn counts_of(kurz: &TestServer) -> (i64, i64) {
    let by_link = "select cast(coalesce(sum(redirect_count), 0) as bigint) from link_stats";
    let total = "select count from totals where name = 'redirects'";
    (kurz.home.number(by_link).await, kurz.home.number(total).await)
}

async fn ten_thousand_clicks_are_counted_the_same_in_stats_and_in_events(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let base = kurz.base_url();
    let counts = Counts::default();
    tokio::task::block_in_place(|| {
        let paths = make_links(&base, 300);
        let requests = Requests { paths: &paths, times: 1_000, depth: 8 };
        assert_eq!(Load::connect(&base, 10).run(requests, &counts, |_| ()), 10);
    });
    assert_eq!(counts.served(), 10_000);
    kurz.app().flush_all().await.unwrap();
    assert_eq!(counts_of(&kurz).await, (10_000, 10_000));
    let store = kurz.open_store().await;
    let logged = StoredEvents::read(&store).await;
    assert_eq!(logged.total(), 10_000);
    assert_eq!(logged.values(TextColumn::Answer), ["30x"]);
    let expected = logged.clicks();
    // A sum in which every link has a weight of its own.
    let weighted = "select cast(sum(redirect_count * link_id) as bigint) from link_stats";
    let weigh = |(link, clicks): (&i64, &u64)| link * i64::try_from(*clicks).unwrap();
    let by_event: i64 = expected.iter().map(weigh).sum();
    assert_eq!(kurz.home.number(weighted).await, by_event);
    kurz.app().cut_own_events(true).await.unwrap();
    let cut = StoredEvents::read(&store).await;
    assert_eq!(cut.clicks(), expected);
    assert!(cut.logged.is_empty() && !cut.blocks.is_empty());
    for (_, day, batch) in &cut.blocks {
        assert_eq!(*day, day_of(NOON));
        assert!(batch.times.is_sorted());
    }
    kurz.clock.set(NOON.plus(Duration::from_hours(24)));
    maintain(&kurz).await;
    let merged = StoredEvents::read(&store).await;
    assert_eq!(merged.clicks(), expected);
    assert_eq!(merged.blocks.len(), 1);
    kurz.stop().await;
}

/// A process that logs events of a link and is never heard of again.
async fn leave(store: &Store, link: i64, rows: usize) {
    let writer = store.take_numbers("writer", 1).await.unwrap();
    store.register_writer(writer, NOON).await.unwrap();
    for number in 1..=i64::try_from(rows).unwrap() {
        let data = encode_row(&batch(link, NOON, &["DE", "FR"]));
        let rows = [EncodedEvents { events: 2, data }];
        let totals = ClickTotals {
            link: LinkId(link),
            hour: Hour::of(NOON),
            others: 0,
            clicks: 2,
            reserved: 0,
            nanos: 2_000,
            last_at: NOON,
        };
        let (seq, events) =
            (WriteSeq { writer, number }, LoggedEvents { first: number, rows: &rows });
        store.add_totals(seq, &[totals], events, NOON).await.unwrap();
        // The answer was lost, and it is sent again.
        store.add_totals(seq, &[totals], events, NOON).await.unwrap();
    }
}

async fn what_a_dead_process_left_in_the_event_log_becomes_blocks_once(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let store = kurz.open_store().await;
    let body = json!({ "original_url": "https://example.com/" });
    let link = links::make(&kurz.http(), "team", &body).await["id"].as_i64().unwrap();
    leave(&store, link, 300).await;
    maintain(&kurz).await;
    let stored = StoredEvents::read(&store).await;
    assert_eq!((stored.logged.len(), stored.total()), (300, 600), "its writer may be alive");
    kurz.home.execute("update event_log set written_at = written_at - 180000").await;
    // Another instance does the same at the same time.
    let rows: Vec<EventLogRow> = store.list_event_log().await.unwrap();
    let stop = CancellationToken::new();
    let (done, other) = tokio::join!(
        kurz.app().maintain_events(Duration::ZERO, &stop),
        store.cut_events(&rows[..10], Vec::new()),
    );
    assert!(done.unwrap());
    let taken = if other.unwrap() { 20 } else { 0 };
    maintain(&kurz).await;
    let stored = StoredEvents::read(&store).await;
    assert_eq!((stored.logged.len(), stored.total()), (0, 600 - taken));
    let team = WorkspaceId::parse("team").unwrap();
    assert!(stored.blocks.iter().all(|(workspace, ..)| *workspace == team));
    assert_eq!(stored.values(TextColumn::Country), ["DE", "FR"]);
    kurz.stop().await;
}

async fn small_blocks_of_a_day_that_is_over_become_one(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let store = kurz.open_store().await;
    for number in 0..20 {
        store_block(&store, "team", &batch(7, NOON, &["a", "b"])).await;
        let other = batch(8, NOON.plus(Duration::from_mins(number)), &["c"]);
        store_block(&store, "main", &other).await;
    }
    maintain(&kurz).await;
    assert_eq!(StoredEvents::read(&store).await.blocks.len(), 40, "the day runs");
    for _ in 0..20 {
        store_block(&store, "team", &batch(7, NOON, &["d", "b"])).await;
    }
    maintain(&kurz).await;
    let merged = StoredEvents::read(&store).await;
    assert_eq!(merged.blocks.len(), 21, "forty of one size became one");
    kurz.clock.set(NOON.plus(Duration::from_hours(13)));
    maintain(&kurz).await;
    let merged = StoredEvents::read(&store).await;
    let events: Vec<_> = merged
        .blocks
        .iter()
        .map(|(workspace, _, batch)| (workspace.as_str(), batch.len()))
        .collect();
    assert_eq!(events, [("main", 20), ("team", 80)]);
    assert_eq!(merged.clicks(), BTreeMap::from([(7, 80), (8, 20)]));
    assert_eq!(merged.values(TextColumn::City), ["a", "b", "c", "d"]);
    kurz.stop().await;
}

async fn a_damaged_row_costs_only_itself(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let store = kurz.open_store().await;
    let body = json!({ "original_url": "https://example.com/" });
    let link = links::make(&kurz.http(), "team", &body).await["id"].as_i64().unwrap();
    leave(&store, link, 3).await;
    kurz.home.execute("update event_log set written_at = written_at - 180000").await;
    let damage = match kind {
        Kind::Sqlite => "update event_log set data = x'0100ff00' where seq = 2",
        Kind::Postgres => "update event_log set data = '\\x0100ff00' where seq = 2",
    };
    kurz.home.execute(damage).await;
    maintain(&kurz).await;
    let stored = StoredEvents::read(&store).await;
    assert_eq!((stored.logged.len(), stored.total()), (0, 4));
    // One of a later version is left to it.
    leave(&store, link, 1).await;
    kurz.home.execute("update event_log set written_at = written_at - 180000").await;
    let later = match kind {
        Kind::Sqlite => "update event_log set data = x'ff000000000000000000000000000000000000ff'",
        Kind::Postgres => {
            "update event_log set data = '\\xff000000000000000000000000000000000000ff'"
        }
    };
    kurz.home.execute(later).await;
    maintain(&kurz).await;
    assert_eq!(kurz.home.number("select count(*) from event_log").await, 1);
    kurz.stop().await;
}

async fn requests_that_were_refused_are_events_and_no_clicks(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body = json!({ "original_url": "https://example.com/", "hit_limit": 2 });
    let link = links::make(&http, "team", &body).await;
    for status in [302, 302, 429, 429, 429] {
        http.get(&links::short_path(&link)).await.expect(status);
    }
    kurz.app().flush_all().await.unwrap();
    assert_eq!(counts_of(&kurz).await, (2, 2));
    let stored = StoredEvents::read(&kurz.open_store().await).await;
    assert_eq!((stored.total(), stored.len()), (2, 5));
    assert_eq!(stored.values(TextColumn::Answer), ["30x", "429"]);
    kurz.stop().await;
}

//! What is not to be kept is not in ClickHouse either.

use std::fs;
use std::path::Path;
use std::time::Duration;

use kurz::app::{CopyCheck, WorkspacePrivacy};
use kurz_core::account::Caller;
use kurz_core::analytics::{AnalyticsMode, TimeRange};
use kurz_core::code::WorkspaceId;
use kurz_test_support::clickhouse::{ClickHouse, ask, database, number};
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use reqwest::header::{HeaderName, USER_AGENT};
use serde_json::json;

use super::{EVENTS, check_copies, values, write_and_copy};
use crate::clicks::events::{batch, maintain, store_block};

const DAY: Duration = Duration::from_hours(24);
const MINUTES: Duration = Duration::from_mins(4);

on_both_databases!(
    what_is_deleted_or_narrowed_in_the_store_is_so_in_clickhouse,
    days_whose_time_is_over_are_gone_from_clickhouse,
);

fn team() -> WorkspaceId {
    WorkspaceId::parse("team").unwrap()
}

async fn team_link(kurz: &TestServer) -> serde_json::Value {
    links::make(&kurz.http(), "team", &json!({ "original_url": "https://example.com/" })).await
}

/// Carry out tasks, in the store and then in ClickHouse.
async fn do_tasks(kurz: &TestServer) {
    for _ in 0..2 {
        kurz.advance(MINUTES);
        maintain(kurz).await;
        check_copies(kurz, CopyCheck::Tasks).await;
    }
    assert_eq!(kurz.home.number("select count(*) from event_tasks").await, 0);
}

async fn what_is_deleted_or_narrowed_in_the_store_is_so_in_clickhouse(kind: Kind) {
    let clickhouse = database().await;
    let kurz = TestServer::builder().database(kind).clickhouse(clickhouse.as_str()).start().await;
    let link = team_link(&kurz).await;
    let id = link["id"].as_i64().unwrap();
    let store = kurz.open_store().await;
    store_block(&store, "team", &batch(id, NOON, &["Wien", "Graz"])).await;
    store_block(&store, "team", &batch(id + 1, NOON.minus(DAY), &["Ulm"])).await;
    store_block(&store, "other", &batch(id + 2, NOON.minus(DAY), &["Bonn"])).await;
    kurz.advance(DAY);
    check_copies(&kurz, CopyCheck::Days).await;
    assert_eq!(values(&clickhouse, "city").await, ["Bonn", "Graz", "Ulm", "Wien"]);
    let (app, caller) = (kurz.app(), &Caller::OPEN);
    let range = TimeRange { from: NOON, to: NOON.plus(Duration::from_secs(1)) };
    app.delete_analytics(caller, &team(), Some(links::code(&link)), range).await.unwrap();
    do_tasks(&kurz).await;
    assert_eq!(values(&clickhouse, "city").await, ["", "Bonn", "Graz", "Ulm"]);
    assert_eq!(number(&clickhouse, "SELECT sum(count) FROM kurz_events").await, 4, "clicks stay");
    let mode = |mode| WorkspacePrivacy { mode: Some(mode), ..WorkspacePrivacy::default() };
    app.change_privacy(caller, &team(), &mode(AnalyticsMode::Aggregate)).await.unwrap();
    do_tasks(&kurz).await;
    let team_only =
        "SELECT DISTINCT city, browser_version, utm_term FROM kurz_events WHERE workspace = 'team'";
    assert_eq!(ask(&clickhouse, team_only).await, "\t\t");
    assert_eq!(values(&clickhouse, "city").await, ["", "Bonn"]);
    app.change_privacy(caller, &team(), &mode(AnalyticsMode::Off)).await.unwrap();
    do_tasks(&kurz).await;
    assert_eq!(values(&clickhouse, "workspace").await, ["other"]);
    // In the mode `off` nothing is sent at all.
    kurz.http().get(&links::short_path(&link)).await.expect(302);
    write_and_copy(&kurz).await;
    assert_eq!(values(&clickhouse, "workspace").await, ["other"]);
    kurz.stop().await;
}

async fn days_whose_time_is_over_are_gone_from_clickhouse(kind: Kind) {
    let clickhouse = database().await;
    let builder = TestServer::builder().database(kind).clickhouse(clickhouse.as_str());
    let kurz = builder.setting("KURZ_EVENTS_KEEP", "90d").start().await;
    team_link(&kurz).await;
    let store = kurz.open_store().await;
    store_block(&store, "team", &batch(7, NOON, &["DE", "FR"])).await;
    store_block(&store, "gone", &batch(8, NOON.plus(DAY), &["AT"])).await;
    store_block(&store, "team", &batch(7, NOON.plus(DAY), &["CH"])).await;
    kurz.clock.set(NOON.plus(DAY * 89));
    maintain(&kurz).await;
    check_copies(&kurz, CopyCheck::Days).await;
    assert_eq!(number(&clickhouse, EVENTS).await, 4);
    kurz.clock.set(NOON.plus(DAY * 91));
    maintain(&kurz).await;
    kurz.execute("delete from event_blocks where workspace = 'gone'").await;
    check_copies(&kurz, CopyCheck::Days).await;
    assert_eq!(values(&clickhouse, "country").await, ["CH"]);
    let removals = "SELECT count() FROM system.mutations WHERE database = currentDatabase()";
    assert_eq!(number(&clickhouse, removals).await, 1, "a whole day is dropped without one");
    kurz.clock.set(NOON.plus(DAY * 92));
    maintain(&kurz).await;
    check_copies(&kurz, CopyCheck::Days).await;
    assert_eq!(number(&clickhouse, EVENTS).await, 0);
    kurz.stop().await;
}

fn files(folder: &Path, found: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.extend(fs::read(&path));
        }
    }
}

// threats: H10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_is_nowhere_in_the_files_of_clickhouse() {
    let clickhouse = ClickHouse::start();
    let builder = TestServer::builder().clickhouse(clickhouse.url().as_str());
    let kurz = builder.setting("KURZ_TRUSTED_PROXIES", "127.0.0.1").start().await;
    let link = team_link(&kurz).await;
    let (v4, v6) = ("198.51.100.217", "2001:db8:1234:5678:9abc:def0:1357:2468");
    for address in [v4, v6] {
        let http = kurz.http().with(HeaderName::from_static("x-forwarded-for"), address);
        let http = http.with(USER_AGENT, "Mozilla/5.0 planted-agent-7731 Firefox/140.0");
        http.get(&format!("{}?utm_term=planted-term", links::short_path(&link))).await.expect(302);
    }
    write_and_copy(&kurz).await;
    assert_eq!(number(&clickhouse.url(), EVENTS).await, 2);
    assert_eq!(values(&clickhouse.url(), "utm_term").await, ["planted-term"]);
    // Columns are compressed only where that helps: the same rows, plain, have to be without it as well.
    let plain = ask(&clickhouse.url(), "SELECT * FROM kurz_events").await;
    let mut contents = vec![plain.into_bytes()];
    files(&clickhouse.data(), &mut contents);
    assert!(contents.len() > 30, "its files are looked at");
    let v6_bytes = v6.parse::<std::net::Ipv6Addr>().unwrap().octets();
    let pieces =
        [v4.as_bytes(), v6.as_bytes(), b"planted-agent-7731", &v6_bytes[..], &v6_bytes[..8]];
    for piece in pieces {
        let found = contents.iter().any(|bytes| bytes.windows(piece.len()).any(|it| it == piece));
        assert!(!found, "{piece:?}");
    }
    let columns = "SELECT name FROM system.columns WHERE table = 'kurz_events'";
    let columns = ask(&clickhouse.url(), columns).await;
    assert!(!columns.contains("address") && !columns.contains("agent"), "{columns}");
    kurz.stop().await;
}

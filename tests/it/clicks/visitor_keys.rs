//! What is kept of visitors: no address, and a hash whose key is destroyed. The bytes of the store are searched.

use std::fs;
use std::net::Ipv6Addr;
use std::path::Path;
use std::time::Duration;

use kurz::config::StoreUrl;
use kurz::entropy::Entropy;
use kurz_core::time::Timestamp;
use kurz_test_support::events::StoredEvents;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use reqwest::header::{HeaderName, USER_AGENT};
use serde_json::json;

const HOUR: Duration = Duration::from_hours(1);
const V4: [u8; 4] = [198, 51, 100, 217];
const V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0x1234, 0x5678, 0x9abc, 0xdef0, 0x1122, 0x3344);

on_both_databases!(
    a_key_is_made_ahead_of_its_period_and_destroyed_two_hours_after_it,
    a_visitor_is_one_within_a_day_and_another_in_another_workspace,
);

async fn key_starts(kurz: &TestServer) -> (i64, i64) {
    let count = kurz.home.number("select count(*) from visitor_keys").await;
    let first = "select coalesce(min(period_start), 0) from visitor_keys";
    (count, kurz.home.number(first).await)
}

async fn a_key_is_made_ahead_of_its_period_and_destroyed_two_hours_after_it(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let midnight = NOON.plus(12 * HOUR);
    let today = midnight.minus(24 * HOUR).as_ms();
    assert_eq!(key_starts(&kurz).await, (1, today));
    for (at, expected) in [
        (midnight.minus(2 * HOUR + Duration::from_millis(1)), (1, today)),
        (midnight.minus(2 * HOUR), (2, today)),
        (midnight.plus(HOUR), (2, today)),
        (midnight.plus(2 * HOUR), (1, midnight.as_ms())),
    ] {
        kurz.clock.set(at);
        kurz.app().keep_visitor_keys().await.unwrap();
        assert_eq!(key_starts(&kurz).await, expected, "at {at}");
    }
    // A clock that is set back brings no older key.
    kurz.clock.set(NOON);
    kurz.app().keep_visitor_keys().await.unwrap();
    assert_eq!(key_starts(&kurz).await, (1, midnight.as_ms()));
    kurz.clock.set(midnight.plus(3 * HOUR));
    let secret = "select cast(count(distinct secret) as bigint) from visitor_keys";
    assert_eq!(kurz.home.number(secret).await, 1);
    let kurz = kurz.restart().await;
    assert_eq!(key_starts(&kurz).await, (1, midnight.as_ms()), "the same key after a restart");
    kurz.stop().await;
}

async fn a_visitor_is_one_within_a_day_and_another_in_another_workspace(kind: Kind) {
    let kurz = TestServer::builder()
        .database(kind)
        .setting("KURZ_TRUSTED_PROXIES", "127.0.0.1")
        .start()
        .await;
    let body = json!({ "original_url": "https://example.com/" });
    let team = links::make(&kurz.http(), "team", &body).await;
    let other = links::make(&kurz.http(), "other", &body).await;
    let visit = async |address: &str, agent: &'static str, link| {
        let http = kurz.at(address).with(USER_AGENT, agent);
        http.get(&links::short_path(link)).await.expect(302);
    };
    let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    visit("198.51.100.217", agent, &team).await;
    visit("198.51.100.217", agent, &team).await;
    visit("198.51.100.217", agent, &other).await;
    visit("198.51.100.218", agent, &team).await;
    kurz.clock.set(NOON.plus(24 * HOUR));
    kurz.app().keep_visitor_keys().await.unwrap();
    visit("198.51.100.217", agent, &team).await;
    kurz.app().flush_all().await.unwrap();
    let stored = StoredEvents::read(&kurz.open_store().await).await;
    let mut seen: Vec<(Timestamp, i64, u64)> = Vec::new();
    for batch in stored.batches() {
        let rows = batch.times.iter().zip(&batch.links).zip(&batch.visitors);
        seen.extend(rows.map(|((at, link), visitor)| (*at, link.0, *visitor)));
    }
    assert_eq!(seen.len(), 5);
    assert!(seen.iter().all(|(.., visitor)| *visitor != 0 && *visitor < 1 << 40), "{seen:?}");
    let mut visitors: Vec<u64> = seen.iter().map(|(.., visitor)| *visitor).collect();
    visitors.sort_unstable();
    visitors.dedup();
    assert_eq!(visitors.len(), 4, "only the first two clicks are of one visitor: {seen:?}");
    kurz.stop().await;
}

/// The places in the files of a store where any of the pieces stands.
fn find_in(files: &[&Path], pieces: &[(&str, Vec<u8>)]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let bytes = fs::read(file).unwrap_or_default();
        for (name, piece) in pieces {
            if bytes.windows(piece.len()).any(|window| window == piece) {
                found.push(format!("{name} in {}", file.display()));
            }
        }
    }
    found
}

// threats: H10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_address_is_in_the_bytes_of_store_log_and_backup() {
    let kurz = TestServer::builder().setting("KURZ_TRUSTED_PROXIES", "127.0.0.1").start().await;
    let body = json!({ "original_url": "https://example.com/" });
    let link = links::make(&kurz.http(), "team", &body).await;
    let path = links::short_path(&link);
    let v6 = V6.to_string();
    let referrer = HeaderName::from_static("referer");
    for address in ["198.51.100.217", &v6] {
        for _ in 0..5 {
            let http = kurz.at(address).with(referrer.clone(), "https://news.example/path?mail=me");
            http.get(&path).await.expect(302);
        }
    }
    kurz.app().flush_all().await.unwrap();
    assert_eq!(StoredEvents::read(&kurz.open_store().await).await.total(), 10);
    let mut pieces: Vec<(&str, Vec<u8>)> = vec![
        ("the text of the IPv4 address", b"198.51.100.217".to_vec()),
        ("the text of the IPv6 address", v6.clone().into_bytes()),
        ("the IPv4 address", V4.to_vec()),
        ("the IPv4 address backwards", V4.iter().rev().copied().collect()),
        ("the IPv6 address", V6.octets().to_vec()),
        ("the IPv6 address backwards", V6.octets().iter().rev().copied().collect()),
        ("the network of the IPv6 address", V6.octets()[..8].to_vec()),
        ("the network backwards", V6.octets()[..8].iter().rev().copied().collect()),
        ("the path of the referrer", b"mail=me".to_vec()),
    ];
    let store = kurz.home.sqlite_file();
    let log = store.with_extension("db-wal");
    let backup = kurz.home.folder().join("backup.db");
    let url = StoreUrl::Sqlite(store.clone());
    let files = [store.as_path(), &log, &backup];
    // In the log, then in blocks.
    kurz::store::backup(&url, &backup, &Entropy::os()).unwrap();
    assert_eq!(find_in(&files, &pieces), [""; 0]);
    let key: Vec<u8> = rusqlite::Connection::open(&store)
        .unwrap()
        .query_row("select secret from visitor_keys", [], |row| row.get(0))
        .unwrap();
    assert_eq!(key.len(), 16);
    kurz.app().cut_own_events(true).await.unwrap();
    assert_eq!(find_in(&files, &pieces), [""; 0]);
    // The key is in the store while its period runs, and in no backup.
    pieces.push(("the key", key));
    assert_eq!(find_in(&[backup.as_path()], &pieces), [""; 0]);
    assert!(
        !find_in(&[store.as_path(), &log], &pieces).is_empty(),
        "the search finds what is there"
    );
    kurz.clock.set(NOON.plus(14 * HOUR));
    kurz.app().keep_visitor_keys().await.unwrap();
    assert_eq!(find_in(&[store.as_path(), &log], &pieces), [""; 0], "it is destroyed");
    kurz.stop().await;
    assert_eq!(find_in(&files, &pieces), [""; 0]);
}

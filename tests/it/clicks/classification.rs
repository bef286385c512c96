//! What a real server stores of a click: browser, channel, place and so on, from the fields of the request to
//! the event in the database.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kurz_core::analytics::block::decode_row;
use kurz_core::analytics::{EventBatch, PRIVATE, TextColumn};
use kurz_test_support::http::Http;
use kurz_test_support::mmdb::{GeoNet, city_file};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use reqwest::header::{ACCEPT_LANGUAGE, HeaderName, REFERER, USER_AGENT};
use serde_json::json;

on_both_databases!(
    a_click_is_stored_with_what_it_says,
    a_proxy_that_is_not_trusted_is_not_believed,
    whoever_asks_not_to_be_tracked_leaves_nothing_but_a_click,
);

const SAFARI: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like \
                      Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
const BERLIN: GeoNet<'static> =
    GeoNet { net: "198.51.100.0/24", country: "DE", region: Some("BE"), city: Some("Berlin") };

/// A geo file with this network.
fn geo_file(folder: &Path, net: GeoNet<'_>) -> PathBuf {
    let path = folder.join("places.mmdb");
    let new = folder.join("new.mmdb");
    std::fs::write(&new, city_file(4_000_000_000, &[net])).unwrap();
    std::fs::rename(&new, &path).unwrap();
    path
}

fn visitor(http: &Http) -> Http {
    http.with(USER_AGENT, SAFARI)
        .with(REFERER, "https://www.google.de/search?q=secret")
        .with(ACCEPT_LANGUAGE, "de-AT,de;q=0.9")
        .with(HeaderName::from_static("x-forwarded-for"), "198.51.100.7")
        .with(HeaderName::from_static("cf-ipcountry"), "CH")
}

async fn make(kurz: &TestServer) {
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&kurz.http(), "main", &body).await;
}

/// The events in the log, once there are so many.
async fn events(kurz: &TestServer, count: usize) -> EventBatch {
    let store = kurz.open_store().await;
    loop {
        let rows = store.list_event_log().await.unwrap();
        let batches = rows.iter().map(|row| decode_row(&row.data).unwrap());
        let mut batches: Vec<EventBatch> = batches.filter(|batch| batch.len() >= count).collect();
        if let Some(batch) = batches.pop() {
            return batch;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn known(batch: &EventBatch) -> Vec<(&'static str, &str)> {
    let all = TextColumn::ALL.into_iter().map(|column| (column.name(), batch.text(column, 0)));
    all.filter(|(name, text)| !text.is_empty() && *name != "host").collect()
}

async fn a_click_is_stored_with_what_it_says(kind: Kind) {
    let folder = tempfile::tempdir().unwrap();
    let file = geo_file(folder.path(), BERLIN);
    let kurz = TestServer::builder()
        .database(kind)
        .settings(&[
            ("KURZ_GEO_FILE", file.to_str().unwrap()),
            ("KURZ_TRUSTED_PROXIES", "127.0.0.1/32"),
        ])
        .start()
        .await;
    make(&kurz).await;
    visitor(&kurz.http()).get("/promo?utm_campaign=spring").await.expect(302);
    let batch = events(&kurz, 1).await;
    let expected = [
        ("class", "person"),
        ("referrer", "google.de"),
        ("channel", "search"),
        ("browser", "Safari"),
        ("browser_version", "17"),
        ("os", "iOS"),
        ("os_version", "17"),
        ("device", "phone"),
        ("language", "de-AT"),
        ("country", "DE"),
        ("region", "DE-BE"),
        ("city", "Berlin"),
        ("utm_campaign", "spring"),
        ("trigger", "direct"),
        ("answer", "30x"),
    ];
    assert_eq!(known(&batch), expected);
    assert_ne!(batch.visitors, [0]);
}

async fn a_proxy_that_is_not_trusted_is_not_believed(kind: Kind) {
    let folder = tempfile::tempdir().unwrap();
    let file = geo_file(folder.path(), BERLIN);
    let country = async |proxies: &[(&str, &str)]| {
        let kurz = TestServer::builder()
            .database(kind)
            .setting("KURZ_GEO_FILE", file.to_str().unwrap())
            .setting("KURZ_GEO_HEADER", "cf-ipcountry")
            .settings(proxies)
            .start()
            .await;
        make(&kurz).await;
        visitor(&kurz.http()).get("/promo").await.expect(302);
        events(&kurz, 1).await.text(TextColumn::Country, 0).to_owned()
    };
    assert_eq!(country(&[("KURZ_TRUSTED_PROXIES", "127.0.0.1/32")]).await, "CH");
    assert_eq!(country(&[]).await, "", "the address is 127.0.0.1");
}

async fn whoever_asks_not_to_be_tracked_leaves_nothing_but_a_click(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    make(&kurz).await;
    let http = visitor(&kurz.http()).with(HeaderName::from_static("sec-gpc"), "1");
    http.get("/promo?utm_campaign=spring").await.expect(302);
    let batch = events(&kurz, 1).await;
    for column in TextColumn::ALL {
        let is_kept = [TextColumn::Host, TextColumn::Class, TextColumn::Answer].contains(&column);
        assert_eq!(batch.text(column, 0) == PRIVATE, !is_kept, "{column:?}");
    }
    assert_eq!(batch.visitors, [0]);
    assert_eq!(batch.text(TextColumn::Class, 0), "person");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_geo_file_is_said_and_a_new_one_is_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.mmdb");
    std::fs::write(&path, city_file(1, &[BERLIN])).unwrap();
    let program = TestServer::builder().setting("KURZ_GEO_FILE", path.to_str().unwrap()).process();
    let served = program.start();
    let ready = served.http().get("/readyz").await.expect(200).json();
    assert!(ready["checks"]["geo_file"].as_str().unwrap().contains("60 days"), "{ready}");
    geo_file(folder.path(), BERLIN);
    served.wait_for_log("places come from the new geo file");
    let ready = served.http().get("/readyz").await.expect(200).json();
    assert_eq!(ready, json!({ "ready": true, "checks": { "store": "ok" } }));

    std::fs::write(&path, b"broken").unwrap();
    served.wait_for_log("the new geo file is not used and the old one stays");
    served.http().get("/readyz").await.expect(200);
}

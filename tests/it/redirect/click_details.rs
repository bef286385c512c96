//! From the bytes of a request to the stored event: the fast path and hyper keep the same, and of visitors who
//! ask not to be tracked nothing.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kurz_core::analytics::{EventBatch, PRIVATE, TextColumn};
use kurz_test_support::events::StoredEvents;
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::json;
use tokio::task::block_in_place;

on_both_databases!(
    both_ways_store_the_same_event,
    a_private_visitor_leaves_nothing_but_the_click,
    only_a_trusted_proxy_names_the_country,
);

/// A field that says nothing, and with which a request is not plain.
const FOR_HYPER: &str = "Content-Length: 0\r\n";
const BROWSER: &str = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 \
    Firefox/140.0\r\nAccept-Language: de-AT,de;q=0.9\r\nReferer: https://www.Google.com/search?q=secret\r\n";

async fn start(kind: Kind, settings: &[(&str, &str)]) -> TestServer {
    let kurz = TestServer::builder().database(kind).settings(settings).start().await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "abc" });
    links::make(&kurz.http(), "main", &body).await;
    kurz
}

fn follow(kurz: &TestServer, target: &str, fields: &str) {
    let mut stream = TcpStream::connect(kurz.base_url().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let request =
        format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{fields}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 302 "), "{answer}");
}

/// The events of all clicks, the oldest first: values of every column, and the visitor.
async fn events(kurz: &TestServer) -> Vec<(Vec<String>, u64)> {
    kurz.app().flush_all().await.unwrap();
    let stored = StoredEvents::read(&kurz.open_store().await).await;
    let read = |batch: &EventBatch, event: usize| {
        let texts = TextColumn::ALL.map(|column| batch.text(column, event).to_owned());
        (batch.times[event], texts.to_vec(), batch.visitors[event])
    };
    let each = stored.batches().flat_map(|batch| (0..batch.len()).map(move |at| read(batch, at)));
    let mut all: Vec<_> = each.collect();
    all.sort();
    all.into_iter().map(|(_, texts, visitor)| (texts, visitor)).collect()
}

fn value(event: &(Vec<String>, u64), column: TextColumn) -> &str {
    let at = TextColumn::ALL.iter().position(|it| *it == column).unwrap();
    &event.0[at]
}

async fn both_ways_store_the_same_event(kind: Kind) {
    let kurz = start(kind, &[]).await;
    let asked = [
        ("/abc", ""),
        ("/abc", BROWSER),
        ("/abc?utm_source=news&utm_medium=email", BROWSER),
        ("/abc?qr", ""),
        ("/abc?notrack", BROWSER),
        ("/abc", "User-Agent: Googlebot/2.1\r\n"),
        ("/abc", "Sec-Purpose: prefetch\r\n"),
        ("/abc", "DNT: 1\r\nReferer: https://a.example/\r\n"),
        ("/abc", "X-Forwarded-For: 198.51.100.9\r\nCF-IPCountry: DE\r\n"),
    ];
    for (target, fields) in asked {
        // The first time from the store, then from memory.
        for fields in [fields.to_owned(), format!("{fields}{FOR_HYPER}"), fields.to_owned()] {
            block_in_place(|| follow(&kurz, target, &fields));
            kurz.advance(Duration::from_millis(1));
        }
    }
    let events = events(&kurz).await;
    assert_eq!(events.len(), 3 * asked.len());
    for (same, asked) in events.chunks(3).zip(asked) {
        assert_eq!(same[0], same[1], "{asked:?}");
        assert_eq!(same[0], same[2], "{asked:?}");
    }
    let browser = &events[3];
    assert_eq!(value(browser, TextColumn::Referrer), "google.com");
    assert_eq!(value(browser, TextColumn::Language), "de-AT");
    assert!(browser.1 != 0 && browser.1 == events[6].1, "one visitor");
    assert!(events.iter().all(|event| !event.0.iter().any(|text| text.contains("secret"))));
    kurz.stop().await;
}

async fn a_private_visitor_leaves_nothing_but_the_click(kind: Kind) {
    let kurz = start(kind, &[]).await;
    for (target, wish) in [("/abc?utm_source=x", "Sec-GPC: 1\r\n"), ("/abc?qr", "DNT: 1\r\n")] {
        block_in_place(|| follow(&kurz, target, &format!("{BROWSER}{wish}")));
    }
    for event in events(&kurz).await {
        assert_eq!(event.1, 0, "no visitor");
        for column in [TextColumn::Referrer, TextColumn::Language, TextColumn::Browser] {
            assert_eq!(value(&event, column), PRIVATE);
        }
        assert_eq!(value(&event, TextColumn::Class), "person");
        assert_eq!(value(&event, TextColumn::Host), "localhost");
    }
    kurz.stop().await;
}

// threats: D3
async fn only_a_trusted_proxy_names_the_country(kind: Kind) {
    let said = "X-Forwarded-For: 198.51.100.9\r\nCF-IPCountry: AT\r\n";
    for (settings, country) in [
        (&[("KURZ_GEO_HEADER", "cf-ipcountry"), ("KURZ_TRUSTED_PROXIES", "127.0.0.1")][..], "AT"),
        (&[("KURZ_GEO_HEADER", "cf-ipcountry")][..], ""),
        (&[("KURZ_TRUSTED_PROXIES", "127.0.0.1")][..], ""),
    ] {
        let kurz = start(kind, settings).await;
        for fields in [said.to_owned(), format!("{said}{FOR_HYPER}")] {
            block_in_place(|| follow(&kurz, "/abc", &fields));
        }
        let events = events(&kurz).await;
        assert_eq!(events.len(), 2);
        for event in &events {
            assert_eq!(value(event, TextColumn::Country), country, "{settings:?}");
        }
        kurz.stop().await;
    }
}

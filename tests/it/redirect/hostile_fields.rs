//! Whatever visitors send in the fields that analytics read, they are redirected and counted, on the fast
//! path and by hyper.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::json;
use tokio::task::block_in_place;

on_both_databases!(
    whatever_a_visitor_sends_is_redirected_and_counted,
    ten_thousand_distinct_agents_are_all_counted,
    refusals_are_not_counted_as_clicks,
);

/// A field that says nothing, and with which a request is not plain.
const FOR_HYPER: &[u8] = b"Content-Length: 0\r\n";

fn connect(kurz: &TestServer) -> TcpStream {
    let stream = TcpStream::connect(kurz.base_url().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// The status of an answer without a body.
fn ask(stream: &mut TcpStream, target: &str, fields: &[u8]) -> String {
    let start = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n");
    stream.write_all(&[start.as_bytes(), fields, b"\r\n"].concat()).unwrap();
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap().split(' ').nth(1).unwrap().to_owned()
}

// threats: E14
async fn whatever_a_visitor_sends_is_redirected_and_counted(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "abc" });
    let link = links::make(&kurz.http(), "main", &body).await;
    let mut count = 0;
    block_in_place(|| {
        let mut stream = connect(&kurz);
        for name in
            ["User-Agent", "Referer", "Accept-Language", "Sec-GPC", "DNT", "X-Forwarded-For"]
        {
            for (byte, length) in
                [(b'a', 0), (b'a', 15_000), (0xFF, 3_000), (b',', 9_000), (b'/', 600)]
            {
                let value = vec![byte; length];
                let field = [name.as_bytes(), b": ", &value, b"\r\n"].concat();
                for fields in [field.clone(), [&field, FOR_HYPER].concat()] {
                    let status = ask(&mut stream, "/abc?utm_source=%FF%00&&&=&qr", &fields);
                    assert_eq!(status, "302", "{name} {byte} {length}");
                    count += 1;
                }
            }
        }
        let target = format!("/abc?{}", "utm_campaign=x&".repeat(500));
        assert_eq!(ask(&mut stream, &target, b""), "302");
    });
    links::counted(&kurz.http(), &link, count + 1).await;
    kurz.stop().await;
}

// threats: E14
async fn ten_thousand_distinct_agents_are_all_counted(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "abc" });
    let link = links::make(&kurz.http(), "main", &body).await;
    block_in_place(|| {
        let mut stream = connect(&kurz);
        for number in 0..10_000 {
            let fields = format!(
                "User-Agent: agent-{number}\r\nReferer: https://host-{number}.example/\r\n"
            );
            let target = format!("/abc?utm_source={number}");
            assert_eq!(ask(&mut stream, &target, fields.as_bytes()), "302");
        }
    });
    links::counted(&kurz.http(), &link, 10_000).await;
    kurz.stop().await;
}

async fn refusals_are_not_counted_as_clicks(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let body =
        json!({ "original_url": "https://example.com/", "custom_code": "abc", "hit_limit": 2 });
    let link = links::make(&http, "main", &body).await;
    for status in [302, 302, 429, 429, 429] {
        http.get("/abc").await.expect(status);
    }
    links::counted(&http, &link, 2).await;
    let other = json!({ "original_url": "https://example.org/", "custom_code": "other" });
    let other = links::make(&http, "main", &other).await;
    http.get("/other").await.expect(302);
    links::counted(&http, &other, 1).await;
    // The refusals before it were collected by then.
    links::counted(&http, &link, 2).await;
    kurz.stop().await;
}

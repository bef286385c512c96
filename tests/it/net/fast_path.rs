//! The fast path answers the plain requests of a connection, and hyper the others. Their answers are
//! the same.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::json;
use tokio::task::block_in_place;

on_both_databases!(
    both_ways_give_the_same_answer,
    what_visitors_send_stays_on_the_fast_path,
    requests_are_answered_in_their_order_whoever_answers,
    a_request_in_pieces_is_one_request,
    every_worker_forgets_what_changed_and_goes_on_counting,
);

/// A field that says nothing, and with which a request is not plain.
const FOR_HYPER: &str = "Content-Length: 0\r\n";
const CLOSE: &str = "Connection: close\r\n";
const BROWSER: &str = "Accept: text/html\r\nAccept-Language: de-DE,de;q=0.9\r\n";

/// A connection of one's own.
struct Wire(TcpStream);

impl Wire {
    fn to(kurz: &TestServer) -> Self {
        let stream = TcpStream::connect(kurz.base_url().trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self(stream)
    }

    fn send(&mut self, bytes: &str) {
        self.0.write_all(bytes.as_bytes()).unwrap();
    }

    /// The next answer, without what differs each second.
    fn answer(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let field = |name: &str| {
            let value = head.lines().find_map(|line| line.strip_prefix(name));
            value.unwrap_or_else(|| panic!("no {name} in {head}"))
        };
        assert_eq!(field("date: ").len(), "Sun, 06 Nov 1994 08:49:37 GMT".len(), "{head}");
        let mut body = vec![0; field("content-length: ").parse().unwrap()];
        self.0.read_exact(&mut body).unwrap();
        let dateless = head.replace(field("date: "), "");
        dateless + std::str::from_utf8(&body).unwrap()
    }

    /// Read over an answer that may be in chunks.
    fn skip_answer(&mut self) {
        let mut text = Vec::new();
        let mut byte = [0];
        while !text.ends_with(b"\r\n\r\n") {
            self.0.read_exact(&mut byte).unwrap();
            text.push(byte[0]);
        }
        let head = String::from_utf8(text).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if let Some(length) = length {
            let mut body = vec![0; length.parse().unwrap()];
            self.0.read_exact(&mut body).unwrap();
        } else {
            let mut body = Vec::new();
            while !body.ends_with(b"0\r\n\r\n") {
                self.0.read_exact(&mut byte).unwrap();
                body.push(byte[0]);
            }
        }
    }

    fn ask(&mut self, request: &str) -> String {
        self.send(request);
        self.answer()
    }
}

fn get(path: &str, fields: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n")
}

async fn both_ways_give_the_same_answer(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let target = "https://example.com/Grüße?q=1";
    for (code, limit, status, end) in [
        ("plain", 0, 302, None),
        ("moved", 0, 308, None),
        ("spent", 1, 302, None),
        ("ended", 0, 302, Some(NOON.plus(Duration::from_secs(1)).to_rfc3339())),
    ] {
        let body = json!({ "original_url": target, "custom_code": code, "hit_limit": limit,
            "redirect_status": status, "expires_at": end });
        links::make(&http, "main", &body).await;
    }
    http.get("/spent").await.expect(302);
    kurz.clock.advance(Duration::from_secs(2));
    let asked = [
        ("/plain", "", "302 Found"),
        ("/plain", "Connection: keep-alive\r\nUser-Agent: Mozilla/5.0\r\n", "302 Found"),
        ("/plain", "User-Agent: Googlebot/2.1\r\n", "302 Found"),
        ("/plain?from=poster", "", "302 Found"),
        ("/w/main/plain", "", "302 Found"),
        ("/moved", BROWSER, "308 Permanent Redirect"),
        ("/spent", "", "429 Too Many Requests"),
        ("/spent", BROWSER, "429 Too Many Requests"),
        ("/ended", "", "410 Gone"),
        ("/ended", BROWSER, "410 Gone"),
        ("/nobody", "", "404 Not Found"),
        ("/nobody", BROWSER, "404 Not Found"),
    ];
    block_in_place(|| {
        let mut wire = Wire::to(&kurz);
        for (path, fields, status) in asked {
            // Once from the store, once from memory.
            for _ in 0..2 {
                let one = wire.ask(&get(path, fields));
                let other = wire.ask(&get(path, &format!("{fields}{FOR_HYPER}")));
                assert!(one.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{one}");
                assert_eq!(one, other, "{path} {fields}");
            }
            if fields.contains("Connection") {
                continue;
            }
            let last = |more: &str| {
                let mut wire = Wire::to(&kurz);
                let answer = wire.ask(&get(path, &format!("{fields}{CLOSE}{more}")));
                assert_eq!(wire.0.read(&mut [0]).unwrap(), 0, "the connection ends");
                answer
            };
            let (one, other) = (last(""), last(FOR_HYPER));
            assert!(one.contains("\r\nconnection: close\r\n"), "{one}");
            assert_eq!(one, other, "{path} {fields}");
        }
    });
    let plain = links::show(&http, &json!({ "workspace": "main", "short_code": "plain" })).await;
    links::counted(&http, &plain, 28).await;
    kurz.stop().await;
}

/// Only the fast path looks into near caches, so their hits tell who answered.
async fn what_visitors_send_stays_on_the_fast_path(kind: Kind) {
    let kurz = TestServer::builder().database(kind).process().env("KURZ_THREADS", "1").start();
    let (http, admin) = (kurz.http(), kurz.admin());
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&http, "main", &body).await;
    let near_hits = async || {
        let text = admin.get("/metrics").await.expect(200).text();
        let line =
            text.lines().find_map(|it| it.strip_prefix("kurz_cache_hits_total{cache=\"near\"} "));
        line.unwrap_or_else(|| panic!("{text}")).parse::<u64>().unwrap()
    };
    let address = kurz.base_url().trim_start_matches("http://").to_owned();
    let wire = || {
        let stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Wire(stream)
    };
    let others = [
        get("/healthz", ""),
        get("/promo+", ""),
        get("/promo", FOR_HYPER),
        "DELETE /promo HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        "POST /api/v1/links HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}".to_owned(),
    ];
    let targets = ["/promo", "/promo?fbclid=IwAR0x_-9%20&utm_source=x", "/w/main/promo?"];
    let mut one = wire();
    one.0.set_nodelay(true).unwrap();
    for target in targets.repeat(3) {
        block_in_place(|| one.ask(&get(target, "")));
    }
    let mut expected = near_hits().await;
    for other in &others {
        for target in targets {
            block_in_place(|| {
                one.send(other);
                one.skip_answer();
                let answer = one.ask(&get(target, ""));
                assert!(answer.starts_with("HTTP/1.1 302"), "{answer}");
            });
            expected += 1;
            assert_eq!(near_hits().await, expected, "{target} after {other}");
        }
    }
    for _ in 0..5 {
        block_in_place(|| wire().ask(&get("/promo?fbclid=x", CLOSE)));
        expected += 1;
        assert_eq!(near_hits().await, expected, "short connections");
    }
    let (status, _) = kurz.terminate();
    assert!(status.success());
}

async fn requests_are_answered_in_their_order_whoever_answers(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let mut paths = Vec::new();
    for number in 0..40 {
        let url = format!("https://example.com/{number}");
        let link = links::make(&http, "main", &json!({ "original_url": url })).await;
        paths.push(links::short_path(&link));
    }
    let asked = block_in_place(|| {
        let mut wire = Wire::to(&kurz);
        // None of them is in memory at first; at last, something for hyper in their midst.
        for round in 0..3 {
            let mut requests: Vec<String> = paths.iter().map(|path| get(path, "")).collect();
            if round == 2 {
                requests.insert(20, get("/healthz", ""));
            }
            wire.send(&requests.concat());
            for number in 0..requests.len() {
                let answer = wire.answer();
                if round == 2 && number == 20 {
                    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
                    continue;
                }
                let number = if round == 2 && number > 20 { number - 1 } else { number };
                let location = format!("location: https://example.com/{number}\r\n");
                assert!(answer.contains(&location), "{number}: {answer}");
            }
        }
        3 * paths.len()
    });
    links::totals(&http, 40, i64::try_from(asked).unwrap()).await;
    kurz.stop().await;
}

async fn a_request_in_pieces_is_one_request(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "piece" });
    links::make(&kurz.http(), "main", &body).await;
    block_in_place(|| {
        let request = get("/piece", "X-Long: text\r\n");
        for cut in 1..request.len() {
            let mut wire = Wire::to(&kurz);
            wire.0.set_nodelay(true).unwrap();
            // Whole before, so that the pieces find a connection that was used already.
            let whole = wire.ask(&request);
            let (one, other) = request.split_at(cut);
            wire.send(one);
            wire.send(other);
            assert_eq!(wire.answer(), whole);
        }
    });
    kurz.stop().await;
}

async fn every_worker_forgets_what_changed_and_goes_on_counting(kind: Kind) {
    const ROUNDS: usize = 10;
    const WIRES: usize = 16;
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let target = |round: usize| format!("https://example.com/{round}");
    let limit = 2 * WIRES * ROUNDS;
    let body = json!({ "original_url": target(0), "custom_code": "promo", "hit_limit": limit });
    links::make(&http, "main", &body).await;
    let mut wires: Vec<Wire> = (0..WIRES).map(|_| Wire::to(&kurz)).collect();
    let mut ask_all = |times: usize, expected: &str| {
        for wire in &mut wires {
            for _ in 0..times {
                let answer = block_in_place(|| wire.ask(&get("/promo", "")));
                assert!(answer.contains(expected), "{expected}: {answer}");
            }
        }
    };
    for round in 0..ROUNDS {
        // The second time it is known to the worker itself.
        ask_all(2, &format!("location: {}\r\n", target(round)));
        let body = json!({ "original_url": target(round + 1) });
        http.patch("/api/v1/workspaces/main/links/promo", &body).await.expect(200);
    }
    ask_all(1, "HTTP/1.1 429");
    http.delete("/api/v1/workspaces/main/links/promo").await.expect(200);
    ask_all(1, "HTTP/1.1 404");
    kurz.stop().await;
}

//! The fast path answers plain requests of a connection, and hyper everything from the first other
//! request on. Their answers are the same.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::json;
use tokio::task::block_in_place;

on_both_databases!(
    both_ways_give_the_same_answer,
    requests_are_answered_in_their_order_whoever_answers,
    a_request_in_pieces_is_one_request,
    every_worker_forgets_what_changed_and_goes_on_counting,
);

const BROWSER: &str = "Accept: text/html\r\nAccept-Language: de-DE,de;q=0.9\r\n";

/// A connection of one's own.
struct Wire(TcpStream);

impl Wire {
    fn to(kurz: &TestServer) -> Self {
        let stream = TcpStream::connect(kurz.base_url().trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self(stream)
    }

    /// One on which hyper was asked for something.
    fn of_hyper(kurz: &TestServer) -> Self {
        let mut wire = Self::to(kurz);
        let answer = wire.ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        wire
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
        let (mut fresh, mut hypers) = (Wire::to(&kurz), Wire::of_hyper(&kurz));
        for (path, fields, status) in asked {
            let request = get(path, fields);
            // Once from the store, once from memory.
            for _ in 0..2 {
                let (one, other) = (fresh.ask(&request), hypers.ask(&request));
                assert!(one.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{one}");
                assert_eq!(one, other, "{request}");
            }
            // What had to be left to hyper stays hyper's: begin anew for the next one.
            fresh = Wire::to(&kurz);
        }
    });
    let plain = links::show(&http, &json!({ "workspace": "main", "short_code": "plain" })).await;
    links::counted(&http, &plain, 16).await;
    kurz.stop().await;
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
            // Whole before, so that the pieces find an open connection that is not hyper's.
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

//! Clients that are slow, in every way there is.

use std::io::Write;
use std::time::Duration;

use super::{get, patient, read_head, read_to_close, start};
use crate::net::HttpLimits;

const SHORT: Duration = Duration::from_millis(300);
const PACE: Duration = Duration::from_millis(30);

fn short_head() -> HttpLimits {
    HttpLimits { header_timeout: SHORT, ..patient() }
}

// threats: G1
#[test]
fn a_connection_that_sends_nothing_is_closed_without_an_answer() {
    let server = start(short_head());
    assert_eq!(read_to_close(&mut server.connect()), "");
}

// threats: G1
#[test]
fn a_head_that_dribbles_is_answered_408_and_closed() {
    let server = start(short_head());
    let mut stream = server.connect();
    stream.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
    let mut sender = stream.try_clone().unwrap();
    let dribble = std::thread::spawn(move || {
        while sender.write_all(b"x").is_ok() {
            std::thread::sleep(PACE);
        }
    });
    let answer = read_to_close(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\nconnection: close"), "{answer}");
    dribble.join().unwrap();
    assert_eq!(server.calls(), 0);
}

#[test]
fn a_connection_may_rest_longer_than_a_head_may_take() {
    let header_timeout = Duration::from_secs(1);
    let server = start(HttpLimits { header_timeout, ..patient() });
    let mut stream = server.connect();
    assert!(get(&mut stream, "/").starts_with("HTTP/1.1 302"));
    std::thread::sleep(header_timeout * 2);
    assert!(get(&mut stream, "/").starts_with("HTTP/1.1 302"));
    stream.write_all(b"GET / HT").unwrap();
    assert!(read_to_close(&mut stream).starts_with("HTTP/1.1 408"));
}

#[test]
fn a_connection_that_rests_too_long_is_closed_without_an_answer() {
    let server = start(HttpLimits { idle_timeout: SHORT, ..patient() });
    let mut stream = server.connect();
    assert!(get(&mut stream, "/").starts_with("HTTP/1.1 302"));
    assert_eq!(read_to_close(&mut stream), "");
}

// threats: G1
#[test]
fn a_body_that_does_not_come_is_answered_408_and_closed() {
    let server = start(HttpLimits { body_timeout: SHORT, ..patient() });
    for head in ["Content-Length: 9\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"]
    {
        let mut stream = server.connect();
        write!(stream, "POST /echo HTTP/1.1\r\nHost: a\r\n{head}").unwrap();
        let answer = read_to_close(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
}

#[test]
fn a_service_that_works_on_a_whole_body_is_not_hurried() {
    let server = start(HttpLimits { body_timeout: SHORT, ..patient() });
    let mut stream = server.connect();
    write!(stream, "POST /work HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody").unwrap();
    assert!(read_head(&mut stream).starts_with("HTTP/1.1 200"));
    assert!(get(&mut stream, "/").starts_with("HTTP/1.1 302"), "and its connection lives on");
}

// threats: G1
#[test]
fn a_client_that_never_takes_its_answer_is_cut() {
    let server = start(HttpLimits { body_timeout: SHORT, ..patient() });
    let mut stream = server.connect();
    write!(stream, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    server.dropped.recv_timeout(super::PATIENCE).unwrap();
    assert!(read_to_close(&mut stream).len() < 64 << 20);
}

// threats: G1
#[test]
fn a_client_that_asks_on_and_on_but_never_reads_is_cut() {
    let server = start(HttpLimits { body_timeout: SHORT, ..patient() });
    let mut stream = server.connect();
    let ask = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1000);
    while stream.write_all(&ask).is_ok() {}
}

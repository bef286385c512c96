//! What a well-behaved client gets: HTTP/1.1 with pipelining, HTTP/2, and a service that knows it.

use std::io::{Read, Write};

use super::{answers, get, patient, read_head, read_to_close, start};
use crate::net::HttpLimits;

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let server = start(patient());
    let mut stream = server.connect();
    let post = |at| format!("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n<{at:0>2}");
    let posts = (0..50).map(post).collect::<Vec<_>>().concat();
    let gets = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n".repeat(50);
    let last = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    write!(stream, "{posts}{gets}{last}").unwrap();
    let answer = read_to_close(&mut stream);
    assert_eq!(answers(&answer), 101);
    assert_eq!(answer.matches("HTTP/1.1 302").count(), 51);
    let order: Vec<_> = answer.match_indices('<').map(|(at, _)| &answer[at + 1..at + 3]).collect();
    assert_eq!(order, (0..50).map(|at| format!("{at:0>2}")).collect::<Vec<_>>());
}

#[test]
fn a_service_is_told_the_address_of_its_peer() {
    let server = start(patient());
    let mut stream = server.connect();
    get(&mut stream, "/peer");
    let peer = stream.local_addr().unwrap().to_string();
    let mut body = vec![0; peer.len()];
    stream.read_exact(&mut body).unwrap();
    assert_eq!(String::from_utf8(body).unwrap(), peer);
}

#[test]
fn a_client_that_expects_100_continue_gets_it() {
    let server = start(patient());
    let mut stream = server.connect();
    let expect = "Expect: 100-continue\r\nContent-Length: 2\r\n";
    write!(stream, "POST /echo HTTP/1.1\r\nHost: a\r\n{expect}\r\n").unwrap();
    assert!(read_head(&mut stream).starts_with("HTTP/1.1 100 "));
    stream.write_all(b"ok").unwrap();
    assert!(read_head(&mut stream).starts_with("HTTP/1.1 200 "));
}

pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub(super) const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

/// GET / for host `a`, from the static table of HPACK, as a HEADERS frame that ends its stream.
pub(super) fn h2_get(stream: u8) -> Vec<u8> {
    let block = [0x82, 0x86, 0x84, 0x41, 0x01, b'a'];
    let mut frame = vec![0, 0, 6, 1, 0x05, 0, 0, 0, stream];
    frame.extend_from_slice(&block);
    frame
}

/// The next frame: its type and its stream.
pub(super) fn h2_frame(from: &mut impl Read) -> (u8, u8) {
    let mut head = [0; 9];
    from.read_exact(&mut head).unwrap();
    let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
    from.read_exact(&mut payload).unwrap();
    (head[3], head[8])
}

#[test]
fn http_2_is_spoken_with_a_client_that_begins_with_it() {
    let server = start(patient());
    for whole in [true, false] {
        let mut stream = server.connect();
        let opening = [PREFACE, SETTINGS, &h2_get(1), &h2_get(3)].concat();
        if whole {
            stream.write_all(&opening).unwrap();
        } else {
            for byte in opening {
                stream.write_all(&[byte]).unwrap();
            }
        }
        let mut answered = Vec::new();
        while answered.len() < 2 {
            // Frame 1 is HEADERS.
            match h2_frame(&mut stream) {
                (1, id) => answered.push(id),
                (kind, _) => assert_ne!(kind, 7, "GOAWAY"),
            }
        }
        answered.sort_unstable();
        assert_eq!(answered, [1, 3]);
    }
    assert_eq!(server.calls(), 4);
}

#[test]
fn an_idle_http_2_connection_is_told_and_closed_even_if_it_does_not_listen() {
    let short = std::time::Duration::from_millis(300);
    let server = start(HttpLimits { idle_timeout: short, body_timeout: short, ..patient() });
    let mut stream = server.connect();
    stream.write_all(&[PREFACE, SETTINGS, &h2_get(1)].concat()).unwrap();
    // Frame 7 is GOAWAY.
    while h2_frame(&mut stream).0 != 7 {}
    read_to_close(&mut stream);
}

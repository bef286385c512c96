//! Who reads a connection: the fast path, hyper for a request that is not for it, and the fast path
//! again.

use std::io::{Read, Write};

use super::protocol::{PREFACE, SETTINGS, h2_get};
use super::{answers, get, patient, read_head, read_to_close, start};

const FAST: &str = "GET /fast HTTP/1.1\r\nHost: a\r\n\r\n";
const POST: &str = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";

fn read_body(stream: &mut impl Read, bytes: usize) -> String {
    let mut body = vec![0; bytes];
    stream.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

#[test]
fn a_request_after_one_through_hyper_is_on_the_fast_path() {
    let server = start(patient());
    let mut stream = server.connect();
    for round in 1..=50 {
        assert!(get(&mut stream, "/x").starts_with("HTTP/1.1 302"));
        assert!(get(&mut stream, "/fast").starts_with("HTTP/1.1 204"));
        stream.write_all(POST.as_bytes()).unwrap();
        assert!(read_head(&mut stream).starts_with("HTTP/1.1 200"));
        assert_eq!(read_body(&mut stream, 5), "hello");
        assert!(get(&mut stream, "/fast?fbclid=x").starts_with("HTTP/1.1 204"));
        assert_eq!((server.calls(), server.fast()), (2 * round, 2 * round));
    }
}

#[test]
fn requests_in_one_write_are_answered_in_their_order_by_whom_they_are_for() {
    let server = start(patient());
    let head = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
    // Long enough that the readers' buffers end within requests, at different places.
    let round = format!("{FAST}{POST}{FAST}{FAST}{head}{POST}{POST}{FAST}");
    let expected = "204 200 204 204 302 200 200 204 ";
    for pieces in [1, 7, 1000, 4095, 4096, 4097, 1 << 20] {
        let mut stream = server.connect();
        stream.set_nodelay(true).unwrap();
        let last = "GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let rounds = if pieces < 1000 { 2 } else { 60 };
        let mut writer = stream.try_clone().unwrap();
        let all = round.repeat(rounds) + last;
        let sender = std::thread::spawn(move || {
            for piece in all.as_bytes().chunks(pieces) {
                writer.write_all(piece).unwrap();
            }
        });
        let answer = read_to_close(&mut stream);
        sender.join().unwrap();
        let statuses: Vec<&str> =
            answer.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
        let expected = expected.repeat(rounds) + "204";
        assert_eq!(statuses.join(" "), expected, "pieces of {pieces}");
        assert_eq!(answer.matches("hello").count(), 3 * rounds);
    }
}

#[test]
fn an_answer_of_the_fast_path_ends_the_connection_where_the_client_asks_for_it() {
    let server = start(patient());
    for path in ["/fast", "/fast-later"] {
        server.site.release.add_permits(1);
        let mut stream = server.connect();
        let close = "Host: a\r\nConnection: close\r\n\r\n";
        let requests = format!("GET {path} HTTP/1.1\r\n{close}{FAST}");
        stream.write_all(requests.as_bytes()).unwrap();
        let answer = read_to_close(&mut stream);
        assert!(answer.contains("connection: close\r\n"), "{answer}");
        assert_eq!(answers(&answer), 1, "{path}: {answer}");
    }
    assert_eq!((server.calls(), server.fast()), (0, 2));
}

#[test]
fn once_http_1_was_spoken_the_connection_does_not_become_http_2() {
    let server = start(patient());
    for before in [&["/fast"][..], &["/x"], &["/x", "/fast"], &["/fast", "/x"]] {
        for together in [true, false] {
            let mut stream = server.connect();
            for path in before {
                get(&mut stream, path);
            }
            let calls = server.calls();
            let h2 = [PREFACE, SETTINGS, &h2_get(1)].concat();
            if together {
                stream.write_all(&[FAST.as_bytes(), &h2].concat()).unwrap();
                assert!(read_head(&mut stream).starts_with("HTTP/1.1 204"));
            } else {
                stream.write_all(&h2).unwrap();
            }
            let rest = read_to_close(&mut stream);
            assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 400 "), "{before:?}: {rest:?}");
            assert_eq!(server.calls(), calls, "{before:?}");
        }
    }
}

#[test]
fn tls_at_a_port_without_it_is_answered_in_plain_text() {
    let server = start(patient());
    let mut stream = server.connect();
    // The beginning of a ClientHello of TLS 1.3.
    stream.write_all(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 0, 0, 0, 0]).unwrap();
    let answer = read_to_close(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    assert!(answer.contains("This port speaks plain HTTP"), "{answer}");
    // Only a connection's beginning is looked at like this.
    let mut stream = server.connect();
    get(&mut stream, "/fast");
    stream.write_all(&[0x16, 3, 1, 2, 0, b'\r', b'\n', b'\r', b'\n']).unwrap();
    assert!(!read_to_close(&mut stream).contains("plain HTTP"));
    assert_eq!(server.calls(), 0);
}

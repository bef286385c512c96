//! Requests that two readers could read differently: one answer, 400, and the end.

use std::io::Write;

use super::{answers, patient, read_head, read_to_close, start};

/// Each of these hides a second request from one reader or the other.
const MALFORMED: &[&str] = &[
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET /a HTTP/1.1\nHost: a\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\n\n",
    "GET /a HTTP/1.1\r\nHost: a\rX: y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\n folded: y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\n\tfolded\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\n: empty\r\n\r\n",
    "GET /a\r\n\r\n",
    "GET /a HTTP/3.0\r\nHost: a\r\n\r\n",
];

const SECOND: &str = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn g3_a_malformed_request_is_answered_400_once_and_closed() {
    let server = start(patient());
    for request in MALFORMED {
        let mut stream = server.connect();
        write!(stream, "{request}{SECOND}").unwrap();
        let answer = read_to_close(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{request:?}: {answer}");
        assert_eq!(answers(&answer), 1, "{request:?}: {answer}");
    }
    assert_eq!(server.calls(), 0);
}

#[test]
fn g3_a_malformed_request_in_small_pieces_is_refused_all_the_same() {
    let server = start(patient());
    for request in MALFORMED {
        let mut stream = server.connect();
        stream.set_nodelay(true).unwrap();
        for piece in format!("{request}{SECOND}").as_bytes().chunks(5) {
            // The server may have closed in the middle of it.
            if stream.write_all(piece).is_err() {
                break;
            }
        }
        let answer = read_to_close(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{request:?}: {answer}");
        assert_eq!(answers(&answer), 1, "{request:?}: {answer}");
    }
    assert_eq!(server.calls(), 0);
}

#[test]
fn g3_a_malformed_request_behind_a_good_one_is_answered_in_its_turn() {
    let server = start(patient());
    for request in MALFORMED {
        let mut stream = server.connect();
        write!(
            stream,
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc{request}{SECOND}"
        )
        .unwrap();
        let answer = read_to_close(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{request:?}: {answer}");
        assert!(
            answer.contains("\r\n\r\nabcHTTP/1.1 400 Bad Request\r\n"),
            "{request:?}: {answer}"
        );
        assert_eq!(answers(&answer), 2, "{request:?}: {answer}");
    }
    assert_eq!(server.calls(), MALFORMED.len());
}

#[test]
fn g3_nothing_is_read_behind_a_chunked_request() {
    let server = start(patient());
    let mut stream = server.connect();
    write!(
        stream,
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
         3\r\nabc\r\n0\r\n\r\n{SECOND}"
    )
    .unwrap();
    let head = read_head(&mut stream);
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("connection: close"), "{head}");
    assert_eq!(read_to_close(&mut stream), "abc");
    assert_eq!(server.calls(), 1);
}

#[test]
fn g3_a_flood_of_chunk_extensions_ends_the_connection() {
    let server = start(patient());
    let mut stream = server.connect();
    let flood = "x".repeat(1 << 20);
    write!(
        stream,
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;{flood}\r\na\r\n"
    )
    .unwrap();
    assert!(answers(&read_to_close(&mut stream)) <= 1);
}

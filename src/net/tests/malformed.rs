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
    // More words on the body's length than one, or one that is none.
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX: y\r\nCONTENT-LENGTH: 0\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5,6\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5;\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5.0\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5e0\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: five\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ٥\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: _5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1_0\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: \"5\"\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length:\x0b5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\0\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length\t: 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length\0: 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\nContent Length: 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: a\r\n Content-Length: 5\r\n\r\nabcde",
    // Encodings that one reader knows and another does not.
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked,\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: , chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\0\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chun\tked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\n\0Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\rX: y\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nX: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    // Request lines that are none.
    "GET\t/a HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a HTTP/1.1 x\r\nHost: a\r\n\r\n",
    "GET /a HTTP/1.1x\r\nHost: a\r\n\r\n",
    "GET /a http/1.1\r\nHost: a\r\n\r\n",
    "GET /a HTTP/1.9\r\nHost: a\r\n\r\n",
    "GET /a HTTP/2.0\r\nHost: a\r\n\r\n",
    "GET /a HTTP/0.9\r\nHost: a\r\n\r\n",
    "GET /a HTTP/11\r\nHost: a\r\n\r\n",
    "GET /a HTTQ/1.1\r\nHost: a\r\n\r\n",
    "GET HTTP/1.1\r\nHost: a\r\n\r\n",
    "G\0ET /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "(GET) /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a\x7f HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a HTTP/1.1\r\r\nHost: a\r\n\r\n",
    " GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
    // Fields that are none.
    "GET /a HTTP/1.1\r\n Host: a\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX y: z\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\n(X): y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX@: y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nÄ: y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX\x7f: y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX: y\x7f\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX: y\x01\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nX: y\r\r\n\r\n",
    "\0\0\0\0\r\n\r\n",
];

const SECOND: &str = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

// threats: G3
#[test]
fn a_malformed_request_is_answered_400_once_and_closed() {
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

// threats: G3
#[test]
fn a_malformed_request_in_small_pieces_is_refused_all_the_same() {
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

// threats: G3
#[test]
fn a_malformed_request_behind_a_good_one_is_answered_in_its_turn() {
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

// threats: G3
#[test]
fn nothing_is_read_behind_a_chunked_request() {
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

/// Chunks that two readers could read differently, after a head that is right.
const CHUNKS: &[&str] = &[
    "zz\r\nabc\r\n0\r\n\r\n",
    "-1\r\na\r\n0\r\n\r\n",
    "+3\r\nabc\r\n0\r\n\r\n",
    "0x3\r\nabc\r\n0\r\n\r\n",
    "3\nabc\n0\n\n",
    "3\r\nabcd\r\n0\r\n\r\n",
    "3\r\nabc0\r\n\r\n",
    "FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n",
    "10000000000000003\r\nabc\r\n0\r\n\r\n",
    "3;x=\"\n\"\r\nabc\r\n0\r\n\r\n",
    "\r\n3\r\nabc\r\n0\r\n\r\n",
    "3 3\r\nabc\r\n0\r\n\r\n",
    "3\r\rabc\r\n0\r\n\r\n",
    "0\r\nContent-Length: 40\r\n\r\n",
    "0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "0\r\n\rX: y\r\n\r\n",
    "0\r\nX\0: y\r\n\r\n",
    ";\r\nabc\r\n0\r\n\r\n",
];

// threats: G3
#[test]
fn chunks_that_are_malformed_hide_no_second_request() {
    let server = start(patient());
    for (number, chunks) in (1..).zip(CHUNKS) {
        let mut stream = server.connect();
        let head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        write!(stream, "{head}{chunks}{SECOND}").unwrap();
        let answer = read_to_close(&mut stream);
        assert!(answers(&answer) <= 1, "{chunks:?}: {answer}");
        assert!(!answer.contains("HTTP/1.1 302"), "{chunks:?}: {answer}");
        assert_eq!(server.calls(), number, "{chunks:?}: {answer}");
    }
}

// threats: G3
#[test]
fn a_flood_of_chunk_extensions_ends_the_connection() {
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

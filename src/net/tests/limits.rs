//! Requests that are too large, and connections that are too many.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::{PATIENCE, Running, answers, get, patient, read_head, read_to_close, start};
use crate::net::HttpLimits;

// threats: G2
#[test]
fn a_target_over_its_limit_is_answered_414_and_closed() {
    let server = start(patient());
    let fits = format!("/{}", "x".repeat(8 * 1024 - 1));
    assert!(get(&mut server.connect(), &fits).starts_with("HTTP/1.1 302"));
    let mut stream = server.connect();
    write!(stream, "GET {fits}x HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    let answer = read_to_close(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 414 URI Too Long\r\n"), "{answer}");
    assert_eq!((answers(&answer), server.calls()), (1, 1));
}

// threats: G2
#[test]
fn a_head_over_its_limit_is_answered_431_and_closed() {
    let server = start(patient());
    let request = |cookie: usize| {
        format!("GET / HTTP/1.1\r\nHost: a\r\nCookie: {}\r\n\r\n", "x".repeat(cookie))
    };
    let mut stream = server.connect();
    stream.write_all(request(15 * 1024).as_bytes()).unwrap();
    assert!(read_head(&mut stream).starts_with("HTTP/1.1 302"));
    for cookie in [17 * 1024, 1 << 20] {
        let mut stream = server.connect();
        // The answer is there to be read although the client sends on for long after it was given.
        stream.write_all(request(cookie).as_bytes()).unwrap();
        let answer = read_to_close(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 431 "), "{cookie}: {answer}");
        assert_eq!(answers(&answer), 1);
    }
    assert_eq!(server.calls(), 1);
}

// threats: G2
#[test]
fn more_fields_than_the_limit_are_answered_431_and_closed() {
    let server = start(patient());
    for (fields, status) in [(64, "302"), (65, "431"), (101, "431"), (10_000, "431")] {
        let mut stream = server.connect();
        let fields = "x: y\r\n".repeat(fields);
        write!(stream, "GET / HTTP/1.1\r\n{fields}\r\n").unwrap();
        if status == "302" {
            assert!(read_head(&mut stream).starts_with("HTTP/1.1 302"));
        } else {
            assert!(read_to_close(&mut stream).starts_with(&format!("HTTP/1.1 {status} ")));
        }
    }
    assert_eq!(server.calls(), 1);
}

/// How a client says how much it sends.
const LENGTHS: [&str; 2] = ["Content-Length: 10485760", "Transfer-Encoding: chunked"];

// threats: A13
#[test]
fn a_client_that_sends_all_before_it_reads_sees_the_answer() {
    let server = start(patient());
    let chunk = [b"100000\r\n".as_slice(), &vec![b'x'; 1 << 20], b"\r\n"].concat();
    for turn in 0..20 {
        let length = LENGTHS[turn % 2];
        let mut stream = server.connect();
        write!(stream, "POST /early HTTP/1.1\r\nHost: a\r\n{length}\r\n\r\n").unwrap();
        for _ in 0..10 {
            let piece = if turn % 2 == 0 { &chunk[8..][..1 << 20] } else { &chunk };
            stream.write_all(piece).unwrap();
        }
        let answer = read_to_close(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 413 "), "turn {turn}: {answer}");
    }
}

// threats: A13
#[test]
fn a_client_that_sends_for_ever_is_cut_off() {
    let server = start(HttpLimits { body_timeout: Duration::from_millis(300), ..patient() });
    for length in ["Content-Length: 1099511627776", LENGTHS[1]] {
        let mut stream = server.connect();
        write!(stream, "POST /early HTTP/1.1\r\nHost: a\r\n{length}\r\n\r\n").unwrap();
        // Slowly: it is the time that ends it, not the bytes.
        while stream.write_all(b"1\r\nx\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut stream = server.connect();
        write!(stream, "POST /early HTTP/1.1\r\nHost: a\r\n{length}\r\n\r\n").unwrap();
        let chunk = [b"100000\r\n".as_slice(), &vec![b'x'; 1 << 20], b"\r\n"].concat();
        while stream.write_all(&chunk).is_ok() {}
    }
}

fn connect_from(server: &Running, last: u8) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, last], 0)).into()).unwrap();
    socket.connect(&server.handle.address().into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Whether the server serves a connection, rather than close it at once.
fn is_served(stream: &mut TcpStream) -> bool {
    let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    stream.read(&mut [0; 1024]).is_ok_and(|read| read > 0)
}

fn served(server: &Running, last: u8) -> Option<TcpStream> {
    let mut stream = connect_from(server, last);
    is_served(&mut stream).then_some(stream)
}

/// The server learns of a close in its own time: try until it did.
fn served_in_the_end(server: &Running, last: u8) -> TcpStream {
    loop {
        if let Some(stream) = served(server, last) {
            return stream;
        }
        std::thread::yield_now();
    }
}

// threats: G5
#[test]
fn one_address_cannot_take_the_connections_of_the_others() {
    let server = start(HttpLimits { max_connections_per_ip: 2, ..patient() });
    let first = served(&server, 2).unwrap();
    let mut second = served(&server, 2).unwrap();
    assert!(served(&server, 2).is_none());
    let _other = served(&server, 3).unwrap();
    assert!(is_served(&mut second), "those that were there stay");
    drop(first);
    served_in_the_end(&server, 2);
}

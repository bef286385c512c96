//! The end of a server: what is in flight is finished, what is idle is closed, and nobody waits for
//! ever.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use super::{Running, get, patient, read_head, read_to_close, start};
use crate::net::HttpLimits;

/// A connection with a request that is in the service.
fn hanging(server: &Running) -> TcpStream {
    let before = server.calls();
    let mut stream = server.connect();
    write!(stream, "GET /hang HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    while server.calls() == before {
        std::thread::yield_now();
    }
    stream
}

#[test]
fn a_request_in_flight_is_answered_before_the_server_ends() {
    let server = start(patient());
    let address = server.handle.address();
    let mut hanging = hanging(&server);
    let mut idle = server.connect();
    assert!(get(&mut idle, "/").starts_with("HTTP/1.1 302"));

    let (handle, site) = (server.handle, server.site);
    let ending = std::thread::spawn(move || handle.shutdown());
    assert_eq!(read_to_close(&mut idle), "");
    while TcpStream::connect(address).is_ok() {
        std::thread::yield_now();
    }
    assert!(!ending.is_finished(), "it waits for the request in flight");

    site.release.add_permits(1);
    let answer = read_head(&mut hanging);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    assert_eq!(read_to_close(&mut hanging), "");
    assert_eq!(ending.join().unwrap(), 0);
}

#[test]
fn a_request_that_does_not_end_is_cut_when_the_drain_timeout_passed() {
    let drain_timeout = Duration::from_millis(300);
    let server = start(HttpLimits { drain_timeout, ..patient() });
    let mut hanging = hanging(&server);
    assert_eq!(server.handle.shutdown(), 1);
    assert_eq!(read_to_close(&mut hanging), "");
}

#[test]
fn a_connection_that_never_asked_does_not_hold_up_the_end() {
    let server = start(patient());
    let mut silent = server.connect();
    // Answered after the silent one was accepted, if by the same worker; closed either way.
    get(&mut server.connect(), "/");
    assert_eq!(server.handle.shutdown(), 0);
    assert_eq!(read_to_close(&mut silent), "");
}

#[test]
fn an_unused_server_ends_at_once() {
    assert_eq!(start(patient()).handle.shutdown(), 0);
}

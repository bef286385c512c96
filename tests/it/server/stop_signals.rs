//! Signals that ask the server to stop: the second one ends it at once, unless it comes so soon that it is the
//! same request.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use kurz_test_support::{Process, TestServer};
use rustix::process::{Pid, Signal, kill_process};

fn signal(process: &Process, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(process.pid()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// A server that waits this long for a request whose body does not come.
fn draining(timeout: &str) -> (Process, TcpStream) {
    let server = TestServer::builder().setting("KURZ_DRAIN_TIMEOUT", timeout).process().start();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let head = "POST /api/v1/links HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).unwrap();
    // Answered on the same worker or another: the first request is in by then.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(server.http().get("/healthz")).expect(200);
    (server, stream)
}

#[test]
fn a_second_signal_within_a_second_is_the_same_one() {
    let (server, _stream) = draining("3s");
    signal(&server, Signal::TERM);
    server.wait_for_log("stopping");
    signal(&server, Signal::INT);
    let (status, log) = server.terminate();
    assert!(status.success(), "{status}: {log}");
    assert!(!log.contains("stopped at once"), "{log}");
}

#[test]
fn a_second_signal_later_ends_the_server_at_once() {
    let (server, _stream) = draining("10m");
    signal(&server, Signal::TERM);
    server.wait_for_log("stopping");
    // Longer than the second in which signals count as one.
    std::thread::sleep(Duration::from_millis(1200));
    let (status, log) = server.terminate();
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(log.contains("stopped at once by a second SIGTERM"), "{log}");
}

//! The process as its users run it, with its defaults and nothing in front of it: connections from
//! several addresses of this machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use kurz_test_support::TestServer;

/// A connection from one of this machine's own addresses.
fn connect(to: SocketAddr, from: [u8; 4]) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
    socket.connect(&to.into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// The status of an answer; `None` when the connection was closed instead.
fn ask(stream: &mut TcpStream, path: &str, more: &str) -> Option<u16> {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n").ok()?;
    let mut space = [0; 8192];
    let read = stream.read(&mut space).ok()?;
    let text = String::from_utf8_lossy(&space[..read]).into_owned();
    text.split(' ').nth(1)?.parse().ok()
}

// threats: D3, G5
#[tokio::test]
async fn with_its_defaults_kurz_counts_by_the_connections_address_alone() {
    let process = TestServer::builder().accounts().limits().default_timeouts().process().start();
    let address: SocketAddr = process.base_url().strip_prefix("http://").unwrap().parse().unwrap();
    // Whatever it says of itself, it is one address.
    let mut scanner = connect(address, [127, 0, 0, 66]);
    for miss in 0..30 {
        let lie = format!("X-Forwarded-For: 198.51.100.{miss}\r\nForwarded: for=198.51.100.9\r\n");
        assert_eq!(ask(&mut scanner, "/none", &lie), Some(404), "{miss}");
    }
    assert_eq!(ask(&mut scanner, "/none", "X-Forwarded-For: 198.51.100.99\r\n"), Some(429));
    let mut other = connect(address, [127, 0, 0, 67]);
    assert_eq!(ask(&mut other, "/none", "X-Forwarded-For: 127.0.0.66\r\n"), Some(404));
    // Two hundred connections, and not one more; the others are not concerned.
    let mut many: Vec<_> = (0..200).map(|_| connect(address, [127, 0, 0, 68])).collect();
    assert!(many.iter_mut().all(|stream| ask(stream, "/healthz", "") == Some(200)));
    let mut more = connect(address, [127, 0, 0, 68]);
    assert_eq!(ask(&mut more, "/healthz", ""), None);
    assert_eq!(ask(&mut other, "/healthz", ""), Some(200));
    let metrics = process.admin().get("/metrics").await.expect(200).text();
    assert!(metrics.contains("kurz_rate_limited_total{limit=\"misses\"} 1"), "{metrics}");
    assert!(metrics.contains("kurz_connections_refused_total{reason=\"address\"} 1"), "{metrics}");
    let (status, _) = process.terminate();
    assert!(status.success());
}

// threats: G5
#[tokio::test]
async fn with_all_connections_taken_the_longest_idle_one_makes_room() {
    let process = TestServer::builder()
        .default_timeouts()
        .process()
        .env("KURZ_MAX_CONNECTIONS", "10")
        .start();
    let address: SocketAddr = process.base_url().strip_prefix("http://").unwrap().parse().unwrap();
    let mut idle: Vec<_> = (0..10).map(|_| connect(address, [127, 0, 0, 66])).collect();
    assert!(idle.iter_mut().all(|stream| ask(stream, "/healthz", "") == Some(200)));
    // As many new clients again, over all workers: none is refused.
    let mut new: Vec<_> = (0..10).map(|_| connect(address, [127, 0, 0, 67])).collect();
    for stream in &mut new {
        assert_eq!(ask(stream, "/healthz", ""), Some(200));
    }
    let metrics = process.admin().get("/metrics").await.expect(200).text();
    let line = |name: &str| {
        let line = metrics.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse::<usize>().ok()).unwrap_or_default()
    };
    assert!(line("kurz_connections_evicted_total") >= 10, "{metrics}");
    assert_eq!(line("kurz_connections_refused_total{reason=\"total\"}"), 0, "{metrics}");
    for stream in &mut idle {
        assert_eq!(stream.read(&mut [0]).ok(), Some(0), "closed without a word");
    }
    let (status, _) = process.terminate();
    assert!(status.success());
}

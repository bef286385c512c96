//! What a server does when the system gives it less than it asks for: a write-ahead log that cannot
//! be moved because somebody reads without an end, or no descriptor left for another connection.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_test_support::chaos::kill::program;
use kurz_test_support::http::Http;
use kurz_test_support::{Process, TestServer};
use serde_json::json;
use tokio::task::block_in_place;

const PATIENCE: Duration = Duration::from_mins(1);
const MIB: u64 = 1024 * 1024;

/// The value of a metric without labels; 0 before it is first set.
async fn metric(server: &Process, name: &str) -> f64 {
    let text = server.admin().get("/metrics").await.expect(200).text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

/// About 2 MiB of log.
async fn write_much(http: &Http, number: usize) {
    let url = |at: usize| json!({ "original_url": format!("https://example.com/{number}/{at}/{}", "x".repeat(8000)) });
    let body = json!({ "links": (0..110).map(url).collect::<Vec<_>>() });
    http.post("/api/v1/workspaces/team/links/bulk", &body).await.expect(200);
}

// threats: F8
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_a_reader_pins_is_told_of_and_shrinks_when_the_reader_ends() {
    let folder = tempfile::tempdir().unwrap();
    let server = program(folder.path()).env("KURZ_LOG", "info");
    let server = block_in_place(|| server.start());
    let http = server.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "one" });
    http.post("/api/v1/workspaces/team/links", &body).await.expect(201);
    let log = folder.path().join("kurz.db-wal");
    let size = || log.metadata().unwrap().len();

    // Without a reader it stays in bounds.
    let mut number = 0;
    for _ in 0..50 {
        write_much(&http, number).await;
        number += 1;
        assert!(size() <= 96 * MIB, "{} MiB", size() / MIB);
    }
    let reader = rusqlite::Connection::open(folder.path().join("kurz.db")).unwrap();
    reader.execute_batch("begin").unwrap();
    reader.query_row("select count(*) from links", [], |_| Ok(())).unwrap();
    while size() <= 96 * MIB {
        write_much(&http, number).await;
        number += 1;
        assert!(number < 500, "it does not grow: {} MiB", size() / MIB);
    }
    write_much(&http, number).await;
    block_in_place(|| server.wait_for_log("write-ahead log grows"));
    assert!(metric(&server, "kurz_sqlite_wal_bytes").await > 96.0 * 1024.0 * 1024.0);
    http.get("/w/team/one").await.expect(302);

    drop(reader);
    let watch = Stopwatch::start();
    while size() > 64 * MIB {
        number += 1;
        write_much(&http, number).await;
        assert!(watch.elapsed() < PATIENCE, "it never shrinks: {} MiB", size() / MIB);
    }
    write_much(&http, number + 1).await;
    block_in_place(|| server.wait_for_log("as small as it should be again"));
}

/// Processor time that a process has used.
fn used(process: &Process) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// Whether a connection is answered within a moment.
fn is_served(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let asked = stream.write_all(b"GET /w/team/one HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut answer = [0; 12];
    asked.is_ok() && stream.read_exact(&mut answer).is_ok() && &answer == b"HTTP/1.1 302"
}

// threats: F9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_descriptors_keeps_those_it_serves_and_recovers() {
    let program = TestServer::builder()
        .default_timeouts()
        .setting("KURZ_THREADS", "1")
        .setting("KURZ_POOL_SIZE", "2")
        .setting("KURZ_HEADER_TIMEOUT", "10m")
        .setting("KURZ_IDLE_TIMEOUT", "10m")
        .process()
        .through(&["prlimit", "--nofile=64:64"]);
    let server = block_in_place(|| program.start());
    let http = server.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "one" });
    http.post("/api/v1/workspaces/team/links", &body).await.expect(201);
    http.get("/w/team/one").await.expect(302);
    // The one that asks for metrics is in before the crowd.
    let admin = server.admin();
    let errors = async || {
        let text = admin.get("/metrics").await.expect(200).text();
        let line = text.lines().find_map(|line| line.strip_prefix("kurz_accept_errors_total "));
        line.map_or(0, |value| value.parse::<u64>().unwrap())
    };
    assert_eq!(errors().await, 0);

    let address = server.base_url().trim_start_matches("http://").to_owned();
    let crowd: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let watch = Stopwatch::start();
    while errors().await < 3 {
        assert!(watch.elapsed() < PATIENCE, "it has descriptors for all");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Those who are in are served, and nobody runs in circles.
    let before = used(&server);
    let watch = Stopwatch::start();
    while watch.elapsed() < Duration::from_secs(2) {
        http.get("/w/team/one").await.expect(302);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let busy = used(&server).saturating_sub(before);
    assert!(busy < watch.elapsed() / 2, "{busy:?} of {:?}", watch.elapsed());

    drop(crowd);
    let watch = Stopwatch::start();
    while !block_in_place(|| is_served(&mut TcpStream::connect(&address).unwrap())) {
        assert!(watch.elapsed() < PATIENCE, "it does not recover");
    }
    let (status, log) = block_in_place(|| server.terminate());
    assert!(status.success(), "{log}");
}

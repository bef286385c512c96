//! Redirects at a fixed rate, and how long each took, counted from when its request was due; and the
//! server that `benches/crowd` and `benches/flood` measure.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::builder::Builder;
use crate::links;
use crate::process::Process;

const CONNECTIONS: u32 = 64;

/// A server for ten thousand connections.
pub fn start(builder: Builder) -> Process {
    builder
        .default_timeouts()
        .setting("KURZ_ADMIN_LISTEN", "off")
        .setting("KURZ_MAX_CONNECTIONS", "12000")
        .setting("KURZ_HIT_LIMIT", "0")
        .setting("KURZ_LOG", "error")
        .process()
        .start()
}

/// A link, in memory; its path.
pub async fn make_link(server: &Process) -> String {
    let body = json!({ "original_url": "https://example.com/", "custom_code": "crowd" });
    links::short_path(&links::make(&server.http(), "main", &body).await)
}

pub struct Waits {
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// `rate` redirects a second in all, for so long a time.
pub async fn follow(address: SocketAddr, path: &str, rate: u32, time: Duration) -> Waits {
    let period = Duration::from_secs(CONNECTIONS.into()) / rate;
    let mut visitors = JoinSet::new();
    let start = Instant::now() + Duration::from_millis(100);
    for at in 0..CONNECTIONS {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        // Spread over the period.
        let first = start + period * at / CONNECTIONS;
        visitors.spawn(visit(address, request, (first, period), time));
    }
    let mut waits: Vec<f64> = visitors.join_all().await.concat();
    waits.sort_by(f64::total_cmp);
    Waits { p50_ms: percentile(&waits, 50), p99_ms: percentile(&waits, 99) }
}

async fn visit(
    address: SocketAddr,
    request: String,
    (start, period): (Instant, Duration),
    time: Duration,
) -> Vec<f64> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut waits = Vec::new();
    let mut due = start;
    let mut space = [0; 2048];
    while due < start + time {
        sleep_until(due).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let read = stream.read(&mut space).await.unwrap();
        let answer = space.get(..read).unwrap_or_default();
        assert!(answer.starts_with(b"HTTP/1.1 302"), "{}", String::from_utf8_lossy(answer));
        waits.push(due.elapsed().as_secs_f64() * 1e3);
        due += period;
    }
    waits
}

fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or(f64::NAN)
}

pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    percentile(&figures, 50)
}

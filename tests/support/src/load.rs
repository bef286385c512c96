//! Load on raw connections that count exactly what they sent and what came back. Not a client for
//! everything: it sends requests, and looks at statuses.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use kurz::clock::Stopwatch;
use serde_json::{Value, json};

/// How long an answer may take. Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_mins(1);

/// What has happened so far, seen from outside of the server.
#[derive(Debug, Default)]
pub struct Counts {
    /// Requests that were sent, or are about to be: no more can have been answered.
    pub sent: AtomicU64,
    pub served: AtomicU64,
    pub refused: AtomicU64,
    /// Answered with 503, which only a load [through an outage](Load::through_outages) may be.
    pub unavailable: AtomicU64,
}

impl Counts {
    pub fn sent(&self) -> u64 {
        self.sent.load(SeqCst)
    }

    pub fn served(&self) -> u64 {
        self.served.load(SeqCst)
    }

    pub fn refused(&self) -> u64 {
        self.refused.load(SeqCst)
    }

    pub fn unavailable(&self) -> u64 {
        self.unavailable.load(SeqCst)
    }
}

/// Connections that are kept, and ask at the same time.
pub struct Load {
    connections: Vec<Connection>,
}

/// What each connection of a load asks for.
#[derive(Clone, Copy)]
pub struct Requests<'a> {
    /// One of these at random.
    pub paths: &'a [String],
    /// So many times.
    pub times: u64,
    /// So many at once, before the first answer is read.
    pub depth: u64,
}

impl Load {
    /// `base` is `http://host:port`.
    pub fn connect(base: &str, connections: usize) -> Self {
        Self { connections: (0..connections).map(|_| Connection::connect(base)).collect() }
    }

    /// Visitors may get 503: links that are not cached, while the store is away.
    #[must_use]
    pub fn through_outages(mut self) -> Self {
        for connection in &mut self.connections {
            connection.through_outages = true;
        }
        self
    }

    /// All begin at the same time. Comes back once each has its answers, or the server is gone; says
    /// how many connections have all of them. `seen` is told each status.
    pub fn run(
        &mut self,
        requests: Requests<'_>,
        counts: &Counts,
        seen: impl Fn(u16) + Sync,
    ) -> usize {
        let start = &Barrier::new(self.connections.len());
        let seen = &seen;
        thread::scope(|scope| {
            let mut visits = Vec::new();
            for (number, connection) in self.connections.iter_mut().enumerate() {
                visits.push(scope.spawn(move || {
                    start.wait();
                    connection.visit(requests, number, counts, seen)
                }));
            }
            visits.into_iter().map(|visit| visit.join().unwrap()).filter(|all| *all).count()
        })
    }

    /// Three times as many visits to a new link as its limit allows, and at least three on each
    /// connection: how many were served, and how many refused.
    pub fn exhaust(&mut self, limit: u64) -> (u64, u64) {
        let path = self.make_link(limit);
        let connections = u64::try_from(self.connections.len()).unwrap();
        let requests =
            Requests { paths: &[path], times: (3 * limit).div_ceil(connections).max(3), depth: 1 };
        let counts = Counts::default();
        assert_eq!(self.run(requests, &counts, |_| ()), self.connections.len());
        assert_eq!(counts.served() + counts.refused(), counts.sent());
        (counts.served(), counts.refused())
    }

    /// A new link with this limit; its path.
    pub fn make_link(&mut self, limit: u64) -> String {
        let body = json!({ "original_url": "https://example.com/", "hit_limit": limit });
        let connection = self.connections.first_mut().expect("a load has a connection");
        let (status, made) = connection.ask("POST", "/api/v1/links", &body);
        assert_eq!(status, 201, "{made}");
        format!("/{}", made["short_code"].as_str().unwrap())
    }
}

/// Links by the thousand, in the workspace `load`; their paths.
pub fn make_links(base: &str, links: usize) -> Vec<String> {
    let mut connection = Connection::connect(base);
    let numbers: Vec<usize> = (0..links).collect();
    let mut paths = Vec::with_capacity(links);
    for some in numbers.chunks(1_000) {
        let url =
            |number: &usize| json!({ "original_url": format!("https://example.com/a/{number}") });
        let body = json!({ "links": some.iter().map(url).collect::<Vec<_>>() });
        let (status, made) = connection.ask("POST", "/api/v1/workspaces/load/links/bulk", &body);
        assert_eq!(status, 200, "{made}");
        let results = made["results"].as_array().unwrap();
        let code = |result: &Value| result["link"]["short_code"].as_str().unwrap().to_owned();
        paths.extend(results.iter().map(|result| format!("/w/load/{}", code(result))));
    }
    paths
}

/// All redirects ever, as the platform tells them.
pub fn total_redirects(base: &str) -> u64 {
    let (status, totals) = Connection::connect(base).ask("GET", "/api/v1/stats", &Value::Null);
    assert_eq!(status, 200, "{totals}");
    totals["total_redirects"].as_u64().unwrap()
}

/// What clients know of a server that was killed.
#[derive(Debug)]
pub struct KillObservation {
    /// Answers by the time since the load began.
    samples: Vec<(Duration, u64)>,
    killed_at: Duration,
    pub answered: u64,
    /// So many may have been served.
    pub sent: u64,
}

impl KillObservation {
    /// So many had been answered `before` the kill.
    pub fn answered_before(&self, before: Duration) -> u64 {
        let early = |sample: &&(Duration, u64)| sample.0 + before <= self.killed_at;
        self.samples.iter().rev().find(early).map_or(0, |sample| sample.1)
    }

    /// How long before the kill the clients had seen as many answers as are `known`.
    pub fn missing(&self, known: u64) -> Duration {
        let after = self.samples.iter().find(|sample| sample.1 > known);
        after.map_or(Duration::ZERO, |sample| self.killed_at.saturating_sub(sample.0))
    }
}

/// Load a server for `time`, and `kill` it under the load.
pub fn until_killed(
    base: &str,
    connections: usize,
    paths: &[String],
    time: Duration,
    kill: impl FnOnce(),
) -> KillObservation {
    let mut load = Load::connect(base, connections);
    let counts = Counts::default();
    let requests = Requests { paths, times: u64::MAX, depth: 16 };
    thread::scope(|scope| {
        let load = scope.spawn(|| load.run(requests, &counts, |_| ()));
        let watch = Stopwatch::start();
        let mut samples = Vec::new();
        while watch.elapsed() < time {
            // What is counted by now was answered before the time that is noted with it.
            let answered = counts.served();
            samples.push((watch.elapsed(), answered));
            thread::sleep(Duration::from_millis(2));
        }
        let killed_at = watch.elapsed();
        kill();
        assert_eq!(load.join().unwrap(), 0, "everybody was cut off");
        assert_eq!(counts.refused(), 0);
        KillObservation { samples, killed_at, answered: counts.served(), sent: counts.sent() }
    })
}

/// One connection, and what was read of it but not looked at.
struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
    start: usize,
    through_outages: bool,
}

impl Connection {
    fn connect(base: &str) -> Self {
        let address: SocketAddr = base.trim_start_matches("http://").parse().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream, read: Vec::new(), start: 0, through_outages: false }
    }

    /// Whether everything was answered.
    fn visit(
        &mut self,
        requests: Requests<'_>,
        number: usize,
        counts: &Counts,
        seen: &impl Fn(u16),
    ) -> bool {
        let mut random = u64::try_from(number).unwrap() * 2 + 0x9e37_79b9_7f4a_7c15;
        let mut left = requests.times;
        let mut out = Vec::new();
        while left > 0 {
            let now = requests.depth.min(left);
            out.clear();
            for _ in 0..now {
                // Xorshift: no more than well mixed.
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let at = usize::try_from(random >> 8).unwrap() % requests.paths.len();
                out.extend_from_slice(b"GET ");
                out.extend_from_slice(requests.paths.get(at).expect("it is less").as_bytes());
                out.extend_from_slice(b" HTTP/1.1\r\nHost: localhost\r\n\r\n");
            }
            counts.sent.fetch_add(now, SeqCst);
            if self.stream.write_all(&out).is_err() {
                return false;
            }
            for _ in 0..now {
                let Some((status, _)) = self.answer() else { return false };
                match status {
                    302 => counts.served.fetch_add(1, SeqCst),
                    429 => counts.refused.fetch_add(1, SeqCst),
                    503 if self.through_outages => counts.unavailable.fetch_add(1, SeqCst),
                    other => panic!("a visitor got {other}"),
                };
                seen(status);
            }
            left -= now;
        }
        true
    }

    fn ask(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.stream.write_all(head.as_bytes()).unwrap();
        self.stream.write_all(body.as_bytes()).unwrap();
        let (status, body) = self.answer().expect("an answer");
        (status, serde_json::from_slice(&body).unwrap())
    }

    /// The next answer; `None` when the server is gone.
    fn answer(&mut self) -> Option<(u16, Vec<u8>)> {
        loop {
            let ready = self.read.get(self.start..).unwrap_or_default();
            if let Some((status, head, length)) = answer_in(ready)
                && let Some(body) = ready.get(head..head + length)
            {
                let body = body.to_vec();
                self.start += head + length;
                return Some((status, body));
            }
            self.read.drain(..self.start);
            self.start = 0;
            let mut space = [0; 16 * 1024];
            match self.stream.read(&mut space) {
                Ok(0) => return None,
                Ok(read) => self.read.extend_from_slice(space.get(..read)?),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    panic!("no answer within {PATIENCE:?}")
                }
                Err(_) => return None,
            }
        }
    }
}

/// Status, length of the head, and length of the body, once the head is whole.
fn answer_in(bytes: &[u8]) -> Option<(u16, usize, usize)> {
    let text = str::from_utf8(bytes).unwrap();
    let head = text.find("\r\n\r\n")? + 4;
    let text = text.get(..head)?;
    let status = text.get(9..12)?.parse().unwrap();
    let length = text.split_once("content-length: ").expect("answers tell their length").1;
    let length = length.split_once("\r\n")?.0.parse().unwrap();
    Some((status, head, length))
}
